//! `[transport]` of kind `tcp`.

use super::transports::{Checked, LARGEST, marks, rank, sizes, telemetry};
use super::{Report, rates, rc3};
use crate::quantity::Capacity;
use crate::resolve;
use crate::schema::{
    DelayedAcks, Document, EcnFloor, EcnMode, Flight, Growth, LossDetection, PrrRule, RestartRule, RtoRule,
    Sack, SynLoss, Tcp,
};
use crate::topology::Graph;
use thalweg_machines::congestion::{Gives, Marks, Rule};
use thalweg_units::{Bytes, Span};

impl Checked for Tcp {
    fn check(&self, r: &mut Report<'_>, key: &str, doc: &Document, graph: &Graph) {
        let t = self;
        let at = |name: &str| format!("{key}.{name}");
        telemetry(r, key, t.telemetry, &t.congestion, doc, graph);
        let telemetry = t.telemetry.map_or(0, |q| q.0.get());
        sizes(r, key, "mss", t.mss.0, Bytes::new(t.header.0.get().saturating_add(telemetry)));
        if t.ack_size.0.get() == 0 || t.ack_size.0.get() > LARGEST {
            r.error(
                &at("ack_size"),
                format!("{} is not a packet size: it must be 1 B to 1 MB", t.ack_size.0),
                "for example \"40B\"",
            );
        }
        let mss = t.mss.0.get().clamp(1, LARGEST) as u32;
        let initial = t.initial_window.bytes(mss);
        if initial.get() == 0 {
            r.error(
                &at("initial_window"),
                "with an initial window of 0 the flow never sends",
                "write at least \"1pkts\"",
            );
        }
        if t.congestion.needs().gives.from_initial() && t.max_window.bytes(mss) < initial {
            let reason = format!("it is below the initial window, {}", t.initial_window);
            r.error(&at("max_window"), reason, "raise it, or lower `initial_window`");
        }
        windows(r, key, t, mss);
        if t.syn_size.is_some() && !t.handshake {
            r.ineffective(&at("syn_size"), "without a handshake there is no SYN", "write `handshake = true`");
        }
        if t.syn_loss != SynLoss::Rfc && !t.handshake {
            r.ineffective(&at("syn_loss"), "without a handshake there is no SYN", "write `handshake = true`");
        }
        if let DelayedAcks::On { delay, .. } = t.delayed_acks
            && delay.0 > Span::from_ms(500)
        {
            let reason =
                format!("{} is longer than 500 ms, the most that RFC 5681 §4.2 allows for an ACK", delay.0);
            r.error(&at("delayed_acks.delay"), reason, "write at most \"500ms\"");
        }
        match t.rto {
            RtoRule::Rfc6298 { initial, min, max } | RtoRule::Linux { initial, min, max } => {
                if min > max {
                    let reason = format!("the smallest time-out, {min}, is above the largest, {max}");
                    r.error(&at("rto.min"), reason, "swap them");
                } else if initial > max {
                    let reason = format!("the first time-out, {initial}, is above the largest, {max}");
                    r.error(&at("rto.initial"), reason, "lower it, or raise `max`");
                } else if initial.is_zero() || max.is_zero() {
                    r.error(
                        &at("rto"),
                        "a time-out of 0 would expire endlessly at the same instant",
                        "write a time above zero",
                    );
                }
            }
            RtoRule::Fixed { value } if value.is_zero() => {
                r.error(
                    &at("rto.value"),
                    "a time-out of 0 would expire endlessly at the same instant",
                    "write a time above zero",
                );
            }
            RtoRule::Fixed { .. } => {}
        }
        let windows =
            matches!(t.congestion.needs().gives, Gives::Window { .. } | Gives::OwnWindow | Gives::Nothing);
        if t.pacing && !windows && t.congestion.needs().gives != Gives::Anything {
            let why = "the controller paces packets itself";
            r.ineffective(
                &at("pacing"),
                why,
                "remove the key, or choose a controller that sets only a window",
            );
        }
        if t.prr != PrrRule::Off {
            let why = match () {
                () if t.rc3.is_some() => "with `rc3` the primary loop has loss recovery of its own",
                () if t.loss == LossDetection::TimeoutOnly => {
                    "PRR acts on duplicate ACKs, and `loss` is timeout-only"
                }
                () if t.flight != Flight::Pipe => "PRR needs `flight = \"pipe\"` (RFC 6675)",
                () if !windows && t.congestion.needs().gives != Gives::Anything => {
                    "the controller does not set a window"
                }
                () => "",
            };
            if !why.is_empty() {
                r.ineffective(&at("prr"), why, "write \"off\"");
            }
        }
        if matches!(t.loss, LossDetection::Rack { .. }) {
            let why = match () {
                () if t.sack == Sack::Off => "RACK needs selective acknowledgements, and `sack` is off",
                () if t.flight != Flight::Pipe => "RACK needs `flight = \"pipe\"` (RFC 6675)",
                () if t.congestion.needs().exact => {
                    "the controller's segments have any size, and RACK numbers full ones"
                }
                () => "",
            };
            if !why.is_empty() {
                r.error(&at("loss"), why, "write \"dup-ack\"");
            }
        }
        if t.loss == LossDetection::TimeoutOnly && t.limited_transmit == Some(true) {
            let why = "limited transmit acts on duplicate ACKs, and `loss` is timeout-only";
            r.ineffective(&at("limited_transmit"), why, "write false, or `loss = \"dup-ack\"`");
        }
        if t.flight != Flight::Pipe && t.limited_transmit == Some(true) {
            let why = "with this `flight` a duplicate ACK makes no room for another segment";
            r.ineffective(&at("limited_transmit"), why, "write false, or `flight = \"pipe\"`");
        }
        if t.impatient && t.sack != Sack::Off {
            let why = "it concerns partial ACKs, which matter only without SACK";
            r.ineffective(&at("impatient"), why, "write `sack = \"off\"` or remove the key");
        }
        window_use(r, key, t);
        rc3::check(r, key, t, doc);
        ecn(r, key, t, doc);
        rank(r, &at("rank"), t.rank, doc);
        rates::controller(r, &at("congestion"), &t.congestion, graph);
    }

