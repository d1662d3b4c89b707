//! How long an all-reduce over a tree takes, as a closed form.

use crate::common::*;
use std::path::Path;
use thalweg_net::spec::NetworkSpec;
use thalweg_sim::Sim;
use thalweg_units::{FlowId, Time};

/// Of a full tree around one switch, all hosts of a level send at once. The k vectors of n packets of 1000 B that one
/// host receives or sends at 8 Gb/s take k n us on its link, and the last packet 1 us more at the other end of the
/// switch and 2 × 3 us of propagation. So each of h levels takes k n + 7 us, upwards and downwards. In a chain (k = 1)
/// iterations follow each other after the time to compute.
#[test]
fn all_reduce_takes_as_long_as_its_closed_form_to_the_picosecond() {
    let cases = [(7u64, 2u64, 2u64, 3u64, 1u64, 0u64), (13, 3, 2, 2, 1, 0), (4, 1, 3, 2, 3, 11)];
    for (hosts, arity, height, packets, iterations, compute) in cases {
        let compute_key = if iterations > 1 { format!("compute = \"{compute}us\"") } else { String::new() };
        let text = format!(
            "[[traffic]]\nkind = \"tree-all-reduce\"\nsize = \"{}B\"\narity = {arity}\niterations = {iterations}\n\
             {compute_key}\n[topology]\nkind = \"star\"\nhosts = {hosts}\nrate = \"8Gbps\"\ndelay = \"3us\"\n\
             [transport]\nkind = \"udp\"\npayload = \"1000B\"\nheader = \"0B\"",
            packets * 1000
        );
        let mut net: NetworkSpec = scenario(&text, Path::new("."), &[]).network().expect("a network");
        net.stop.when_measured_done = false;
        let flows = net.flows.len();
        let mut sim = Sim::new(net).expect("a network");
        while sim.run(1 << 20) {}
        let last = (0..flows).map(|flow| sim.outcome(FlowId::from(flow)).received).max().flatten();
        let us = iterations * 2 * height * (arity * packets + 7) + (iterations - 1) * compute;
        assert_eq!(last, Some(Time::from_us(us)), "{hosts} hosts, {arity} children, {packets} packets");
    }
}
