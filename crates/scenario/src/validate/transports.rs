//! `[transport]` and `[transports.*]`.

use super::{Report, rates};
use crate::diagnostic::suggest_of;
use crate::quantity::{Capacity, Q};
use crate::resolve;
use crate::schema::{
    Connection, DelayedAcks, Document, EcnFloor, EcnMode, Edge, Fct, Flight, Growth, LossDetection, Marking,
    Pace, PrrRule, Rank, RestartRule, RtoRule, Sack, SynLoss, Tcp, Traffic, Udp, of_kind,
};
use crate::topology::Graph;
use thalweg_machines::congestion::{ControllerSpec, FeedbackKind, Gives, Marks, Rule};
use thalweg_machines::schedule::Key;
use thalweg_machines::stage::Acts;
use thalweg_units::{Bytes, Span};
use thalweg_wire::{ExplicitKind, IntStack};

/// The largest packet, bytes: fits the counters of every machine.
pub(super) const LARGEST: u64 = 1_000_000;

/// A kind of transport, whose keys can be wrong.
pub(super) trait Checked {
    /// What is impossible or cannot take effect in its table, which stands under `key`.
    fn check(&self, r: &mut Report<'_>, key: &str, doc: &Document, graph: &Graph);
    /// Why a flow without end cannot run over it, and the way out.
    fn must_end(&self, _doc: &Document) -> Option<(&'static str, &'static str)> {
        None
    }
}

pub(super) fn check(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    unused(r, doc, graph);
    for (key, transport) in resolve::transports(doc) {
        of_kind!(transport, |t| t.check(r, &key, doc, graph));
    }
    if doc.transports.contains_key("default") {
        r.error("transports.default", "`default` is the name of [transport]", "choose another name");
    }
    for name in doc.transports.keys().filter(|n| *n != "default") {
        if !doc.traffic.iter().any(|t| t.transport == *name) {
            let hint = format!("write `transport = \"{name}\"` in a [[traffic]] section, or remove it");
            r.useless(&format!("transports.{name}"), "no traffic uses this transport", hint);
        }
    }
    let names: Vec<String> =
        std::iter::once("default".to_owned()).chain(doc.transports.keys().cloned()).collect();
    let mut acknowledged = false;
    for (i, t) in doc.traffic.iter().enumerate() {
        let key = format!("traffic.{i}.transport");
        if t.pattern.family().brings_transport() {
            if t.transport != "default" {
                r.useless(&key, "traffic of kind `udp` brings its own transport", "remove the key");
            }
            if t.connection != Connection::Fresh {
                let why = "datagrams have no connections";
                r.useless(&format!("traffic.{i}.connection"), why, "remove the key");
            }
            continue;
        }
        if !names.contains(&t.transport) {
            let controllers = ControllerSpec::all().iter().map(|c| c.key().to_owned()).collect::<Vec<_>>();
            let all: Vec<String> = names.iter().chain(&controllers).cloned().collect();
            let known =
                format!("{}; or the name of a controller, or of a kind of transport", names.join(", "));
            let reason = format!("there is no transport `{}`", t.transport);
            r.error(&key, reason, suggest_of(&t.transport, &all, &known));
            continue;
        }
        let transport = doc.transports.get(&t.transport).unwrap_or(&doc.transport);
        acknowledged |= transport.wire().is_acknowledged();
        if t.connection == Connection::PerPair && !transport.carries_many() {
            let reason = "only queue pairs carry one flow after the other";
            let hint = "write \"fresh\", or use a transport of kind rdma";
            r.error(&format!("traffic.{i}.connection"), reason, hint);
        }
        let endless = t.pattern.family().is_endless();
        if t.connection == Connection::BackToBack {
            let key = format!("traffic.{i}.connection");
            if endless {
                let reason = "what never ends is no message: no flow could follow it";
                r.error(&key, reason, "write \"fresh\" or \"per-pair\", or send flows that end");
            } else if !transport.spec().streams() {
                let reason = "only queue pairs whose hosts post no segments carry messages back to back";
                r.error(
                    &key,
                    reason,
                    "write \"fresh\" or \"per-pair\", or use a transport of kind rdma without `segments`",
                );
            }
        }
        if let Some((reason, hint)) = of_kind!(transport, |t| t.must_end(doc)).filter(|_| endless) {
            r.error(&key, reason, hint);
        }
    }
    if doc.measure.fct == Fct::Sender && !acknowledged {
        let reason = "`sender` waits for ACKs, but no traffic is acknowledged";
        r.error("measure.fct", reason, "write `fct = \"receiver\"`");
    }
}

/// Settings of `[transport]` that no traffic uses. (Its packets always matter: `base_rtt` is about them.)
fn unused(r: &mut Report<'_>, doc: &Document, graph: &Graph) {
    let uses = |t: &Traffic| t.uses_transport(&t.transport) && !doc.transports.contains_key(&t.transport);
    // A scheme is a whole: its scheduler may be all that is wanted of it.
    if doc.scheme.is_some() || doc.traffic.iter().any(uses) {
        return;
    }
    let mut plain = Document { transport: doc.transport.bare(), ..doc.clone() };
    resolve::resolve(&mut plain);
    resolve::by_graph(&mut plain, graph);
    if plain.transport != doc.transport {
        r.useless("transport", "no traffic uses this transport", "remove it");
    }
}

pub(super) fn sizes(r: &mut Report<'_>, key: &str, name: &str, payload: Bytes, header: Bytes) {
    if payload.get() == 0 {
        r.error(&format!("{key}.{name}"), "a packet carries at least 1 byte", "for example \"1460B\"");
    }
    if payload.get().saturating_add(header.get()) > LARGEST {
        let reason = "a packet larger than 1MB is impossible";
        r.error(&format!("{key}.{name}"), reason, format!("payload and header: at most {LARGEST} bytes"));
    }
}

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
                format!("an ACK of {} is impossible", t.ack_size.0),
                "for example \"40B\"",
            );
        }
        let mss = t.mss.0.get().clamp(1, LARGEST) as u32;
        let initial = t.initial_window.bytes(mss);
        if initial.get() == 0 {
            r.error(&at("initial_window"), "a window of nothing never sends", "at least \"1pkts\"");
        }
        if t.congestion.needs().gives.from_initial() && t.max_window.bytes(mss) < initial {
            let reason = format!("it is below the initial window, {}", t.initial_window);
            r.error(&at("max_window"), reason, "raise it, or lower `initial_window`");
        }
        windows(r, key, t, mss);
        if t.syn_size.is_some() && !t.handshake {
            r.useless(&at("syn_size"), "without a handshake there is no SYN", "write `handshake = true`");
        }
        if t.syn_loss != SynLoss::Rfc && !t.handshake {
            r.useless(&at("syn_loss"), "without a handshake there is no SYN", "write `handshake = true`");
        }
        if let DelayedAcks::On { delay, .. } = t.delayed_acks
            && delay.0 > Span::from_ms(500)
        {
            let reason = format!("receivers wait no longer than 500 ms (RFC 5681 §4.2), and not {}", delay.0);
            r.error(&at("delayed_acks.delay"), reason, "lower it");
        }
        match t.rto {
            RtoRule::Rfc6298 { initial, min, max } | RtoRule::Linux { initial, min, max } => {
                if min > max {
                    let reason = format!("the floor, {min}, is above the ceiling, {max}");
                    r.error(&at("rto.min"), reason, "swap them");
                } else if initial > max {
                    let reason = format!("the first time-out, {initial}, is above the ceiling, {max}");
                    r.error(&at("rto.initial"), reason, "lower it");
                } else if initial.is_zero() || max.is_zero() {
                    r.error(&at("rto"), "a time-out of 0 repeats for ever", "write a time above zero");
                }
            }
            RtoRule::Fixed { value } if value.is_zero() => {
                r.error(&at("rto.value"), "a time-out of 0 repeats for ever", "write a time above zero");
            }
            RtoRule::Fixed { .. } => {}
        }
        let windows =
            matches!(t.congestion.needs().gives, Gives::Window { .. } | Gives::OwnWindow | Gives::Nothing);
        if t.pacing && !windows && t.congestion.needs().gives != Gives::Anything {
            let why = "the controller has a pace of its own";
            r.useless(&at("pacing"), why, "remove it, or choose a controller with a window alone");
        }
        if t.prr != PrrRule::Off {
            let why = match () {
                () if t.rc3.is_some() => "RC3's primary loop repairs by itself",
                () if t.loss == LossDetection::TimeoutOnly => {
                    "it acts on duplicate ACKs, and `loss` is timeout-only"
                }
                () if t.flight != Flight::Pipe => "it counts the pipe, and `flight` is another",
                () if !windows && t.congestion.needs().gives != Gives::Anything => {
                    "the controller is no window's"
                }
                () => "",
            };
            if !why.is_empty() {
                r.useless(&at("prr"), why, "write \"off\"");
            }
        }
        if matches!(t.loss, LossDetection::Rack { .. }) {
            let why = match () {
                () if t.sack == Sack::Off => "it learns from selective acknowledgements, and `sack` is off",
                () if t.flight != Flight::Pipe => "it counts the pipe, and `flight` is another",
                () => "",
            };
            if !why.is_empty() {
                r.error(&at("loss"), why, "write \"dup-ack\"");
            }
        }
        if t.loss == LossDetection::TimeoutOnly && t.limited_transmit == Some(true) {
            let why = "it acts on duplicate ACKs, and `loss` is timeout-only";
            r.useless(&at("limited_transmit"), why, "write false, or `loss = \"dup-ack\"`");
        }
        if t.flight != Flight::Pipe && t.limited_transmit == Some(true) {
            let why = "counted by span, nothing leaves on a duplicate ACK";
            r.useless(&at("limited_transmit"), why, "write false, or `flight = \"pipe\"`");
        }
        if t.impatient && t.sack != Sack::Off {
            let why = "it acts on partial ACKs without SACK";
            r.useless(&at("impatient"), why, "write `sack = \"off\"` or remove the key");
        }
        window_use(r, key, t);
        super::rc3::check(r, key, t, doc);
        ecn(r, key, t, doc);
        rank(r, &at("rank"), t.rank, doc);
        rates::controller(r, &at("congestion"), &t.congestion, graph);
    }

    fn must_end(&self, _: &Document) -> Option<(&'static str, &'static str)> {
        let tail =
            ("a flow without end has no tail for rc3 to begin with", "give it a size, or remove `rc3`");
        self.rc3.is_some().then_some(tail)
    }
}

