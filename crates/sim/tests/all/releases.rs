//! Releases that land at no event (`fabric/releases.rs`): a packet that comes to a port while it sends one
//! leaves when it has, although nothing on the wire wakes the port.
use crate::common::*;
use crate::relief::random;
use thalweg_net::spec::*;
use thalweg_units::{FlowId, PortId, Stream, Time};

/// Lone packets on the ways of a random network in which others escape, further apart than links are long:
/// what one misses the next does not make good.
fn lonely(seed: u64) -> NetworkSpec {
    let mut spec = random(seed);
    let mut draw = Stream::new(seed, "lonely", 0);
    let paths = spec.routing.paths().expect("they are pinned").to_vec();
    let mut all: Vec<_> = spec.flows.into_iter().zip(paths).collect();
    for n in 0..all.len() {
        let (FlowSpec { src, dst, .. }, path) = all[n].clone();
        let at = |k: u64| Time::from_ns(15_000 * k + draw.below(15_000));
        all.extend((0..40u64).map(at).map(|at| (flow(src.0, dst.0, 1000, at), path.clone())));
    }
    all.sort_by_key(|(flow, _)| flow.start);
    let paths;
    (spec.flows, paths) = all.into_iter().unzip();
    spec.routing = RoutingSpec::pinned(paths);
    let stop = StopSpec { until: Time::from_us(700), ..spec.stop };
    NetworkSpec { stop, ..spec }
}

#[test]
fn lone_packets_leave_when_a_release_has() {
    for seed in 0..100 {
        let end = |shortcuts| {
            let sim = run_checked(NetworkSpec { shortcuts, ..lonely(seed) }, 1009);
            let all = 0..sim.spec().flows.len();
            let delivered: Vec<_> = all.map(|f| sim.outcome(FlowId::from(f)).delivered).collect();
            let ports: Vec<_> =
                (0..2 * sim.spec().links.len()).map(|id| sim.totals(PortId::from(id))).collect();
            (delivered, ports, sim.digest())
        };
        assert_eq!(end(true), end(false), "seed {seed}");
    }
}
