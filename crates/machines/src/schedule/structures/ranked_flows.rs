//! Packets by rank, stored as flows by smallest rank: flows are few, however long the queue, and where ranks are
//! remaining sizes, a flow's smallest rank rarely changes until the flow ends. What it will be after each departure is
//! known beforehand: it is one of the flow's *minima*, the packets with no smaller one behind them. A packet that joins
//! takes those that are larger off the end of that list, as in any minimum over a sliding window.

use crate::schedule::Entry;
use crate::schedule::structures::heap::{self, IndexedHeap};
use crate::schedule::structures::lanes::{Lanes, NIL};
use serde::{Deserialize, Serialize};
use thalweg_units::FlowId;

/// A packet as ranked orders see it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::schedule) struct Ranked {
    /// The rank as an unsigned number of the same order.
    pub(in crate::schedule) rank: u64,
    pub(in crate::schedule) flow: FlowId,
    pub(in crate::schedule) entry: Entry,
}

/// The order's state of a waiting packet.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Minimum {
    rank: u64,
    /// If it is one of its flow's minima: those before and behind it, [`NIL`] at the ends.
    before: u32,
    behind: u32,
}

/// Waiting packets, by the smallest rank of their flow or, where flows do not matter, each by its own.
///
/// The fields are ordered by use: taking the best packet touches two cache lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C)]
pub(in crate::schedule) struct RankedFlows {
    /// Lanes by their first minima; packets where flows do not matter.
    best: IndexedHeap,
    flow_order: bool,
    /// `worst` is kept.
    overflowed: bool,
    /// Each flow's packets in order of arrival, stamped with its number, and the first of the flow's minima; the last
    /// is always the newest packet. All in one lane where flows do not matter.
    data: Lanes<u32, Minimum>,
    /// Packets, largest rank first; kept from the first overflow of a busy period to its end.
    worst: IndexedHeap,
}

impl RankedFlows {
    pub(in crate::schedule) fn new(flow_order: bool) -> Self {
        Self {
            best: IndexedHeap::default(),
            flow_order,
            overflowed: false,
            data: Lanes::default(),
            worst: IndexedHeap::default(),
        }
    }
    #[inline]
    pub(in crate::schedule) fn is_empty(&self) -> bool {
        self.best.len() == 0
    }
    /// The smallest rank, the earliest among equals, and its flow (if flows matter).
    pub(in crate::schedule) fn first(&self) -> Option<(u64, FlowId)> {
        let first = self.best.first()?;
        let lane = if self.flow_order { heap::slot(first) } else { 0 };
        Some((heap::value(first), self.data.lane(lane).flow))
    }

    /// Takes out the earliest packet of the flow with the smallest rank; returns its number as well.
    #[inline]
    pub(in crate::schedule) fn pop(&mut self) -> Option<(Ranked, u64)> {
        let mut at = heap::slot(self.best.first()?);
        if self.flow_order {
            // CHOICE ADS §2.2: "earliest" is the packet queued for longest, as in pFabric's own simulator. The
            // lowest sequence number differs only when a retransmission overtakes inside one queue.
            at = self.data.lane(at).head;
        }
        let node = self.data.node(at);
        let (rank, number, flow) = (node.state.rank, node.stamp, self.data.lane(node.lane).flow);
        Some((Ranked { rank, flow, entry: self.take(at) }, number))
    }

    /// Takes out the largest rank, the latest among equals.
    pub(in crate::schedule) fn pop_worst(&mut self) -> Option<Entry> {
        if self.is_empty() {
            return None;
        }
        if !self.overflowed {
            self.overflowed = true;
            self.worst.clear();
            for lane in 0..self.data.lanes() {
                let mut at = self.data.lane(lane).head;
                while at != NIL {
                    self.list_worst(at);
                    at = self.data.node(at).next;
                }
            }
        }
        let at = heap::slot(self.worst.first()?);
        Some(self.take(at))
    }

    /// A packet joins, numbered higher than all.
    #[inline]
    pub(in crate::schedule) fn push(&mut self, Ranked { rank, flow, entry }: Ranked, number: u64) {
        let lane = self.lane_of(flow);
        let mut before = if self.flow_order { self.data.lane(lane).tail } else { NIL };
        while before != NIL && self.minimum(before).rank > rank {
            before = self.minimum(before).before;
        }
        let at = self.data.append(lane, entry, number, Minimum { rank, before, behind: NIL });
        match before {
            NIL => self.list(lane, at),
            before => self.data.node_state(before).behind = at,
        }
        self.list_worst(at);
    }

    /// A packet goes back to the front of its flow: one of the minima, unless there is a smaller one.
    pub(in crate::schedule) fn put_back(&mut self, Ranked { rank, flow, entry }: Ranked, number: u64) {
        let lane = self.lane_of(flow);
        let first = if self.data.lane_is_empty(lane) { NIL } else { *self.data.state(lane) };
        let smallest = !self.flow_order || first == NIL || self.minimum(first).rank >= rank;
        let behind = if smallest { first } else { NIL };
        let at = self.data.put_back(lane, entry, number, Minimum { rank, before: NIL, behind });
        if smallest {
            if self.flow_order && first != NIL {
                self.data.node_state(first).before = at;
            }
            self.list(lane, at);
        }
        self.list_worst(at);
    }

    #[inline]
    fn lane_of(&mut self, flow: FlowId) -> u32 {
        self.data.open(if self.flow_order { flow } else { FlowId(0) })
    }

    /// What sorts the waiting packet `at`, in the name of `slot`.
    #[inline]
    fn key(&self, at: u32, slot: u32) -> heap::Key {
        let node = self.data.node(at);
        heap::key(node.state.rank, node.stamp, slot)
    }

    #[inline]
    fn minimum(&self, at: u32) -> &Minimum {
        &self.data.node(at).state
    }

    /// The packet `at` has become the first of its lane's minima, or its lane means nothing.
    #[inline]
    fn list(&mut self, lane: u32, at: u32) {
        if self.flow_order {
            *self.data.state(lane) = at;
            self.best.set(self.key(at, lane));
        } else {
            self.best.push(self.key(at, at));
        }
    }

    #[inline]
    fn list_worst(&mut self, at: u32) {
        if self.overflowed {
            self.worst.push(heap::reversed(self.key(at, at)));
        }
    }

    /// A packet that waits leaves: the first of its lane, or the largest rank of all. If the latter is one of its
    /// flow's minima, nothing is behind it: that would be larger, smaller, or a later one of the same rank.
    #[inline]
    fn take(&mut self, at: u32) -> Entry {
        let node = self.data.take(at);
        let Minimum { before, behind, .. } = node.state;
        if !self.flow_order {
            self.best.remove(at);
        } else if *self.data.state(node.lane) == at {
            if behind == NIL {
                self.best.remove(node.lane);
                self.data.close(node.lane);
            } else {
                self.data.node_state(behind).before = NIL;
                self.list(node.lane, behind);
            }
        } else if node.next == NIL {
            // The last of several minima. Nothing was between it and the one before: it would have been larger.
            self.data.node_state(before).behind = NIL;
        }
        if self.overflowed {
            self.worst.remove(at);
            self.overflowed = self.data.packets() > 0;
        }
        node.entry
    }
}
