//! Fills in keys whose defaults depend on other keys, so that a resolved scenario is complete.

mod lossless;
pub(crate) mod texts;
mod transports;

pub(crate) use lossless::site;
pub(crate) use transports::reads_telemetry;

use crate::context::Cx;
use crate::quantity::Capacity;
use crate::schema::{CongestionPoint, Document, Incident, Marking, Rank, Scheduler, Transport, of_kind};
use crate::topology::{Family, Graph};
use crate::traffic::sizes::named;
use thalweg_machines::congestion::{ControllerSpec, Messages, Paths};
use thalweg_machines::schedule::Key;
use thalweg_machines::stage::Acts;
use thalweg_units::{Bytes, Rate, Span};
use transports::{Dependent, Queue};

/// The rank that a scheduler sorts by, if it sorts by one.
pub(crate) fn rank_of(scheduler: &Scheduler) -> Option<Rank> {
    match scheduler.needs().key {
        Key::FlowSize => Some(Rank::FlowSize),
        Key::Remaining => Some(Rank::Remaining),
        Key::Nothing | Key::Rank | Key::Slack | Key::Anything => None,
    }
}

/// The rank that the first ranked scheduler sorts by.
pub(crate) fn sorted_by(doc: &Document) -> Option<Rank> {
    schedulers(doc).find_map(|(_, s)| rank_of(s))
}

/// The same, unless NICs overwrite the senders' rank with slack.
pub(crate) fn written(doc: &Document) -> Option<Rank> {
    sorted_by(doc).filter(|_| doc.slack.is_none())
}

/// Every stage at a queue with its key: `switch.marking`, `switch.stages.0`, the NIC's, and those of single links.
pub(crate) fn markings(doc: &Document) -> impl Iterator<Item = (String, &Marking)> {
    let of_links = doc.link.iter().enumerate();
    let of_links = of_links.filter_map(|(i, l)| Some((format!("link.{i}.marking"), l.marking.as_ref()?)));
    [
        ("switch", Some(&doc.switch.marking), &doc.switch.stages),
        ("nic", doc.nic.marking.as_ref(), &doc.nic.stages),
    ]
    .into_iter()
    .flat_map(|(section, last, front)| {
        let front = front.iter().enumerate().map(move |(i, stage)| (format!("{section}.stages.{i}"), stage));
        front.chain(last.map(|stage| (format!("{section}.marking"), stage)))
    })
    .chain(of_links)
}

/// True if some queue marks ECN-capable packets and drops the others (RED, FQ-CoDel).
pub(crate) fn drops_unmarkable(doc: &Document) -> bool {
    markings(doc).any(|(_, m)| m.acts() == Acts::MarksOrDrops)
        || schedulers(doc).any(|(_, s)| s.needs().acts == Acts::MarksOrDrops)
}

/// True if some scheduler was registered by a user, so that nothing is known of it.
pub(crate) fn is_free(doc: &Document) -> bool {
    schedulers(doc).any(|(_, s)| s.needs().anything())
}

/// Every scheduler with its section: `switch`, `switch.mix`, `nic` (if it has one).
pub(crate) fn schedulers(doc: &Document) -> impl Iterator<Item = (&'static str, &Scheduler)> {
    let mix = doc.switch.mix.iter().map(|m| ("switch.mix", &m.scheduler));
    let nic = doc.nic.scheduler.iter().map(|s| ("nic", s));
    std::iter::once(("switch", &doc.switch.scheduler)).chain(mix).chain(nic)
}

/// Every scheduler of switches that sends notifications to senders (a policy with `notify`), with its section.
pub(crate) fn notifying(doc: &Document) -> impl Iterator<Item = (&'static str, &Scheduler)> {
    schedulers(doc).filter(|(section, s)| *section != "nic" && s.needs().notifies)
}

/// The messages that the congestion points of switches send.
pub(crate) fn sent_by_points(doc: &Document) -> Messages {
    doc.switch.congestion_point.map_or(Messages::None, |point| point.sends())
}

/// True if the scheduler sorts by the slack header. It cannot stand in a NIC, whose queue comes before the slack is
/// written.
pub(crate) fn reads_slack(scheduler: &Scheduler) -> bool {
    matches!(scheduler.needs().key, Key::Rank | Key::Slack)
}

/// Number of classes that the schedulers or the slack distinguish; 0: nothing reads classes.
pub(crate) fn classes(doc: &Document) -> u32 {
    // Slack that is longer for each class distinguishes any number of classes.
    let offset = doc.slack.as_ref().is_some_and(|s| !s.class_offset.0.is_zero());
    let known = schedulers(doc).map(|(_, s)| s.needs().classes.map_or(0, u32::from));
    known.chain(offset.then_some(256)).max().unwrap_or(0)
}

