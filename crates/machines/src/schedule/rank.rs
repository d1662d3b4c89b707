//! Smallest rank first. With remaining sizes as ranks and `flow_order`, pFabric's queue: Alizadeh, Yang, Sharif,
//! Katti, McKeown, Prabhakar, Shenker, "pFabric: Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013,
//! §4.1 (dequeue, drop) and its starvation prevention; with flow sizes, SJF.
//!
//! Served is the smallest rank, the earliest among equals; with `flow_order`, the earliest packet of that
//! packet's flow. Given up is the largest rank, the latest among equals, be it the one arriving. Control packets
//! go before all data, in order of arrival, and are given up only where there is no data.
//!
//! Most queues are short: up to [`SHORT`] packets lie side by side in order of arrival and are looked through.
//! Longer ones are sorted until they are empty again, with `flow_order` by flow, each by its smallest rank: flows are
//! few, however long the queue, and as remaining sizes fall, that rank seldom leaves. What a flow's smallest rank will
//! be after each departure is known beforehand: it is one of its *minima*, the packets with no smaller one behind them.

use super::heap::{self, IndexedHeap};
use super::lanes::{Lanes, NIL};
use super::{Entry, Order};
use crate::packet::{Handle, Packet};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{FlowId, Time};

/// Packets that are looked through rather than kept in order; few in tests, so that these meet both forms.
const SHORT: usize = if cfg!(test) { 3 } else { 16 };

/// A packet of a short queue, or in service.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Short {
    /// In the same order without a sign.
    rank: u64,
    flow: FlowId,
    entry: Entry,
}

/// What the order knows of a packet of a long queue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Ranked {
    rank: u64,
    /// If it is one of its flow's minima: those before and behind it, [`NIL`] at the ends.
    before: u32,
    behind: u32,
}

/// Where a packet in service came from, and would go back to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Place {
    /// In a short queue: behind so many.
    Short(usize),
    /// In a long one: its number.
    Long(u64),
}

/// Packets by rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rank {
    control: VecDeque<Entry>,
    /// All data of a short queue in order of arrival; empty while the rest holds anything.
    short: Vec<Short>,
    /// Each flow's packets in order of arrival, stamped with its number, and the first of the flow's minima; the last
    /// is always the newest packet. All in one lane where flows do not matter.
    data: Lanes<u32>,
    /// By node.
    ranked: Vec<Ranked>,
    /// Lanes by their first minima; packets where flows do not matter.
    best: IndexedHeap,
    /// Packets, largest rank first; kept from the first overflow of a busy period to its end.
    worst: IndexedHeap,
    overflowed: bool,
    /// Number of the last arrival of a long queue. They are even: what is taken back finds a number between any two.
    number: u64,
    /// The packet last served, if it is data.
    served: Option<(Short, Place)>,
    flow_order: bool,
}

impl Rank {
    /// With `flow_order`, a flow's packets leave in order of arrival whatever their ranks.
    pub fn new(flow_order: bool) -> Self {
        Self {
            control: VecDeque::new(),
            short: Vec::new(),
            data: Lanes::default(),
            ranked: Vec::new(),
            best: IndexedHeap::default(),
            worst: IndexedHeap::default(),
            overflowed: false,
            number: 0,
            served: None,
            flow_order,
        }
    }

    /// Position of the packet to serve, if the queue is short and holds data.
    #[inline]
    fn best_of_short(&self) -> Option<usize> {
        // Of equal ranks the first: `min_by_key` returns the first minimum.
        let (best, packet) = self.short.iter().enumerate().min_by_key(|(_, p)| p.rank)?;
        if !self.flow_order {
            return Some(best);
        }
        self.short.iter().position(|p| p.flow == packet.flow)
    }

    /// Position of the packet to give up, if the queue is short and holds data.
    fn worst_of_short(&self) -> Option<usize> {
        // Of equal ranks the last: `max_by_key` returns the last maximum.
        self.short.iter().enumerate().max_by_key(|(_, p)| p.rank).map(|(at, _)| at)
    }

    /// All packets of a short queue join a long one.
    #[cold]
    fn lengthen(&mut self) {
        self.number = 0;
        let mut short = std::mem::take(&mut self.short);
        short.drain(..).for_each(|waiting| self.file(waiting));
        self.short = short; // its memory is kept
        if let Some((_, place)) = &mut self.served {
            *place = Place::Long(match *place {
                Place::Short(behind) => 2 * behind as u64 + 1,
                Place::Long(_) => 0, // it came before the queue was short, and so before all
            });
        }
    }

    /// A packet joins a long queue.
    fn file(&mut self, Short { rank, flow, entry }: Short) {
        let lane = self.lane_of(flow);
        let mut before = if self.flow_order { self.data.lane(lane).tail } else { NIL };
        self.number += 2;
        let at = self.data.append(lane, entry, self.number);
        while before != NIL && self.ranked[before as usize].rank > rank {
            before = self.ranked[before as usize].before;
        }
        self.note(at, Ranked { rank, before, behind: NIL });
        match before {
            NIL => self.list(lane, at),
            before => self.ranked[before as usize].behind = at,
        }
        self.list_worst(at);
    }

