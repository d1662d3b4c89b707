//! Which ports of switches wait for which under hop-by-hop flow control: the backpressure graph (Goyal, MIT
//! 2022, App. D), its cycles, and what must be exempt from the accounting of ingresses for none to be left
//! (§3.5).
//!
//! A node is an output port of a switch. An edge leads from A to B if some route goes from A over its link
//! straight to B: what waits at B may pause A. (App. D draws the arrow the other way.) NICs pause for others,
//! but no port pauses for a NIC: they are in no cycle and not among the nodes. Theorem 2: without a cycle
//! there is no deadlock.

use crate::routing::{Graph, RouteError, Routes};
use crate::spec::{FlowSpec, Incident, IncidentKind, LinkSpec, NetworkSpec, RoutingSpec};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use thalweg_machines::route::Paths;
use thalweg_units::{NodeId, PortId};

/// A way through a switch: in from the port `from` of a neighbour, out by the port `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn {
    /// The port at the far end of the input.
    pub from: PortId,
    /// The output.
    pub to: PortId,
}

/// What routes are made of.
#[derive(Clone, Copy, Debug)]
pub struct Ways<'a> {
    /// Nodes `0 .. hosts` are hosts.
    pub hosts: u32,
    /// The nodes after them.
    pub switches: u32,
    /// Duplex links; link `l` is port `2l` and port `2l + 1`.
    pub links: &'a [LinkSpec],
    /// Which of the shortest paths.
    pub routing: &'a RoutingSpec,
    /// Of pinned paths: whose they are. Others lead from every host to every host.
    pub flows: &'a [FlowSpec],
    /// Links that fail: routes are those of the whole network and of what is left each time.
    pub incidents: &'a [Incident],
}

impl<'a> Ways<'a> {
    /// Those of a network.
    pub fn of(spec: &'a NetworkSpec) -> Self {
        let NetworkSpec { hosts, switches, links, routing, flows, incidents, .. } = spec;
        Self { hosts: *hosts, switches: *switches, links, routing, flows, incidents }
    }

    /// The tables of what is left when some links are down.
    fn routes(&self, down: &[bool]) -> Result<Routes, RouteError> {
        let Self { hosts, switches, links, routing, .. } = *self;
        Routes::of_graph(&Graph { hosts, switches, links, seed: 0, down }, routing)
    }
}

/// The backpressure graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependencies {
    /// By port: those that its packets may join next, rising; empty for NICs.
    next: Vec<Vec<PortId>>,
    /// Output ports of switches.
    nodes: usize,
}

impl Dependencies {
    /// Of all that routes allow.
    ///
    /// # Errors
    /// If the network cannot be routed, or a pinned path does not follow its links.
    pub fn of(ways: &Ways<'_>) -> Result<Self, RouteError> {
        let mut turns = Turns::new(ways);
        let intact = ways.routes(&[])?;
        if let Some(paths) = ways.routing.paths() {
            for (number, (flow, pinned)) in ways.flows.iter().zip(paths).enumerate() {
                let mut path = Vec::new();
                intact.pinned(number as u32, flow.src, flow.dst, &pinned.data, &mut path)?;
                path[1..].windows(2).for_each(|pair| turns.take(pair[0], pair[1]));
            }
            return Ok(turns.graph(ways));
        }
        let mut tables = vec![intact];
        let mut down = vec![false; ways.links.len()];
        let mut seen = BTreeSet::from([down.clone()]);
        for incident in ways.incidents {
            match incident.what {
                IncidentKind::LinkDown(link) => down[link as usize] = true,
                IncidentKind::LinkUp(link) => down[link as usize] = false,
                IncidentKind::PauseLoss(..) => continue,
            }
            if seen.insert(down.clone()) {
                tables.push(ways.routes(&down)?);
            }
        }
        // A packet without a source route looks its way up at every switch: in the old table at one, in the new one
        // at the next.
        let needs = ways.routing.rule.needs();
        if !needs.source_routes {
            turns.follow(&tables, false);
            turns.detour(&tables);
        } else {
            let lowest = needs.paths == Paths::Lowest;
            tables.iter().for_each(|table| turns.follow(std::slice::from_ref(table), lowest));
        }
        Ok(turns.graph(ways))
    }

