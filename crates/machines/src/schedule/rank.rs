//! Smallest rank first. With remaining sizes as ranks and `flow_order`, pFabric's queue: Alizadeh, Yang, Sharif,
//! Katti, McKeown, Prabhakar, Shenker, "pFabric: Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013,
//! §4.1 (dequeue, drop) and its starvation prevention; with flow sizes, SJF.
//!
//! Served is the smallest rank, the earliest among equals; with `flow_order`, the earliest packet of that
//! packet's flow. Given up is the largest rank, the latest among equals, be it the one arriving. Control packets
//! go before all data, in order of arrival, and are given up only where there is no data.
//!
//! Most queues are short: up to [`SHORT`] packets lie side by side in order of arrival and are looked through.
//! Longer ones are kept in order ([`RankedFlows`]) until they are empty again.

use super::structures::heap;
use super::structures::ranked_flows::{Ranked, RankedFlows};
use super::{Entry, Order, Preemptible};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{FlowId, Time};
use thalweg_wire::{Handle, Packet};

/// Up to this many packets are searched rather than kept sorted; few in tests, so that these reach both forms.
const SHORT: usize = if cfg!(test) { 3 } else { 16 };

/// Where a packet in service came from, and would go back to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Place {
    /// In a short queue: behind so many.
    Short(usize),
    /// In a long one: its number.
    Long(u64),
}

/// Packets by rank.
///
/// The fields are ordered by use: those of short queues come first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct Rank {
    /// All data of a short queue in order of arrival; empty while `long` holds anything.
    short: Vec<Ranked>,
    flow_order: bool,
    /// The packet in service may be taken back.
    preemptive: bool,
    /// `control` holds something: kept here so that data need not look.
    has_control: bool,
    /// Packets in `long`: kept here so that short queues do not touch it.
    in_long: u32,
    long: RankedFlows,
    /// Number of the last arrival of a long queue. They are even: what is taken back finds a number between any two.
    number: u64,
    control: VecDeque<Entry>,
    /// The packet last served, if it is data.
    served: Option<(Ranked, Place)>,
}

impl Rank {
    /// With `flow_order`, a flow's packets leave in order of arrival whatever their ranks; `preemptive`: what
    /// is in service may be taken back.
    pub fn new(flow_order: bool, preemptive: bool) -> Self {
        Self {
            short: Vec::new(),
            flow_order,
            preemptive,
            has_control: false,
            in_long: 0,
            long: RankedFlows::new(flow_order),
            number: 0,
            control: VecDeque::new(),
            served: None,
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

    fn pop_control(&mut self) -> Option<Entry> {
        let entry = self.control.pop_front();
        self.has_control = !self.control.is_empty();
        self.served = None;
        entry
    }

    fn pop_of_long(&mut self) -> Option<Entry> {
        let (packet, number) = self.long.pop()?;
        self.in_long -= 1;
        if self.preemptive {
            self.served = Some((packet, Place::Long(number)));
        }
        Some(packet.entry)
    }

    #[inline]
    fn file(&mut self, packet: Ranked) {
        self.number += 2;
        self.in_long += 1;
        self.long.push(packet, self.number);
    }

    /// Rank and flow of the packet whose flow is served next, if data waits.
    fn best_waiting(&self) -> Option<(u64, FlowId)> {
        self.short.iter().min_by_key(|p| p.rank).map(|p| (p.rank, p.flow)).or_else(|| self.long.first())
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
    fn puts_control_first(&self) -> bool {
        !self.has_control & !self.preemptive
    }
    #[inline]
    fn refuses(&self, _: &Packet) -> bool {
        self.in_long as usize >= heap::MAX_SLOTS
    }
    #[inline]
    fn push(&mut self, _now: Time, packet: &Packet, handle: Handle) {
        let entry = Entry::new(packet, handle);
        if packet.is_control() {
            self.control.push_back(entry);
            self.has_control = true;
            return;
        }
        let arriving = Ranked { rank: packet.rank as u64 ^ 1 << 63, flow: packet.flow, entry };
        if self.in_long == 0 {
            if self.short.len() < SHORT {
                self.short.push(arriving);
                return;
            }
            self.lengthen();
        }
        self.file(arriving);
    }
    #[inline(always)]
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        if self.has_control {
            return self.pop_control();
        }
        if let Some(best) = self.best_of_short() {
            let packet = self.short.remove(best);
            if self.preemptive {
                self.served = Some((packet, Place::Short(best)));
            }
            return Some(packet.entry);
        }
        self.pop_of_long()
    }
    fn push_out(&mut self, _arriving: Handle) -> Option<Entry> {
        if let Some(worst) = self.worst_of_short() {
            if let Some((_, Place::Short(behind))) = &mut self.served {
                *behind -= usize::from(worst < *behind);
            }
            return Some(self.short.remove(worst).entry);
        }
        if let Some(entry) = self.long.pop_worst() {
            self.in_long -= 1;
            return Some(entry);
        }
        let given_up = self.control.pop_back();
        self.has_control = !self.control.is_empty();
        given_up
    }
    fn preemptible(&mut self) -> Option<&mut dyn Preemptible> {
        Some(self)
    }
}

impl Preemptible for Rank {
    /// The packet that would be served next goes before the one in service if its rank is strictly smaller,
    /// or if it is control; but not before an earlier packet of its own flow.
    fn preempt(&mut self, _now: Time) -> Option<Entry> {
        let (packet, place) = self.served?;
        if !self.has_control {
            let (rank, flow) = self.best_waiting()?;
            if rank >= packet.rank || self.flow_order && flow == packet.flow {
                return None;
            }
        }
        self.served = None;
        match place {
            Place::Long(number) if self.in_long > 0 => {
                self.in_long += 1;
                self.long.put_back(packet, number);
            }
            Place::Long(_) => self.short.insert(0, packet),
            Place::Short(behind) => self.short.insert(behind, packet),
        }
        Some(packet.entry)
    }
}
