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
use thalweg_net::routing::{Pick, Routes};
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
