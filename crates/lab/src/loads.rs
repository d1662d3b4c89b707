//! The load of the hosts' links and of the core: what the flows ask of them, and what passed them.

use crate::run::Run;
use crate::tables::{FlowRow, capacity_in};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use thalweg_machines::transport::TransportSpec;
use thalweg_scenario::topology::Graph;
use thalweg_units::{FlowId, HostId, NodeId, PortId, Time};

/// Loads in the part of the measured window in which flows arrive at random or from a list (all of it if none
/// do), or as much of it as has passed.
///
/// Offered: wire bytes of the flows with an end that start in it, over what the links could carry.
/// Carried: bytes that passed the links in it, ACKs and retransmissions included, over the same.
///
/// Host links count packets that leave hosts, for the widest network if a host has links to several. The core counts
/// packets that leave an edge switch for another switch, over the capacity of one direction of these links: what
/// `load.of = "core-links"` is a fraction of. Where both ends of such a link are edge switches (a dumbbell), its two
/// directions together can carry twice that.
pub(crate) fn loads(run: &Run, rows: &[FlowRow<'_>]) -> Json {
    let spec = run.engine.spec();
    let graph = run.graph();
    let (from, until) = run.meta.load_window;
    let until = until.min(run.engine.now().ps());
    let window = Time::from_ps(from)..Time::from_ps(until);
    let core_ports = graph.core_ports();
    let mut crossings = Crossings::new(&graph, &core_ports);
    let (mut offered, mut crossing) = (0.0, 0.0);
    for r in rows.iter().filter(|r| !r.endless()) {
        let start = r.outcome.started.unwrap_or(r.spec.start).ps();
        let by_clock = r.outcome.started.is_some() || !spec.precedence.follows(FlowId(r.id));
        if by_clock && start >= from && start < until && graph.is_wide(NodeId(r.spec.src.0)) {
            let bytes = wire(r.spec.size, &spec.transports[usize::from(r.spec.transport)]);
            offered += bytes;
            crossing += bytes * f64::from(crossings.between(r.spec.src, r.spec.dst));
        }
    }
    let ratio = |bytes: f64, bits: f64| if bits > 0.0 { bytes * 8.0 / bits } else { 0.0 };
    let could = |port: PortId| capacity_in(run, port, &window);
    let carried =
        |ports: &[PortId]| ports.iter().map(|port| run.engine.carried_in_window(*port)).sum::<u64>() as f64;
    let ends = spec
        .links
        .iter()
        .enumerate()
        .flat_map(|(i, l)| [(PortId(2 * i as u32), l.a), (PortId(2 * i as u32 + 1), l.b)]);
    let is_counted = |node: NodeId| graph.is_nic(node) && graph.is_wide(node);
    let of_hosts: Vec<PortId> = ends.filter(|(_, node)| is_counted(*node)).map(|(port, _)| port).collect();
    let from_hosts = carried(&of_hosts);
    let hosts: f64 = of_hosts.iter().map(|port| could(*port)).sum();
    // One direction of a link, though both may lead out of an edge switch.
    let core: f64 = core_ports.chunk_by(|a, b| a.link() == b.link()).map(|link| could(link[0])).sum();
    json!({
        "from_us": from as f64 / 1e6,
        "until_us": until as f64 / 1e6,
        "host_links": { "offered": ratio(offered, hosts), "carried": ratio(from_hosts, hosts) },
        "core_links": {
            "offered": ratio(crossing, core),
            "carried": ratio(carried(&core_ports), core),
        },
    })
}

/// Bytes on the wire of a flow without loss.
fn wire(size: u64, transport: &TransportSpec) -> f64 {
    let wire = transport.wire();
    size as f64 + wire.packets(size) as f64 * f64::from(wire.header)
}

/// How often a packet between two hosts leaves an edge switch for another switch, on a shortest path.
struct Crossings<'a> {
    graph: &'a Graph,
    racks: Vec<NodeId>,
    /// Of each port, whether it leads from an edge switch to another switch.
    into_core: Vec<bool>,
    adjacency: Vec<Vec<(u32, NodeId)>>,
    /// Links to every node from an edge switch.
    distances: BTreeMap<NodeId, Vec<u32>>,
    /// Of a pair of edge switches.
    between: BTreeMap<(NodeId, NodeId), u32>,
}

impl<'a> Crossings<'a> {
    fn new(graph: &'a Graph, ports: &[PortId]) -> Self {
        let mut into_core = vec![false; 2 * graph.links.len()];
        ports.iter().for_each(|port| into_core[port.at()] = true);
        Self {
            graph,
            racks: graph.racks(),
            into_core,
            adjacency: graph.adjacency(),
            distances: BTreeMap::new(),
            between: BTreeMap::new(),
        }
    }

    fn between(&mut self, src: HostId, dst: HostId) -> u32 {
        let pair = (self.racks[src.at()], self.racks[dst.at()]);
        if pair.0 == pair.1 {
            return 0;
        }
        if let Some(known) = self.between.get(&pair) {
            return *known;
        }
        let count = self.walk(pair.0, pair.1);
        self.between.insert(pair, count);
        count
    }

    /// Down the distances to `to`, a link at a time. Nothing where there is no path.
    fn walk(&mut self, from: NodeId, to: NodeId) -> u32 {
        let (graph, adjacency) = (self.graph, &self.adjacency);
        let distance = self.distances.entry(to).or_insert_with(|| graph.distances(adjacency, to));
        let (mut at, mut count) = (from, 0);
        while at != to {
            let nearer = |(link, next): &&(u32, NodeId)| {
                !graph.is_nic(*next) && graph.leads(distance, at, *link, *next)
            };
            let Some((link, next)) = adjacency[at.at()].iter().find(nearer) else { return 0 };
            let port = 2 * link + u32::from(graph.links[*link as usize].a != at);
            count += u32::from(self.into_core[port as usize]);
            at = *next;
        }
        count
    }
}
