//! Tables of shortest paths, against distances found link by link.

use thalweg_net::routing::Routes;
use thalweg_net::spec::LinkSpec;
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

/// By switch: links between switches to the one that the host hangs off (Bellman and Ford).
fn distances(hosts: u32, switches: u32, links: &[LinkSpec], down: &[bool], to: NodeId) -> Vec<u32> {
    let mut distance = vec![u32::MAX; (hosts + switches) as usize];
    distance[to.at()] = 0;
    for _ in 0..switches {
        for (link, _) in links.iter().zip(down).filter(|(link, down)| !**down && link.a.0 >= hosts) {
            for (a, b) in [(link.a, link.b), (link.b, link.a)] {
                distance[a.at()] = distance[a.at()].min(distance[b.at()].saturating_add(1));
            }
        }
    }
    distance
}

#[test]
fn packets_may_leave_by_every_port_that_brings_them_nearer_and_by_no_other() {
    for seed in 0..300 {
        let (hosts, switches, links, down) = drawn(seed);
        let routes = Routes::without(hosts, switches, &links, 7, &down).expect("one link per host");
        for dst in 0..hosts {
            let at = links[dst as usize].b;
            let distance = distances(hosts, switches, &links, &down, at);
            for switch in (hosts..hosts + switches).map(NodeId).filter(|switch| *switch != at) {
                let ends = |port: usize| match (&links[port / 2], port % 2) {
                    (link, 0) => (link.a, link.b),
                    (link, _) => (link.b, link.a),
                };
                let nearer = |port: &usize| {
                    let (from, to) = ends(*port);
                    let is_one_less = distance[from.at()].checked_sub(1) == Some(distance[to.at()]);
                    from == switch && to.0 >= hosts && !down[port / 2] && is_one_less
                };
                let reachable = distance[switch.at()] < u32::MAX;
                let wanted: Vec<PortId> =
                    (0..2 * links.len()).filter(|port| reachable && nearer(port)).map(PortId::from).collect();
                assert_eq!(
                    routes.group(switch, HostId(dst)),
                    wanted,
                    "graph {seed}, {switch:?} to host {dst}"
                );
            }
        }
    }
}
