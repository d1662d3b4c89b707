//! Plans: which nodes form parts. Networks are cut along wires with a propagation delay.

use super::division::{PACKET, Traffic, numbered};
use crate::boundary::Number;
use crate::features::Features;
use crate::port::Lane;
use crate::sim::Sim;
use serde::{Deserialize, Serialize};
use thalweg_machines::congestion::{ControllerSpec, custom};
use thalweg_machines::transport::TransportSpec;
use thalweg_net::dependencies::{Dependencies, Ways};
use thalweg_net::spec::{End, LinkSpec, NetworkSpec, Predecessor};
use thalweg_units::{FlowId, HostId, Rate, Span, Time, WorkId};

/// Why a network cannot be partitioned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Undivided(&'static str);

/// Number of packet-hops of a run above which partitioning saves more time than it takes.
const WORTH: u64 = 1_000_000;
/// Number of packet-hops per part and window above which parallel windows save more time than the barriers take:
/// some ten microseconds of work.
const FULL: u128 = 100;

/// A partition of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    parts: Number,
    of_node: Vec<Number>,
    lookahead: Span,
    pays: bool,
}

impl Plan {
    /// Plans at most `parts` parts of a network at time zero.
    ///
    /// # Errors
    /// If it cannot be partitioned, with the reason.
    pub fn new(sim: &Sim, parts: usize) -> Result<Self, Undivided> {
        let spec = &sim.cx.spec;
        if let Some(why) = obstacle(spec, &sim.cx.features) {
            return Err(Undivided(why));
        }
        let mut sets = NodeSets::new((spec.hosts + spec.switches) as usize);
        join_nodes(sim, &mut sets);
        join_flows(spec, &mut sets);
        let groups = sets.groups();
        let most = groups.iter().max().map_or(0, |last| last + 1);
        let traffic = Traffic::of(sim, &groups, most);
        let parts = parts.min(most).min(usize::from(Number::MAX) - 1);
        if parts < 2 {
            let inner = |(_, link): &(usize, &LinkSpec)| link.a.0 >= spec.hosts && link.b.0 >= spec.hosts;
            let bound = |(number, link): (usize, &LinkSpec)| !is_instant(link) && cannot_be_cut(sim, number);
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
        // Deadlocks are searched for in the whole network. Where the routes allow no cycle of ports that wait for
        // each other there are none (Goyal, MIT 2022, App. D, Theorem 2).
        if spec.inputs.is_some_and(|inputs| inputs.stops_ports()) && has_cycle(spec) {
            return Err(Undivided("pauses may form a cycle, which is looked for in the whole network"));
        }
        let parts = of_node.iter().max().map_or(0, |last| last + 1);
        let pays = traffic.hops() >= WORTH
            && window_hops(spec, lookahead).min(traffic.hops_in(lookahead)) >= FULL * u128::from(parts)
            && !spec.transports.iter().any(is_serial);
        Ok(Self { parts, of_node, lookahead, pays })
    }

    /// Number of parts.
    pub fn parts(&self) -> Number {
        self.parts
    }

    /// By node: the part that it belongs to.
    pub fn of_node(&self) -> &[Number] {
        &self.of_node
    }

    /// Whether a thread for each part pays: the run is long enough for parts to be made, windows have enough work
    /// for threads to wait for each other, and users' controllers can run in parallel.
    pub fn pays(&self) -> bool {
        self.pays
    }

    /// The lookahead: how long nothing that happens in one part can affect another.
    pub fn lookahead(&self) -> Span {
        self.lookahead
    }
}

/// Whether flows are controlled by decisions from outside.
fn is_decided_outside(transport: &TransportSpec) -> bool {
    transport.controller().is_some_and(|controller| controller.needs().decided)
}

/// Whether flows are controlled by code that does not run in parallel.
fn is_serial(transport: &TransportSpec) -> bool {
    matches!(transport.controller(), Some(ControllerSpec::Custom(own)) if custom::declared(&own.name).serial)
}

/// Why a network cannot be partitioned: something acts on several nodes at one instant.
fn obstacle(spec: &NetworkSpec, features: &Features) -> Option<&'static str> {
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
            spec.transports.iter().any(is_decided_outside),
            "controllers are decided from outside, each as it waits for that",
        ),
        (!probes.ports.is_empty(), "what passes a port is recorded in the order of the whole network"),
        (probes.priority_histogram.is_some(), "priorities are counted where queues are dequeued on demand"),
        (spec.edge.is_some(), "the receiving edge compares slack"),
        (stop.max_events != u64::MAX, "the run ends after a number of events"),
    ];
    reasons.iter().find(|(applies, _)| *applies).map(|(_, why)| *why)
}

