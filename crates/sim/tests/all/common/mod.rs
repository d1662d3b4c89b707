//! Small networks for tests, and their runs.
#![allow(dead_code, missing_docs)]

#[path = "../../../../net/tests/all/common/mod.rs"]
mod networks;

pub use networks::*;
use thalweg_net::spec::NetworkSpec;
use thalweg_sim::Sim;

pub type Network = Sim;

/// Builds and runs to the end with every law checked.
pub fn run(spec: NetworkSpec) -> Network {
    run_checked(spec, 10_000)
}

/// To the end, with a look at the laws every so many events.
/// To its end, saved and loaded after so many events each.
pub fn run_cut(spec: NetworkSpec, cuts: Vec<u64>) -> Network {
    let mut sim = Network::new(spec).unwrap();
    for cut in cuts {
        sim.run(cut);
        sim = Network::load(&sim.save()).unwrap();
    }
    while sim.run(1 << 20) {}
    sim
}

pub fn run_checked(spec: NetworkSpec, every: u64) -> Network {
    let mut sim = Network::new(spec).expect("a network");
    while sim.run_checked(100_000, every).expect("laws hold") {}
    sim
}
