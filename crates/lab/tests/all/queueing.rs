//! Waiting times against queueing theory. Each estimate comes with its standard error, from independent
//! replications, and must be both near and sharp.
use crate::common::*;

/// Mean and standard error of the mean.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Poisson datagrams of one size straight into the two queues of a link, each direction a replication.
fn m_d_1(load: f64, packets: f64, seeds: u64) {
    // 1000 B at 8 Gb/s: a service time of 1 us.
    let until = (packets / load).round();
    let rate = 8e9 * load;
    let mut waits = Vec::new();
    for seed in 0..seeds {
        let run = run(&format!(
            "seed = {seed}\n[topology]\nkind = \"pair\"\nrate = \"8Gbps\"\n[switch]\nbuffer = \"unlimited\"\n\
             [[traffic]]\nkind = \"udp\"\nsrc = 0\ndst = 1\nrate = \"{rate}bps\"\nspacing = \"poisson\"\npayload = \"1000B\"\nheader = \"0B\"\n\
             [[traffic]]\nkind = \"udp\"\nsrc = 1\ndst = 0\nrate = \"{rate}bps\"\nspacing = \"poisson\"\npayload = \"1000B\"\nheader = \"0B\"\n\
             [run]\nuntil = \"{until}us\"\n"
        ));
        let (waited, carried) = (column(&run, "ports", "waited_ps"), column(&run, "ports", "packets"));
        waits.extend(waited.iter().zip(&carried).map(|(w, n)| *w as f64 / *n as f64 * 1e-6));
    }
    // Pollaczek–Khinchine with constant service: W = ρ S / (2 (1 − ρ)).
    let expected = load / (2.0 * (1.0 - load));
    let (mean, error) = mean(&waits);
    println!(
        "M/D/1 at {load}: {mean:.4} us, theory {expected:.4}, {:.2} %, standard error {:.2} %",
        (mean / expected - 1.0) * 100.0,
        error / expected * 100.0
    );
    assert!((mean / expected - 1.0).abs() < 0.01, "at {load}: {mean} instead of {expected}");
    assert!(error / expected < 0.006, "at {load}: a standard error of {error}");
}

#[test]
fn m_d_1_at_50_per_cent() {
    m_d_1(0.5, 250_000.0, 8);
}
#[test]
fn m_d_1_at_80_per_cent() {
    m_d_1(0.8, 500_000.0, 8);
}
#[test]
fn m_d_1_at_95_per_cent() {
    m_d_1(0.95, 2_000_000.0, 10);
}

/// The heavy-tailed sizes as bursts: the wait of a burst's first bit is that of M/G/1, ρ E[S²] / (2 E[S] (1 − ρ)).
#[test]
fn bursts_of_heavy_tailed_sizes_wait_by_pollaczek_and_khinchine() {
    // Benson et al. as published: packets of 1460 B and their cumulative probabilities.
    let published = [
        (1.0, 0.5),
        (2.0, 0.6),
        (3.0, 0.7),
        (5.0, 0.75),
        (7.0, 0.8),
        (40.0, 0.8125),
        (72.0, 0.825),
        (137.0, 0.85),
        (267.0, 0.9),
        (1187.0, 0.95),
        (2107.0, 1.0),
    ];
    let load = 0.5;
    let service = |packets: f64| packets * 1460.0 * 8.0 / 100e9 * 1e6; // us at 100 Gb/s
    let (mut first, mut second, mut before) = (0.0, 0.0, 0.0);
    for (packets, cumulative) in published {
        let p = cumulative - before;
        before = cumulative;
        first += p * service(packets);
        second += p * service(packets) * service(packets);
    }
    let expected = load * second / (2.0 * first * (1.0 - load));
    let (mut waits, mut weights) = (Vec::new(), 0);
    for seed in 0..20 {
        // 100 packets per datagram: what a burst waits does not depend on how it is cut.
        let run = run(&format!(
            "seed = {seed}\n[topology]\nkind = \"pair\"\nrate = \"100Gbps\"\ndelay = \"1us\"\n[switch]\nbuffer = \"unlimited\"\n\
             [transport]\nkind = \"udp\"\npayload = \"146KB\"\nheader = \"0B\"\npace = \"burst\"\n\
             [[traffic]]\nkind = \"poisson\"\nsizes = \"heavy-tailed\"\nload = {load}\npacket_header = \"0B\"\nuntil = \"1500ms\"\n\
             [run]\nuntil = \"2s\"\n"
        ));
        let (size, src) = (column(&run, "flows", "size"), column(&run, "flows", "src"));
        let fct = column(&run, "flows", "fct_ps");
        weights += fct.len();
        for host in 0..2 {
            let mine = (0..fct.len()).filter(|i| src[*i] == host);
            let own = |i: usize| fct[i] as f64 * 1e-6 - size[i] as f64 * 8.0 / 100e9 * 1e6 - 1.0;
            let all: Vec<f64> = mine.map(own).collect();
            waits.push(mean(&all).0);
        }
    }
    let (mean, error) = mean(&waits);
    println!(
        "M/G/1 at {load}: {mean:.3} us, theory {expected:.3}, {:.2} %, standard error {:.2} %, {weights} bursts",
        (mean / expected - 1.0) * 100.0,
        error / expected * 100.0
    );
    assert!((mean / expected - 1.0).abs() < 0.01, "{mean} instead of {expected}");
    assert!(error / expected < 0.008, "a standard error of {error}");
}