/// Every transport with its dotted key, `[transport]` first.
pub(crate) fn transports(doc: &Document) -> Vec<(String, &Transport)> {
    let named = doc.transports.iter().map(|(name, t)| (format!("transports.{name}"), t));
    std::iter::once(("transport".to_owned(), &doc.transport)).chain(named).collect()
}

/// The largest packet of any traffic, bytes on the wire: of the transports, and of sections with a transport of their
/// own.
pub(crate) fn full_packet(doc: &Document) -> u32 {
    let brought = doc.traffic.iter().filter_map(|t| t.pattern.family().transport(None));
    let all = transports(doc).into_iter().map(|(_, t)| t.wire().largest());
    all.chain(brought.map(|t| t.wire().largest())).max().unwrap_or(1500)
}

/// True if some transport's packets may be marked.
pub(crate) fn ecn_capable(doc: &Document) -> bool {
    transports(doc).iter().any(|(_, t)| of_kind!(t, |t| t.ecn_capable()))
}

/// True if some controller needs or wants marks, whether or not its ECN is on.
pub(crate) fn wants_marks(doc: &Document) -> bool {
    let wants = |c: &ControllerSpec| c.needs().marks.by_default();
    transports(doc).iter().any(|(_, t)| t.congestion().is_some_and(wants))
}

/// Every transport that traffic uses.
pub(crate) fn used(doc: &Document) -> impl Iterator<Item = &Transport> {
    let own = doc.traffic.iter().filter(|t| !t.pattern.family().brings_transport());
    own.map(|t| doc.transports.get(&t.transport).unwrap_or(&doc.transport))
}

/// True if some section of traffic names this transport.
pub(crate) fn carries_traffic(doc: &Document, name: &str) -> bool {
    doc.traffic.iter().any(|t| t.uses_transport(name))
}

/// True if some transport that traffic uses has a controller that reads telemetry.
pub(crate) fn has_telemetry(doc: &Document) -> bool {
    used(doc).any(|t| t.congestion().is_some_and(reads_telemetry))
}

/// Properties of the longest path of a network. Each is computed at most once and only if needed, because that takes
/// long in large networks.
struct Longest<'a> {
    graph: &'a Graph,
    propagation: Option<Span>,
    base_rtt: Option<Span>,
    /// Size of a packet and of its ACK on the wire.
    wire: (u64, u64),
}

impl Paths for Longest<'_> {
    fn propagation(&mut self) -> Span {
        *self.propagation.get_or_insert_with(|| self.graph.longest_propagation().saturating_mul(2))
    }
    fn base_rtt(&mut self) -> Span {
        *self.base_rtt.get_or_insert_with(|| self.graph.longest_round_trip(self.wire.0, self.wire.1))
    }
}

/// What may happen to packets in the network.
#[derive(Clone, Copy)]
pub(super) struct Delivery {
    /// No packet is lost: switches drop none, and links neither lose packets nor fail.
    pub lossless: bool,
    /// No packet overtakes another one of its flow.
    pub in_order: bool,
}

impl Delivery {
    fn of(doc: &Document) -> Self {
        let loses = doc.link.iter().any(|link| link.loss.is_some());
        let fails = doc.incident.iter().any(|incident| matches!(incident, Incident::LinkFailure { .. }));
        let overtakes = doc.link.iter().any(|link| link.jitter.is_some_and(|jitter| jitter.spec().reorder));
        Self {
            lossless: doc.switch.keeps_packets() && !loses && !fails,
            in_order: !overtakes && !doc.routing.rule.needs().reorders,
        }
    }
}

/// DCQCN's marking thresholds for the rate of the hosts' links. 5 and 200 KB were chosen for 40 Gb/s (Zhu et al.,
/// SIGCOMM 2015, §4); in proportion to the rate, a queue at a threshold takes the same time to drain.
pub(crate) fn dcqcn_marks(graph: &Graph) -> (Bytes, Bytes) {
    let fastest = graph.fastest_host();
    let scaled = |bytes: u64| {
        Bytes::new(
            (u128::from(bytes) * u128::from(fastest.bps())).div_ceil(u128::from(DCQCN_RATE.bps())) as u64
        )
    };
    (scaled(5_000), scaled(200_000))
}

const DCQCN_RATE: Rate = Rate::from_gbps(40);

/// Adapts the buffers and marking thresholds that a scheme has set for switches to the links of the network, as the
/// authors of its transport chose them for theirs.
pub(crate) fn by_rate(cx: &Cx<'_>, doc: &mut Document, graph: &Graph) {
    let Queue { room, marks: (min, max) } = of_kind!(&doc.transport, |t| t.queue(graph));
    if let (Some(room), Some(_)) = (room, cx.origin.scheme_of("switch.buffer")) {
        doc.switch.buffer = Some(Capacity::Bytes(room));
    }
    let fit = |key: &str, marking: &mut Marking| {
        let of_scheme = |own: &str| cx.origin.scheme_of(&format!("{key}.{own}")).is_some();
        if let Marking::RedEcn(own) = marking {
            own.min = if of_scheme("min") { min } else { own.min };
            own.max = if of_scheme("max") { max } else { own.max };
        }
    };
    let before = doc.switch.marking;
    fit("switch.marking", &mut doc.switch.marking);
    if doc.nic.marking == Some(before) {
        doc.nic.marking = Some(doc.switch.marking);
    }
}

