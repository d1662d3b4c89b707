//! ADS-k: Approximate and Deployable SRPT. Mushtaq, Mittal, McCauley, Alizadeh, Ratnasamy, Shenker, "Datacenter
//! Congestion Control: Identifying what is essential and making it practical", ACM CCR, §3.
//!
//! * [`table`](Table): the data plane, what a commodity switch offers: an exact-match table from priority to queue
//!   with a counter per entry, in front of k strict-priority FIFOs.
//! * [`control`](Control): the control plane: reads the counters, writes the entries.
//! * [`split`]: the mapping itself, equal packets per queue.

mod control;
pub mod split;
mod table;

pub use control::Control;
pub use table::{MAX_PRIORITY, Table};

use super::structures::levels::Levels;
use super::{Around, At, Entry, Key, Needs, Order, Parameters, Pausable, Problems, QUEUE};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span, Time, tagged};
use thalweg_wire::{Handle, Packet};

/// Approximate and deployable SRPT: a few strict-priority FIFOs behind a table from remaining size to queue
/// (Mushtaq et al., ACM CCR, §3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// k: number of FIFOs.
    #[schemars(range(min = 1, max = 64))]
    pub queues: u8,
    /// Cap of remaining sizes: larger ones count as this.
    pub cap: Bytes,
    /// Bytes per priority step: priority = min(remaining, cap) / mtu, rounded up.
    pub mtu: Bytes,
    /// How the table from priority to queue is computed.
    pub map: Map,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            queues: 8,             // ADS §3.3
            cap: Bytes::kb(2000),  // ADS §3.2
            mtu: Bytes::new(1500), // one full Ethernet payload
            map: Map::default(),
        }
    }
}

tagged! {
    /// The control plane of ADS.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Map {
        /// Recomputed from the packets that each port has seen recently.
        Dynamic {
            /// I: interval between two computations.
            #[serde(default = "five_milliseconds")]
            interval: Span,
            /// W: number of past intervals that count.
            #[serde(default = "ten")]
            #[schemars(range(min = 1, max = 100_000))]
            window: u32,
        },
        /// Computed once, from a histogram of packet priorities.
        Static {
            /// CSV `priority,packets` or `port,priority,packets` (one histogram per port), relative to the scenario.
            file: Option<String>,
            /// Instead of a file: the number of packets of priority 0, 1, 2, ..
            counts: Option<Vec<u64>>,
        },
    }
}

fn five_milliseconds() -> Span {
    Span::from_ms(5) // ADS §3.3
}
fn ten() -> u32 {
    10 // ADS §3.3
}

impl Default for Map {
    fn default() -> Self {
        Self::Dynamic { interval: five_milliseconds(), window: ten() }
    }
}

/// An entry of a table, in bytes; a dynamic one has its sum next to it.
const ENTRY: f64 = 8.0;

impl Parameters for Params {
    type Machine = Ads;

    fn needs(&self) -> Needs {
        Needs { key: Key::Remaining, ..Needs::NOTHING }
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        let Self { cap, mtu, .. } = *self;
        if self.queues == 0 {
            problems.wrong("queues", "ADS needs at least one", "at least 1");
        }
        if mtu.get() == 0 || mtu.get() > 1 << 30 {
            problems.wrong("mtu", format!("steps of {mtu} are impossible"), "for example \"1500B\"");
        } else if cap.get().div_ceil(mtu.get()) > u64::from(MAX_PRIORITY) {
            let reason = format!("{cap} in steps of {mtu} do not fit the 12-bit header");
            problems.wrong("cap", reason, format!("at most \"{}B\"", mtu.get() * u64::from(MAX_PRIORITY)));
        } else if cap < mtu {
            problems.wrong("cap", format!("the cap, {cap}, is below one step, {mtu}"), "for example \"2MB\"");
        }
        self.map.check(at, problems);
    }

    fn make(&self, _: &At) -> Result<Ads, Invalid> {
        Ads::new(self)
    }

    fn table(&self) -> Option<(&'static str, &str)> {
        match &self.map {
            Map::Static { file: Some(file), .. } => Some(("map.file", file)),
            _ => None,
        }
    }

    fn fill(&mut self, numbers: &[u64]) {
        self.map = Map::Static { file: None, counts: Some(numbers.to_vec()) };
    }

