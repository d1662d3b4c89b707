//! Which parameters can work, and which exclude each other.

use super::super::super::{Notification, RdmaAcks, RdmaSpec, RdmaTimer, RecoverySpec};
use super::super::layout::Layout;
use crate::congestion::{CongestionControl, Controller, Start};
use thalweg_units::{Bytes, Rate};

/// Refuses what cannot work, by name.
pub(super) fn check(
    spec: &RdmaSpec,
    size: u64,
    start: &Start,
    controller: &Controller,
) -> Result<(), String> {
    match problem(spec, size, start, controller) {
        Some(what) => Err(format!("rdma: {what}")),
        None => Ok(()),
    }
}

fn problem(spec: &RdmaSpec, size: u64, start: &Start, controller: &Controller) -> Option<String> {
    let (payload, selective) = (spec.payload, !matches!(spec.recovery, RecoverySpec::GoBackN { .. }));
    if payload == 0 || start.mss != payload {
        return Some(format!(
            "payload is {payload}, the controller was told {}; allowed: at least 1, equal",
            start.mss
        ));
    }
    if spec.header.checked_add(spec.extra_header).and_then(|h| h.checked_add(payload)).is_none() {
        return Some(format!("payload {payload} and headers are too large"));
    }
    if size == 0 {
        return Some("a flow of 0 bytes".into());
    }
    if spec.cap == Some(0) {
        return Some("cap is 0; allowed: at least 1".into());
    }
    if spec.rtt.segment == 0 {
        return Some("one round trip per 0 packets; allowed: at least 1".into());
    }
    if let RecoverySpec::Selective { nack_threshold: 0, .. } = spec.recovery {
        return Some("nack_threshold is 0; allowed: at least 1".into());
    }
    timer_problem(&spec.timer)
        .or_else(|| segments_problem(spec, selective))
        .or_else(|| acks_problem(spec, size, controller, selective))
}

fn timer_problem(timer: &RdmaTimer) -> Option<String> {
    match *timer {
        RdmaTimer::Off => None,
        RdmaTimer::Fixed(span) => span.is_zero().then(|| "a retransmission timeout of 0".into()),
        RdmaTimer::Dynamic { initial, min } => {
            (initial.is_zero() || min.is_zero()).then(|| "a retransmission timeout of 0".into())
        }
        RdmaTimer::Pair { low, high, .. } if low.is_zero() || low > high => {
            Some(format!("RTO_low is {low}, RTO_high {high}; allowed: above 0, at most RTO_high"))
        }
        RdmaTimer::Pair { .. } => None,
    }
}

fn segments_problem(spec: &RdmaSpec, selective: bool) -> Option<String> {
    let segments = spec.segments.as_ref()?;
    if segments.bytes == 0 || segments.outstanding == 0 {
        return Some("segments of 0 bytes, or 0 outstanding; allowed: at least 1".into());
    }
    if segments.bytes > 1 << 30 {
        return Some(format!("segments of {} bytes; allowed: at most {}", segments.bytes, 1 << 30));
    }
    if segments.nic_pace == Some(Rate::ZERO) {
        return Some("nic_pace is 0; allowed: above 0".into());
    }
    (selective && segments.bytes % spec.payload != 0).then(|| {
        format!(
            "segments of {} bytes end with a short packet; with selective recovery allowed: multiples of the payload, {}",
            segments.bytes, spec.payload
        )
    })
}

fn acks_problem(spec: &RdmaSpec, size: u64, controller: &Controller, selective: bool) -> Option<String> {
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
        return Some(format!("{needs} needs acknowledgements; acks are sent never"));
    }
    let group = Layout::new(spec, size).per_ack(spec.acks);
    spec.cap.filter(|cap| u64::from(*cap) < group).map(|cap| {
        format!(
            "a cap of {cap} packets with one acknowledgement per {group}; allowed: at least {group}, or one per packet"
        )
    })
}
