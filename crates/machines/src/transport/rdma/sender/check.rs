//! Which parameters can work, and which exclude each other.

use super::super::super::{Notification, RdmaAcks, RdmaSpec, RdmaTimer, Recovery};
use super::super::layout::Layout;
use crate::congestion::{CongestionControl, Controller, Start};
use crate::problems::Invalid;
use thalweg_units::{Bytes, Rate};

/// Which parameter, and what is wrong with it.
type Wrong = (&'static str, String);

/// Refuses what cannot work, by name.
pub(super) fn check(
    spec: &RdmaSpec,
    size: u64,
    start: &Start,
    controller: &Controller,
) -> Result<(), Invalid> {
    match problem(spec, size, start, controller) {
        Some((key, why)) => Err(Invalid::new(why).of("rdma").at(key)),
        None => Ok(()),
    }
}

fn problem(spec: &RdmaSpec, size: u64, start: &Start, controller: &Controller) -> Option<Wrong> {
    let (payload, selective) = (spec.payload, !matches!(spec.recovery, Recovery::GoBackN { .. }));
    if payload == 0 || start.mss != payload {
        let reported = start.mss;
        let why =
            format!("payload is {payload}, the controller was given {reported}; allowed: at least 1, equal");
        return Some(("payload", why));
    }
    if spec.header.checked_add(spec.extra_header).and_then(|h| h.checked_add(payload)).is_none() {
        return Some(("payload", format!("payload {payload} and headers are too large")));
    }
    if size == 0 {
        return Some(("size", "a flow of 0 bytes".into()));
    }
    if spec.cap == Some(0) {
        return Some(("cap", "cap is 0; allowed: at least 1".into()));
    }
    if spec.rtt.segment == 0 {
        return Some(("rtt", "one round trip per 0 packets; allowed: at least 1".into()));
    }
    if let Recovery::Irn { nack_threshold: 0, .. } = spec.recovery {
        return Some(("nack_threshold", "nack_threshold is 0; allowed: at least 1".into()));
    }
    timer_problem(&spec.timer)
        .or_else(|| segments_problem(spec, selective))
        .or_else(|| acks_problem(spec, size, controller, selective))
}

fn timer_problem(timer: &RdmaTimer) -> Option<Wrong> {
    let never = || ("timer", "a retransmission timeout of 0".to_owned());
    match *timer {
        RdmaTimer::Off => None,
        RdmaTimer::Fixed { value } => value.is_zero().then(never),
        RdmaTimer::Dynamic { initial, min } => (initial.is_zero() || min.is_zero()).then(never),
        RdmaTimer::Pair { low, high, .. } if low.is_zero() || low > high => {
            Some(("timer", format!("RTO_low is {low}, RTO_high {high}; allowed: above 0, at most RTO_high")))
        }
        RdmaTimer::Pair { .. } => None,
    }
}

fn segments_problem(spec: &RdmaSpec, selective: bool) -> Option<Wrong> {
    let segments = spec.segments.as_ref()?;
    if segments.bytes == 0 || segments.outstanding == 0 {
        return Some(("segments", "segments of 0 bytes, or 0 outstanding; allowed: at least 1".into()));
    }
    if segments.bytes > 1 << 30 {
        let why = format!("segments of {} bytes; allowed: at most {}", segments.bytes, 1 << 30);
        return Some(("segments", why));
    }
    if segments.nic_pace == Some(Rate::ZERO) {
        return Some(("nic_pace", "nic_pace is 0; allowed: above 0".into()));
    }
    (selective && segments.bytes % spec.payload != 0).then(|| {
        let why = format!(
            "segments of {} bytes end with a short packet; with selective recovery allowed: multiples of the payload, {}",
            segments.bytes, spec.payload
        );
        ("segments", why)
    })
}

fn acks_problem(spec: &RdmaSpec, size: u64, controller: &Controller, selective: bool) -> Option<Wrong> {
    if spec.acks == RdmaAcks::Never {
        let needs = if selective {
            "selective recovery"
        } else if spec.cap.is_some() {
            "a cap"
        } else if spec.segments.is_some() {
            "posting segments"
        } else if spec.timer != RdmaTimer::Off {
            "a retransmission timer"
        } else if spec.notification == Notification::Echo {
            "notification by echo"
        } else if controller.permit().window != Bytes::MAX {
            "a window"
        } else {
            return None;
        };
        return Some(("acks", format!("{needs} needs acknowledgements; acks are sent never")));
    }
    let group = Layout::new(spec, size).per_ack(spec.acks);
    spec.cap.filter(|cap| u64::from(*cap) < group).map(|cap| {
        let why = format!(
            "a cap of {cap} packets with one acknowledgement per {group}; allowed: at least {group}, or one per packet"
        );
        ("cap", why)
    })
}