    fn must_end(&self, _: &Document) -> Option<(&'static str, &'static str)> {
        let tail = (
            "rc3 sends the end of a flow first, and a flow without end has none",
            "give it a size, or remove `rc3`",
        );
        self.rc3.is_some().then_some(tail)
    }
}

/// `growth`, `restart` and `ecn_floor`, which a controller may replace by rules of its own.
fn window_use(r: &mut Report<'_>, key: &str, t: &Tcp) {
    let at = |name: &str| format!("{key}.{name}");
    let rules = t.congestion.rules();
    if t.growth != Growth::default() && rules.grows_when_used != Rule::Kept {
        let why = "the controller has a rule of its own for when its window grows";
        r.ineffective(
            &at("growth"),
            why,
            "remove the key, or choose a controller that keeps this rule (docs/controllers-rules.md)",
        );
    }
    if t.restart != RestartRule::default() && t.writes.is_none() && t.video.is_none() {
        r.ineffective(
            &at("restart"),
            "without `writes` or `video` a flow is never idle",
            "write `writes` or `video`, or remove the key",
        );
    } else if t.restart != RestartRule::default() && rules.restarts != Rule::Kept {
        let why = "the controller has a rule of its own for restarting after idle";
        r.ineffective(
            &at("restart"),
            why,
            "remove the key, or choose a controller that keeps this rule (docs/controllers-rules.md)",
        );
    }
    if t.ecn_floor != EcnFloor::default() && t.ecn != Some(EcnMode::Classic) {
        r.ineffective(
            &at("ecn_floor"),
            "it concerns classic ECN only",
            "write `ecn = \"classic\"`, or remove the key",
        );
    }
}

