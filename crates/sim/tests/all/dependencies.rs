//! The backpressure graph (Goyal, MIT 2022, App. D): its edges are those of the routes, elision leaves no
//! cycle, and without one nothing stands still.
use crate::backpressure::{drain, params, quiet, ring, under_backpressure};
use crate::common::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use thalweg_machines::pause::PauseSpec;
use thalweg_machines::pause::backpressure::Elide;
use thalweg_machines::schedule::bfc::Params;
use thalweg_machines::transport::UdpPace;
use thalweg_net::dependencies::{Dependencies, Turn, Ways, elision, layers};
use thalweg_net::routing::{Hop, Pick, Routes};
use thalweg_net::spec::*;
use thalweg_units::{HostId, NodeId, PortId, Rate, Span, Stream, Time, mix64};

const RATE: Rate = Rate::from_gbps(100);
const HOP: Span = Span::from_us(1);

fn wire(a: u32, b: u32) -> LinkSpec {
    link(a, b, RATE, HOP)
}

/// Hosts only name where packets go.
fn bare(hosts: u32, switches: u32, links: Vec<LinkSpec>) -> NetworkSpec {
    let flows = vec![flow(0, 1, 1, Time::ZERO)];
    network(hosts, switches, links, udp(1000, UdpPace::Constant(RATE)), flows)
}

fn graph(spec: &NetworkSpec) -> Dependencies {
    Dependencies::of(&Ways::of(spec)).expect("routes")
}

/// Racks of two hosts under every spine.
fn leaf_spine(leaves: u32, spines: u32) -> NetworkSpec {
    let hosts = 2 * leaves;
    let mut links: Vec<LinkSpec> = (0..hosts).map(|h| wire(h, hosts + h / 2)).collect();
    links.extend((0..leaves * spines).map(|l| wire(hosts + l / spines, hosts + leaves + l % spines)));
    bare(hosts, leaves + spines, links)
}

/// Switches in a ring, a host each, and so many links across it.
fn crossed_ring(switches: u32, across: u32, seed: u64) -> NetworkSpec {
    let mut draw = Stream::new(seed, "chords", 0);
    let mut links: Vec<LinkSpec> = (0..switches).map(|s| wire(s, switches + s)).collect();
    links.extend((0..switches).map(|s| wire(switches + s, switches + (s + 1) % switches)));
    for _ in 0..across {
        let a = draw.below(u64::from(switches)) as u32;
        let b = (a + 2 + draw.below(u64::from(switches) - 3) as u32) % switches;
        links.push(wire(switches + a, switches + b));
    }
    bare(switches, switches, links)
}

/// All ways from one output port straight to the next on drawn paths.
fn drawn(spec: &NetworkSpec) -> BTreeSet<Turn> {
    let routes = Routes::new(spec.hosts, spec.switches, &spec.links, 7).unwrap();
    let mut found = BTreeSet::new();
    for (src, dst) in (0..spec.hosts).flat_map(|src| (0..spec.hosts).map(move |dst| (src, dst))) {
        for draw in (0..200).filter(|_| src != dst) {
            let mut path = Vec::new();
            assert!(routes.path(HostId(src), HostId(dst), Pick::Hash(mix64(draw)), &mut path));
            found.extend(path[1..].windows(2).map(|ports| Turn { from: ports[0], to: ports[1] }));
        }
    }
    found
}

#[test]
fn three_switches_of_which_each_sends_two_on_wait_in_a_circle_and_one_way_breaks_it() {
    let spec = ring(2, 1, false);
    let found = graph(&spec);
    // Six ports to hosts, six between switches; hosts 0 to 2 are on links 0 to 2, the ring is links 6 to 8.
    assert_eq!(found.nodes(), 12);
    assert_eq!(found.cycle(), Some([12, 14, 16].map(PortId).to_vec()));
    assert_eq!(found.feedback(), [Turn { from: PortId(16), to: PortId(12) }]);
    assert_eq!(layers(&Ways::of(&spec)), None);
    assert_eq!(elision(&Ways::of(&spec)).unwrap(), found.feedback());
}

