//! Which parameters can work.

use super::super::super::{Flight, LossDetection, RtoRule, Sack, TcpSpec};
use crate::congestion::Start;
use crate::problems::Invalid;
use thalweg_units::{Bytes, Rate};
use thalweg_wire::SackBlocks;

/// Refuses what cannot work, by name.
pub(super) fn check(spec: &TcpSpec, size: u64, start: &Start) -> Result<(), Invalid> {
    let refuse = |key: &'static str, why: String| Err(Invalid::new(why).of("tcp").at(key));
    if spec.mss == 0 || start.mss != spec.mss {
        return refuse(
            "mss",
            format!(
                "mss is {}, the controller was given {}; allowed: at least 1, equal",
                spec.mss, start.mss
            ),
        );
    }
    if spec.mss.checked_add(spec.header).is_none() {
        return refuse("mss", format!("mss {} + header {} is too large", spec.mss, spec.header));
    }
    if size == 0 {
        return refuse("size", "a flow of 0 bytes".into());
    }
    if start.initial_window == Bytes::ZERO {
        return refuse("initial_window", "initial_window is 0".into());
    }
    if spec.ack.every == 0 {
        return refuse("ack", "one ACK per 0 segments; allowed: at least 1".into());
    }
    if let Sack::Blocks { blocks, .. } = spec.sack
        && !(1..=SackBlocks::CAPACITY).contains(&usize::from(blocks))
    {
        return refuse("sack", format!("{blocks} SACK blocks; allowed: 1 to {}", SackBlocks::CAPACITY));
    }
    if spec.loss == (LossDetection::DupAck { threshold: 0 }) {
        return refuse("loss", "a duplicate-ACK threshold of 0; allowed: at least 1".into());
    }
    let by_time = matches!(spec.loss, LossDetection::Rack { .. });
    if by_time && (spec.sack == Sack::Off || spec.flight != Flight::Pipe) {
        return refuse("loss", "losses by time need SACK, and count the pipe".into());
    }
    if let Some(writes) = spec.writes
        && (writes.chunk == Bytes::ZERO || writes.every.is_zero())
    {
        return refuse("writes", "an application that writes nothing, or without pause".into());
    }
    if let Some(video) = &spec.options.video {
        let rises = video.ladder.windows(2).all(|two| two[1] == Rate::ZERO || two[1] > two[0]);
        let safe = video.safety > 0.0 && video.safety.is_finite();
        if spec.writes.is_some() || video.ladder[0] == Rate::ZERO || !rises || video.chunk.is_zero() || !safe
        {
            return refuse("video", "a video without rates, chunks or a viewer of its own".into());
        }
    }
    match spec.rto {
        RtoRule::Fixed { value } if value.is_zero() => refuse("rto", "a retransmission timeout of 0".into()),
        RtoRule::Rfc6298 { initial, max, .. } | RtoRule::Linux { initial, max, .. }
            if initial.is_zero() || max.is_zero() =>
        {
            refuse("rto", "a retransmission timeout of 0".into())
        }
        RtoRule::Rfc6298 { min, max, .. } | RtoRule::Linux { min, max, .. } if min > max => {
            refuse("rto", format!("the smallest timeout {min} is above the largest {max}"))
        }
        _ => Ok(()),
    }
}