/// What becomes of windows that are not used, or are marked when they are small.
fn window_use(r: &mut Report<'_>, key: &str, t: &Tcp) {
    let at = |name: &str| format!("{key}.{name}");
    let rules = t.congestion.rules();
    if t.growth != Growth::default() && rules.grows_when_used != Rule::Kept {
        let why = "the controller's window grows, or does not, for reasons of its own";
        r.useless(
            &at("growth"),
            why,
            "remove the key, or choose a controller that looks (docs/controllers-rules.md)",
        );
    }
    if t.restart != RestartRule::default() && t.writes.is_none() && t.video.is_none() {
        r.useless(
            &at("restart"),
            "without `writes` or `video` a flow has no pauses",
            "write `writes` or `video`, or remove the key",
        );
    } else if t.restart != RestartRule::default() && rules.restarts != Rule::Kept {
        let why = "the controller resumes after a pause by rules of its own";
        r.useless(
            &at("restart"),
            why,
            "remove the key, or choose a controller that restarts (docs/controllers-rules.md)",
        );
    }
    if t.ecn_floor != EcnFloor::default() && t.ecn != Some(EcnMode::Classic) {
        r.useless(
            &at("ecn_floor"),
            "it is about classic ECN",
            "write `ecn = \"classic\"`, or remove the key",
        );
    }
}

