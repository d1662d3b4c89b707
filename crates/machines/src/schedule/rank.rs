//! Smallest rank first. With remaining sizes as ranks and `flow_order`, pFabric's queue: Alizadeh, Yang, Sharif,
//! Katti, McKeown, Prabhakar, Shenker, "pFabric: Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013,
//! §4.1 (dequeue, drop) and its starvation prevention; with flow sizes, SJF.
//!
//! Served is the smallest rank, the earliest among equals; with `flow_order`, the earliest packet of that
//! packet's flow. Given up is the largest rank, the latest among equals, be it the one arriving. Control packets
//! go before all data, in order of arrival, and are given up only where there is no data.
//!
//! Most queues are short: up to [`SHORT`] packets lie side by side in order of arrival and are looked through.
//! Longer ones are kept in two heaps over one arena, until they are empty again: smallest first always,
//! largest first from the first overflow of a busy period on.

use super::heap::{self, IndexedHeap};
use super::lanes::Lanes;
use super::{Entry, Order};
use crate::packet::{Handle, Packet};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{FlowId, Time};

/// Packets that are looked through rather than kept in order; few in tests, so that these meet both forms.
const SHORT: usize = if cfg!(test) { 3 } else { 16 };

/// A packet of a short queue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Short {
    rank: i64,
    flow: FlowId,
    entry: Entry,
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
    /// All data of a short queue in order of arrival; empty while `best` holds anything.
    short: Vec<Short>,
    /// Each flow's packets in order of arrival; all in one lane where flows do not matter.
    data: Lanes<()>,
    best: IndexedHeap,
    worst: IndexedHeap,
    /// `worst` is up to date.
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

    /// A packet joins a long queue.
    fn file(&mut self, Short { rank, flow, entry }: Short) {
        let lane = self.data.open(if self.flow_order { flow } else { FlowId(0) });
        self.number += 2;
        let at = self.data.append(lane, entry, self.number);
        self.list(heap::key(unsigned(rank), self.number, at));
    }

    fn list(&mut self, key: heap::Key) {
        self.best.push(key);
        if self.overflowed {
            self.worst.push(heap::reversed(key));
        }
    }

    /// All packets of a short queue join a long one.
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

    /// Rank and flow of the packet whose flow is served next, if data waits.
    fn best_waiting(&self) -> Option<(i64, FlowId)> {
        let Some(first) = self.best.first() else {
            return self.short.iter().min_by_key(|p| p.rank).map(|p| (p.rank, p.flow));
        };
        let lane = self.data.node(heap::slot(first)).lane;
        Some((signed(heap::value(first)), self.data.lane(lane).flow))
    }

    #[inline]
    fn take(&mut self, at: u32) -> Entry {
        self.best.remove(at);
        if self.overflowed {
            self.worst.remove(at);
            self.overflowed = self.best.len() > 0;
        }
        let node = self.data.take(at);
        if self.flow_order && self.data.lane_is_empty(node.lane) {
            self.data.close(node.lane);
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
        if packet.is_control() {
            self.control.push_back(Entry::new(packet, handle));
            return;
        }
        let arriving = Short { rank: packet.rank, flow: packet.flow, entry: Entry::new(packet, handle) };
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
            at = self.data.lane(self.data.node(at).lane).head;
        }
        let (rank, node) = (signed(heap::value(self.best.key(at)?)), *self.data.node(at));
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
            for &key in self.best.keys() {
                self.worst.push(heap::reversed(key));
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
            Place::Long(number) if self.best.len() > 0 => {
                let lane = self.data.open(if self.flow_order { packet.flow } else { FlowId(0) });
                let at = self.data.put_back(lane, packet.entry, number);
                self.list(heap::key(unsigned(packet.rank), number, at));
            }
            Place::Long(_) => self.short.insert(0, packet),
            Place::Short(behind) => self.short.insert(behind, packet),
        }
        Some(packet.entry)
    }
}

/// A rank in the same order without a sign.
#[inline(always)]
fn unsigned(rank: i64) -> u64 {
    rank as u64 ^ 1 << 63
}

/// And back.
#[inline(always)]
fn signed(rank: u64) -> i64 {
    (rank ^ 1 << 63) as i64
}
