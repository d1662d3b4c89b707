//! Transports of kind `rdma`.

use super::{Ranks, TransportKind, bytes};
use crate::quantity::Cap;
use crate::schema::{Notification, Rank, Rdma, RdmaAcks, RdmaTimer, Transport};
use thalweg_machines::congestion::ControllerSpec;
use thalweg_machines::transport as t;

impl TransportKind for Rdma {
    fn spec(&self) -> t::TransportSpec {
        t::TransportSpec::Rdma(rdma(self))
    }
    fn congestion(&self) -> Option<&ControllerSpec> {
        Some(&self.congestion)
    }
    fn congestion_mut(&mut self) -> Option<&mut ControllerSpec> {
        Some(&mut self.congestion)
    }
    fn ranks(&self) -> Ranks {
        Ranks::Remaining
    }
    fn rank(&self) -> Option<Rank> {
        self.rank
    }
    fn carries_many(&self) -> bool {
        true
    }
    fn bare(&self) -> Transport {
        let Self { mtu, header, extra_header, ack_size, .. } = *self;
        Transport::Rdma(Self { mtu, header, extra_header, ack_size, ..Self::default() })
    }
}

fn rdma(r: &Rdma) -> t::RdmaSpec {
    let telemetry = r.telemetry.map_or(0, bytes);
    t::RdmaSpec {
        controller: r.congestion.clone(),
        payload: bytes(r.mtu),
        header: bytes(r.header).saturating_add(telemetry),
        extra_header: bytes(r.extra_header),
        answers: t::AnswerSpec {
            ack: bytes(r.ack_size).saturating_add(telemetry),
            // (Resolved by the recovery.)
            nack: bytes(r.nack_size.unwrap_or(r.ack_size)).saturating_add(telemetry),
        },
        recovery: r.recovery,
        // (`auto` has been resolved by the topology.)
        cap: match r.cap {
            Some(Cap::Packets(n)) => Some(n),
            None | Some(Cap::Auto | Cap::Off) => None,
        },
        acks: r.acks.unwrap_or(RdmaAcks::PerPacket),
        timer: r.timer.unwrap_or(RdmaTimer::Off),
        timer_restart: r.timer_restart,
        fetch_delay: r.fetch_delay.0,
        rank: r.rank.unwrap_or(Rank::None),
        notification: match r.notification {
            None | Some(Notification::Off) => t::Notification::Off,
            Some(Notification::Echo) => t::Notification::Echo,
            Some(Notification::Cnp { interval, rule, size }) => {
                t::Notification::Packet { interval: interval.0, rule, wire: bytes(size) }
            }
        },
        rtt: t::RoundTrips {
            segment: r.rtt.segment.unwrap_or(1),
            less_serialization: r.rtt.less_serialization,
            nacks: r.rtt.nacks,
            resent: r.rtt.resent.unwrap_or(false),
            noise: r.rtt.noise.0,
        },
        segments: r.segments.map(|s| t::SegmentSpec {
            bytes: bytes(s.bytes),
            outstanding: s.outstanding,
            nic_pace: s.nic_pace.map(|q| q.0),
        }),
        path_values: r.path_values,
    }
}
