//! Which nodes go together: a network cut into parts along wires that take time.

use super::division::{PACKET, Traffic, numbered};
use crate::border::Number;
use crate::features::Features;
use crate::port::Lane;
use crate::sim::Sim;
use serde::{Deserialize, Serialize};
use thalweg_machines::congestion::{ControllerSpec, custom};
use thalweg_machines::transport::TransportSpec;
use thalweg_net::dependencies::{Dependencies, Ways};
use thalweg_net::spec::{End, LinkSpec, NetworkSpec, Predecessor};
use thalweg_units::{FlowId, HostId, Rate, Span, Time, WorkId};

/// Why a network is run whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Undivided(&'static str);

/// Packet-hops of a run from which its parts are made in less time than they save.
const WORTH: u64 = 1_000_000;
/// Packet-hops in a part's window, from which threads wait for each other in less time than
/// they save: some ten microseconds of work.
const FULL: u128 = 100;

/// Parts of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    parts: Number,
    of_node: Vec<Number>,
    lookahead: Span,
    pays: bool,
}

impl Plan {
    /// At most `parts` parts of a network of which nothing has happened yet.
    ///
    /// # Errors
    /// If it is run whole, with the reason.
    pub fn new(sim: &Sim, parts: usize) -> Result<Self, Undivided> {
        let spec = &sim.cx.spec;
        if let Some(why) = reason(spec, &sim.cx.features) {
            return Err(Undivided(why));
        }
        let mut together = Together::new((spec.hosts + spec.switches) as usize);
        join_nodes(sim, &mut together);
        join_flows(spec, &mut together);
        let groups = together.groups();
        let most = groups.iter().max().map_or(0, |last| last + 1);
        let traffic = Traffic::of(sim, &groups, most);
        let parts = parts.min(most).min(usize::from(Number::MAX) - 1);
        if parts < 2 {
            let inner = |(_, link): &(usize, &LinkSpec)| link.a.0 >= spec.hosts && link.b.0 >= spec.hosts;
            let bound = |(number, link): (usize, &LinkSpec)| !is_instant(link) && is_bound(sim, number);
            return Err(Undivided(match spec.links.iter().enumerate().filter(inner).any(bound) {
                true => {
                    "its wires change, lose or delay packets, or their ports hold packets back or interrupt them"
                }
                false => "no wire that takes time divides it",
            }));
        }
        let of_group = traffic.divide(parts);
        let of_node: Vec<Number> = groups.iter().map(|group| of_group[*group]).collect();
        let is_cut = |link: &&LinkSpec| of_node[link.a.at()] != of_node[link.b.at()];
        let delays = spec.links.iter().filter(is_cut).map(|link| link.ab.delay.min(link.ba.delay));
        let lookahead = delays.min().ok_or(Undivided("all traffic is in one part of it"))?;
        // Where no cycle of ports can wait for each other there is no deadlock to look for (Goyal, MIT 2022, App. D,
        // Theorem 2).
        if spec.inputs.is_some_and(|inputs| inputs.stops_ports()) && has_cycle(spec) {
            return Err(Undivided("pauses may form a cycle, which is looked for in the whole network"));
        }
        let parts = of_node.iter().max().map_or(0, |last| last + 1);
        let pays = traffic.hops() >= WORTH
            && window_hops(spec, lookahead).min(traffic.hops_in(lookahead)) >= FULL * u128::from(parts)
            && !spec.transports.iter().any(is_serial);
        Ok(Self { parts, of_node, lookahead, pays })
    }

    /// How many.
    pub fn parts(&self) -> Number {
        self.parts
    }

    /// By node: the part that it belongs to.
    pub fn of_node(&self) -> &[Number] {
        &self.of_node
    }

    /// A thread for each part is worth its while: the run is long enough for the parts to be made, and windows have
    /// enough in them for threads to wait for each other; and what a user's controllers do can be done side by side.
    pub fn pays(&self) -> bool {
        self.pays
    }

    /// How long nothing that happens in one part can matter to another.
    pub fn lookahead(&self) -> Span {
        self.lookahead
    }
}

/// Flows are controlled by who runs the network.
fn is_outside(transport: &TransportSpec) -> bool {
    transport.controller().is_some_and(|controller| controller.needs().decided)
}

/// Flows are controlled by what threads do not make faster.
fn is_serial(transport: &TransportSpec) -> bool {
    matches!(transport.controller(), Some(ControllerSpec::Custom(own)) if custom::declared(&own.name).serial)
}

