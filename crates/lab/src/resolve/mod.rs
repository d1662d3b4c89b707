//! Fills in what depends on other keys, so that a resolved scenario says everything.

mod lossless;
mod rdma;

pub(crate) use lossless::Headroom;

use crate::quantity::{Capacity, Q};
use crate::schema::{
    Document, EcnMode, Flight, LossDetection, Pattern, Rank, Rdma, RdmaAcks, Scheduler, Tcp, Transport,
};
use crate::topology::{Family, Frames, Graph};
use thalweg_machines::congestion::{ControllerSpec, FeedbackKind, Paths};
use thalweg_machines::schedule::Key;
use thalweg_machines::stage::Acts;
use thalweg_units::{Bytes, Span};

/// The rank that a scheduler sorts by, if it sorts by one.
pub(crate) fn rank_of(scheduler: &Scheduler) -> Option<Rank> {
    match scheduler.needs().key {
        Key::FlowSize => Some(Rank::FlowSize),
        Key::Remaining => Some(Rank::Remaining),
        Key::Nothing | Key::Rank | Key::Slack | Key::Anything => None,
    }
}

/// True if some queue drops what it would mark if it could (RED).
pub(crate) fn drops_unmarkable(doc: &Document) -> bool {
    [Some(doc.switch.marking), doc.nic.marking].into_iter().flatten().any(|m| m.acts() == Acts::MarksOrDrops)
}

/// True if some scheduler is a user's, of which nothing is known.
pub(crate) fn is_free(doc: &Document) -> bool {
    schedulers(doc).any(|(_, s)| s.needs().anything())
}

/// Every scheduler with the section that it stands in: `switch`, `switch.mix`, `nic` (if it has one).
pub(crate) fn schedulers(doc: &Document) -> impl Iterator<Item = (&'static str, &Scheduler)> {
    let mix = doc.switch.mix.iter().map(|m| ("switch.mix", &m.scheduler));
    let nic = doc.nic.scheduler.iter().map(|s| ("nic", s));
    std::iter::once(("switch", &doc.switch.scheduler)).chain(mix).chain(nic)
}

/// Sorts by what the slack header holds on its way through the network; a NIC's queue comes before it is written.
pub(crate) fn reads_slack(scheduler: &Scheduler) -> bool {
    matches!(scheduler.needs().key, Key::Rank | Key::Slack)
}

/// The ECN that a controller has, unless the scenario says otherwise.
pub(crate) fn ecn_of(congestion: &ControllerSpec) -> EcnMode {
    if congestion.needs().marks.by_default() { EcnMode::Accurate } else { EcnMode::Off }
}

/// Every transport with its dotted key, `[transport]` first.
pub(crate) fn transports(doc: &Document) -> Vec<(String, &Transport)> {
    let named = doc.transports.iter().map(|(name, t)| (format!("transports.{name}"), t));
    std::iter::once(("transport".to_owned(), &doc.transport)).chain(named).collect()
}

/// True if some transport's packets may be marked.
pub(crate) fn ecn_capable(doc: &Document) -> bool {
    transports(doc).iter().any(|(_, t)| match t {
        Transport::Tcp(t) => t.ecn.unwrap_or(ecn_of(&t.congestion)) != EcnMode::Off,
        Transport::Udp(_) => false,
        Transport::Rdma(r) => rdma::is_ecn_capable(r),
    })
}

/// True if some controller cannot do without marks (whether or not its ECN is on).
pub(crate) fn wants_marks(doc: &Document) -> bool {
    transports(doc).iter().any(|(_, t)| match t {
        Transport::Tcp(Tcp { congestion, .. }) | Transport::Rdma(Rdma { congestion, .. }) => {
            congestion.needs().marks.by_default()
        }
        Transport::Udp(_) => false,
    })
}

/// What a transport's senders write into the rank header.
pub(crate) fn written_rank(transport: &Transport) -> Rank {
    let rank = match transport {
        Transport::Tcp(t) => t.rank,
        Transport::Udp(u) => u.rank,
        Transport::Rdma(_) => None,
    };
    rank.unwrap_or(Rank::None)
}

/// Every transport that traffic uses.
pub(crate) fn used(doc: &Document) -> impl Iterator<Item = &Transport> {
    let own = doc.traffic.iter().filter(|t| !matches!(t.pattern, Pattern::Udp(_)));
    own.map(|t| doc.transports.get(&t.transport).unwrap_or(&doc.transport))
}

/// True if senders hear of what has arrived.
pub(crate) fn is_acknowledged(transport: &Transport) -> bool {
    match transport {
        Transport::Tcp(_) => true,
        Transport::Udp(_) => false,
        Transport::Rdma(r) => r.acks != Some(RdmaAcks::Never),
    }
}

/// True if the controller reads what switches write into packets.
pub(crate) fn reads_telemetry(congestion: &ControllerSpec) -> bool {
    congestion.needs().feedback == FeedbackKind::Int
}

/// True if some transport that traffic uses has a controller that reads telemetry.
pub(crate) fn has_telemetry(doc: &Document) -> bool {
    used(doc).any(|t| match t {
        Transport::Tcp(Tcp { congestion, .. }) | Transport::Rdma(Rdma { congestion, .. }) => {
            reads_telemetry(congestion)
        }
        Transport::Udp(_) => false,
    })
}

