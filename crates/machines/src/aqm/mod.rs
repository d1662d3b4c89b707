//! Whether an arriving packet is admitted, marked or dropped: decided from the queue it would join.

mod codel;
mod edge;
mod ramp;
mod red;
mod step_ecn;
mod tail_drop;

pub use codel::{Codel, CodelSpec, Departure};
pub use edge::{EdgeCodel, EdgeSpec, edge_ecn};
pub use ramp::Ramp;
pub use red::Red;
pub use step_ecn::StepEcn;
pub use tail_drop::TailDrop;

use crate::packet::{Ecn, Packet};
use crate::schedule::{AqmSpec, Sojourn, Threshold};
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span, Stream, Time};

/// The queue that a packet arrives at, without the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting (the one being transmitted has left).
    pub packets: u32,
    /// Bytes waiting.
    pub bytes: u64,
    /// How long the port has been idle: zero while it transmits or anything waits.
    pub idle_for: Span,
}

/// What to do with an arriving packet, its buffer's limit apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advice {
    /// Take it.
    Admit,
    /// Take it and set CE (only ever advised for ECN-capable packets).
    Mark,
    /// Refuse it.
    Drop,
}

/// Active queue management at arrival.
pub trait Aqm {
    /// Decides from the queue as it is before the packet joins.
    fn on_arrival(&mut self, now: Time, backlog: Backlog, packet: &Packet) -> Advice;
}

/// What a marker at departure may know of the packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketMeta {
    /// Bytes on the wire.
    pub wire: u32,
    /// It may be marked.
    pub ecn_capable: bool,
}

impl From<&Packet> for PacketMeta {
    #[inline]
    fn from(packet: &Packet) -> Self {
        Self { wire: packet.wire, ecn_capable: packet.ecn != Ecn::NotEct }
    }
}

/// Any of this folder's machines, statically dispatched.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AqmMachine {
    /// See [`TailDrop`].
    TailDrop(TailDrop),
    /// See [`StepEcn`].
    StepEcn(StepEcn),
    /// See [`Red`]; boxed, for it is the large one and the rare one.
    Red(Box<Red>),
    /// See [`Codel`]; boxed likewise.
    Codel(Box<Sojourn>),
    /// See [`Ramp`]; boxed likewise.
    Ramp(Box<Ramp>),
}

impl AqmMachine {
    /// The machine of a port of `rate`; `stream` is what RED and the ramp draw from.
    ///
    /// # Errors
    /// If parameters contradict each other.
    pub fn new(spec: &AqmSpec, stream: Stream, rate: Rate) -> Result<Self, String> {
        Ok(match *spec {
            AqmSpec::TailDrop => Self::TailDrop(TailDrop),
            AqmSpec::StepEcn { threshold, at_departure, include_self } => {
                Self::StepEcn(StepEcn { threshold, at_departure, include_self })
            }
            AqmSpec::Red(p) => Self::Red(Box::new(Red::new(p, stream, rate)?)),
            AqmSpec::Codel(p) => Self::Codel(Box::new(Sojourn::new(p))),
            AqmSpec::Ramp(p) => Self::Ramp(Box::new(Ramp::new(p, stream)?)),
        })
    }

    /// True if something is decided as packets leave: to mark ([`AqmMachine::on_departure`], which whoever runs this
    /// must then ask) or to drop (CoDel, which only a queue that is asked at every departure can do).
    #[inline]
    pub fn acts_at_departure(&self) -> bool {
        match self {
            Self::StepEcn(m) => m.at_departure,
            Self::Ramp(m) => m.acts_at_departure(),
            Self::Codel(_) => true,
            Self::TailDrop(_) | Self::Red(_) => false,
        }
    }