    /// Output ports of switches.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// All edges, rising.
    pub fn edges(&self) -> impl Iterator<Item = Turn> + '_ {
        let of = |(from, next): (usize, &Vec<PortId>)| {
            let from = PortId::from(from);
            next.iter().map(move |to| Turn { from, to: *to }).collect::<Vec<_>>()
        };
        self.next.iter().enumerate().flat_map(of)
    }

    /// A shortest cycle, if there is any: ports, each of which waits for the next, and the last for the
    /// first, which has the lowest number of all with so short a one.
    pub fn cycle(&self) -> Option<Vec<PortId>> {
        let inside = self.in_cycles();
        let mut best: Option<Vec<PortId>> = None;
        for start in (0..self.next.len()).filter(|port| inside[*port]) {
            let most = best.as_ref().map_or(usize::MAX, |found| found.len() - 1);
            best = self.back_to(PortId::from(start), most, &inside).or(best);
        }
        best
    }

    /// What is left once some turns cause no pauses.
    #[must_use]
    pub fn without(&self, spared: impl Fn(Turn) -> bool) -> Self {
        let mut left = self.clone();
        for (from, next) in left.next.iter_mut().enumerate() {
            next.retain(|to| !spared(Turn { from: PortId::from(from), to: *to }));
        }
        left
    }

    /// Turns without which there is no cycle, and each of which would close one if it were put back.
    pub fn feedback(&self) -> Vec<Turn> {
        let back = self.back_edges();
        let mut left = self.without(|turn| back.contains(&turn));
        let mut kept = Vec::new();
        for turn in back {
            if left.reaches(turn.to, turn.from) {
                kept.push(turn);
            } else {
                left.next[turn.from.at()].push(turn.to);
            }
        }
        kept
    }

    /// Ports that are in a cycle, or between two.
    fn in_cycles(&self) -> Vec<bool> {
        let mut inside: Vec<bool> = vec![true; self.next.len()];
        let mut before = vec![Vec::new(); self.next.len()];
        self.edges().for_each(|turn| before[turn.to.at()].push(turn.from));
        for (from, to) in [(&before, &self.next), (&self.next, &before)] {
            let mut degree: Vec<usize> =
                from.iter().map(|ports| ports.iter().filter(|port| inside[port.at()]).count()).collect();
            let mut free: Vec<usize> =
                (0..degree.len()).filter(|at| inside[*at] && degree[*at] == 0).collect();
            while let Some(at) = free.pop() {
                inside[at] = false;
                for port in &to[at] {
                    degree[port.at()] = degree[port.at()].saturating_sub(1);
                    if inside[port.at()] && degree[port.at()] == 0 {
                        free.push(port.at());
                    }
                }
            }
        }
        inside
    }

    /// The shortest way from a port back to itself, of at most so many ports.
    fn back_to(&self, start: PortId, most: usize, inside: &[bool]) -> Option<Vec<PortId>> {
        let mut came = vec![None; self.next.len()];
        let mut queue = VecDeque::from([(start, 1)]);
        while let Some((port, ports)) = queue.pop_front() {
            if ports > most {
                return None;
            }
            for &next in self.next[port.at()].iter().filter(|next| inside[next.at()]) {
                if next == start {
                    let back = std::iter::successors(Some(port), |at| came[at.at()]);
                    let mut cycle: Vec<PortId> = back.collect();
                    cycle.reverse();
                    return Some(cycle);
                }
                if came[next.at()].is_none() {
                    came[next.at()] = Some(port);
                    queue.push_back((next, ports + 1));
                }
            }
        }
        None
    }

    /// Edges that lead back to where a search in depth has come through.
    fn back_edges(&self) -> BTreeSet<Turn> {
        let mut back = BTreeSet::new();
        // 0: not seen, 1: on the way, 2: done.
        let mut state = vec![0u8; self.next.len()];
        for start in 0..self.next.len() {
            if state[start] != 0 {
                continue;
            }
            let mut way = vec![(start, 0)];
            while let Some((at, nth)) = way.last_mut() {
                let from = PortId::from(*at);
                state[*at] = 1;
                let Some(&to) = self.next[*at].get(*nth) else {
                    state[*at] = 2;
                    way.pop();
                    continue;
                };
                *nth += 1;
                match state[to.at()] {
                    0 => way.push((to.at(), 0)),
                    1 => {
                        back.insert(Turn { from, to });
                    }
                    _ => {}
                }
            }
        }
        back
    }

    fn reaches(&self, from: PortId, goal: PortId) -> bool {
        let mut seen = vec![false; self.next.len()];
        let mut way = vec![from];
        while let Some(port) = way.pop() {
            if port == goal {
                return true;
            }
            if !std::mem::replace(&mut seen[port.at()], true) {
                way.extend(&self.next[port.at()]);
            }
        }
        false
    }
}