/// A full packet and its ACK on the wire, telemetry included.
pub(crate) fn wire(transport: &Transport) -> (u64, u64) {
    let sum = |sizes: &[Q<Bytes>]| sizes.iter().fold(0u64, |sum, q| sum.saturating_add(q.0.get()));
    let none = Q(Bytes::ZERO);
    match transport {
        Transport::Tcp(t) => {
            let telemetry = t.telemetry.unwrap_or(none);
            (sum(&[t.mss, t.header, telemetry]), sum(&[t.ack_size, telemetry]))
        }
        Transport::Udp(u) => (sum(&[u.payload, u.header]), 0),
        Transport::Rdma(r) => {
            let telemetry = r.telemetry.unwrap_or(none);
            let ack = if is_acknowledged(transport) { sum(&[r.ack_size, telemetry]) } else { 0 };
            (sum(&[r.mtu, r.header, telemetry]), ack)
        }
    }
}

/// The full packet and ACK of `[transport]`.
pub(crate) fn frames(doc: &Document) -> Frames {
    let whole = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
    let (full, ack) = wire(&doc.transport);
    Frames { full: whole(full), ack: whole(ack) }
}

/// The longest path of a network. Looked for at most once each, as it takes long in large networks, and few want it.
struct Longest<'a> {
    graph: &'a Graph,
    propagation: Option<Span>,
    base_rtt: Option<Span>,
    /// A packet and its ACK on the wire.
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

/// Writes what depends on the topology into the document.
pub(crate) fn by_graph(doc: &mut Document, graph: &Graph) {
    let mut paths = Longest { graph, propagation: None, base_rtt: None, wire: (0, 0) };
    for t in std::iter::once(&mut doc.transport).chain(doc.transports.values_mut()) {
        (paths.base_rtt, paths.wire) = (None, wire(t));
        match t {
            Transport::Tcp(t) => t.congestion.resolve(&mut paths),
            Transport::Udp(_) => {}
            Transport::Rdma(r) => {
                r.congestion.resolve(&mut paths);
                rdma::by_graph(r, graph, &mut paths);
            }
        }
    }
    lossless::by_graph(doc, graph);
}

/// Five hops of 8 B and 2 B: HPCC §4.1.
fn telemetry_of(congestion: &ControllerSpec) -> Option<Q<Bytes>> {
    reads_telemetry(congestion).then(|| Q::of("42B"))
}

/// Writes every dependent default into the document.
pub(crate) fn resolve(doc: &mut Document) {
    let capable = ecn_capable(doc);
    for marking in [Some(&mut doc.switch.marking), doc.nic.marking.as_mut()].into_iter().flatten() {
        marking.resolve(capable);
    }
    let room = *doc.switch.buffer.insert(doc.switch.room());
    // The NIC runs the scheduler under test, if it has a queue to run it on.
    let (nic, switch) = (&mut doc.nic, &doc.switch);
    if nic.order.pulls() {
        nic.scheduler.get_or_insert_default();
        nic.buffer.get_or_insert(Capacity::Unlimited);
        nic.marking.get_or_insert_default();
    }
    let needs = switch.scheduler.needs();
    let slack = doc.slack.is_some() || needs.key == Key::Slack;
    // A host has no inputs.
    let unfit = needs.inputs || slack && reads_slack(&switch.scheduler);
    nic.scheduler.get_or_insert_with(|| if unfit { Scheduler::default() } else { switch.scheduler.clone() });
    nic.buffer.get_or_insert(room);
    nic.marking.get_or_insert(switch.marking);
    let wanted = schedulers(doc)
        .find_map(|(_, s)| rank_of(s))
        .or_else(|| doc.measure.priority_histogram.as_ref().map(|_| Rank::Remaining))
        // NICs overwrite what senders wrote.
        .filter(|_| doc.slack.is_none());
    let lossless = doc.switch.pfc.is_some();
    for t in std::iter::once(&mut doc.transport).chain(doc.transports.values_mut()) {
        match t {
            Transport::Tcp(t) => {
                t.ecn.get_or_insert(ecn_of(&t.congestion));
                t.telemetry = t.telemetry.or(telemetry_of(&t.congestion));
                t.rank.get_or_insert(wanted.unwrap_or(Rank::None));
                // Counted by span, nothing leaves on a duplicate ACK.
                let counts = t.loss != LossDetection::TimeoutOnly && t.flight == Flight::Pipe;
                t.limited_transmit.get_or_insert(counts);
            }
            Transport::Udp(u) => {
                let size = matches!(wanted, Some(Rank::FlowSize));
                u.rank.get_or_insert(if size { Rank::FlowSize } else { Rank::None });
            }
            Transport::Rdma(r) => rdma::resolve(r, lossless),
        }
    }
    let run = doc.run.until;
    let measured = *doc.measure.until.get_or_insert(run);
    for t in &mut doc.traffic {
        // A window that ends after the run is reported as such, once.
        match &mut t.pattern {
            Pattern::Poisson(p) => drop(p.until.get_or_insert(measured.min(run))),
            Pattern::Rpc(r) => drop(r.until.get_or_insert(measured.min(run))),
            _ => {}
        }
    }
    doc.topology.shape.resolve();
}
