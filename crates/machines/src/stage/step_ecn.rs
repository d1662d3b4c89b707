//! Step marking: CE as soon as the instantaneous queue has reached K.
//!
//! Alizadeh, Greenberg, Maltz, Padhye, Patel, Prabhakar, Sengupta, Sridharan, "Data Center TCP (DCTCP)",
//! SIGCOMM 2010, §3.1 (1): an arriving packet is marked if the queue occupancy is K or more.
//! Packets that are not ECN-capable are admitted unmarked; only a full buffer drops them.

use super::{Arrival, HeaderStage, Leave, Leaving, Needs, View};
use crate::packet::{Ecn, Packet};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Time};

/// Parameters of [`StepEcn`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepEcnSpec {
    /// K.
    pub threshold: Threshold,
    /// Mark packets as they leave, from the queue they leave behind, instead of as they arrive.
    pub at_departure: bool,
    /// At departure: count the departing packet too and mark if the sum exceeds K (as htsim does); otherwise mark if what is
    /// left behind is K or more.
    pub include_self: bool,
}

/// A queue length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Threshold {
    /// In packets.
    Packets(u32),
    /// In bytes.
    Bytes(Bytes),
}

/// The marker of one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepEcn {
    p: StepEcnSpec,
}

impl StepEcn {
    /// A port's marker; it remembers nothing.
    pub fn new(p: StepEcnSpec) -> Self {
        Self { p }
    }
}

impl HeaderStage for StepEcn {
    #[inline]
    fn needs(&self) -> Needs {
        Needs { departures: self.p.at_departure, ..Needs::default() }
    }
    #[inline]
    fn on_arrival(&mut self, _now: Time, view: &View, packet: &Packet) -> Arrival {
        let reached = match self.p.threshold {
            Threshold::Packets(k) => view.packets >= k,
            Threshold::Bytes(k) => view.bytes >= k.get(),
        };
        if reached && !self.p.at_departure && packet.ecn != Ecn::NotEct {
            Arrival::Mark
        } else {
            Arrival::Admit
        }
    }
    #[inline]
    fn on_departure(&mut self, _now: Time, view: &View, packet: Leaving) -> Leave {
        let reached = match (self.p.threshold, self.p.include_self) {
            (Threshold::Packets(k), false) => view.packets >= k,
            (Threshold::Packets(k), true) => view.packets >= k, // packets + 1 > K
            (Threshold::Bytes(k), false) => view.bytes >= k.get(),
            (Threshold::Bytes(k), true) => view.bytes_with() > k.get(),
        };
        if reached && self.p.at_departure && packet.ecn_capable { Leave::Mark } else { Leave::Pass }
    }
    fn quiet_below(&self) -> u32 {
        match self.p.threshold {
            _ if self.p.at_departure => u32::MAX,
            Threshold::Packets(k) => k,
            Threshold::Bytes(_) => 0,
        }
    }
    fn bypass_limit(&self) -> u64 {
        match self.p.threshold {
            Threshold::Packets(0) => 0,
            Threshold::Bytes(k) if self.p.at_departure && self.p.include_self || k.get() == 0 => k.get(),
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
    fn arrival(p: StepEcnSpec, packets: u32, packet: Packet) -> Arrival {
        StepEcn::new(p).on_arrival(Time::ZERO, &finds(packets, u64::from(packets) * 1500, 1500), &packet)
    }
    fn leave(p: StepEcnSpec, packets: u32, ecn_capable: bool) -> Leave {
        let view = behind(packets, u64::from(packets) * 1500, 1500);
        StepEcn::new(p).on_departure(Time::ZERO, &view, Leaving { ecn_capable })
    }

    #[test]
    fn with_k_15_the_packet_that_finds_15_waiting_is_the_first_to_be_marked() {
        let p = StepEcnSpec { threshold: Threshold::Packets(15), at_departure: false, include_self: false };
        assert_eq!(arrival(p, 14, capable()), Arrival::Admit);
        assert_eq!(arrival(p, 15, capable()), Arrival::Mark);
        assert_eq!(arrival(p, 15, Packet::default()), Arrival::Admit, "not ECN-capable");
        let bytes = StepEcnSpec { threshold: Threshold::Bytes(Bytes::new(22_500)), ..p };
        assert_eq!(arrival(bytes, 14, capable()), Arrival::Admit);
        assert_eq!(arrival(bytes, 15, capable()), Arrival::Mark);
    }

    #[test]
    fn at_departure_the_queue_left_behind_decides_and_arrivals_are_never_marked() {
        let threshold = Threshold::Bytes(Bytes::new(3000));
        let p = StepEcnSpec { threshold, at_departure: true, include_self: false };
        assert_eq!(arrival(p, 99, capable()), Arrival::Admit);
        assert_eq!(leave(p, 1, true), Leave::Pass);
        assert_eq!(leave(p, 2, true), Leave::Mark);
        assert_eq!(leave(p, 2, false), Leave::Pass);
        // With itself: 1500 + 1500 does not exceed 3000, 3000 + 1500 does.
        let with_self = StepEcnSpec { include_self: true, ..p };
        assert_eq!(leave(with_self, 1, true), Leave::Pass);
        assert_eq!(leave(with_self, 2, true), Leave::Mark);
    }
}