/// Explicit feedback: some stage must give it.
fn explicit(r: &mut Report<'_>, key: &str, congestion: &ControllerSpec, doc: &Document) {
    let FeedbackKind::Explicit(kind) = congestion.needs().feedback else { return };
    if matches!(kind, ExplicitKind::Forecast(_)) {
        return; // the receiver gives it
    }
    let signals = |marking: &Marking| marking.acts() == Acts::Signals(kind);
    if resolve::markings(doc).any(|(_, marking)| signals(marking)) {
        return;
    }
    let name = Marking::all().iter().find(|marking| signals(marking)).map_or("", Marking::key);
    let reason = "the controller follows explicit feedback, and no router gives it";
    r.error(&format!("{key}.congestion"), reason, format!("write `switch.marking = \"{name}\"`"));
}

/// In-band telemetry: who reads it, and who can write it.
pub(super) fn telemetry(
    r: &mut Report<'_>,
    key: &str,
    size: Option<Q<Bytes>>,
    congestion: &ControllerSpec,
    doc: &Document,
    graph: &Graph,
) {
    explicit(r, key, congestion, doc);
    if !resolve::reads_telemetry(congestion) {
        if size.is_some() {
            let why = "the controller does not read telemetry";
            r.useless(&format!("{key}.telemetry"), why, "remove the key, or use the controller hpcc");
        }
        return;
    }
    let at = format!("{key}.congestion");
    if graph.switches == 0 {
        r.error(
            &at,
            "the controller reads what switches write, and the topology has none",
            "use another one",
        );
    } else if graph.longest_path() > IntStack::CAPACITY as u64 + 1 {
        let reason = format!(
            "the controller reads what every switch writes; there is room for {}, and the longest path has {}",
            IntStack::CAPACITY,
            graph.longest_path() - 1
        );
        r.error(&at, reason, "use another controller, or a smaller network");
    }
    if doc.switch.cut_through.0.get() > 0 {
        let reason = "telemetry is written as a packet leaves the queue, and the controller needs it";
        r.error("switch.cut_through", reason, "remove the key, or use another controller");
    }
    if doc.switch.preemptive {
        let reason = "a transmission that may be interrupted has no instant at which telemetry is written";
        r.error("switch.preemptive", reason, "remove the key, or use another controller");
    }
}

