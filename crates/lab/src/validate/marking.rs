//! `switch.marking` and `nic.marking`.

use super::Report;
use super::schedulers::codel;
use crate::quantity::{Capacity, Length};
use crate::resolve;
use crate::schema::{Document, MarkAt, Marking};

/// A queue that marks: where it stands in the scenario, what it may hold by its own limit and by shared memory.
pub(super) struct Queue<'a> {
    pub section: &'a str,
    pub buffer: Capacity,
    pub room: u64,
    pub full: u32,
}

/// Nobody's packets can be marked.
fn unmarkable(r: &mut Report<'_>, section: &str, doc: &Document) {
    if !resolve::ecn_capable(doc) && !resolve::wants_marks(doc) {
        let hint = "write `transport.ecn = \"classic\"`, or the controller dctcp, or remove the marking";
        let why = "no transport is ECN-capable, so no packet can be marked";
        r.useless(&format!("{section}.marking"), why, hint);
    }
}

pub(super) fn check(r: &mut Report<'_>, m: Marking, queue: &Queue<'_>, doc: &Document) {
    let Queue { section, buffer, room, full } = *queue;
    let at = |name: &str| format!("{section}.marking.{name}");
    match m {
        Marking::None => {}
        Marking::Codel { target, interval, mtu } => {
            codel(r, &format!("{section}.marking"), target, interval, mtu)
        }
        Marking::Step { threshold, at: when, include_self } => {
            unmarkable(r, section, doc);
            let never = match (threshold, buffer) {
                (Length::Packets(k), Capacity::Packets(n)) => k > n,
                (k, _) => k.bytes(full).get() > room,
            };
            if never {
                let most =
                    if room < buffer.bytes(full).get() { format!("{room}B") } else { buffer.to_string() };
                let why = format!("the queue never reaches {threshold}, it holds {most}");
                r.useless(&at("threshold"), &why, format!("at most \"{most}\""));
            }
            if include_self && when == MarkAt::Arrival {
                let why = "the arriving packet never counts";
                r.useless(&at("include_self"), why, "write `at = \"departure\"` or remove the key");
            }
        }
        Marking::Ramp { min, max, .. } => {
            unmarkable(r, section, doc);
            if max.0 < min.0 {
                r.error(&at("max"), format!("max, {}, is below min, {}", max.0, min.0), "swap them");
            } else if min.0.get() >= room {
                let why = format!("the queue never exceeds {}, it holds {room} B", min.0);
                r.useless(&at("min"), &why, "lower it or raise the buffer");
            }
        }
        Marking::Red { min, max, ecn, mean_packet, .. } => {
            if max <= min {
                r.error(&at("max"), format!("max, {max}, is not above min, {min}"), "swap them");
            }
            let packets = match buffer {
                Capacity::Packets(n) => f64::from(n),
                _ => room as f64 / f64::from(full),
            };
            if min > packets {
                let why = format!("the queue never reaches {min} packets, it holds {}", libm::floor(packets));
                r.useless(&at("min"), &why, "lower it or raise the buffer");
            }
            if ecn == Some(true) && !resolve::ecn_capable(doc) {
                let why = "no transport is ECN-capable, packets are dropped";
                r.useless(&at("ecn"), why, "write false, or `transport.ecn = \"classic\"`");
            }
            if mean_packet.0.get() == 0 || mean_packet.0.get() > 1 << 30 {
                r.error(
                    &at("mean_packet"),
                    format!("a packet of {} is impossible", mean_packet.0),
                    "for example \"1500B\"",
                );
            }
        }
    }
}
