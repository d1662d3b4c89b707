//! `[transport]` of kind `rdma`.

use super::transports::{Checked, LARGEST, marks, sizes, telemetry};
use super::{Report, rates};
use crate::quantity::Cap;
use crate::resolve;
use crate::schema::{Document, Notification, Rank, Rdma, RdmaAcks, RdmaTimer, Recovery, RttSamples};
use crate::topology::Graph;
use thalweg_machines::congestion::{Gives, Marks, Messages, Problems};
use thalweg_machines::transport::RoundTrips;
use thalweg_units::{Bytes, Span};

impl Checked for Rdma {
    fn check(&self, r: &mut Report<'_>, key: &str, doc: &Document, graph: &Graph) {
        let t = self;
        let at = |name: &str| format!("{key}.{name}");
        telemetry(r, key, t.telemetry, &t.congestion, doc, graph);
        let telemetry = t.telemetry.map_or(0, |q| q.0.get());
        let headers =
            [t.extra_header.0.get(), telemetry].iter().fold(t.header.0.get(), |a, b| a.saturating_add(*b));
        sizes(r, key, "mtu", t.mtu.0, Bytes::new(headers));
        for (name, size) in
            [("ack_size", t.ack_size.0), ("nack_size", t.nack_size.map_or(Bytes::new(70), |q| q.0))]
        {
            packet(r, &at(name), size, "70B");
        }
        if let Recovery::GoBackN { repeat_nack: Some(every) } = t.recovery
            && every.is_zero()
        {
            r.error(
                &at("recovery.repeat_nack"),
                "the interval between NACKs must be above zero",
                "for example \"500us\"",
            );
        }
        if t.recovery == Recovery::DropNotified && !doc.routing.rule.needs().source_routes {
            let reason = "switches send drop notices back along the path of a packet, and this routing chooses one for each packet";
            r.error(&at("recovery"), reason, "write \"irn\", or `routing = \"ecmp\"`");
        }
        r.report(&at("path_values"), path_values(t, doc).0);
        if matches!(t.rank, Some(Rank::SocketBuffer { .. })) {
            let reason = "queue pairs have no send buffer: hosts post whole messages to them";
            r.error(&at("rank"), reason, "write \"from-here\", \"remaining\" or \"flow-size\"");
        } else if t.rank == Some(Rank::Remaining) && t.acks == Some(RdmaAcks::Never) {
            let reason = "without ACKs no sender knows how much of its flow remains";
            r.error(&at("rank"), reason, "write \"from-here\", or `acks = \"per-packet\"`");
        } else {
            super::transports::rank(r, &at("rank"), t.rank, doc);
        }
        timer(r, key, t);
        acks(r, key, t);
        notification(r, key, t, doc, graph);
        round_trips(r, key, t);
        segments(r, key, t, graph);
        rates::controller(r, &at("congestion"), &t.congestion, graph);
    }

    fn must_end(&self, doc: &Document) -> Option<(&'static str, &'static str)> {
        let unbounded = self.segments.is_none()
            && matches!(self.cap, None | Some(Cap::Off))
            && self.congestion.needs().gives == Gives::Nothing;
        (unbounded && !doc.nic.order.pulls()).then_some((
            "a flow without end, cap, pace or window would fill the NIC's queue without limit",
            "write `nic.order = \"round-robin\"`, or give the transport a `cap`",
        ))
    }
}

fn packet(r: &mut Report<'_>, key: &str, size: Bytes, example: &str) {
    if size.get() == 0 || size.get() > LARGEST {
        r.error(
            key,
            format!("{size} is not a packet size: it must be 1 B to 1 MB"),
            format!("for example \"{example}\""),
        );
    }
}

fn timer(r: &mut Report<'_>, key: &str, t: &Rdma) {
    let at = |name: &str| format!("{key}.timer.{name}");
    let mut positive = |name: &str, span: Span| {
        if span.is_zero() {
            r.error(
                &at(name),
                "a time-out of 0 would expire endlessly at the same instant",
                "write a time above zero",
            );
        }
    };
    match t.timer {
        None | Some(RdmaTimer::Off) => return,
        Some(RdmaTimer::Fixed { value }) => positive("value", value),
        Some(RdmaTimer::Dynamic { initial, min }) => {
            positive("initial", initial);
            positive("min", min);
        }
        Some(RdmaTimer::Pair { low, high, .. }) => {
            positive("low", low);
            if high < low {
                let reason = format!("RTO_high, {high}, is below RTO_low, {low}");
                r.error(&at("high"), reason, "swap them");
            }
        }
    }
    if t.acks == Some(RdmaAcks::Never) {
        let reason = "without ACKs a retransmission timer cannot know what has arrived";
        r.error(&format!("{key}.timer"), reason, "write \"off\", or `acks = \"per-packet\"`");
    }
}