    fn memory(&self, packets_per_second: f64) -> f64 {
        let entries = (self.cap.get() as f64 / self.mtu.get().max(1) as f64).ceil() + 1.0;
        // An allocator of four size classes per power of two.
        let bytes = entries * ENTRY;
        let step = ((bytes.max(64.0) as u64).next_power_of_two() / 8) as f64;
        let table = (bytes / step).ceil() * step;
        QUEUE
            + match self.map {
                Map::Static { .. } => table,
                Map::Dynamic { interval, window } => {
                    let seen = (packets_per_second * interval.secs()).min(entries);
                    2.0 * table + f64::from(window) * seen * ENTRY
                }
            }
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let of = |map| Self { queues: 4, cap: Bytes::new(20_000), map, ..Self::default() };
        let counts = Some(vec![0, 5, 3, 2, 2, 1, 1, 1]);
        vec![
            of(Map::Static { file: None, counts }),
            of(Map::Dynamic { interval: Span::from_us(20), window: 3 }),
        ]
    }
}

impl Map {
    fn check(&self, at: &Around, problems: &mut Problems) {
        match self {
            Self::Dynamic { interval, .. } if interval.is_zero() => {
                problems.wrong("map.interval", "an interval of 0 never ends", "for example \"5ms\"");
            }
            Self::Dynamic { interval, .. } if *interval >= at.end => {
                let why = format!("the run ends at {}, before the first interval does", at.end);
                problems.useless("map.interval", &why, "write a shorter interval or raise `run.until`");
            }
            Self::Dynamic { window: 0, .. } => {
                problems.wrong("map.window", "the window is empty", "at least 1");
            }
            Self::Static { file: Some(_), counts: Some(_) } => {
                problems.wrong("map.counts", "`file` and `counts` cannot both be given", "remove one");
            }
            Self::Static { file: None, counts: None } => {
                problems.wrong("map", "a static map needs a histogram", "write `file` or `counts`");
            }
            Self::Static { counts: Some(counts), .. } => {
                let most = MAX_PRIORITY as usize + 1;
                if counts.len() > most {
                    let reason = format!("{} priorities do not fit the 12-bit header", counts.len());
                    problems.wrong("map.counts", reason, format!("at most {most}"));
                } else if counts.iter().all(|n| *n == 0) {
                    let hint = "record one with `measure.priority_histogram`";
                    problems.useless("map.counts", "the histogram is empty", hint);
                }
            }
            Self::Dynamic { .. } | Self::Static { .. } => {}
        }
    }
}

/// The queues of one port with both planes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ads {
    table: Table,
    levels: Levels,
    control: Control,
}

impl Ads {
    /// A port that has seen nothing.
    ///
    /// # Errors
    /// If there are more priorities than the header field holds, or a histogram of more priorities than that.
    pub fn new(spec: &Params) -> Result<Self, Invalid> {
        let mut table = Table::new(spec.cap, spec.mtu.get() as u32)?;
        let control = Control::new(spec, &mut table)?;
        Ok(Self { table, levels: Levels::new(spec.queues), control })
    }

    /// The data plane's table.
    pub fn table(&self) -> &Table {
        &self.table
    }
}

impl Order for Ads {
    #[inline]
    fn pushes_out(&self) -> bool {
        true
    }
    #[inline]
    fn push(&mut self, _now: Time, packet: &Packet, handle: Handle) {
        // CHOICE ADS §3.1: control packets carry no size; they take the highest queue without being counted.
        let queue = if packet.is_control() { 0 } else { self.table.classify(packet.rank) };
        self.levels.push(queue, Entry::new(packet, handle));
    }
    #[inline]
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        self.levels.pop_best()
    }
    /// CHOICE ADS §3.1: the newest packet of the lowest queue that holds any, be it the one arriving.
    fn push_out(&mut self, _arriving: Handle) -> Option<Entry> {
        self.levels.pop_worst()
    }
    fn pausable(&self) -> Option<&dyn Pausable> {
        Some(&self.levels)
    }
    fn pausable_mut(&mut self) -> Option<&mut dyn Pausable> {
        Some(&mut self.levels)
    }
    fn wake(&self) -> Option<Time> {
        self.control.wake()
    }
    fn on_tick(&mut self, now: Time) {
        self.control.on_tick(now, &mut self.table);
    }
}

#[cfg(test)]
mod tests;
