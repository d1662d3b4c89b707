//! How long collective operations take, as closed forms.

use crate::common::*;
use std::path::Path;
use thalweg_net::spec::NetworkSpec;
use thalweg_sim::Sim;
use thalweg_units::{FlowId, Time};

/// When the last flow has arrived, of hosts around one switch at 8 Gb/s, 3 us away, that send packets of 1000 B.
fn over(hosts: u64, traffic: &str) -> Option<Time> {
    let text = format!(
        "[[traffic]]\n{traffic}\n\
         [topology]\nkind = \"star\"\nhosts = {hosts}\nrate = \"8Gbps\"\ndelay = \"3us\"\n\
         [transport]\nkind = \"udp\"\npayload = \"1000B\"\nheader = \"0B\""
    );
    let mut net: NetworkSpec = scenario(&text, Path::new("."), &[]).network().expect("a network");
    net.stop.when_measured_done = false;
    let last = FlowId::from(net.flows.len() - 1);
    let mut sim = Sim::new(net).expect("a network");
    while sim.run(1 << 20) {}
    sim.outcome(last).received
}

/// Around one switch every chunk of n packets of 1000 B at 8 Gb/s takes n us to leave, 1 us more for the last
/// packet to be passed on, and 2 × 3 us of propagation, and all hosts send at once without meeting: a step of
/// n + 7 us. So t iterations among N hosts take t × 2(N − 1)(n + 7) us, and t − 1 times the time to compute.
#[test]
fn all_reduce_takes_as_long_as_its_closed_form_to_the_picosecond() {
    for (hosts, packets, iterations, compute) in [(2u64, 1u64, 1u64, 0u64), (5, 1, 1, 0), (4, 3, 3, 11)] {
        let compute_key = if iterations > 1 { format!("compute = \"{compute}us\"") } else { String::new() };
        let ring =
            format!("size = \"{}B\"\niterations = {iterations}\n{compute_key}", hosts * packets * 1000);
        let us = iterations * 2 * (hosts - 1) * (packets + 7) + (iterations - 1) * compute;
        let all_reduce = over(hosts, &format!("kind = \"ring-all-reduce\"\n{ring}"));
        assert_eq!(all_reduce, Some(Time::from_us(us)), "{hosts} hosts, {packets} packets");
        // Half as many steps.
        let us = iterations * (hosts - 1) * (packets + 7) + (iterations - 1) * compute;
        let all_gather = over(hosts, &format!("kind = \"ring-all-gather\"\n{ring}"));
        assert_eq!(all_gather, Some(Time::from_us(us)), "{hosts} hosts, {packets} packets");
    }
}

/// The same steps, of 4, 2 and 1 packets and then of 1, 2 and 4: 6 × 7 us and twice 7.
#[test]
fn halving_and_doubling_takes_few_steps_for_the_same_bytes() {
    let text = "kind = \"halving-doubling-all-reduce\"\nsize = \"8KB\"\niterations = 3\ncompute = \"11us\"";
    assert_eq!(over(8, text), Some(Time::from_us(3 * 2 * (3 * 7 + 7) + 2 * 11)));
}

/// Rings within groups carry a chunk, m packets for each of p packets per host, those across p: (g − 1) steps of m p +
/// 7 us before and after, 2(m − 1) of p + 7 us in between.
#[test]
fn hierarchical_all_reduce_takes_as_long_as_its_rings() {
    for (each, count, packets) in [(2u64, 2u64, 1u64), (3, 2, 2), (2, 4, 3)] {
        let hosts = each * count;
        let size = hosts * packets * 1000;
        let text = format!("kind = \"hierarchical-all-reduce\"\ngroup = {each}\nsize = \"{size}B\"");
        let us = 2 * (each - 1) * (count * packets + 7) + 2 * (count - 1) * (packets + 7);
        assert_eq!(over(hosts, &text), Some(Time::from_us(us)), "{count} groups of {each}");
    }
}

/// Pairwise no flow meets another: N − 1 steps. At once N − 1 flows of n packets share each link: no less than their
/// packets, and the last packet's way; and no more than if all of them had waited for each other once.
#[test]
fn an_all_to_all_is_as_long_in_steps_as_its_steps() {
    let text = "kind = \"all-to-all\"\nsize = \"3KB\"\niterations = 2\ncompute = \"11us\"";
    let pairwise = over(5, &format!("{text}\nexchange = \"pairwise\""));
    assert_eq!(pairwise, Some(Time::from_us(2 * 4 * (3 + 7) + 11)));
    let at_once = over(5, text).expect("an end");
    let (least, most) = (2 * (4 * 3 + 7) + 11, 2 * (2 * 4 * 3 + 7) + 11);
    assert!(Time::from_us(least) <= at_once && at_once <= Time::from_us(most), "{at_once:?}");
}
