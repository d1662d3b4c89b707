//! Step marking: CE as soon as the instantaneous queue has reached K.
//!
//! Alizadeh, Greenberg, Maltz, Padhye, Patel, Prabhakar, Sengupta, Sridharan, "Data Center TCP (DCTCP)",
//! SIGCOMM 2010, §3.1 (1): an arriving packet is marked if the queue occupancy is K or more.
//! Packets that are not ECN-capable are admitted unmarked; only a full buffer drops them.

use super::{Advice, Aqm, Backlog, PacketMeta};
use crate::packet::{Ecn, Packet};
use crate::schedule::Threshold;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// The marker of one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepEcn {
    /// K.
    pub threshold: Threshold,
    /// Decide when a packet leaves instead of when it arrives.
    pub at_departure: bool,
    /// At departure, the leaving packet counts too, and the sum must *exceed* K.
    pub include_self: bool,
}

impl StepEcn {
    /// See [`super::AqmMachine::passes`].
    pub(super) fn passes(&self) -> u64 {
        match self.threshold {
            Threshold::Packets(0) => 0,
            Threshold::Bytes(k) if self.at_departure && self.include_self || k.get() == 0 => k.get(),
            _ => u64::MAX,
        }
    }

    /// Is CE set on a packet that leaves `after` behind?
    #[inline]
    pub fn on_departure(&self, after: Backlog, packet: PacketMeta) -> bool {
        self.at_departure
            && packet.ecn_capable
            && match (self.threshold, self.include_self) {
                (Threshold::Packets(k), false) => after.packets >= k,
                (Threshold::Packets(k), true) => after.packets >= k, // after + 1 > K
                (Threshold::Bytes(k), false) => after.bytes >= k.get(),
                (Threshold::Bytes(k), true) => after.bytes + u64::from(packet.wire) > k.get(),
            }
    }
}

impl Aqm for StepEcn {
    #[inline]
    fn on_arrival(&mut self, _now: Time, backlog: Backlog, packet: &Packet) -> Advice {
        let reached = match self.threshold {
            Threshold::Packets(k) => backlog.packets >= k,
            Threshold::Bytes(k) => backlog.bytes >= k.get(),
        };
        if reached && !self.at_departure && packet.ecn != Ecn::NotEct { Advice::Mark } else { Advice::Admit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Bytes, Span};

    fn finds(packets: u32) -> Backlog {
        Backlog { packets, bytes: u64::from(packets) * 1500, idle_for: Span::ZERO }
    }
    fn capable() -> Packet {
        Packet { ecn: Ecn::Ect0, wire: 1500, ..Packet::default() }
    }
    fn advice(mut m: StepEcn, packets: u32, packet: Packet) -> Advice {
        m.on_arrival(Time::ZERO, finds(packets), &packet)
    }

    #[test]
    fn with_k_15_the_packet_that_finds_15_waiting_is_the_first_to_be_marked() {
        let m = StepEcn { threshold: Threshold::Packets(15), at_departure: false, include_self: false };
        assert_eq!(advice(m, 14, capable()), Advice::Admit);
        assert_eq!(advice(m, 15, capable()), Advice::Mark);
        assert_eq!(advice(m, 15, Packet::default()), Advice::Admit, "not ECN-capable");
        let bytes = StepEcn { threshold: Threshold::Bytes(Bytes::new(22_500)), ..m };
        assert_eq!(advice(bytes, 14, capable()), Advice::Admit);
        assert_eq!(advice(bytes, 15, capable()), Advice::Mark);
    }

    #[test]
    fn at_departure_the_queue_left_behind_decides_and_arrivals_are_never_marked() {
        let m = StepEcn {
            threshold: Threshold::Bytes(Bytes::new(3000)),
            at_departure: true,
            include_self: false,
        };
        let leaves = PacketMeta { wire: 1500, ecn_capable: true };
        assert_eq!(advice(m, 99, capable()), Advice::Admit);
        assert!(!m.on_departure(finds(1), leaves));
        assert!(m.on_departure(finds(2), leaves));
        assert!(!m.on_departure(finds(2), PacketMeta { ecn_capable: false, ..leaves }));
        // With itself: 1500 + 1500 does not exceed 3000, 3000 + 1500 does.
        let with_self = StepEcn { include_self: true, ..m };
        assert!(!with_self.on_departure(finds(1), leaves));
        assert!(with_self.on_departure(finds(2), leaves));
    }
}
