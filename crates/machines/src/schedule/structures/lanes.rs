//! One FIFO per waiting flow of a port, all in one arena: the basis of per-flow orders.

use crate::schedule::Entry;
use crate::schedule::structures::flow_table::FlowTable;
use crate::schedule::structures::heap::{self, IndexedHeap};
use crate::schedule::{Around, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::FlowId;

/// No node, no lane.
pub(in crate::schedule) const NIL: u32 = u32::MAX;

/// A waiting packet with the order's state for it, in one cache line.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(in crate::schedule) struct Node<Y> {
    pub(in crate::schedule) entry: Entry,
    pub(in crate::schedule) state: Y,
    pub(in crate::schedule) lane: u32,
    prev: u32,
    pub(in crate::schedule) next: u32, // of the free list when free
    /// A value that the order assigns to the packet.
    pub(in crate::schedule) stamp: u64,
    /// Number of its arrival.
    pub(in crate::schedule) arrival: u64,
}

/// A flow's FIFO, oldest first, and what the order remembers of the flow.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::schedule) struct Lane<X> {
    pub(in crate::schedule) flow: FlowId,
    pub(in crate::schedule) head: u32,
    pub(in crate::schedule) tail: u32,
    pub(in crate::schedule) bytes: u64,
    pub(in crate::schedule) state: X,
}

/// All lanes of a port. Slots of nodes and lanes are recycled: no allocation once the port has seen its peak.
///
/// The fields are ordered by use: those that every dequeue touches come first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[repr(C)]
pub(in crate::schedule) struct Lanes<X, Y = ()> {
    nodes: Vec<Node<Y>>,
    lanes: Vec<Lane<X>>,
    free_node: Option<u32>,
    packets: u32,
    /// `longest` is kept.
    tracking: bool,
    arrivals: u64,
    table: FlowTable,
    free_lanes: Vec<u32>,
    /// Lanes by falling bytes; kept only from the first overflow of a busy period to its end.
    longest: IndexedHeap,
}

impl<X: Copy + Default, Y: Copy> Lanes<X, Y> {
    /// Packets waiting.
    #[inline]
    pub(in crate::schedule) fn packets(&self) -> usize {
        self.packets as usize
    }
    /// True if the arena's index space is used up: the packet must be refused.
    #[inline]
    pub(in crate::schedule) fn is_full(&self) -> bool {
        self.packets as usize >= heap::MAX_SLOTS
    }
    #[inline]
    pub(in crate::schedule) fn node(&self, node: u32) -> &Node<Y> {
        &self.nodes[node as usize]
    }
    #[inline]
    pub(in crate::schedule) fn lane(&self, lane: u32) -> &Lane<X> {
        &self.lanes[lane as usize]
    }
    /// Lanes that are open or have been: those are empty.
    pub(in crate::schedule) fn lanes(&self) -> u32 {
        self.lanes.len() as u32
    }
    #[inline]
    pub(in crate::schedule) fn state(&mut self, lane: u32) -> &mut X {
        &mut self.lanes[lane as usize].state
    }
    #[inline]
    pub(in crate::schedule) fn node_state(&mut self, node: u32) -> &mut Y {
        &mut self.nodes[node as usize].state
    }
    #[inline]
    pub(in crate::schedule) fn lane_is_empty(&self, lane: u32) -> bool {
        self.lanes[lane as usize].head == NIL
    }

    /// The flow's lane, a new and empty one if it has none.
    #[inline]
    pub(in crate::schedule) fn open(&mut self, flow: FlowId) -> u32 {
        if let Some(lane) = self.table.get(flow) {
            return lane;
        }
        let fresh = Lane { flow, head: NIL, tail: NIL, bytes: 0, state: X::default() };
        let lane = match self.free_lanes.pop() {
            Some(lane) => {
                self.lanes[lane as usize] = fresh;
                lane
            }
            None => {
                self.lanes.push(fresh);
                self.lanes.len() as u32 - 1
            }
        };
        self.table.insert(flow, lane);
        lane
    }

    /// Gives up an empty lane and what was remembered of its flow.
    #[inline]
    pub(in crate::schedule) fn close(&mut self, lane: u32) {
        debug_assert!(self.lane_is_empty(lane));
        self.table.remove(self.lanes[lane as usize].flow);
        self.free_lanes.push(lane);
    }

