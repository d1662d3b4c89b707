//! Step marking: CE as soon as the instantaneous queue has reached K.
//!
//! Alizadeh, Greenberg, Maltz, Padhye, Patel, Prabhakar, Sengupta, Sridharan, "Data Center TCP (DCTCP)",
//! SIGCOMM 2010, §3.1 (1): an arriving packet is marked if the queue is longer than K; RFC 8257 §3.1 likewise.
//!
//! ```text
//! CHOICE DCTCP §3.1: the arriving packet counts, so that one is marked that finds K waiting. Other reading:
//! one that finds more than K ([`super::red`] with `weight` 1, `min` K and `max` K + 1).
//! CHOICE RFC 3168 §5: packets are marked where none would be dropped, as RFC 8257 §3.1 has it. Other reading: CE
//! only in place of a drop (SHOULD).
//! ```
//!
//! Packets that are not ECN-capable are admitted unmarked; only a full buffer drops them.

use super::{Acts, Around, Arrival, HeaderStage, Leave, Leaving, MarkAt, Needs, Parameters, Problems, View};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use thalweg_units::Bytes;
use thalweg_units::notation::{Capacity, Length};
use thalweg_units::{Rate, Stream, Time};
use thalweg_wire::{Ecn, Packet};

/// Marks ECN-capable packets when the queue has reached a threshold (DCTCP, SIGCOMM 2010).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// K: packets that find at least this queue are marked.
    pub threshold: Length,
    /// When packets are marked.
    #[serde(default)]
    pub at: MarkAt,
    /// With `at = "departure"`: the departing packet counts, too, and only queues above the threshold mark.
    // As htsim does; otherwise what is left behind counts, and K itself is marked.
    #[serde(default)]
    pub include_self: bool,
}

impl Default for Params {
    /// DCTCP §3.4's threshold for 1 Gb/s would be 20; this is the factor analysis' for 10 Gb/s. Scenarios set their
    /// own.
    fn default() -> Self {
        Self { threshold: Length::Packets(15), at: MarkAt::Arrival, include_self: false }
    }
}

impl Parameters for Params {
    type Machine = StepEcn;

    fn acts(&self) -> Acts {
        Acts::Marks
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        let Around { buffer, room, full, .. } = *at;
        let never = match (self.threshold, buffer) {
            (Length::Packets(k), Capacity::Packets(n)) => k > n,
            (k, _) => k.bytes(full).get() > room,
        };
        if never {
            let most = if room < buffer.bytes(full).get() { format!("{room}B") } else { buffer.to_string() };
            let why = format!("the queue never reaches {}, it holds {most}", self.threshold);
            problems.useless("threshold", &why, format!("at most \"{most}\""));
        }
        if self.include_self && self.at == MarkAt::Arrival {
            let why = "the arriving packet never counts";
            problems.useless("include_self", why, "write `at = \"departure\"` or remove the key");
        }
    }

    fn make(&self, _: Stream, _: Rate) -> Result<StepEcn, Invalid> {
        Ok(StepEcn::new(*self))
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let (few, bytes) = (Length::Packets(3), Length::Bytes(Bytes::new(900)));
        let at = MarkAt::Departure;
        vec![
            Self { threshold: few, ..Self::default() },
            Self { threshold: few, at, include_self: false },
            Self { threshold: bytes, at, include_self: true },
        ]
    }
}

impl Params {
    #[inline]
    fn departs(&self) -> bool {
        self.at == MarkAt::Departure
    }
}

/// The marker of one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepEcn {
    p: Params,
}

impl StepEcn {
    /// A port's marker; it remembers nothing.
    pub fn new(p: Params) -> Self {
        Self { p }
    }
}

impl HeaderStage for StepEcn {
    #[inline]
    fn needs(&self) -> Needs {
        Needs { departures: self.p.departs(), ..Needs::default() }
    }
    #[inline]
    fn on_arrival(&mut self, _now: Time, view: &View, packet: &Packet) -> Arrival {
        let reached = match self.p.threshold {
            Length::Packets(k) => view.packets >= k,
            Length::Bytes(k) => view.bytes >= k.get(),
        };
        if reached && !self.p.departs() && packet.ecn != Ecn::NotEct { Arrival::Mark } else { Arrival::Admit }
    }
    #[inline]
    fn on_departure(&mut self, _now: Time, view: &View, packet: Leaving) -> Leave {
        let reached = match (self.p.threshold, self.p.include_self) {
            (Length::Packets(k), false) => view.packets >= k,
            (Length::Packets(k), true) => view.packets >= k, // packets + 1 > K
            (Length::Bytes(k), false) => view.bytes >= k.get(),
            (Length::Bytes(k), true) => view.bytes_with() > k.get(),
        };
        if reached && self.p.departs() && packet.ecn_capable() { Leave::Mark } else { Leave::Pass }
    }
    fn quiet_below(&self) -> u32 {
        match self.p.threshold {
            _ if self.p.departs() => u32::MAX,
            Length::Packets(k) => k,
            Length::Bytes(_) => 0,
        }
    }
    fn bypass_limit(&self) -> u64 {
        match self.p.threshold {
            Length::Packets(0) => 0,
            Length::Bytes(k) if self.p.departs() && self.p.include_self || k.get() == 0 => k.get(),
            _ => u64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{behind, finds};
    use super::*;

    fn capable() -> Packet {
        Packet { ecn: Ecn::Ect0, wire: 1500, ..Packet::default() }
    }
    fn arrival(p: Params, packets: u32, packet: Packet) -> Arrival {
        StepEcn::new(p).on_arrival(Time::ZERO, &finds(packets, u64::from(packets) * 1500, 1500), &packet)
    }
    fn leave(p: Params, packets: u32, ecn_capable: bool) -> Leave {
        let view = behind(packets, u64::from(packets) * 1500, 1500);
        StepEcn::new(p).on_departure(
            Time::ZERO,
            &view,
            Leaving { ecn: if ecn_capable { Ecn::Ect0 } else { Ecn::NotEct } },
        )
    }

    #[test]
    fn with_k_15_the_packet_that_finds_15_waiting_is_the_first_to_be_marked() {
        let p = Params { threshold: Length::Packets(15), at: MarkAt::Arrival, include_self: false };
        assert_eq!(arrival(p, 14, capable()), Arrival::Admit);
        assert_eq!(arrival(p, 15, capable()), Arrival::Mark);
        assert_eq!(arrival(p, 15, Packet::default()), Arrival::Admit, "not ECN-capable");
        let bytes = Params { threshold: Length::Bytes(Bytes::new(22_500)), ..p };
        assert_eq!(arrival(bytes, 14, capable()), Arrival::Admit);
        assert_eq!(arrival(bytes, 15, capable()), Arrival::Mark);
    }

    #[test]
    fn at_departure_the_queue_left_behind_decides_and_arrivals_are_never_marked() {
        let threshold = Length::Bytes(Bytes::new(3000));
        let p = Params { threshold, at: MarkAt::Departure, include_self: false };
        assert_eq!(arrival(p, 99, capable()), Arrival::Admit);
        assert_eq!(leave(p, 1, true), Leave::Pass);
        assert_eq!(leave(p, 2, true), Leave::Mark);
        assert_eq!(leave(p, 2, false), Leave::Pass);
        // With itself: 1500 + 1500 does not exceed 3000, 3000 + 1500 does.
        let with_self = Params { include_self: true, ..p };
        assert_eq!(leave(with_self, 1, true), Leave::Pass);
        assert_eq!(leave(with_self, 2, true), Leave::Mark);
    }
}
