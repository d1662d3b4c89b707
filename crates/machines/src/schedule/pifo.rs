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
//! Keys may be cut down to whole buckets: the schedule of a calendar queue (Brown, CACM 31(10), 1988) whose
//! days are served first come, first served, or of a bucket queue in hardware.
//!
//! Most queues are short: up to [`SHORT`] keys lie sorted side by side. Longer ones are a heap; from the first overflow
//! until they are short again, one with two ends.

use super::structures::heap::{self, Key, MAX_SLOTS};
use super::structures::interval_heap::IntervalHeap;
use super::structures::min_heap::MinHeap;
use super::{Around, At, Entry, Key as SortedBy, Needs, Order, Parameters, Preemptible, Problems};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Serializer, Span, Time};
use thalweg_wire::{Handle, Packet};

/// A push-in first-out queue: lowest rank header first, in order of arrival among equals; drops the highest (Sivaraman
/// et al., SIGCOMM 2016). `transport.rank` sets what senders write.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Bucket width: ranks are rounded down to multiples of this (bytes; for slack, picoseconds), and packets of one
    /// bucket leave in order of arrival, as in a calendar queue. If not given, ranks are exact.
    #[schemars(range(min = 1, max = 1_000_000_000_000_000_000_i64))]
    pub bucket: Option<u64>,
}

impl Parameters for Params {
    type Machine = Pifo;

    fn needs(&self) -> Needs {
        Needs { key: SortedBy::Rank, overtakes: true, ..Needs::NOTHING }
    }
    fn check(&self, _: &Around, problems: &mut Problems) {
        if self.bucket == Some(0) {
            problems.wrong(
                "bucket",
                "a bucket of 0 holds nothing",
                "remove the key: ranks are exact without it",
            );
        }
    }
    fn make(&self, _: &At) -> Result<Pifo, Invalid> {
        Ok(Pifo::new(None, self.bucket.unwrap_or(0)))
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { bucket: None }, Self { bucket: Some(5000) }]
    }
}

/// Keys that are kept sorted; few in tests, so that these meet all forms.
const SHORT: usize = if cfg!(test) { 4 } else { 32 };

/// Packets by key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pifo {
    /// A short queue, smallest last. Of the three at most one holds anything.
    short: Vec<Key>,
    /// A long one.
    long: MinHeap,
    /// A long one that has overflowed.
    both: IntervalHeap<Key>,
    /// Waiting packets, by the slots of their keys.
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// Number of the next arrival.
    arrivals: u64,
    /// The packet last served.
    served: Option<(Key, Entry)>,
    /// Adds transmission times to keys.
    wire: Option<Serializer>,
    /// Keys are cut down to whole multiples of this; 0: not at all.
    bucket: i64,
}

impl Pifo {
    /// Sorts by [`Packet::rank`], plus the transmission time at `add_transmission_at` if that is a rate, in buckets of
    /// `bucket` units of the rank (zero: exactly).
    pub fn new(add_transmission_at: Option<Rate>, bucket: u64) -> Self {
        Self {
            short: Vec::new(),
            long: MinHeap::default(),
            both: IntervalHeap::default(),
            entries: Vec::new(),
            free: Vec::new(),
            arrivals: 0,
            served: None,
            wire: add_transmission_at.map(|rate| Serializer::new(rate, Span::ZERO)),
            bucket: i64::try_from(bucket).unwrap_or(i64::MAX),
        }
    }

    /// The key of a packet: never above the exact one, also before time zero.
    #[inline]
    fn cut(&self, exact: i64) -> i64 {
        if self.bucket == 0 { exact } else { exact.saturating_sub(exact.rem_euclid(self.bucket)) }
    }