/// How far above the hosts every node is, if no link joins two that are as far: then the network has layers.
pub fn layers(ways: &Ways<'_>) -> Option<Vec<u32>> {
    let nodes = (ways.hosts + ways.switches) as usize;
    let mut near = vec![Vec::new(); nodes];
    for link in ways.links {
        near[link.a.at()].push(link.b);
        near[link.b.at()].push(link.a);
    }
    let mut layer = vec![u32::MAX; nodes];
    let mut queue: VecDeque<NodeId> = (0..ways.hosts).map(NodeId).collect();
    queue.iter().for_each(|host| layer[host.at()] = 0);
    while let Some(node) = queue.pop_front() {
        for &next in &near[node.at()] {
            if layer[next.at()] == u32::MAX {
                layer[next.at()] = layer[node.at()] + 1;
                queue.push_back(next);
            }
        }
    }
    ways.links.iter().all(|link| layer[link.a.at()] != layer[link.b.at()]).then_some(layer)
}

/// The turns that cause no pauses, so that no cycle is left: in a network of layers what comes from a
/// higher layer and returns to one, routed or not (§3.5: a reroute may lead there); in any other as many
/// turns as it takes ([`Dependencies::feedback`]).
// CHOICE BFC §3.5: "Tagger's method" for graphs in general; here edges that a search in depth finds leading
// back, less those that can stay.
///
/// # Errors
/// As [`Dependencies::of`].
pub fn elision(ways: &Ways<'_>) -> Result<Vec<Turn>, RouteError> {
    let Some(layer) = layers(ways) else { return Ok(Dependencies::of(ways)?.feedback()) };
    let ends = |port: PortId| ways.links[port.link().at()].ends(port);
    let ports = || (0..2 * ways.links.len()).map(PortId::from);
    let mut up = vec![Vec::new(); layer.len()];
    for port in ports() {
        let (from, to) = ends(port);
        if layer[to.at()] > layer[from.at()] && from.0 >= ways.hosts {
            up[from.at()].push(port);
        }
    }
    let down = ports().filter(|port| {
        let (from, to) = ends(*port);
        layer[from.at()] > layer[to.at()]
    });
    let back = |from: PortId| {
        let turns = up[ends(from).1.at()].iter().filter(move |to| **to != from.reverse());
        turns.map(move |to| Turn { from, to: *to }).collect::<Vec<_>>()
    };
    Ok(down.flat_map(back).collect())
}

/// Of which groups of switches some hosts are: as much as it takes to tell whether two can be of different ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Groups {
    #[default]
    None,
    /// All of this one.
    One(u32),
    Several,
}

impl Groups {
    /// Hosts of no group are of one of their own.
    fn of(group: Option<u32>) -> Self {
        Self::One(group.unwrap_or(u32::MAX))
    }

    /// Adds others; whether that is more.
    fn add(&mut self, others: Self) -> bool {
        let before = *self;
        *self = match (before, others) {
            (one, Self::None) | (Self::None, one) => one,
            (one, other) if one == other => one,
            _ => Self::Several,
        };
        *self != before
    }

    /// One of these and one of those can be of different groups.
    fn differs_from(self, others: Self) -> bool {
        self != Self::None && others != Self::None && (self == Self::Several || self != others)
    }
}

/// Collects turns: by port a flag for every port of the switch that it leads to.
struct Turns {
    taken: Vec<Vec<bool>>,
    /// By node: its output ports.
    outputs: Vec<Vec<PortId>>,
    /// By port: which one of its node's it is, and where it leads.
    number: Vec<usize>,
    far: Vec<NodeId>,
}

impl Turns {
    fn new(ways: &Ways<'_>) -> Self {
        let mut outputs = vec![Vec::new(); (ways.hosts + ways.switches) as usize];
        let (mut number, mut far) = (Vec::new(), Vec::new());
        for (at, link) in ways.links.iter().enumerate() {
            for (port, (from, to)) in [(2 * at, (link.a, link.b)), (2 * at + 1, (link.b, link.a))] {
                number.push(outputs[from.at()].len());
                outputs[from.at()].push(PortId::from(port));
                far.push(to);
            }
        }
        let taken = far.iter().map(|to| vec![false; outputs[to.at()].len()]).collect();
        Self { taken, outputs, number, far }
    }

    fn take(&mut self, from: PortId, to: PortId) {
        self.taken[from.at()][self.number[to.at()]] = true;
    }

