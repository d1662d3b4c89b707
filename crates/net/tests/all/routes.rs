//! Tables of shortest paths, against distances found link by link.

use thalweg_net::routing::{Graph, Hop, Routes};
use thalweg_net::spec::{LinkSpec, RouteSpec, RoutingSpec, Structure};
use thalweg_units::{HostId, NodeId, PortId, Rate, Span, Stream};

fn wire(a: u32, b: u32) -> LinkSpec {
    LinkSpec::fixed(NodeId(a), NodeId(b), Rate::from_gbps(1), Span::from_us(1), Span::ZERO)
}

/// Hosts at switches, and links between those, drawn: parallel ones and ones to itself among them.
fn drawn(seed: u64) -> (u32, u32, Vec<LinkSpec>, Vec<bool>) {
    let mut draw = Stream::new(seed, "graph", 0);
    let mut below = |n: u32| draw.below(u64::from(n)) as u32;
    let (hosts, switches) = (2 + below(12), 1 + below(9));
    let mut links: Vec<LinkSpec> = (0..hosts).map(|host| wire(host, hosts + below(switches))).collect();
    for _ in 0..below(3 * switches) {
        links.push(wire(hosts + below(switches), hosts + below(switches)));
    }
    let down = (0..links.len()).map(|_| below(8) == 0).collect();
    (hosts, switches, links, down)
}

/// By switch: the metrics of links between switches to the one that the host hangs off (Bellman and Ford).
fn distances(hosts: u32, switches: u32, links: &[LinkSpec], down: &[bool], to: NodeId) -> Vec<u32> {
    let mut distance = vec![u32::MAX; (hosts + switches) as usize];
    distance[to.at()] = 0;
    for _ in 0..switches {
        for (link, _) in links.iter().zip(down).filter(|(link, down)| !**down && link.a.0 >= hosts) {
            for (a, b) in [(link.a, link.b), (link.b, link.a)] {
                distance[a.at()] = distance[a.at()].min(distance[b.at()].saturating_add(link.metric));
            }
        }
    }
    distance
}

/// The ports of a switch by which a packet comes nearer to where the distances are from.
fn nearer(hosts: u32, links: &[LinkSpec], down: &[bool], distance: &[u32], switch: NodeId) -> Vec<PortId> {
    let leads = |port: &PortId| {
        let link = &links[port.link().at()];
        let (from, to) = link.ends(*port);
        let is_one_less = distance[from.at()].checked_sub(link.metric) == Some(distance[to.at()]);
        from == switch && to.0 >= hosts && !down[port.link().at()] && is_one_less
    };
    let reachable = distance[switch.at()] < u32::MAX;
    (0..2 * links.len()).map(PortId::from).filter(|port| reachable && leads(port)).collect()
}

/// With links of one metric, and with drawn ones.
#[test]
fn packets_may_leave_by_every_port_that_brings_them_nearer_and_by_no_other() {
    for seed in 0..600 {
        let (hosts, switches, mut links, down) = drawn(seed);
        let mut draw = Stream::new(seed, "metrics", 0);
        if seed >= 300 {
            links.iter_mut().for_each(|link| link.metric = 1 + draw.below(4) as u32);
        }
        let routes = Routes::without(hosts, switches, &links, 7, &down).expect("one link per host");
        for dst in 0..hosts {
            let at = links[dst as usize].b;
            let distance = distances(hosts, switches, &links, &down, at);
            for switch in (hosts..hosts + switches).map(NodeId).filter(|switch| *switch != at) {
                assert_eq!(
                    routes.group(switch, HostId(dst)),
                    nearer(hosts, &links, &down, &distance, switch),
                    "graph {seed}, {switch:?} to host {dst}"
                );
            }
        }
    }
}

