//! Push-in first-out: a queue in order of a key that is fixed on arrival. Sivaraman, Subramanian, Alizadeh, et al.,
//! "Programmable Packet Scheduling at Line Rate", SIGCOMM 2016.
//!
//! Least slack time first is this queue and two header hooks (Mittal et al., NSDI 2016, §5): the slack of all waiting
//! packets falls at the same speed, so slack + arrival time + transmission time never changes their order. So are
//! network-wide EDF, static priorities, and the omniscient scheduler; only what the header holds differs.
//!
//! Equal keys leave in order of arrival. A full queue gives up its largest key, the latest among equals; an arriving
//! packet is refused only if its key is larger than all (strictly: confirmed in the authors' simulator).
//!
//! Most queues are short: up to [`SHORT`] packets lie sorted side by side. Longer ones are an interval heap.

use super::interval_heap::IntervalHeap;
use super::{Entry, Order};
use crate::packet::{Handle, Packet};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use thalweg_units::{Rate, Serializer, Span, Time};

/// Packets that are kept sorted; few in tests, so that these meet both forms.
const SHORT: usize = if cfg!(test) { 4 } else { 32 };

/// A waiting packet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Item {
    key: i64,
    /// Number of its arrival, doubled; odd if it may be marked.
    number: u64,
    handle: Handle,
    wire: u32,
    route: u32,
}

impl Item {
    #[inline(always)]
    fn order(&self) -> u128 {
        // The same order without a sign.
        u128::from(self.key as u64 ^ 1 << 63) << 64 | u128::from(self.number)
    }
    #[inline]
    fn entry(&self) -> Entry {
        Entry { handle: self.handle, wire: self.wire, route: self.route, ecn_capable: self.number & 1 == 1 }
    }
}

impl PartialEq for Item {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}
impl Eq for Item {}
impl PartialOrd for Item {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Item {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

/// Packets by key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pifo {
    /// A short queue, smallest last; empty while `long` holds anything.
    short: Vec<Item>,
    long: IntervalHeap<Item>,
    arrivals: u64,
    /// The packet last served.
    served: Option<Item>,
    /// Adds transmission times to keys.
    wire: Option<Serializer>,
}

impl Pifo {
    /// Sorts by [`Packet::rank`], plus the transmission time at `add_transmission_at` if that is a rate.
    pub fn new(add_transmission_at: Option<Rate>) -> Self {
        let wire = add_transmission_at.map(|rate| Serializer::new(rate, Span::ZERO));
        Self { short: Vec::new(), long: IntervalHeap::default(), arrivals: 0, served: None, wire }
    }

    #[inline]
    fn insert(&mut self, item: Item) {
        if self.long.len() == 0 {
            if self.short.len() < SHORT {
                let at = self.short.iter().rposition(|waiting| *waiting > item).map_or(0, |i| i + 1);
                self.short.insert(at, item);
                return;
            }
            self.long.fill_from_sorted(&mut self.short);
        }
        self.long.push(item);
    }

    /// A long queue has become shorter.
    #[inline]
    fn shorten(&mut self) {
        if self.long.len() == SHORT / 2 {
            self.long.drain_sorted(&mut self.short);
        }
    }

    #[inline]
    fn first(&self) -> Option<&Item> {
        self.short.last().or(self.long.min())
    }
}

impl Order for Pifo {
    #[inline]
    fn pushes_out(&self) -> bool {
        true
    }
    fn is_transparent(&self) -> bool {
        true
    }
    #[inline]
    fn push(&mut self, _now: Time, packet: &Packet, handle: Handle) {
        let transmission = self.wire.map_or(0, |wire| wire.span(packet.wire).ps() as i64);
        let key = packet.rank.saturating_add(transmission);
        let Entry { wire, route, ecn_capable, .. } = Entry::new(packet, handle);
        let number = self.arrivals << 1 | u64::from(ecn_capable);
        self.arrivals += 1;
        self.insert(Item { key, number, handle, wire, route });
    }
    #[inline]
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        let item = match self.short.pop() {
            Some(item) => item,
            None => {
                let item = self.long.pop_min()?;
                self.shorten();
                item
            }
        };
        self.served = Some(item);
        Some(item.entry())
    }
    fn shed(&mut self) -> Option<Entry> {
        let arriving = |item: &Item| item.number >> 1 == self.arrivals - 1;
        if let Some(worst) = self.short.first() {
            let spared = arriving(worst) && self.short.get(1).is_some_and(|w| w.key == worst.key);
            return Some(self.short.remove(usize::from(spared)).entry());
        }
        let worst = self.long.pop_max()?;
        let spared = arriving(&worst) && self.long.max().is_some_and(|w| w.key == worst.key);
        let gone = if spared { self.long.pop_max()? } else { worst };
        if spared {
            self.long.push(worst);
        }
        self.shorten();
        Some(gone.entry())
    }
    /// A strictly smaller key goes before the packet in service.
    fn preempt(&mut self, _now: Time) -> Option<Entry> {
        let served = self.served?;
        if self.first()?.key >= served.key {
            return None;
        }
        self.served = None;
        self.insert(served);
        Some(served.entry())
    }
}
