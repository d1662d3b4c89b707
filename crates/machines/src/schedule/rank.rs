//! Smallest rank first. With remaining sizes as ranks and `flow_order`, pFabric's queue: Alizadeh, Yang, Sharif,
//! Katti, McKeown, Prabhakar, Shenker, "pFabric: Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013,
//! §4.1 (dequeue, drop) and its starvation prevention; with flow sizes, SJF.
//!
//! Served is the smallest rank, the earliest among equals; with `flow_order`, the earliest packet of that
//! packet's flow. Given up is the largest rank, the latest among equals, be it the one arriving. Control packets
//! go before all data, in order of arrival, and are given up only where there is no data.
//!
//! Two heaps over one arena: smallest first always, largest first from the first overflow of a busy period on.

use super::heap::{self, IndexedHeap};
use super::lanes::Lanes;
use super::{Entry, Order};
use crate::packet::{Handle, Packet};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{FlowId, Time};

/// Packets by rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rank {
    control: VecDeque<Entry>,
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
            data: Lanes::default(),
            best: IndexedHeap::default(),
            worst: IndexedHeap::default(),
            overflowed: false,
            flow_order,
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
        let lane = self.data.open(if self.flow_order { packet.flow } else { FlowId(0) });
        let at = self.data.append(lane, packet, handle, 0);
        let unsigned = packet.rank as u64 ^ 1 << 63; // the same order without a sign
        let key = heap::key(unsigned, self.data.node(at).arrival, at);
        self.best.push(key);
        if self.overflowed {
            self.worst.push(heap::reversed(key));
        }
    }
    #[inline]
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        if let Some(entry) = self.control.pop_front() {
            return Some(entry);
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