/// App. D: up, then down, and never up again.
#[test]
fn racks_under_spines_wait_in_no_circle_until_reroutes_turn_up_again_at_a_leaf() {
    let mut spec = leaf_spine(3, 2);
    // Rack 0 is left with spine 0, rack 1 with spine 1: from one to the other leads over rack 2. Links 6 to
    // 11 are those to spines.
    assert_eq!(graph(&spec).cycle(), None);
    let down = |link| Incident { at: Time::from_us(1), what: IncidentKind::LinkDown(link) };
    spec.incidents = vec![down(7), down(8)];
    let valley = |turn: Turn| {
        let node = |port: PortId| spec.ends(port).0;
        (node(turn.from).0 >= 9 && node(turn.to.reverse()).0 >= 9).then(|| node(turn.to))
    };
    let found = graph(&spec);
    let turns: Vec<NodeId> = found.edges().filter_map(valley).collect();
    assert_eq!(turns, [NodeId(8), NodeId(8)], "over rack 2, both ways");
    assert_eq!(found.cycle(), None, "they do not close a circle yet");
    // Six ports that lead down from spines, each with the other spine behind the leaf: exempt, whatever
    // routes there are.
    let exempt = elision(&Ways::of(&spec)).unwrap();
    assert_eq!(exempt.len(), 6);
    assert!(exempt.iter().all(|turn| valley(*turn).is_some()));
}

/// Routers in a grid, a host each; links of the first dimension first. With `wrap` rows are rings.
fn grid(sides: [u32; 2], wrap: bool) -> NetworkSpec {
    let count = sides[0] * sides[1];
    let mut links: Vec<LinkSpec> = (0..count).map(|n| wire(n, count + n)).collect();
    let mut dimensions = vec![0; links.len()];
    for (dimension, stride) in [(0, 1), (1, sides[0])] {
        let side = sides[usize::from(dimension)];
        for router in 0..count {
            let place = router / stride % side;
            if place + 1 < side || wrap {
                let next = router - place * stride + (place + 1) % side * stride;
                links.push(wire(count + router, count + next));
                dimensions.push(dimension);
            }
        }
    }
    let mut spec = bare(count, count, links);
    spec.routing.structure.dimensions = dimensions;
    spec
}

/// Dally, Seitz (1987): in dimension order no cycle of a mesh can close; free to turn, packets can close one. A ring
/// closes one by itself as soon as paths have two links of it one after the other, which those of three switches have
/// not.
#[test]
fn dimension_order_breaks_all_cycles_of_a_mesh_and_none_of_a_long_ring() {
    let cycle = |sides, wrap, rule: RouteSpec| {
        let mut spec = grid(sides, wrap);
        spec.routing.rule = rule;
        graph(&spec).cycle().map(|ports| ports.len())
    };
    assert_eq!(cycle([4, 3], false, RouteSpec::dimension_order()), None);
    assert_eq!(cycle([4, 3], false, RouteSpec::ecmp()), Some(4), "around a square");
    assert_eq!(cycle([3, 3], true, RouteSpec::dimension_order()), None);
    assert_eq!(cycle([5, 3], true, RouteSpec::dimension_order()), Some(5), "around a ring");
}

/// Three groups of two, each pair of groups joined by a link: hosts 0 to 5, routers 6 to 11.
fn dragonfly(rule: RouteSpec) -> NetworkSpec {
    let mut links: Vec<LinkSpec> = (0..6).map(|host| wire(host, 6 + host)).collect();
    links.extend([wire(6, 7), wire(8, 9), wire(10, 11)]);
    let global = links.len();
    links.extend([wire(6, 8), wire(7, 10), wire(9, 11)]);
    links[global..].iter_mut().for_each(|link| link.metric = 3);
    let mut spec = bare(6, 6, links);
    spec.routing.rule = rule;
    spec.routing.structure.groups = vec![0, 0, 1, 1, 2, 2];
    spec
}