/// Settings that need ACKs, or an ACK for each packet.
fn acks(r: &mut Report<'_>, key: &str, t: &Rdma) {
    let at = |name: &str| format!("{key}.{name}");
    let needs = t.congestion.needs();
    let per_packet = format!("write `{} = \"per-packet\"`", at("acks"));
    let capped = match t.cap {
        Some(Cap::Packets(cap)) => Some(cap),
        _ => None,
    };
    let waiting = if t.segments.is_some() {
        Some("the host posts the next segment when one is acknowledged")
    } else if needs.gives.moves_window() {
        Some("the controller's window advances with ACKs")
    } else if needs.round_trips {
        Some("the controller measures round trips with ACKs")
    } else if capped.is_some() {
        Some("the cap limits packets without ACKs")
    } else if t.notification == Some(Notification::Echo) {
        Some("marks are echoed in ACKs")
    } else if !matches!(t.recovery, Recovery::GoBackN { .. }) {
        Some("the sender learns from ACKs what has arrived")
    } else {
        None
    };
    if matches!(needs.gives, Gives::Window { .. } | Gives::PaceAndWindow) && t.cap == Some(Cap::Off) {
        let reason = "the controller's window starts at the size of the cap, which is off";
        r.error(&at("cap"), reason, "write \"auto\"");
    }
    match (t.acks, waiting) {
        (Some(RdmaAcks::Never), Some(why)) => r.error(&at("acks"), why, "write \"per-packet\""),
        (Some(RdmaAcks::PerSegment), _) => {
            let mtu = t.mtu.0.get().max(1);
            let posted = t.segments.map(|s| s.bytes.0.get().div_ceil(mtu));
            let segment = posted.unwrap_or(t.rtt.segment.map_or(1, u64::from));
            if needs.gives.moves_window() && t.segments.is_none() {
                let reason =
                    "only the end of a segment is acknowledged, and a window may be smaller than a segment";
                r.error(&at("acks"), reason, "write \"per-packet\"");
            } else if let Some(cap) = capped.filter(|cap| u64::from(*cap) < segment) {
                let reason = format!(
                    "only the end of a segment of {segment} packets is acknowledged, and the cap is {cap}"
                );
                r.error(&at("cap"), reason, per_packet);
            }
        }
        _ => {}
    }
}

fn notification(r: &mut Report<'_>, key: &str, t: &Rdma, doc: &Document, graph: &Graph) {
    let at = |name: &str| format!("{key}.{name}");
    let now = t.notification.unwrap_or(Notification::Off);
    let needs = t.congestion.needs();
    let custom = needs.gives == Gives::Anything;
    let red = crate::resolve::drops_unmarkable(doc);
    let free = crate::resolve::is_free(doc);
    let by_switches =
        resolve::sent_by_points(doc) == Messages::Notifications && needs.receives(Messages::Notifications);
    match now {
        Notification::Cnp { interval, size, .. } => {
            packet(r, &at("notification.size"), size.0, "82B");
            // The default is not refused: a short run has room for the first notification.
            let usual =
                matches!(Notification::cnp(), Notification::Cnp { interval: it, .. } if it == interval);
            if interval.0 > doc.run.until.0 && !usual {
                let why = "the run ends before the second notification";
                r.ineffective(&at("notification.interval"), why, "write a shorter time");
            }
        }
        Notification::Off | Notification::Echo => {}
    }
    if now == Notification::Off {
        if needs.marks.required() {
            let reason = "the controller reacts to ECN marks only, and none are reported to it";
            r.error(&at("notification"), reason, "remove the key: the default is what the controller needs");
        }
    } else if !marks(doc) && needs.marks.by_default() && by_switches {
        if matches!(now, Notification::Cnp { .. }) && now != Notification::cnp() {
            let why = "no queue marks packets: switches alone notify senders";
            r.ineffective(&at("notification"), why, "remove the key");
        }
    } else if !marks(doc) {
        let (min, max) = resolve::dcqcn_marks(graph);
        let hint = format!(
            "for example `switch.marking = {{ kind = \"red-ecn\", min = \"{min}\", max = \"{max}\" }}`"
        );
        if needs.marks.by_default() {
            r.error(&at("congestion"), "the controller needs ECN marks, but no queue marks packets", hint);
        } else {
            r.ineffective(&at("notification"), "no queue marks packets", hint);
        }
    } else if matches!(needs.marks, Marks::Echoes) && matches!(now, Notification::Cnp { .. }) {
        let reason = "the controller counts marked bytes, which only ACKs report";
        r.error(&at("notification"), reason, "write \"echo\"");
    } else if !notices(needs.marks, now) && !custom && !red && !free {
        // (RED drops what it cannot mark, so that ECN has an effect even then.)
        let why = "the controller does not react to ECN marks";
        r.ineffective(&at("notification"), why, "write \"off\", or the controller dcqcn or dctcp");
    }
}