    /// Inserts a packet by its value and the number of its arrival.
    #[inline]
    fn insert(&mut self, value: u64, number: u64, entry: Entry) {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.entries[slot as usize] = entry;
                slot
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        let key = heap::key(value, number, slot);
        if self.both.len() > 0 {
            self.both.push(key);
        } else if self.long.len() > 0 {
            self.long.push(key);
        } else if self.short.len() < SHORT {
            let at = self.short.iter().filter(|&&waiting| waiting > key).count(); // without branches
            self.short.insert(at, key);
        } else {
            self.long.keys().extend(self.short.drain(..).rev());
            self.long.push(key);
        }
    }

    /// The entry of a key that has been taken out.
    #[inline]
    fn release(&mut self, key: Key) -> Entry {
        // A long queue has become short, if it has.
        if self.long.len() == SHORT / 2 {
            self.short.append(self.long.keys());
            self.short.sort_unstable_by(|a, b| b.cmp(a));
        } else if self.both.len() == SHORT / 2 {
            self.both.drain_sorted(&mut self.short);
        }
        let slot = heap::slot(key);
        self.free.push(slot);
        self.entries[slot as usize]
    }

    #[inline]
    fn first(&self) -> Option<Key> {
        self.short.last().or(self.long.first()).or(self.both.min()).copied()
    }

    /// Of two that tie, the packet that has just arrived is spared.
    fn spares(&self, arriving: Handle, worst: Key, second: Option<&Key>) -> bool {
        self.entries[heap::slot(worst) as usize].handle == arriving
            && second.is_some_and(|&w| heap::value(w) == heap::value(worst))
    }
}

/// Number of the arrival of a key's packet.
fn number(key: Key) -> u64 {
    key as u64 / MAX_SLOTS as u64
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
    fn upcoming(&self) -> Option<Handle> {
        Some(self.entries[heap::slot(self.first()?) as usize].handle)
    }
    #[inline]
    fn refuses(&self, _: &Packet) -> bool {
        self.entries.len() - self.free.len() >= MAX_SLOTS || self.arrivals > heap::MAX_TIE
    }
    #[inline]
    fn push(&mut self, _now: Time, packet: &Packet, handle: Handle) {
        if self.entries.len() == self.free.len() {
            // Numbers start anew, behind that of the packet in service, should it be taken back.
            self.arrivals = 1;
            self.served = self.served.map(|(key, entry)| (heap::key(heap::value(key), 0, 0), entry));
        }
        let transmission = self.wire.map_or(0, |wire| wire.span(packet.wire).ps() as i64);
        // The same order without a sign.
        let value = self.cut(packet.rank.saturating_add(transmission)) as u64 ^ 1 << 63;
        let number = self.arrivals;
        self.arrivals += 1;
        self.insert(value, number, Entry::new(packet, handle));
    }
    #[inline]
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        let key = match self.short.pop() {
            Some(key) => key,
            None => self.long.pop().or_else(|| self.both.pop_min())?,
        };
        let entry = self.release(key);
        self.served = Some((key, entry));
        Some(entry)
    }
    fn push_out(&mut self, arriving: Handle) -> Option<Entry> {
        self.long.keys().drain(..).for_each(|key| self.both.push(key));
        let gone = if let Some(&worst) = self.short.first() {
            self.short.remove(usize::from(self.spares(arriving, worst, self.short.get(1))))
        } else {
            let worst = self.both.pop_max()?;
            if self.spares(arriving, worst, self.both.max()) {
                let second = self.both.pop_max();
                self.both.push(worst);
                second?
            } else {
                worst
            }
        };
        Some(self.release(gone))
    }
    fn preemptible(&mut self) -> Option<&mut dyn Preemptible> {
        Some(self)
    }
}

impl Preemptible for Pifo {
    /// A strictly smaller key goes before the packet in service.
    fn preempt(&mut self, _now: Time) -> Option<Entry> {
        let (key, entry) = self.served?;
        if heap::value(self.first()?) >= heap::value(key) {
            return None;
        }
        self.served = None;
        self.insert(heap::value(key), number(key), entry);
        Some(entry)
    }
}