/// Windows that the controller does not look at.
fn windows(r: &mut Report<'_>, key: &str, t: &Tcp, mss: u32) {
    let at = |name: &str| format!("{key}.{name}");
    let what = match t.congestion.needs().gives {
        Gives::Window { slow_start: true } | Gives::PacedWindow | Gives::Anything => return,
        Gives::Window { slow_start: false } => "a window that starts full",
        Gives::OwnWindow => "a window of its own",
        Gives::Nothing => "a fixed window",
        Gives::Pace | Gives::PaceAndWindow | Gives::PaceAndOwnWindow => "a rate that starts at the line's",
        Gives::PaceAndInitialWindow => "a model of the path",
    };
    let gives = t.congestion.needs().gives;
    if t.initial_threshold != Capacity::Unlimited {
        r.useless(&at("initial_threshold"), &format!("{what} has no slow start"), "remove the key");
    }
    let initial = t.initial_window.bytes(mss);
    let bounded = matches!(gives, Gives::Nothing | Gives::PaceAndWindow);
    if bounded && t.max_window != Capacity::Unlimited && t.max_window.bytes(mss) >= initial {
        let why = format!("{what} never exceeds the initial window");
        r.useless(&at("max_window"), &why, "remove the key");
    }
    if gives == Gives::OwnWindow && t.initial_window != Tcp::default().initial_window {
        let why = "the controller begins with a window of its own";
        r.useless(&at("initial_window"), why, "remove the key, or write `max_window`");
    }
    if gives == Gives::PaceAndOwnWindow && t.initial_window != Tcp::default().initial_window {
        let why = "the controller begins with a product of rate and round trip of its own";
        r.useless(&at("initial_window"), why, "remove the key, or write `max_window`");
    }
    if gives == Gives::Pace && t.initial_window != Tcp::default().initial_window {
        let why = format!("{what} has the largest window from the start");
        r.useless(&at("initial_window"), &why, "remove the key, or write `max_window`");
    }
}

/// True if something marks packets: a queue, a registered scheduler, the receiving edge.
pub(super) fn marks(doc: &Document) -> bool {
    let outside = resolve::markings(doc).any(|(_, m)| m.acts().marks());
    let free = resolve::is_free(doc);
    let edge = matches!(doc.edge, Some(Edge::Ecn { .. }));
    let inside = resolve::schedulers(doc).any(|(_, s)| s.needs().acts.marks());
    outside || inside || free || edge
}