/// Switches in drawn groups: towards a group every port leads that brings a packet nearer to its nearest switch.
#[test]
fn the_way_to_a_group_is_that_to_its_nearest_switch() {
    for seed in 0..200 {
        let (hosts, switches, links, down) = drawn(seed);
        let mut draw = Stream::new(seed, "groups", 0);
        let groups: Vec<u32> = (0..switches).map(|_| draw.below(3) as u32).collect();
        let structure = Structure { groups: groups.clone(), ..Structure::default() };
        let routing = RoutingSpec { structure, ..RouteSpec::valiant().into() };
        let graph = Graph { hosts, switches, links: &links, seed: 7, down: &down };
        let routes = Routes::of_graph(&graph, &routing).expect("one link per host");
        for group in 0..routes.groups() {
            let members = || (0..switches).filter(|switch| groups[*switch as usize] == group);
            let nodes = (hosts + switches) as usize;
            let distance = members().fold(vec![u32::MAX; nodes], |nearest, member| {
                let of = distances(hosts, switches, &links, &down, NodeId(hosts + member));
                nearest.into_iter().zip(of).map(|(a, b)| a.min(b)).collect()
            });
            for switch in (hosts..hosts + switches).map(NodeId) {
                let wanted = match distance[switch.at()] {
                    0 => Vec::new(),
                    _ => nearer(hosts, &links, &down, &distance, switch),
                };
                assert_eq!(
                    routes.ports_to_group(switch, group),
                    wanted,
                    "graph {seed}, {switch:?} to {group}"
                );
                assert_eq!(routes.hop_to_group(switch, group) == Hop::Nowhere, wanted.is_empty());
            }
        }
    }
}

/// Three switches in a row, each with a host, and a fourth without: three groups.
#[test]
fn without_groups_each_switch_with_hosts_is_one_and_hops_count_by_way_of_it() {
    let mut links: Vec<LinkSpec> = (0..3).map(|host| wire(host, 3 + host)).collect();
    links.extend([wire(3, 4), wire(4, 5), wire(5, 6)]);
    let graph = Graph { hosts: 3, switches: 4, links: &links, seed: 7, down: &[] };
    let routes = Routes::of_graph(&graph, &RouteSpec::valiant().into()).expect("routes");
    assert_eq!(routes.groups(), 3);
    assert_eq!([3, 4, 5, 6].map(|node| routes.group_of(NodeId(node))), [Some(0), Some(1), Some(2), None]);
    assert_eq!(routes.hops(NodeId(3), HostId(1), None), 1);
    assert_eq!(routes.hops(NodeId(3), HostId(1), Some(2)), 3, "past the destination, and back");
    assert_eq!(routes.hops(NodeId(3), HostId(0), None), 0);
    let plain = Routes::of_graph(&graph, &RouteSpec::ecmp().into()).expect("routes");
    assert_eq!((plain.groups(), plain.group_of(NodeId(3))), (0, None), "no rule needs them");
    // Packets under way carry numbers of groups: a switch that has lost its links keeps its own.
    let down: Vec<bool> = (0..links.len()).map(|link| link == 3).collect();
    let left =
        Routes::of_graph(&Graph { down: &down, ..graph }, &RouteSpec::valiant().into()).expect("routes");
    assert_eq!([3, 4, 5].map(|node| left.group_of(NodeId(node))), [Some(0), Some(1), Some(2)]);
    assert!(left.ports_to_group(NodeId(4), 0).is_empty());
}

/// A square whose first two links are of dimension 1 and whose other two of dimension 0.
#[test]
fn ordered_paths_begin_along_the_first_dimension() {
    let mut links: Vec<LinkSpec> = (0..4).map(|host| wire(host, 4 + host)).collect();
    links.extend([wire(4, 5), wire(6, 7), wire(4, 6), wire(5, 7)]);
    let structure = Structure { dimensions: vec![0, 0, 0, 0, 1, 1, 0, 0], ..Structure::default() };
    let routing = RoutingSpec { structure, ..RouteSpec::dimension_order().into() };
    let graph = Graph { hosts: 4, switches: 4, links: &links, seed: 7, down: &[] };
    let routes = Routes::of_graph(&graph, &routing).expect("routes");
    assert_eq!(routes.group(NodeId(4), HostId(3)), [PortId(12)], "over link 6, along dimension 0");
    assert_eq!(routes.group(NodeId(7), HostId(0)), [PortId(15)]);
    assert_eq!(routes.group(NodeId(4), HostId(1)), [PortId(8)], "there is only dimension 1 to go");
}