/// All ways from one port to the next on drawn paths by way of a drawn group, if they lead to another one.
fn drawn_by_way(spec: &NetworkSpec) -> BTreeSet<Turn> {
    let routes = Routes::of(spec, &[]).unwrap();
    let (mut found, mut draw) = (BTreeSet::new(), Stream::new(3, "ways", 0));
    let mut one_of = |hop: Hop| match hop {
        Hop::Nowhere => None,
        Hop::Only(port) => Some(port),
        Hop::Among(first, count) => {
            Some(routes.candidate((first + draw.below(count.into()) as u32) as usize))
        }
    };
    for (src, dst) in (0..spec.hosts).flat_map(|src| (0..spec.hosts).map(move |dst| (src, dst))) {
        let leaves = routes.group_of_host(HostId(src)) != routes.group_of_host(HostId(dst));
        // One number more than there are groups: none.
        let ways = if leaves { 0..=routes.groups() } else { routes.groups()..=routes.groups() };
        for group in ways.cycle().take(60).filter(|_| src != dst) {
            let mut path = vec![routes.nic(HostId(src))];
            let mut at = routes.peer(path[0]);
            while let Some(port) = one_of(routes.hop_to_group(at, group)) {
                path.push(port);
                at = routes.peer(port);
            }
            while at != NodeId(dst) {
                path.extend(one_of(routes.hop(at, HostId(dst))));
                at = routes.peer(path[path.len() - 1]);
            }
            found.extend(path[1..].windows(2).map(|ports| Turn { from: ports[0], to: ports[1] }));
        }
    }
    found
}

/// ISCA 2008 §4.1: a local link before a global one and one behind it, so that without virtual channels even minimal
/// paths can close a cycle. Racks under spines have one only if packets go by way of another rack.
#[test]
fn edges_are_the_ways_of_detours_too_and_a_dragonfly_has_cycles() {
    for spec in [dragonfly(RouteSpec::valiant()), dragonfly(RouteSpec::ugal())] {
        let found = graph(&spec);
        assert_eq!(found.edges().collect::<BTreeSet<_>>(), drawn_by_way(&spec));
        assert!(found.cycle().is_some());
        let minimal = graph(&dragonfly(RouteSpec::ecmp()));
        assert!(minimal.cycle().is_some());
        // Routers have one global link each: a detour turns from it into its group and back, as minimal paths do.
        assert_eq!(minimal.edges().count(), found.edges().count());
    }
    let mut spec = leaf_spine(4, 2);
    assert_eq!(graph(&spec).cycle(), None);
    spec.routing.rule = RouteSpec::valiant();
    assert_eq!(graph(&spec).edges().collect::<BTreeSet<_>>(), drawn_by_way(&spec));
    assert!(graph(&spec).cycle().is_some(), "up, down, and up again");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn edges_are_the_ways_that_paths_take(switches in 4u32..8, across in 0u32..4, seed in 0u64..1000) {
        let spec = crossed_ring(switches, across, seed);
        prop_assert_eq!(graph(&spec).edges().collect::<BTreeSet<_>>(), drawn(&spec));
    }

    /// Minimal: put any of them back, and there is a cycle again.
    #[test]
    fn without_what_is_elided_there_is_no_cycle_and_nothing_is_elided_for_nothing(
        switches in 5u32..24, across in 0u32..20, seed in 0u64..10_000,
    ) {
        let found = graph(&crossed_ring(switches, across, seed));
        let exempt_turns = found.feedback();
        prop_assert_eq!(exempt_turns.is_empty(), found.cycle().is_none());
        prop_assert_eq!(found.without(|turn| exempt_turns.contains(&turn)).cycle(), None);
        for back in &exempt_turns {
            prop_assert!(found.without(|turn| turn != *back && exempt_turns.contains(&turn)).cycle().is_some());
        }
    }

    /// §3.5: whatever links of a Clos network fail, what turns up again is all that can close a cycle.
    #[test]
    fn a_clos_network_with_failed_links_has_no_cycle_once_valleys_are_elided(
        leaves in 3u32..7, spines in 2u32..6, failures in prop::collection::vec(0u32..1000, 0..14),
    ) {
        let mut spec = leaf_spine(leaves, spines);
        let (first, count) = (2 * leaves, leaves * spines);
        spec.incidents = failures
            .iter()
            .map(|n| Incident { at: Time::from_us(1), what: IncidentKind::LinkDown(first + n % count) })
            .collect();
        let exempt = elision(&Ways::of(&spec)).unwrap();
        prop_assert_eq!(graph(&spec).without(|turn| exempt.binary_search(&turn).is_ok()).cycle(), None);
        prop_assert_eq!(exempt.len() as u32, leaves * spines * (spines - 1));
    }
}