fn ecn(r: &mut Report<'_>, key: &str, t: &Tcp, doc: &Document) {
    let marks = marks(doc);
    let free = resolve::is_free(doc);
    let red = resolve::drops_unmarkable(doc);
    let needed = t.congestion.needs().marks;
    if needed.required() && t.ecn == Some(EcnMode::Off) {
        let reason = "the controller listens to ECN marks only, and ECN is off";
        r.error(&format!("{key}.ecn"), reason, "write \"accurate\" or remove the key");
    } else if t.congestion.needs().l4s && t.ecn == Some(EcnMode::Classic) {
        let reason = "an L4S sender needs an exact echo of every mark (RFC 9331 §4.2)";
        r.error(&format!("{key}.ecn"), reason, "write \"accurate\" or remove the key");
    } else if !marks && needed == Marks::Wanted {
        if t.ecn != Some(EcnMode::Off) {
            let hint = "let one, for example with `switch.marking`, or write `ecn = \"off\"`";
            let reason = "the controller wants ECN marks, but no queue marks packets";
            r.error(&format!("{key}.congestion"), reason, hint);
        }
    } else if !marks && t.ecn != Some(EcnMode::Off) {
        let hint = "for example `switch.marking = { kind = \"step\", threshold = \"15pkts\" }`";
        if needed.required() {
            let reason = "the controller needs ECN marks, but no queue marks packets";
            r.error(&format!("{key}.congestion"), reason, hint);
        } else {
            r.useless(&format!("{key}.ecn"), "no queue marks packets", hint);
        }
    } else if needed == Marks::Ignored && t.ecn != Some(EcnMode::Off) && !red && !free {
        // (RED drops what it cannot mark: there it matters even so.)
        let why = "the controller does not listen to marks";
        r.useless(&format!("{key}.ecn"), why, "write \"off\", or the controller newreno or dctcp");
    }
}

pub(super) fn rank(r: &mut Report<'_>, key: &str, rank: Option<Rank>, doc: &Document) {
    let schedulers = || resolve::schedulers(doc).map(|(_, s)| s);
    let free = resolve::is_free(doc);
    let wanted = resolve::sorted_by(doc);
    let static_ranks = schedulers().any(|s| s.needs().key == Key::Rank);
    let histogram = doc.measure.priority_histogram.is_some();
    let rank = rank.unwrap_or(Rank::None);
    if let Rank::SocketBuffer { buffer } = rank
        && buffer.get() == 0
    {
        r.error(&format!("{key}.buffer"), "a send buffer of nothing never sends", "for example \"3MB\"");
    }
    match (wanted, rank) {
        // Both in one header: said by [`super::slack`].
        _ if doc.slack.is_some() && (wanted.is_some() || free) => {}
        (_, Rank::None) if doc.slack.is_some() => {}
        _ if doc.slack.is_some() => {
            r.useless(key, "NICs write slack into the same header", "remove the key, or [slack]");
        }
        _ if free => {}
        (None, _) if static_ranks => {}
        (None, Rank::None) => {}
        (None, _) if histogram => {}
        (None, _) => r.useless(
            key,
            "no scheduler looks at ranks",
            "use the scheduler sjf, srpt or ads, or remove the key",
        ),
        (Some(_), Rank::None) => {
            r.error(
                key,
                "without ranks the scheduler cannot distinguish packets",
                "remove the key: the scheduler knows which",
            );
        }
        (Some(Rank::FlowSize), Rank::FlowSize) => {}
        (Some(Rank::FlowSize), _) => {
            r.error(key, "the scheduler sjf sorts by flow size", "write \"flow-size\", or use srpt");
        }
        (Some(_), Rank::FlowSize) => {
            r.error(key, "the scheduler sorts by remaining size", "write \"remaining\", or use sjf");
        }
        _ => {}
    }
}

impl Checked for Udp {
    fn check(&self, r: &mut Report<'_>, key: &str, _: &Document, _: &Graph) {
        let u = self;
        sizes(r, key, "payload", u.payload.0, u.header.0);
        if !matches!(u.rank, None | Some(Rank::None | Rank::FlowSize)) {
            let reason = "nothing is acknowledged, so no sender knows what remains";
            r.error(&format!("{key}.rank"), reason, "write \"none\" or \"flow-size\"");
        }
        if let Pace::Constant { rate } | Pace::Poisson { rate } = u.pace
            && rate.0.bps() == 0
        {
            r.error(&format!("{key}.pace.rate"), "a rate of 0bps sends nothing", "write a rate above zero");
        }
    }

    fn must_end(&self, _: &Document) -> Option<(&'static str, &'static str)> {
        let burst = ("a flow without end cannot leave in one burst", "give the transport another `pace`");
        (self.pace == Pace::Burst).then_some(burst)
    }
}
