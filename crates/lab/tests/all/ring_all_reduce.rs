//! How long an all-reduce around a ring takes, as a closed form.

use crate::common::*;
use std::path::Path;
use thalweg_net::spec::NetworkSpec;
use thalweg_sim::Sim;
use thalweg_units::{FlowId, Time};

/// Around one switch every chunk of n packets of 1000 B at 8 Gb/s takes n us to leave, 1 us more for the last
/// packet to be passed on, and 2 × 3 us of propagation, and all hosts send at once without meeting: a step of
/// n + 7 us. So t iterations among N hosts take t × 2(N − 1)(n + 7) us, and t − 1 times the time to compute.
#[test]
fn all_reduce_takes_as_long_as_its_closed_form_to_the_picosecond() {
    for (hosts, packets, iterations, compute) in [(2u64, 1u64, 1u64, 0u64), (5, 1, 1, 0), (4, 3, 3, 11)] {
        let compute_key = if iterations > 1 { format!("compute = \"{compute}us\"") } else { String::new() };
        let text = format!(
            "[[traffic]]\nkind = \"ring-all-reduce\"\nsize = \"{}B\"\niterations = {iterations}\n{compute_key}\n\
             [topology]\nkind = \"star\"\nhosts = {hosts}\nrate = \"8Gbps\"\ndelay = \"3us\"\n\
             [transport]\nkind = \"udp\"\npayload = \"1000B\"\nheader = \"0B\"",
            hosts * packets * 1000
        );
        let mut net: NetworkSpec = scenario(&text, Path::new("."), &[]).network().expect("a network");
        net.stop.when_measured_done = false;
        let last = FlowId::from(net.flows.len() - 1);
        let mut sim = Sim::new(net).expect("a network");
        while sim.run(1 << 20) {}
        let us = iterations * 2 * (hosts - 1) * (packets + 7) + (iterations - 1) * compute;
        assert_eq!(sim.outcome(last).received, Some(Time::from_us(us)), "{hosts} hosts, {packets} packets");
    }
}
