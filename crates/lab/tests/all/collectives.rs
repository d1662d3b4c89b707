//! How long collective operations take, as closed forms.

use crate::common::*;
use std::path::Path;
use thalweg_lab::Run;
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

/// Pairwise no flow meets another: N − 1 steps. At once none does, either, where each host hands over its flows in an
/// order of its own: the N − 1 flows of n packets on each link, and the last packet's way.
#[test]
fn an_all_to_all_takes_as_long_as_its_closed_form_to_the_picosecond() {
    let text = "kind = \"all-to-all\"\nsize = \"3KB\"\niterations = 2\ncompute = \"11us\"";
    let pairwise = over(5, &format!("{text}\nexchange = \"pairwise\""));
    assert_eq!(pairwise, Some(Time::from_us(2 * 4 * (3 + 7) + 11)));
    assert_eq!(over(5, text), Some(Time::from_us(2 * (4 * 3 + 7) + 11)));
    let text = "kind = \"all-to-all\"\nsize = \"20KB\"";
    assert_eq!(over(16, text), Some(Time::from_us(15 * 20 + 7)));
}

/// The star of [`over`] with a matrix, in a folder of its own.
fn exchange(name: &str, rows: &str, more: &str) -> Run {
    let folder = std::env::temp_dir().join(format!("thalweg-exchange-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("m.csv"), rows).expect("written");
    let text = format!(
        "[[traffic]]\nkind = \"all-to-all\"\nmatrix = \"m.csv\"\n{more}\n\
         [topology]\nkind = \"star\"\nhosts = 4\nrate = \"8Gbps\"\ndelay = \"3us\"\n\
         [transport]\nkind = \"udp\"\npayload = \"1000B\"\nheader = \"0B\""
    );
    let run = finish(&scenario(&text, &folder, &[]));
    std::fs::remove_dir_all(&folder).expect("removed");
    run
}

fn started(run: &Run) -> Vec<i128> {
    column(run, "flows", "start_ps").into_iter().map(|ps| ps / 1_000_000).collect()
}

/// Host 2 sends in the first step, to host 3, host 0 in the second, to host 2, and host 1 in the third, to host 0: 1, 3
/// and 2 packets, which are there after 8, 10 and 9 us. Host 2 waits for its own and host 0's, host 0 for its own and
/// host 1's, host 1 for its own; then each computes.
#[test]
fn pairwise_every_host_computes_before_it_begins_again_whichever_step_that_is() {
    let more = "exchange = \"pairwise\"\niterations = 2\ncompute = \"11us\"";
    let run = exchange("steps", "0,0,3000,0\n2000,0,0,0\n0,0,0,1000\n0,0,0,0\n", more);
    assert_eq!(started(&run), [0, 0, 0, 21, 21, 20]);
    // Host 3 sends a packet to host 0 in the first step, and host 0 30 packets in the second, which take 37 us. Host 3
    // computes meanwhile, and its next packet is there before host 0 has computed.
    let more = more.replace("= 2", "= 3");
    let run = exchange("both", "0,0,30000,0\n0,0,0,0\n0,0,0,0\n1000,0,0,0\n", &more);
    assert_eq!(started(&run), [0, 8, 8 + 11, 8 + 37 + 11, 27 + 11, 56 + 37 + 11]);
    let job = run.summary()["groups"][0]["job"].clone();
    assert_eq!((job["completion_us"].as_f64(), job["compute_us"].as_f64()), (Some(141.0), Some(22.0)));
    assert_eq!(job["computations"], 0, "the pause is none");
}

/// Two exchanges at once, each among the hosts of a switch of its own.
#[test]
fn exchanges_are_the_same_on_several_threads_and_in_pieces() {
    let text = |threads: u32| {
        let section =
            "[[traffic]]\nkind = \"all-to-all\"\nsize = \"30KB\"\niterations = 3\ncompute = \"7us\"";
        format!(
            "run.threads = {threads}\nrun.until = \"10ms\"\n\
             {section}\nhosts = [0, 2, 1, 3]\n{section}\nhosts = [4, 5, 6, 7]\nstart = \"7us\"\n\
             [[traffic]]\nkind = \"permutation\"\nsize = \"100KB\"\n\
             [topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 1\nhosts_per_leaf = 4\n"
        )
    };
    let of = |threads: u32| scenario(&text(threads), Path::new("."), &[]);
    let whole = finish(&of(1));
    let job = whole.summary()["groups"][0]["job"].clone();
    assert_eq!((job["compute_us"].as_f64(), &job["computations"]), (Some(14.0), &0.into()));
    let parted = finish(&of(2));
    assert_eq!((parted.digest(), bytes(&parted)), (whole.digest(), bytes(&whole)));
    for threads in [1, 2] {
        let mut cut = Run::new(&of(threads)).expect("a network");
        while cut.step(97) {
            cut = Run::load(&cut.save()).expect("a saved run");
        }
        assert_eq!((cut.digest(), bytes(&cut)), (whole.digest(), bytes(&whole)), "{threads} threads");
    }
}

/// Two hosts pass 3 packets twice: 20 us.
#[test]
fn a_job_that_is_not_over_has_no_times() {
    let job = |until: &str| {
        let text = format!(
            "[[traffic]]\nkind = \"ring-all-reduce\"\nsize = \"6KB\"\n\
             [topology]\nkind = \"star\"\nhosts = 2\nrate = \"8Gbps\"\ndelay = \"3us\"\n\
             [transport]\nkind = \"udp\"\npayload = \"1000B\"\nheader = \"0B\"\n[run]\nuntil = \"{until}\""
        );
        finish(&scenario(&text, Path::new("."), &[])).summary()["groups"][0]["job"].clone()
    };
    let over = job("21us");
    assert_eq!((over["completion_us"].as_f64(), over["hosts_us"]["max"].as_f64()), (Some(20.0), Some(20.0)));
    let cut = job("19us");
    for key in ["completion_us", "compute_us", "exposed_us", "hosts_us", "spread_us"] {
        assert!(cut[key].is_null(), "{key}: {cut}");
    }
}
