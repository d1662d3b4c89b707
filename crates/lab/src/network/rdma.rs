//! Transports of kind `rdma`.

use crate::quantity::{Cap, Q};
use crate::schema::{Notification, Rdma, RdmaAcks, RdmaTimer, Recovery, TimerRestart};
use thalweg_machines::transport as t;
use thalweg_units::Bytes;

fn wire(bytes: Q<Bytes>) -> u32 {
    bytes.0.get() as u32
}

pub(super) fn rdma(r: &Rdma) -> t::RdmaSpec {
    let telemetry = r.telemetry.map_or(0, wire);
    t::RdmaSpec {
        controller: r.congestion.clone(),
        payload: wire(r.mtu),
        header: wire(r.header) + telemetry,
        extra_header: wire(r.extra_header),
        ack_wire: wire(r.ack_size) + telemetry,
        // (Resolved by the recovery.)
        nack_wire: wire(r.nack_size.unwrap_or(r.ack_size)) + telemetry,
        recovery: match r.recovery {
            Recovery::Irn { sack, nack_threshold, enter_on_advance } => {
                t::RecoverySpec::Selective { sack, nack_threshold, enter_on_advance }
            }
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
        notification: match r.notification {
            None | Some(Notification::Off) => t::Notification::Off,
            Some(Notification::Echo) => t::Notification::Echo,
            Some(Notification::Cnp { interval, size }) => {
                t::Notification::Packet { interval: interval.0, wire: wire(size) }
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
            bytes: wire(s.bytes),
            outstanding: s.outstanding,
            nic_pace: s.nic_pace.map(|q| q.0),
        }),
    }
}
