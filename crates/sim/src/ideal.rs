//! How long a flow takes alone: a closed form in O(links).
//!
//! Packets of one size through a tandem of FIFO links keep the spacing of the slowest link so far:
//! T(i, j) = T(1, j) + (i − 1) · max_{k ≤ j} s_k. ACKs are the same jobs on further links, so one
//! recursion covers data and ACK; only the last, shorter packet is followed link by link.

use crate::port::Port;
use thalweg_units::{PortId, Span, Time};

/// A flow's packets: `full` bytes on the wire each, the last one `last`; ACKs of `ack` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Packets.
    pub packets: u64,
    /// Wire bytes of all but the last.
    pub full: u32,
    /// Wire bytes of the last.
    pub last: u32,
    /// Wire bytes of an ACK.
    pub ack: u32,
}

struct Stage<'a> {
    port: &'a Port,
    full: u32,
    last: u32,
    /// The packet may be forwarded before it has arrived whole (not into the first link of a leg).
    cuts: Span,
}

/// Time until the last byte has arrived, and until the ACK of it has.
pub fn completion(ports: &[Port], data: &[PortId], ack: &[PortId], shape: Shape) -> (Span, Span) {
    let stages = data
        .iter()
        .map(|p| Stage { port: &ports[p.at()], full: shape.full, last: shape.last, cuts: Span::ZERO })
        .chain(ack.iter().map(|p| Stage {
            port: &ports[p.at()],
            full: shape.ack,
            last: shape.ack,
            cuts: Span::ZERO,
        }));
    let mut received = Span::ZERO;
    // `first`: end of the first packet's transmission on the link before; `last`: of the last packet's.
    let (mut first, mut last) = (Time::ZERO, Time::ZERO);
    let (mut first_early, mut last_early) = (Span::ZERO, Span::ZERO);
    let mut slowest = Span::ZERO;
    for (index, stage) in stages.enumerate() {
        let (full, short) = (stage.port.span(stage.full), stage.port.span(stage.last));
        // End of transmission: not before the packet is here whole, nor before its first bits + service.
        let through = |arrived: Time, early: Span, service: Span| arrived.max(arrived - early + service);
        first = through(first, first_early + stage.cuts, full);
        slowest = slowest.max(full);
        if shape.packets > 1 {
            let previous = first + slowest * (shape.packets - 2);
            last = through(last, last_early, short).max(previous + short);
        } else {
            last = through(last, last_early, short);
        }
        let delay = stage.port.timing.delay;
        let next_is_switch = !stage.port.mode.to_host;
        first_early = if next_is_switch { stage.port.early(stage.full) } else { Span::ZERO };
        last_early = if next_is_switch { stage.port.early(stage.last) } else { Span::ZERO };
        first += delay;
        last += delay;
        if index + 1 == data.len() {
            received = last - Time::ZERO;
        }
    }
    (received, last - Time::ZERO)
}