/// Fills in keys whose defaults depend on the topology.
pub(crate) fn by_graph(doc: &mut Document, graph: &Graph) {
    let mut paths = Longest { graph, propagation: None, base_rtt: None, wire: (0, 0) };
    let trims = doc.switch.trims();
    for t in std::iter::once(&mut doc.transport).chain(doc.transports.values_mut()) {
        let sizes = t.packet_sizes();
        (paths.base_rtt, paths.wire) = (None, (u64::from(sizes.full), u64::from(sizes.ack)));
        if let Some(congestion) = t.congestion_mut() {
            congestion.resolve(&mut paths);
        }
        of_kind!(t, |t| t.by_graph(graph, &mut paths));
        if doc.routing.rule.needs().path_values {
            of_kind!(t, |t| t.by_path_values(graph));
        }
        of_kind!(t, |t| t.by_switches(trims));
    }
    lossless::by_graph(doc, graph, full_packet(doc));
}

/// Fills in keys whose defaults depend on flow sizes: for each transport on those of the first section of traffic that
/// draws sizes and uses it. (Invalid sizes are reported with the traffic.)
pub(crate) fn by_sizes(cx: &Cx<'_>, doc: &mut Document) {
    let Document { traffic, transport, transports, .. } = doc;
    let named = transports.iter_mut().map(|(name, t)| (name.as_str(), t));
    for (name, t) in std::iter::once(("default", transport)).chain(named) {
        let first = traffic.iter().filter(|t| t.transport == name).find_map(|t| t.pattern.family().sizes());
        if let Some(sizes) = first.and_then(|sizes| named::build(cx, "sizes", sizes).ok()) {
            of_kind!(t, |t| t.by_sizes(&sizes));
        }
    }
}

/// Fills in all other keys whose defaults depend on other keys.
pub(crate) fn resolve(doc: &mut Document) {
    let endless = doc.traffic.iter().any(|t| t.pattern.family().is_endless());
    doc.measure.delays.get_or_insert(endless);
    let capable = ecn_capable(doc);
    let at_switches = doc.switch.stages.iter_mut().chain([&mut doc.switch.marking]);
    at_switches
        .chain(&mut doc.nic.stages)
        .chain(&mut doc.nic.marking)
        .chain(doc.link.iter_mut().filter_map(|link| link.marking.as_mut()))
        .for_each(|stage| stage.resolve(capable));
    let room = *doc.switch.buffer.insert(doc.switch.room());
    if notifying(doc).next().is_some() {
        let own = CongestionPoint::all().into_iter().find(|point| point.sends() == Messages::Notifications);
        doc.switch.congestion_point = doc.switch.congestion_point.or(own);
    }
    // The NIC runs the scheduler of switches, if it has a queue.
    let (nic, switch) = (&mut doc.nic, &doc.switch);
    if nic.order.pulls() {
        nic.scheduler.get_or_insert_default();
        nic.buffer.get_or_insert(Capacity::Unlimited);
        nic.marking.get_or_insert_default();
    }
    let needs = switch.scheduler.needs();
    let slack = doc.slack.is_some() || needs.key == Key::Slack;
    // A host has no inputs, sends itself no notifications, and has one port.
    let unfit =
        needs.inputs || needs.notifies || needs.together.is_some() || slack && reads_slack(&switch.scheduler);
    nic.scheduler.get_or_insert_with(|| if unfit { Scheduler::default() } else { switch.scheduler.clone() });
    let sizes_itself = nic.scheduler.as_ref().is_some_and(|s| s.needs().sizes_itself);
    nic.buffer.get_or_insert(if sizes_itself { Capacity::Unlimited } else { room });
    nic.marking.get_or_insert(switch.marking);
    let wanted = sorted_by(doc)
        .or_else(|| doc.measure.priority_histogram.as_ref().map(|_| Rank::Remaining))
        // NICs overwrite with slack what senders wrote.
        .filter(|_| doc.slack.is_none());
    let (delivery, classes) = (Delivery::of(doc), classes(doc));
    for t in std::iter::once(&mut doc.transport).chain(doc.transports.values_mut()) {
        of_kind!(t, |t| t.resolve(wanted, delivery));
        of_kind!(t, |t| t.by_classes(classes));
    }
    let run = doc.run.until;
    let measured = *doc.measure.until.get_or_insert(run);
    for t in &mut doc.traffic {
        // A measured window that ends after the run is reported once, for itself.
        t.pattern.family_mut().resolve(measured.min(run));
    }
    doc.topology.shape.resolve();
}
