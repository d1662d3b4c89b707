//! A recording has every packet: those that were dropped and those that were sent again, too.

use crate::common::*;
use std::path::Path;
use thalweg_lab::Run;
use thalweg_sim::Recorded;

const NONE: u64 = u64::MAX;

/// Five senders to one receiver, through a buffer that is too short, with what is set.
fn recorded(set: &[(&str, &str)]) -> (Run, Recorded) {
    let text = "seed = 5\n[topology]\nkind = \"star\"\nhosts = 6\n[switch]\nbuffer = \"30KB\"\n[[traffic]]\nkind = \"incast\"\n\
         fan_in = 5\nsize = \"200KB\"\n[measure]\npackets = { hops = true }\n[run]\nuntil = \"1s\"\n";
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let mut run = finish(&scenario(text, Path::new("."), &set));
    let rows = run.take_recorded(true);
    (run, rows)
}

#[test]
fn every_packet_has_a_row_and_drops_name_their_port() {
    let settings: [&[(&str, &str)]; 5] = [
        &[],
        &[("switch.scheduler", "drr")],
        &[("switch.scheduler", "fq-codel")],
        &[("switch.shared_buffer", "{total=\"40KB\"}"), ("switch.buffer", "unlimited")],
        &[("link", "[{which=\"all\",loss={independent=0.02}}]")],
    ];
    for set in settings {
        let (run, rows) = recorded(set);
        let lost: Vec<usize> = (0..rows.flow.len()).filter(|row| rows.losses.at[*row] != NONE).collect();
        assert!(lost.len() > 20, "{set:?}: {}", lost.len());
        // Data rows are what senders sent.
        let sent: i128 = column(&run, "flows", "packets").iter().sum();
        let forward = rows.forward.iter().filter(|f| **f == 1).count();
        assert_eq!(forward as i128, sent, "{set:?}");
        // Rows that were lost at a port are its drops, and what its link lost.
        let dropped = column(&run, "ports", "dropped");
        let on_links = column(&run, "ports", "lost");
        for (port, drops) in dropped.iter().enumerate() {
            let here = lost.iter().filter(|row| rows.losses.port[**row] as usize == port).count();
            assert_eq!(here as i128, drops + on_links[port], "{set:?}: port {port}");
        }
        // The last port that a packet came to is the one that it was lost at, unless that was its NIC.
        let hosts = column(&run, "ports", "from");
        let mut first = 0;
        for (row, hops) in rows.hops.iter().map(|h| usize::from(*h)).enumerate() {
            let ports = &rows.visits.ports[first..first + hops];
            if rows.losses.at[row] != NONE && hosts[rows.losses.port[row] as usize] >= 6 {
                assert_eq!(ports.last(), Some(&rows.losses.port[row]), "{set:?}");
            }
            assert_eq!(
                rows.exit[row] == NONE,
                rows.losses.at[row] != NONE,
                "{set:?}: nothing is left inside"
            );
            first += hops;
        }
    }
}

#[test]
fn marks_are_recorded() {
    let set = [
        ("transport.congestion", "dctcp"),
        ("switch.marking", "{kind=\"step\",threshold=\"10KB\"}"),
        ("switch.buffer", "1MB"),
    ];
    let (run, rows) = recorded(&set);
    let marked = rows.marked.iter().filter(|m| **m == 1).count() as i128;
    assert_eq!(rows.losses.at.iter().filter(|l| **l != NONE).count(), 0, "nothing is dropped");
    // What a NIC has marked the switch marks again, and both count it.
    assert_eq!(Some(&marked), column(&run, "ports", "marked").iter().max());
    assert!(marked > 50);
}

/// `measure.queues.flows`: at every kind of port, of how many flows data waits, which what is recorded of every packet
/// says, too.
#[test]
fn the_flows_that_wait_at_a_port_are_those_whose_packets_do() {
    for (marking, scheduler) in [("\"none\"", "fifo"), ("\"codel\"", "fifo"), ("\"none\"", "bfc")] {
        let (run, rows) = recorded(&[
            ("measure.queues", "{every=\"7us\",ports=[1],flows=true}"),
            ("switch.marking", marking),
            ("switch.scheduler", scheduler),
            ("traffic.0.receiver", "0"),
        ]);
        let [at, flows, occupied] = ["time_ps", "flows", "occupied"].map(|name| column(&run, "queues", name));
        let expected = |at: u64| {
            let mut flows: Vec<u32> = Vec::new();
            let mut visits = 0..0;
            for row in 0..rows.flow.len() {
                visits = visits.end..visits.end + rows.hops[row] as usize;
                let waits = |visit: usize| {
                    let (arrives, starts) = (rows.visits.arrivals[visit], rows.visits.starts[visit]);
                    rows.visits.ports[visit] == 1 && arrives <= at && starts > at
                };
                if rows.forward[row] == 1 && visits.clone().any(waits) {
                    flows.push(rows.flow[row]);
                }
            }
            flows.sort_unstable();
            flows.dedup();
            flows.len() as i128
        };
        let right = |(at, flows): (&i128, &i128)| expected(*at as u64) == *flows;
        assert!(at.iter().zip(&flows).all(right), "{marking} {scheduler}");
        assert!(flows.iter().zip(&occupied).all(|(flows, queues)| (*flows > 0) <= (*queues > 0)));
        assert!(*flows.iter().max().expect("samples") >= 4, "{marking} {scheduler}");
    }
}