    /// Appends a packet to a lane and returns its node.
    #[inline]
    pub(in crate::schedule) fn append(&mut self, lane: u32, entry: Entry, stamp: u64, state: Y) -> u32 {
        if self.packets == 0 {
            self.arrivals = 0; // keeps arrival numbers inside a heap key's tie-breaker
        }
        let owner = &mut self.lanes[lane as usize];
        let arrival = self.arrivals;
        let node = Node { entry, state, lane, prev: owner.tail, next: NIL, stamp, arrival };
        let at = Self::store(&mut self.nodes, &mut self.free_node, node);
        match owner.tail {
            NIL => owner.head = at,
            tail => self.nodes[tail as usize].next = at,
        }
        owner.tail = at;
        owner.bytes += u64::from(entry.wire);
        self.packets += 1;
        self.arrivals += 1;
        self.note_length(lane);
        at
    }

    /// Puts a packet back in front of its lane and returns its node, whose arrival has no number.
    pub(in crate::schedule) fn put_back(&mut self, lane: u32, entry: Entry, stamp: u64, state: Y) -> u32 {
        let owner = &mut self.lanes[lane as usize];
        let node = Node { entry, state, lane, prev: NIL, next: owner.head, stamp, arrival: 0 };
        let at = Self::store(&mut self.nodes, &mut self.free_node, node);
        match owner.head {
            NIL => owner.tail = at,
            head => self.nodes[head as usize].prev = at,
        }
        owner.head = at;
        owner.bytes += u64::from(entry.wire);
        self.packets += 1;
        self.note_length(lane);
        at
    }

    #[inline]
    fn store(nodes: &mut Vec<Node<Y>>, free: &mut Option<u32>, node: Node<Y>) -> u32 {
        match *free {
            Some(at) => {
                let next = nodes[at as usize].next;
                *free = (next != NIL).then_some(next);
                nodes[at as usize] = node;
                at
            }
            None => {
                nodes.push(node);
                nodes.len() as u32 - 1
            }
        }
    }

    /// Takes a packet out of the middle, the front or the back of its lane. The lane stays open.
    #[inline]
    pub(in crate::schedule) fn take(&mut self, at: u32) -> Node<Y> {
        let node = self.nodes[at as usize];
        let owner = &mut self.lanes[node.lane as usize];
        match node.prev {
            NIL => owner.head = node.next,
            prev => self.nodes[prev as usize].next = node.next,
        }
        match node.next {
            NIL => owner.tail = node.prev,
            next => self.nodes[next as usize].prev = node.prev,
        }
        owner.bytes -= u64::from(node.entry.wire);
        self.nodes[at as usize].next = self.free_node.unwrap_or(NIL);
        self.free_node = Some(at);
        self.packets -= 1;
        self.note_length(node.lane);
        node
    }

    /// The newest packet of [`Lanes::longest`].
    pub(in crate::schedule) fn tail_of_longest(&mut self) -> Option<u32> {
        self.longest().map(|lane| self.lanes[lane as usize].tail)
    }

    /// The lane that holds the most bytes; ties go to the smaller flow number.
    pub(in crate::schedule) fn longest(&mut self) -> Option<u32> {
        if !self.tracking {
            self.tracking = true;
            self.longest.clear();
            for lane in 0..self.lanes.len() as u32 {
                if self.lanes[lane as usize].bytes > 0 {
                    self.longest.push(self.length_key(lane));
                }
            }
        }
        Some(heap::slot(self.longest.first()?))
    }

    fn length_key(&self, lane: u32) -> heap::Key {
        let Lane { bytes, flow, .. } = self.lanes[lane as usize];
        heap::key(!bytes, u64::from(flow.0), lane)
    }

    #[inline]
    fn note_length(&mut self, lane: u32) {
        if self.tracking {
            self.note_length_slow(lane);
        }
    }

    fn note_length_slow(&mut self, lane: u32) {
        if self.packets == 0 {
            self.tracking = false;
        } else if self.lanes[lane as usize].bytes > 0 {
            self.longest.set(self.length_key(lane));
        } else if self.longest.contains(lane) {
            self.longest.remove(lane);
        }
    }
}

/// Which packet a fair queue drops when it is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FairOverflow {
    /// The tail of the longest queue in bytes.
    // McKenney, "Stochastic Fairness Queueing", INFOCOM 1990; ties go to the smaller flow number.
    // CHOICE ADS §2.2: protects the flows that keep to their share.
    #[default]
    LongestQueue,
    /// The arriving packet.
    Tail,
}

impl FairOverflow {
    /// Reports a victim that is configured although nothing is ever dropped.
    pub(in crate::schedule) fn check(self, at: &Around, problems: &mut Problems) {
        if self != Self::default() && !at.overflows {
            let hint = format!("limit `{}.buffer` or remove the key", at.section);
            problems.useless("overflow", "the buffer never overflows", hint);
        }
    }
}
