//! REPS: recycled entropies (Bonato et al., "REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and
//! Failure Mitigation", EuroSys 2026).
//!
//! A value whose packet arrived unmarked is kept in a ring of eight, and used once more, the oldest first; where
//! none is kept, the packet draws one. So paths that mark are left, and those that do not are kept, without state
//! per path. After a timeout a path may be broken: values that came back are used again and again, whether or not
//! they were used before, and none is drawn (*frozen*). Some time later the ring is emptied, and some packets
//! explore.
//!
//! ```text
//! CHOICE REPS §3.2: frozen until the first feedback after `exit_after`, 100 us as in the paper's failure runs. Other
//! reading: 10 ms (uet-htsim).
//! CHOICE REPS §3.2: after a freeze, of the packets of one window every eighth draws, and the others do as always
//! (`explore = "window"`). The window is that of the first packet after the freeze. Other readings: 16 packets draw
//! (uet-htsim: `explore = { packets = 16 }`), or all of a window's (the paper's artifact: its BDP as `packets`).
//! CHOICE REPS §3.2: the feedback that ends a freeze counts: its value enters the ring after that has been emptied.
//! CHOICE REPS §3.2: while a flow explores, timeouts do not freeze it.
//! CHOICE REPS §3.2: every timeout freezes where switches trim. Where they do not, packets are lost for want of room as
//! well: then only one after round trips of below 1.65 times the shortest (`freeze_below`; the paper's artifact).
//! CHOICE REPS §3.3: where one ACK covers several packets, it brings back the value of one, which is used once. The
//! paper has two remedies: values that serve for as many packets as an ACK covers (`uses`), and ACKs that list them
//! all (the transport's `ack_values`).
//! ```

use super::PathFeedback;
use super::declare::{Choice, Parameters, VALUES};
use super::random::Random;
use crate::problems::Problems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Stream, Time};

/// Reuses values that came back unmarked, each once; after a timeout only those are used, as often as necessary (Bonato
/// et al., REPS, EuroSys 2026).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Number of path values.
    #[schemars(extend("minimum" = 2))]
    pub values: u32,
    /// Freezing mode: after a timeout only values that came back are used.
    pub freeze: bool,
    /// The freeze ends with the first feedback later than this after the timeout.
    pub exit_after: Span,
    /// Exploration after a freeze: which packets draw a new value.
    pub explore: Explore,
    /// A timeout freezes only if recent round trips were less than this multiple of the shortest one. If not given,
    /// 1.65 where switches do not trim; where they do, every timeout freezes.
    #[schemars(extend("exclusiveMinimum" = 1.0))]
    pub freeze_below: Option<f64>,
    /// Number of packets for which a returned value is used. More than one compensates for ACKs that cover several
    /// packets.
    #[schemars(range(min = 1))]
    pub uses: u8,
}

/// Which packets draw a value after a freeze.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Explore {
    /// Of as many as the window holds, every eighth.
    #[default]
    Window,
    /// All of so many.
    Packets(
        /// All packets after the freeze up to so many.
        u16,
    ),
}

impl Default for Params {
    fn default() -> Self {
        Self {
            values: VALUES,
            freeze: true,
            exit_after: Span::from_us(100),
            explore: Explore::Window,
            freeze_below: None,
            uses: 1,
        }
    }
}

impl Parameters for Params {
    type Machine = Reps;

    fn values(&self) -> u32 {
        self.values
    }

    fn check(&self, problems: &mut Problems) {
        let default = Self::default();
        if !self.freeze {
            let why = "with `freeze = false` no freeze ends";
            if self.exit_after != default.exit_after {
                problems.useless("exit_after", why, "remove the key, or `freeze`");
            }
            if self.explore != default.explore {
                problems.useless("explore", why, "remove the key, or `freeze`");
            }
            if self.freeze_below.is_some() {
                problems.useless("freeze_below", why, "remove the key, or `freeze`");
            }
        }
        if let Some(times) = self.freeze_below.filter(|times| !(*times > 1.0 && times.is_finite())) {
            let reason = format!("no round trip takes less than {times} times the shortest");
            problems.wrong("freeze_below", reason, "above 1, for example 1.65");
        }
        if self.uses == 0 {
            problems.wrong("uses", "a value that is never used", "at least 1");
        }
        problems.positive("exit_after", self.exit_after, "100us");
    }