    /// A packet goes back to the front of its flow in a long queue: one of the minima, unless there is a smaller one.
    fn put_back(&mut self, Short { rank, flow, entry }: Short, number: u64) {
        let lane = self.lane_of(flow);
        let first = if self.data.lane_is_empty(lane) { NIL } else { *self.data.state(lane) };
        let at = self.data.put_back(lane, entry, number);
        if !self.flow_order || first == NIL || self.ranked[first as usize].rank >= rank {
            self.note(at, Ranked { rank, before: NIL, behind: first });
            if self.flow_order && first != NIL {
                self.ranked[first as usize].before = at;
            }
            self.list(lane, at);
        } else {
            self.note(at, Ranked { rank, before: NIL, behind: NIL });
        }
        self.list_worst(at);
    }

    /// Rank and flow of the packet whose flow is served next, if data waits.
    fn best_waiting(&self) -> Option<(u64, FlowId)> {
        let Some(first) = self.best.first() else {
            return self.short.iter().min_by_key(|p| p.rank).map(|p| (p.rank, p.flow));
        };
        let lane = if self.flow_order { heap::slot(first) } else { 0 };
        Some((heap::value(first), self.data.lane(lane).flow))
    }

    #[inline]
    fn lane_of(&mut self, flow: FlowId) -> u32 {
        self.data.open(if self.flow_order { flow } else { FlowId(0) })
    }

    /// What sorts the waiting packet `at`, in the name of `slot`.
    #[inline]
    fn key(&self, at: u32, slot: u32) -> heap::Key {
        heap::key(self.ranked[at as usize].rank, self.data.node(at).stamp, slot)
    }

    /// Notes a packet's rank and its neighbours among the minima.
    #[inline]
    fn note(&mut self, at: u32, ranked: Ranked) {
        match self.ranked.get_mut(at as usize) {
            Some(old) => *old = ranked,
            None => self.ranked.push(ranked), // nodes are numbered in order
        }
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
        let Ranked { before, behind, .. } = self.ranked[at as usize];
        let node = self.data.take(at);
        if !self.flow_order {
            self.best.remove(at);
        } else if *self.data.state(node.lane) == at {
            if behind == NIL {
                self.best.remove(node.lane);
                self.data.close(node.lane);
            } else {
                self.ranked[behind as usize].before = NIL;
                self.list(node.lane, behind);
            }
        } else if node.next == NIL {
            // The last of several minima. Nothing was between it and the one before: it would have been larger.
            self.ranked[before as usize].behind = NIL;
        }
        if self.overflowed {
            self.worst.remove(at);
            self.overflowed = self.data.packets() > 0;
        }
        node.entry
    }
}

impl Order for Rank {
    #[inline]
    fn pushes_out(&self) -> bool {
        true
    }
    fn is_transparent(&self) -> bool {
        true
    }
    #[inline]
    fn is_full(&self) -> bool {
        self.data.is_full()
    }
    #[inline]
    fn push(&mut self, _now: Time, packet: &Packet, handle: Handle) {
        let entry = Entry::new(packet, handle);
        if packet.is_control() {
            self.control.push_back(entry);
            return;
        }
        let arriving = Short { rank: packet.rank as u64 ^ 1 << 63, flow: packet.flow, entry };
        if self.best.len() == 0 {
            if self.short.len() < SHORT {
                self.short.push(arriving);
                return;
            }
            self.lengthen();
        }
        self.file(arriving);
    }
    #[inline]
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        if let Some(entry) = self.control.pop_front() {
            self.served = None;
            return Some(entry);
        }
        if let Some(best) = self.best_of_short() {
            let packet = self.short.remove(best);
            self.served = Some((packet, Place::Short(best)));
            return Some(packet.entry);
        }
        let mut at = heap::slot(self.best.first()?);
        if self.flow_order {
            // CHOICE ads M2.4: "earliest" is the packet queued for longest, as in pFabric's own simulator. The
            // lowest sequence number differs only when a retransmission overtakes inside one queue.
            at = self.data.lane(at).head;
        }
        let (rank, node) = (self.ranked[at as usize].rank, self.data.node(at));
        let flow = self.data.lane(node.lane).flow;
        self.served = Some((Short { rank, flow, entry: node.entry }, Place::Long(node.stamp)));
        Some(self.take(at))
    }
    fn shed(&mut self, _arriving: Handle) -> Option<Entry> {
        if let Some(worst) = self.worst_of_short() {
            if let Some((_, Place::Short(behind))) = &mut self.served {
                *behind -= usize::from(worst < *behind);
            }
            return Some(self.short.remove(worst).entry);
        }
        if self.best.len() == 0 {
            return self.control.pop_back();
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
    /// Whoever would be served next goes before the packet in service if its rank is strictly smaller, or if it is
    /// control; but not before an earlier packet of its own flow.
    fn preempt(&mut self, _now: Time) -> Option<Entry> {
        let (packet, place) = self.served?;
        if self.control.is_empty() {
            let (rank, flow) = self.best_waiting()?;
            if rank >= packet.rank || self.flow_order && flow == packet.flow {
                return None;
            }
        }
        self.served = None;
        match place {
            Place::Long(number) if self.best.len() > 0 => self.put_back(packet, number),
            Place::Long(_) => self.short.insert(0, packet),
            Place::Short(behind) => self.short.insert(behind, packet),
        }
        Some(packet.entry)
    }
}