    /// All turns on the way from every host to every host, by tables of which any may hold at any switch.
    fn follow(&mut self, tables: &[Routes], lowest: bool) {
        let Some(first) = tables.first() else { return };
        let sources: Vec<NodeId> = first.attachments().map(|(node, _)| node).collect();
        for (target, hosts) in first.attachments() {
            let onward = |node: NodeId| -> Vec<PortId> {
                if node == target {
                    return hosts.iter().map(|host| first.to_host(*host)).collect();
                }
                let mut ports: BTreeSet<PortId> = BTreeSet::new();
                for table in tables {
                    let group = table.group(node, hosts[0]);
                    match group.iter().min_by_key(|port| self.far[port.at()]) {
                        Some(port) if lowest => ports.extend([*port]),
                        _ => ports.extend(group),
                    }
                }
                ports.into_iter().collect()
            };
            let mut known = vec![None; self.outputs.len()];
            let mut ahead: Vec<NodeId> = sources.iter().copied().filter(|node| *node != target).collect();
            while let Some(node) = ahead.pop() {
                if known[node.at()].is_none() && !first.is_nic(node) {
                    let ports = onward(node);
                    if node != target {
                        ahead.extend(ports.iter().map(|port| self.far[port.at()]));
                    }
                    known[node.at()] = Some(ports);
                }
            }
            let none = Vec::new();
            for node in (0..known.len()).map(NodeId::from).filter(|node| *node != target) {
                for from in known[node.at()].as_ref().unwrap_or(&none) {
                    for to in known[self.far[from.at()].at()].as_ref().unwrap_or(&none) {
                        self.taken[from.at()][self.number[to.at()]] = true;
                    }
                }
            }
        }
    }

    /// What [`Self::follow`] does not find of paths by way of a group of switches: all turns on the way from every host
    /// to every group, and from there towards every host that is not of the group where the path began.
    fn detour(&mut self, tables: &[Routes]) {
        let Some(first) = tables.first().filter(|table| table.groups() > 0) else { return };
        // By node: its ports to hosts, and of which groups those are.
        let mut home: Vec<BTreeMap<PortId, Groups>> = vec![BTreeMap::new(); self.outputs.len()];
        for (target, hosts) in first.attachments() {
            let there = Groups::of(first.group_of(target));
            let mut note = |node: NodeId, port: PortId| {
                home[node.at()].entry(port).or_default().add(there);
            };
            hosts.iter().for_each(|host| note(target, first.to_host(*host)));
            for node in
                (0..self.outputs.len()).map(NodeId::from).filter(|n| *n != target && !first.is_nic(*n))
            {
                tables
                    .iter()
                    .flat_map(|table| table.group(node, hosts[0]))
                    .for_each(|port| note(node, *port));
            }
        }
        for group in 0..first.groups() {
            let there = |node: NodeId| tables.iter().map(move |table| table.ports_to_group(node, group));
            // By node: of which groups those are who pass it.
            let mut from = vec![Groups::default(); self.outputs.len()];
            let mut ahead = Vec::new();
            for (node, _) in first.attachments() {
                if first.group_of(node).is_some_and(|own| own != group) {
                    from[node.at()].add(Groups::of(first.group_of(node)));
                    ahead.push(node);
                }
            }
            while let Some(node) = ahead.pop() {
                let began = from[node.at()];
                for &port in there(node).flatten() {
                    let next = self.far[port.at()];
                    there(next).flatten().for_each(|to| self.take(port, *to));
                    // It is there, or by the tables after a failure no path leads there: on to the destination.
                    if there(next).any(<[_]>::is_empty) {
                        let others = home[next.at()].iter().filter(|(_, of)| began.differs_from(**of));
                        others.for_each(|(to, _)| self.take(port, *to));
                    }
                    if from[next.at()].add(began) {
                        ahead.push(next);
                    }
                }
            }
        }
    }

    fn graph(self, ways: &Ways<'_>) -> Dependencies {
        let from_host = |port: usize| self.far[PortId::from(port).reverse().at()].0 < ways.hosts;
        let next = |(port, taken): (usize, &Vec<bool>)| {
            let outputs = self.outputs[self.far[port].at()].iter().zip(taken);
            let taken = outputs.filter(|(_, taken)| **taken && !from_host(port)).map(|(to, _)| *to);
            taken.collect()
        };
        let nodes = (0..self.far.len()).filter(|port| !from_host(*port)).count();
        Dependencies { next: self.taken.iter().enumerate().map(next).collect(), nodes }
    }
}
