//! Transports of kind `rdma` and their controllers.

use super::transports::growth;
use crate::quantity::{Cap, Counter, Q};
use crate::schema::{
    DcqcnDecrease, Notification, Rdma, RdmaAcks, RdmaCongestion, RdmaTimer, Recovery, TimelyCount,
    TimelyVariant, TimerRestart,
};
use thalweg_machines::congestion as c;
use thalweg_machines::transport as t;
use thalweg_units::Bytes;

fn wire(bytes: Q<Bytes>) -> u32 {
    bytes.0.get() as u32
}

pub(super) fn rdma(r: &Rdma) -> t::RdmaSpec {
    t::RdmaSpec {
        controller: controller(&r.congestion),
        payload: wire(r.mtu),
        header: wire(r.header),
        extra_header: wire(r.extra_header),
        ack_wire: wire(r.ack_size),
        // (Resolved by the recovery.)
        nack_wire: wire(r.nack_size.unwrap_or(r.ack_size)),
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

fn controller(congestion: &RdmaCongestion) -> c::ControllerSpec {
    match congestion {
        RdmaCongestion::Fixed => c::ControllerSpec::FixedWindow,
        RdmaCongestion::Aimd => c::ControllerSpec::Aimd,
        RdmaCongestion::Dctcp { gain, initial_alpha, growth: when } => c::ControllerSpec::Dctcp {
            gain: *gain,
            initial_alpha: *initial_alpha,
            growth: growth(*when),
            cut_without_marks: false,
        },
        RdmaCongestion::Dcqcn {
            gain,
            fast_recovery,
            alpha_timer,
            rate_timer,
            byte_counter,
            additive,
            hyper,
            min_rate,
            decrease,
            back_off,
        } => c::ControllerSpec::Dcqcn(c::DcqcnSpec {
            gain: *gain,
            fast_recovery: *fast_recovery,
            alpha_timer: alpha_timer.0,
            rate_timer: rate_timer.0,
            byte_counter: match byte_counter {
                Some(Counter::Bytes(bytes)) => Some(*bytes),
                None | Some(Counter::Off) => None,
            },
            additive: additive.0,
            hyper: hyper.0,
            min_rate: min_rate.0,
            decrease: match decrease {
                DcqcnDecrease::AtOnce => c::DcqcnDecrease::AtOnce,
                DcqcnDecrease::Checked { every } => c::DcqcnDecrease::Checked { every: every.0 },
            },
            back_off: back_off.map(|q| q.0),
        }),
        RdmaCongestion::Timely {
            variant,
            initial_share,
            t_low,
            t_high,
            min_rtt,
            alpha,
            beta,
            additive,
            hyper,
            gradient_cap,
            scale_updates,
            once_per_round,
            first_counts,
            forgets,
            max_decrease,
            min_rate,
            back_off,
        } => c::ControllerSpec::Timely(c::TimelySpec {
            variant: match variant {
                TimelyVariant::Original => c::TimelyVariant::Original,
                TimelyVariant::Patched { rtt_ref } => c::TimelyVariant::Patched { rtt_ref: rtt_ref.0 },
            },
            initial_share: *initial_share,
            t_low: t_low.0,
            t_high: t_high.0,
            // (Resolved by the topology.)
            min_rtt: min_rtt.unwrap_or_default().0,
            alpha: *alpha,
            beta: *beta,
            additive: additive.0,
            hyper: c::TimelyHyper {
                after: hyper.after,
                step: hyper.step.0,
                below_t_low: hyper.below_t_low,
                count: match hyper.count {
                    TimelyCount::Gradient => c::TimelyCount::Gradient,
                    TimelyCount::Difference => c::TimelyCount::Difference,
                    TimelyCount::Increase => c::TimelyCount::Increase,
                },
            },
            gradient_cap: *gradient_cap,
            scale_updates: *scale_updates,
            once_per_round: *once_per_round,
            first_counts: *first_counts,
            forgets: *forgets,
            max_decrease: *max_decrease,
            min_rate: min_rate.0,
            back_off: back_off.map(|q| q.0),
        }),
        RdmaCongestion::Custom { name, params } => {
            c::ControllerSpec::Custom { name: name.clone(), params: params.to_string().into_bytes() }
        }
    }
}