    /// With fewer packets waiting than this, every arrival is admitted unmarked and nothing is learnt
    /// from it: it need not be asked.
    pub fn quiet_below(&self) -> u32 {
        match self {
            Self::TailDrop(_) | Self::StepEcn(StepEcn { at_departure: true, .. }) | Self::Codel(_) => {
                u32::MAX
            }
            Self::StepEcn(StepEcn { threshold: Threshold::Packets(k), .. }) => *k,
            Self::Ramp(m) if m.acts_at_departure() => u32::MAX,
            // A single packet may be longer than K_min.
            Self::StepEcn(_) | Self::Red(_) | Self::Ramp(_) => 0,
        }
    }

    /// A packet of at most so many bytes that finds nothing waiting and leaves nothing behind is admitted unmarked, and
    /// nothing is learnt from it: it need not be seen. 0: all must.
    pub fn passes(&self) -> u64 {
        match self {
            Self::TailDrop(_) => u64::MAX,
            Self::StepEcn(m) => m.passes(),
            Self::Ramp(m) => m.passes(),
            Self::Red(_) | Self::Codel(_) => 0,
        }
    }

    /// True if [`Backlog::idle_for`] matters: otherwise it may be left zero.
    #[inline]
    pub fn needs_idle_time(&self) -> bool {
        matches!(self, Self::Red(_))
    }

    /// Is CE to be set on the packet that leaves `after` behind? Only ever on ECN-capable packets.
    #[inline]
    pub fn on_departure(&mut self, after: Backlog, packet: PacketMeta) -> bool {
        match self {
            Self::StepEcn(m) => m.on_departure(after, packet),
            Self::Ramp(m) => m.on_departure(after, packet),
            Self::TailDrop(_) | Self::Red(_) | Self::Codel(_) => false,
        }
    }
}

impl Aqm for AqmMachine {
    #[inline]
    fn on_arrival(&mut self, now: Time, backlog: Backlog, packet: &Packet) -> Advice {
        match self {
            Self::TailDrop(m) => m.on_arrival(now, backlog, packet),
            Self::StepEcn(m) => m.on_arrival(now, backlog, packet),
            Self::Red(m) => m.on_arrival(now, backlog, packet),
            Self::Ramp(m) => m.on_arrival(now, backlog, packet),
            Self::Codel(_) => Advice::Admit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::RampSpec;
    use proptest::prelude::*;
    use thalweg_units::Bytes;

    fn marking() -> impl Strategy<Value = AqmSpec> {
        let k = prop_oneof![
            (0u32..4).prop_map(Threshold::Packets),
            (0u64..4000).prop_map(|k| Threshold::Bytes(Bytes::new(k))),
        ];
        let step = (k, any::<bool>(), any::<bool>()).prop_map(|(threshold, at_departure, include_self)| {
            AqmSpec::StepEcn { threshold, at_departure, include_self }
        });
        let ramp =
            (0u64..4000, 0u64..4000, 0.0..=1.0, any::<bool>()).prop_map(|(min, width, p, at_departure)| {
                let (min, max) = (Bytes::new(min), Bytes::new(min + width));
                AqmSpec::Ramp(RampSpec { min, max, max_probability: p, at_departure })
            });
        prop_oneof![Just(AqmSpec::TailDrop), step, ramp]
    }

    proptest! {
        /// What need not be seen is admitted unmarked, leaves unmarked, and draws nothing.
        #[test]
        fn a_packet_that_passes_would_have_gone_unmarked(spec in marking(), wire in 64u32..4000) {
            let alone = Backlog { packets: 0, bytes: 0, idle_for: Span::ZERO };
            let packet = Packet { ecn: Ecn::Ect0, wire, ..Packet::default() };
            let mut aqm = AqmMachine::new(&spec, Stream::new(1, "aqm", 0), Rate::from_bps(10_000_000_000)).unwrap();
            let before = format!("{aqm:?}");
            let seen = aqm.on_arrival(Time::ZERO, alone, &packet);
            let marked = aqm.acts_at_departure() && aqm.on_departure(alone, (&packet).into());
            if u64::from(wire) <= aqm.passes() {
                prop_assert_eq!((seen, marked), (Advice::Admit, false));
                prop_assert_eq!(format!("{aqm:?}"), before);
            }
        }
    }
}