/// Whether ports may wait for each other in a cycle.
fn has_cycle(spec: &NetworkSpec) -> bool {
    Dependencies::of(&Ways::of(spec)).is_ok_and(|graph| graph.cycle().is_some())
}

/// Joins nodes that must be in one part: hosts and their switches, and ends of wires that cannot be cut.
fn join_nodes(sim: &Sim, sets: &mut NodeSets) {
    let spec = &sim.cx.spec;
    for (number, link) in spec.links.iter().enumerate() {
        let at_host = link.a.0 < spec.hosts || link.b.0 < spec.hosts;
        if at_host || is_instant(link) || cannot_be_cut(sim, number) {
            sets.join(link.a.at(), link.b.at());
        }
    }
}

fn is_instant(link: &LinkSpec) -> bool {
    link.ab.delay.is_zero() || link.ba.delay.is_zero()
}

/// Whether a wire cannot be cut: packets on it may overtake or be cancelled, or its ports are on the reference
/// lane.
fn cannot_be_cut(sim: &Sim, link: usize) -> bool {
    let ports = [2 * link, 2 * link + 1].map(|id| &sim.fabric.ports()[id]);
    ports.iter().any(|port| port.mode.lane == Lane::Reference || port.mode.preemptive)
}

/// Joins hosts that act on each other at one instant.
fn join_flows(spec: &NetworkSpec, sets: &mut NodeSets) {
    for (number, flow) in spec.flows.iter().enumerate() {
        // When its sender stops, its receiver knows at once how much to expect.
        if flow.until != Time::MAX {
            sets.join(flow.src.at(), flow.dst.at());
        }
        if spec.precedence.is_empty() {
            continue;
        }
        // A flow starts when a predecessor reaches the end that it waits for.
        for before in spec.precedence.of(FlowId::from(number)) {
            sets.join(place_of(spec, before).at(), flow.src.at());
        }
    }
    for (number, work) in spec.works.iter().enumerate() {
        for before in spec.precedence.of_work(WorkId::from(number)) {
            sets.join(place_of(spec, before).at(), work.host.at());
        }
    }
}

/// The host at which it happens.
fn place_of(spec: &NetworkSpec, what: &Predecessor) -> HostId {
    match *what {
        Predecessor::Flow { flow, end: End::Received } => spec.flows[flow.at()].dst,
        Predecessor::Flow { flow, end: End::Acked | End::Started } => spec.flows[flow.at()].src,
        Predecessor::Work { work, .. } => spec.works[work.at()].host,
    }
}

/// Sets of nodes that stay in one part (union-find with path halving).
struct NodeSets(Vec<usize>);

impl NodeSets {
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

/// Packets that all links carry in a window at half their capacity.
fn window_hops(spec: &NetworkSpec, window: Span) -> u128 {
    let rates = spec.links.iter().flat_map(|link| [link.ab.mean_rate(), link.ba.mean_rate()]);
    let bps: u128 = rates.filter(|rate| *rate != Rate::INFINITE).map(|rate| u128::from(rate.bps())).sum();
    bps * u128::from(window.ps()) / (2 * 8 * u128::from(PACKET) * 1_000_000_000_000)
}