/// True if a controller reacts to such notifications.
fn notices(marks: Marks, notification: Notification) -> bool {
    match marks {
        Marks::Ignored => false,
        Marks::Optional | Marks::Echoes | Marks::Codepoints => notification == Notification::Echo,
        Marks::Wanted | Marks::Notifications => true,
    }
}

fn round_trips(r: &mut Report<'_>, key: &str, t: &Rdma) {
    let at = |name: &str| format!("{key}.rtt.{name}");
    let plain = RttSamples::default();
    let dynamic = matches!(t.timer, Some(RdmaTimer::Dynamic { .. }));
    let needs = t.congestion.needs();
    let read = needs.round_trips;
    let counted = t.acks == Some(RdmaAcks::PerSegment) && t.segments.is_none();
    let hint = "remove the key, or use a controller that does, for example timely or swift";
    let given = t.rtt.segment.is_some_and(|segment| segment != RoundTrips::SEGMENT);
    if t.segments.is_some() && given {
        r.ineffective(
            &at("segment"),
            "each posted segment gives one sample",
            "write `segments.bytes` instead",
        );
    } else if !read && !counted && given {
        r.ineffective(&at("segment"), "the controller does not use round trips", hint);
    }
    if !read && t.rtt.less_serialization != plain.less_serialization {
        r.ineffective(&at("less_serialization"), "the controller does not use round trips", hint);
    }
    if !read && !dynamic && t.rtt.noise != plain.noise {
        r.ineffective(&at("noise"), "neither the controller nor the timer uses round trips", hint);
    }
}

fn segments(r: &mut Report<'_>, key: &str, t: &Rdma, graph: &Graph) {
    let Some(s) = t.segments else { return };
    let at = |name: &str| format!("{key}.segments.{name}");
    if s.bytes.0.get() == 0 || s.bytes.0.get() > 1 << 30 {
        r.error(
            &at("bytes"),
            format!("{} is not a segment size: it must be 1 B to 1 GiB", s.bytes.0),
            "for example \"16KB\"",
        );
    } else if s.bytes.0 < t.mtu.0 {
        let reason = format!("a segment of {} is smaller than a packet of {}", s.bytes.0, t.mtu.0);
        r.error(&at("bytes"), reason, format!("at least \"{}\"", t.mtu.0));
    }
    let whole = s.bytes.0.get() % t.mtu.0.get().max(1) == 0;
    if !matches!(t.recovery, Recovery::GoBackN { .. }) && !whole {
        let reason = format!("a segment of {} ends with a short packet, which IRN cannot number", s.bytes.0);
        r.error(&at("bytes"), reason, format!("a multiple of {}, for example 16 of them", t.mtu.0));
    }
    if let Some(pace) = s.nic_pace {
        r.report(&at("nic_pace"), rates::rate(pace.0, graph));
    }
}

/// Path values, which switches hash, and their recycling by senders.
fn path_values(t: &Rdma, doc: &Document) -> Problems {
    let mut problems = Problems::default();
    let Some(values) = t.path_values else { return problems };
    if !doc.routing.rule.needs().path_values {
        let why = format!("the routing `{}` does not hash path values", doc.routing.rule.key());
        problems.useless("", &why, "write `routing = \"entropy\"`, or remove the key");
    } else if values.count < 2 {
        problems.wrong("count", "with fewer than 2 values there is no choice of path", "write at least 2");
    } else if values.recycle && t.acks == Some(RdmaAcks::Never) {
        problems.useless("recycle", "values return in ACKs, and nothing is acknowledged", "remove the key");
    } else if values.recycle && t.notification != Some(Notification::Echo) {
        let reason = "ACKs do not say whether their data was marked, so every value would seem good";
        problems.wrong("recycle", reason, "write `notification = \"echo\"`, or remove the key");
    }
    problems
}