/// What looks at several nodes at one instant.
fn reason(spec: &NetworkSpec, features: &Features) -> Option<&'static str> {
    let sees = |t: &TransportSpec| t.sees_receiver();
    let (probes, stop) = (&spec.probes, &spec.stop);
    let reasons = [
        (spec.replay, "a replay puts packets in anywhere"),
        (
            features.headers,
            "packets are followed from hop to hop, and what is known of them is kept in one place",
        ),
        (features.relief, "relief acts on the next switch, too"),
        (features.failures, "incidents change routes everywhere"),
        (features.drop_notices, "senders are notified of drops by no packet"),
        (
            features.streams || spec.flows.iter().any(|f| f.connection != u32::MAX),
            "connections are shared by flows",
        ),
        (spec.transports.iter().any(sees), "a sender sees what its receiver has"),
        (
            spec.transports.iter().any(is_outside),
            "controllers are decided from outside, each as it waits for that",
        ),
        (!probes.ports.is_empty(), "what passes a port is recorded in the order of the whole network"),
        (probes.priority_histogram.is_some(), "priorities are counted where queues are dequeued on demand"),
        (spec.edge.is_some(), "the receiving edge compares slack"),
        (stop.max_events != u64::MAX, "the run ends after a number of events"),
    ];
    reasons.iter().find(|(applies, _)| *applies).map(|(_, why)| *why)
}

/// Ports may come to wait for each other.
fn has_cycle(spec: &NetworkSpec) -> bool {
    Dependencies::of(&Ways::of(spec)).is_ok_and(|graph| graph.cycle().is_some())
}

/// Nodes between which a wire takes no time, or that share it in other ways.
fn join_nodes(sim: &Sim, together: &mut Together) {
    let spec = &sim.cx.spec;
    for (number, link) in spec.links.iter().enumerate() {
        let at_host = link.a.0 < spec.hosts || link.b.0 < spec.hosts;
        if at_host || is_instant(link) || is_bound(sim, number) {
            together.join(link.a.at(), link.b.at());
        }
    }
}

fn is_instant(link: &LinkSpec) -> bool {
    link.ab.delay.is_zero() || link.ba.delay.is_zero()
}

/// What is on the wire may overtake or be taken back, or its ports are on the reference lane.
fn is_bound(sim: &Sim, link: usize) -> bool {
    let ports = [2 * link, 2 * link + 1].map(|id| &sim.fabric.ports()[id]);
    ports.iter().any(|port| port.mode.lane == Lane::Reference || port.mode.preemptive)
}

/// Hosts that act on each other at one instant.
fn join_flows(spec: &NetworkSpec, together: &mut Together) {
    for (number, flow) in spec.flows.iter().enumerate() {
        // Its sender stops, and what its receiver is to get is known at once.
        if flow.until != Time::MAX {
            together.join(flow.src.at(), flow.dst.at());
        }
        if spec.precedence.is_empty() {
            continue;
        }
        // One before has come to the end that it waits for, and it starts.
        for before in spec.precedence.of(FlowId::from(number)) {
            together.join(place_of(spec, before).at(), flow.src.at());
        }
    }
    for (number, work) in spec.works.iter().enumerate() {
        for before in spec.precedence.of_work(WorkId::from(number)) {
            together.join(place_of(spec, before).at(), work.host.at());
        }
    }
}

/// Where it happens.
fn place_of(spec: &NetworkSpec, what: &Predecessor) -> HostId {
    match *what {
        Predecessor::Flow { flow, end: End::Received } => spec.flows[flow.at()].dst,
        Predecessor::Flow { flow, end: End::Acked | End::Started } => spec.flows[flow.at()].src,
        Predecessor::Work { work, .. } => spec.works[work.at()].host,
    }
}

/// Sets of nodes that stay together (union-find, with paths halved).
struct Together(Vec<usize>);

impl Together {
    fn new(nodes: usize) -> Self {
        Self((0..nodes).collect())
    }

    fn root(&mut self, mut node: usize) -> usize {
        while self.0[node] != node {
            self.0[node] = self.0[self.0[node]];
            node = self.0[node];
        }
        node
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }

    /// By node: the number of its set, in the order of their first nodes.
    fn groups(mut self) -> Vec<usize> {
        let roots: Vec<usize> = (0..self.0.len()).map(|node| self.root(node)).collect();
        numbered(&roots)
    }
}

/// Packets that all links can carry in a window, half used.
fn window_hops(spec: &NetworkSpec, window: Span) -> u128 {
    let rates = spec.links.iter().flat_map(|link| [link.ab.mean_rate(), link.ba.mean_rate()]);
    let bps: u128 = rates.filter(|rate| *rate != Rate::INFINITE).map(|rate| u128::from(rate.bps())).sum();
    bps * u128::from(window.ps()) / (2 * 8 * u128::from(PACKET) * 1_000_000_000_000)
}
