//! Transports of kind `rdma`.

use super::{Kind, Ranks, bytes, rank};
use crate::quantity::Cap;
use crate::schema::{Notification, Rank, Rdma, RdmaAcks, RdmaTimer, Recovery, TimerRestart, Transport};
use thalweg_machines::congestion::ControllerSpec;
use thalweg_machines::transport as t;

impl Kind for Rdma {
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
        recovery: match r.recovery {
            Recovery::Irn { sack, nack_threshold, enter_on_advance } => {
                t::RecoverySpec::Selective { sack, nack_threshold, enter_on_advance }
            }
            Recovery::DropNotified => t::RecoverySpec::DropNotified,
            Recovery::GoBackN { repeat_nack } => {
                t::RecoverySpec::GoBackN { repeat_nack: repeat_nack.map(|q| q.0) }
            }
        },
        // (`auto` has been resolved by the topology.)
        cap: match r.cap {
            Some(Cap::Packets(n)) => Some(n),
            None | Some(Cap::Auto | Cap::Off) => None,
        },
        acks: match r.acks {
            None | Some(RdmaAcks::PerPacket) => t::RdmaAcks::PerPacket,
            Some(RdmaAcks::PerSegment) => t::RdmaAcks::PerSegment,
            Some(RdmaAcks::Never) => t::RdmaAcks::Never,
        },
        timer: match r.timer {
            None | Some(RdmaTimer::Off) => t::RdmaTimer::Off,
            Some(RdmaTimer::Fixed { value }) => t::RdmaTimer::Fixed(value.0),
            Some(RdmaTimer::Pair { low, high, max_in_flight, max_rate_factor }) => {
                t::RdmaTimer::Pair { low: low.0, high: high.0, max_in_flight, max_rate_factor }
            }
            Some(RdmaTimer::Dynamic { initial, min }) => {
                t::RdmaTimer::Dynamic { initial: initial.0, min: min.0 }
            }
        },
        timer_restart: match r.timer_restart {
            TimerRestart::Progress => t::TimerRestart::Progress,
            TimerRestart::Answer => t::TimerRestart::Answer,
        },
        fetch_delay: r.fetch_delay.0,
        rank: rank(r.rank),
        notification: match r.notification {
            None | Some(Notification::Off) => t::Notification::Off,
            Some(Notification::Echo) => t::Notification::Echo,
            Some(Notification::Cnp { interval, size }) => {
                t::Notification::Packet { interval: interval.0, wire: bytes(size) }
            }
        },
        rtt: t::RttSpec {
            segment: r.rtt.segment,
            less_serialization: r.rtt.less_serialization,
            nacks: r.rtt.nacks,
            resent: r.rtt.resent,
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
