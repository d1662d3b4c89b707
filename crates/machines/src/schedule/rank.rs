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
        let at = self.data.append(lane, entry, 0);
        let unsigned = rank as u64 ^ 1 << 63; // the same order without a sign
        let key = heap::key(unsigned, self.data.node(at).arrival, at);
        self.best.push(key);
        if self.overflowed {
            self.worst.push(heap::reversed(key));
        }
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
            let mut short = std::mem::take(&mut self.short);
            short.drain(..).for_each(|waiting| self.file(waiting));
            self.short = short; // its memory is kept
        }
        self.file(arriving);
    }
    #[inline]
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        if let Some(entry) = self.control.pop_front() {
            return Some(entry);
        }
        if let Some(best) = self.best_of_short() {
            return Some(self.short.remove(best).entry);
        }
        let mut at = heap::slot(self.best.first()?);
        if self.flow_order {
            // CHOICE ads M2.4: "earliest" is the packet queued for longest, as in pFabric's own simulator. The
            // lowest sequence number differs only when a retransmission overtakes inside one queue.
            at = self.data.lane(self.data.node(at).lane).head;
        }
        Some(self.take(at))
    }
    fn shed(&mut self) -> Option<Entry> {
        if let Some(worst) = self.worst_of_short() {
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
}