    fn make(&self, stream: Stream) -> Reps {
        Reps::new(stream)
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let few = Self { values: 5, ..Self::default() };
        vec![
            Self { freeze: false, ..few },
            Self {
                explore: Explore::Packets(16),
                exit_after: Span::from_ns(1),
                freeze_below: Some(1.65),
                ..few
            },
            Self { uses: 3, ..few },
            few,
            Self::default(),
        ]
    }
}

/// Values that are kept.
const KEPT: usize = 8;
/// After a freeze one packet in this many draws a new value.
const EVERY: u16 = 8;

/// What one flow knows of its paths: 193 bits in hardware.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reps {
    random: Random,
    kept: [u32; KEPT],
    /// When the freeze may end.
    until: Time,
    /// Packets that are left to explore.
    exploring: u16,
    /// A bit for each that was not used since it came back.
    fresh: u8,
    /// Where the next one goes.
    head: u8,
    /// How many were ever written, at most all.
    written: u8,
    /// The next one of a freeze.
    turn: u8,
    /// How many packets the oldest one was used for.
    used: u8,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Usual,
    Frozen,
    /// A freeze has ended, and no packet was sent since.
    Thawed,
}

impl Reps {
    pub(crate) fn new(stream: Stream) -> Self {
        Self {
            random: Random::from(stream),
            kept: [0; KEPT],
            until: Time::ZERO,
            exploring: 0,
            fresh: 0,
            head: 0,
            written: 0,
            turn: 0,
            used: 0,
            phase: Phase::Usual,
        }
    }

    /// The oldest value that was not used since it came back, or not for as many packets as it is for.
    #[inline]
    fn recycle(&mut self, uses: u8) -> Option<u32> {
        if self.fresh == 0 {
            return None;
        }
        let at = (usize::from(self.head) + KEPT - self.fresh.count_ones() as usize) % KEPT;
        self.used += 1;
        if self.used >= uses {
            (self.fresh, self.used) = (self.fresh & !(1 << at), 0);
        }
        Some(self.kept[at])
    }

    /// The next of those that came back, used or not.
    fn repeat(&mut self) -> Option<u32> {
        if self.written == 0 {
            return None;
        }
        let at = self.turn;
        (self.fresh, self.used) = (self.fresh & !(1 << at), 0);
        self.turn = (at + 1) % self.written;
        Some(self.kept[usize::from(at)])
    }

    /// One packet less is left to explore; whether it draws.
    fn explores(&mut self, explore: Explore) -> bool {
        let left = self.exploring;
        self.exploring -= 1;
        explore != Explore::Window || left.is_multiple_of(EVERY)
    }

    fn keep(&mut self, value: u32) {
        let at = self.head;
        if self.fresh >> at & 1 == 1 {
            // The oldest gives way.
            self.used = 0;
        }
        self.kept[usize::from(at)] = value;
        self.fresh |= 1 << at;
        self.head = (at + 1) % KEPT as u8;
        self.written = (self.written + 1).min(KEPT as u8);
    }

    fn thaw(&mut self, now: Time) {
        if self.phase == Phase::Frozen && now > self.until {
            (self.fresh, self.head, self.written, self.turn, self.used) = (0, 0, 0, 0, 0);
            self.phase = Phase::Thawed;
        }
    }
}

impl Choice for Reps {
    type Params = Params;

    #[inline]
    fn next(&mut self, p: &Params, _: Time, window: u64) -> u32 {
        if self.phase == Phase::Thawed {
            self.phase = Phase::Usual;
            self.exploring = match p.explore {
                Explore::Window => u16::try_from(window).unwrap_or(u16::MAX),
                Explore::Packets(packets) => packets,
            };
        }
        let again = if self.phase == Phase::Frozen {
            self.repeat()
        } else if self.exploring > 0 && self.explores(p.explore) {
            None
        } else {
            self.recycle(p.uses)
        };
        again.unwrap_or_else(|| self.random.draw(p.values))
    }

    #[inline]
    fn on_feedback(&mut self, _: &Params, now: Time, value: u32, what: PathFeedback) {
        self.thaw(now);
        if what == PathFeedback::Good {
            self.keep(value);
        }
    }

    /// A timeout is a feedback, too: it may end a freeze.
    fn on_timeout(&mut self, p: &Params, now: Time, _: u32, delay: f64) {
        self.thaw(now);
        let broken = p.freeze_below.is_none_or(|times| delay < times);
        if p.freeze && broken && self.phase == Phase::Usual && self.exploring == 0 {
            self.phase = Phase::Frozen;
            self.until = now.saturating_add(p.exit_after);
        }
    }
}