/// Windows that the controller does not use.
fn windows(r: &mut Report<'_>, key: &str, t: &Tcp, mss: u32) {
    let at = |name: &str| format!("{key}.{name}");
    let what = match t.congestion.needs().gives {
        Gives::Window { slow_start: true } | Gives::PacedWindow | Gives::Anything => return,
        Gives::Window { slow_start: false } => "a window that starts full",
        Gives::OwnWindow => "a window of its own",
        Gives::Nothing => "a fixed window",
        Gives::Pace | Gives::PaceAndWindow | Gives::PaceAndOwnWindow => "a rate that starts at line rate",
        Gives::PaceAndInitialWindow => "a model of the path",
    };
    let gives = t.congestion.needs().gives;
    if t.initial_threshold != Capacity::Unlimited {
        r.ineffective(&at("initial_threshold"), &format!("{what} has no slow start"), "remove the key");
    }
    let initial = t.initial_window.bytes(mss);
    let bounded = matches!(gives, Gives::Nothing | Gives::PaceAndWindow);
    if bounded && t.max_window != Capacity::Unlimited && t.max_window.bytes(mss) >= initial {
        let why = format!("{what} never exceeds the initial window");
        r.ineffective(&at("max_window"), &why, "remove the key");
    }
    if gives == Gives::OwnWindow && t.initial_window != Tcp::default().initial_window {
        let why = "the controller chooses its first window itself";
        r.ineffective(&at("initial_window"), why, "remove the key, or write `max_window`");
    }
    if gives == Gives::PaceAndOwnWindow && t.initial_window != Tcp::default().initial_window {
        let why = "the controller computes its first window from its rate and a round trip";
        r.ineffective(&at("initial_window"), why, "remove the key, or write `max_window`");
    }
    if gives == Gives::Pace && t.initial_window != Tcp::default().initial_window {
        let why = format!("{what} is limited by `max_window` alone from the start");
        r.ineffective(&at("initial_window"), &why, "remove the key, or write `max_window`");
    }
}

fn ecn(r: &mut Report<'_>, key: &str, t: &Tcp, doc: &Document) {
    let marks = marks(doc);
    let free = resolve::is_free(doc);
    let red = resolve::drops_unmarkable(doc);
    let needed = t.congestion.needs().marks;
    if needed.required() && t.ecn == Some(EcnMode::Off) {
        let reason = "the controller reacts to ECN marks only, and ECN is off";
        r.error(&format!("{key}.ecn"), reason, "write \"accurate\" or remove the key");
    } else if t.congestion.needs().l4s && t.ecn == Some(EcnMode::Classic) {
        let reason = "an L4S sender needs an exact echo of every mark (RFC 9331 §4.2)";
        r.error(&format!("{key}.ecn"), reason, "write \"accurate\" or remove the key");
    } else if !marks && needed == Marks::Wanted {
        if t.ecn != Some(EcnMode::Off) {
            let hint = "let a queue mark, for example with `switch.marking`, or write `ecn = \"off\"`";
            let reason = "the controller wants ECN marks, but no queue marks packets";
            r.error(&format!("{key}.congestion"), reason, hint);
        }
    } else if !marks && t.ecn != Some(EcnMode::Off) {
        let hint = "for example `switch.marking = { kind = \"step\", threshold = \"15pkts\" }`";
        if needed.required() {
            let reason = "the controller needs ECN marks, but no queue marks packets";
            r.error(&format!("{key}.congestion"), reason, hint);
        } else {
            r.ineffective(&format!("{key}.ecn"), "no queue marks packets", hint);
        }
    } else if needed == Marks::Ignored && t.ecn != Some(EcnMode::Off) && !red && !free {
        // (RED drops what it cannot mark, so that ECN has an effect even then.)
        let why = "the controller does not react to ECN marks";
        r.ineffective(&format!("{key}.ecn"), why, "write \"off\", or the controller newreno or dctcp");
    }
}