/// The engine's waits at a switch port are exactly Lindley's: W' = max(0, W + S − gap), arrival by arrival.
#[test]
fn single_packets_into_a_switch_port_wait_by_lindleys_recursion() {
    let mut draw = thalweg_units::Stream::new(7, "lindley", 0);
    let mut list = String::from("id,src,dst,size_bytes,start_ns\n");
    let (mut at, mut arrivals) = (0u64, Vec::new());
    for i in 0..5_000u64 {
        at += 1 + (draw.exponential(900.0) as u64);
        let src = 1 + i % 20;
        let size = 100 + draw.below(1361);
        list.push_str(&format!("{i},{src},0,{size},{at}\n"));
        // Hosts are fast: 100 Gb/s; each sends at most every 20th packet.
        arrivals.push((
            at * 1000 + ((size + 40) * 8 * 1_000_000_000_000).div_ceil(100_000_000_000) + 1_000_000,
            size + 40,
        ));
    }
    arrivals.sort_unstable();
    let (mut free, mut waited) = (0, 0);
    for (arrival, size) in &arrivals {
        let begins = free.max(*arrival);
        waited += begins - arrival;
        free = begins + size * 8 * 1_000_000_000_000 / 8_000_000_000;
    }
    let dir = Folder::new("lindley", &[("flows.csv", &list)]);
    for scheduler in ["fifo", "fq"] {
        // One packet per flow: fair queueing by finish numbers may reorder, work conservation keeps the busy periods.
        let text = format!(
            "[topology]\nkind = \"star\"\nhosts = 21\nrate = \"100Gbps\"\nsink_rate = \"8Gbps\"\ndelay = \"1us\"\n\
             [switch]\nbuffer = \"unlimited\"\nscheduler = \"{scheduler}\"\n[transport]\nkind = \"udp\"\n\
             [[traffic]]\nkind = \"list\"\nfile = \"flows.csv\"\n"
        );
        let run = finish(&scenario(&text, &dir.0, &[]));
        let last = column(&run, "flows", "received_ps").into_iter().max();
        assert_eq!(last, Some(i128::from(free + 1_000_000)), "{scheduler}: the last packet");
        if scheduler == "fifo" {
            // Port 1: from the switch to host 0.
            assert_eq!(column(&run, "ports", "waited_ps")[1], i128::from(waited));
        }
    }
}

/// A window of one packet at a time never waits, and 30 wait as long as their packets do. 40 Gb/s, then 10 Gb/s.
#[test]
fn what_rdma_waits_is_what_its_packets_wait_whatever_its_controller_is_given() {
    let go = |rest: &str| {
        let run = run(&format!(
            "[topology]\nkind = \"dumbbell\"\npairs = 1\nhost_rate = \"40Gbps\"\nbottleneck_rate = \"10Gbps\"\ndelay = \"1us\"\n\
             [switch]\nbuffer = \"unlimited\"\n[nic]\nbuffer = \"unlimited\"\n[transport]\nkind = \"rdma\"\n{rest}\
             [[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 1\n[measure]\nfrom = \"1ms\"\n\
             [run]\nuntil = \"2ms\"\nstop_when_done = false\n"
        ));
        let summary = run.summary();
        let us = |of: &serde_json::Value| of["mean"].as_f64().expect("a number");
        let rtt = column(&run, "flows", "rtt_ps")[0];
        (us(&summary["endless"]["queueing_us"]), us(&summary["packet_queueing_us"]), rtt)
    };
    // 1090 B at 40 Gb/s are 0.218 us, at 10 Gb/s 0.872 us: 1.308 us there; an ACK of 70 B 0.084 us back; 6 us.
    let (waited, packets, rtt) = go("cap = 1\n");
    assert!(waited.abs() < 0.001 && packets.abs() < 0.001, "{waited}, {packets}");
    assert_eq!(rtt, 7_392_000, "the whole of it");
    let (waited, packets, _) = go("cap = 30\n");
    assert!((waited - packets).abs() < 0.01, "{waited}, {packets}");
}