/// The network's switches hold nothing against their neighbours that could close a cycle.
fn eliding(mut spec: NetworkSpec) -> NetworkSpec {
    if let Some(PauseSpec::Backpressure(own)) = spec.inputs.as_mut().and_then(|inputs| inputs.pause.as_mut())
    {
        own.elide = Elide::Cycles;
    }
    spec
}

#[test]
fn the_ring_with_one_queue_does_not_stand_still_once_a_way_is_elided() {
    for seed in 0..3 {
        let sim = drain(ring(2, seed, true));
        assert_eq!((quiet(&sim), sim.counters().packets_dropped), (Ok(()), 0));
        assert!(sim.exempt_packets() > Some(0) && sim.counters().pause_frames > 0);
    }
}

#[test]
fn a_run_that_elides_is_the_same_once_saved_and_loaded() {
    let straight = drain(ring(2, 1, true));
    let cut = run_cut(ring(2, 1, true), vec![500, 4000]);
    assert_eq!((cut.digest(), cut.exempt_packets()), (straight.digest(), straight.exempt_packets()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Theorem 2, with one data queue a port, where any cycle may close.
    #[test]
    fn rings_that_elide_always_drain(switches in 5u32..9, across in 0u32..3, seed in 0u64..1000) {
        let mut spec = crossed_ring(switches, across, seed);
        // Every host sends to the one furthest around the ring, and random flows come on top.
        let far = |h: u32| flow(h, (h + switches / 2) % switches, 400_000, Time::ZERO);
        spec.flows = (0..switches).map(far).collect();
        spec.flows.extend(random_flows(seed, 20, u64::from(switches), 200_000, 20_000));
        spec.stop.until = Time::from_ms(20);
        let sim = drain(eliding(under_backpressure(spec, Params { queues: 2, ..params() })));
        prop_assert_eq!(quiet(&sim), Ok(()));
    }
}

/// Racks of a Clos network that are left with one spine each, no two with the same: all that they send one
/// another turns up again in a third rack.
#[test]
fn a_clos_network_whose_reroutes_close_a_circle_stands_still_unless_valleys_are_elided() {
    let mut spec = leaf_spine(6, 3);
    // Leaves 18 to 23; links 12 on are theirs, three each. Leaf 0 keeps spine 0, leaf 1 spine 1, leaf 2 spine
    // 2; leaf 3 keeps 0 and 1, 4 has 1 and 2, 5 has 2 and 0: from leaf 0 to leaf 1 leads over 3, from 1 to 2
    // over 4, from 2 to 0 over 5.
    let keeps: [&[u32]; 6] = [&[0], &[1], &[2], &[0, 1], &[1, 2], &[2, 0]];
    let gone = (0..6u32).flat_map(|leaf| (0..3).map(move |spine| (leaf, spine)));
    let gone = gone.filter(|(leaf, spine)| !keeps[*leaf as usize].contains(spine));
    spec.incidents = gone
        .map(|(leaf, spine)| Incident { at: Time::ZERO, what: IncidentKind::LinkDown(12 + 3 * leaf + spine) })
        .collect();
    let found = graph(&spec);
    let exempt = elision(&Ways::of(&spec)).unwrap();
    assert!(found.cycle().is_some());
    assert_eq!(found.without(|turn| exempt.binary_search(&turn).is_ok()).cycle(), None);
    // Hosts 2r and 2r + 1 are rack r's. Around the circle 3, 4, 5 every host sends to the next rack, and so
    // around 0, 1, 2, over those racks: every port of the circle is offered four times what it carries.
    let next = |h: u32| if h < 6 { (h + 2) % 6 } else { 6 + (h - 6 + 2) % 6 };
    spec.flows = (0..12).map(|h| flow(h, next(h), 2_500_000, Time::from_us(50))).collect();
    spec.stop.until = Time::from_ms(20);
    let held = under_backpressure(spec, Params { queues: 2, ..params() });
    assert!(quiet(&drain(held.clone())).is_err(), "it stands still");
    let sim = drain(eliding(held));
    assert_eq!((quiet(&sim), sim.counters().packets_dropped), (Ok(()), 0));
    assert!(sim.exempt_packets() > Some(0));
}
