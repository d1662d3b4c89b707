//! NSCC as it ran in the consortium's simulator, row by row: shortest round trip, average delay, sum of increases,
//! largest window and window after every ACK, NACK and timeout. None of these runs makes the sum wrap at 32 bits.

use super::*;
use crate::transport::traces::Trace;
use std::collections::BTreeMap;

/// A file of a network with this round trip and rate, of switches that trim or not.
fn replays(name: &'static str, rtt_ps: u64, gbps: u64, trims: bool) {
    let Some(trace) = Trace::read(name) else { return };
    let (base_rtt, line_rate) = (Span::from_ps(rtt_ps), Rate::from_gbps(gbps));
    let spec = WindowSpec::Nscc(NsccSpec::of(base_rtt, line_rate, trims));
    let common = Common { mtu: 4150, payload: 4086, line_rate, base_rtt };
    let mut flows: BTreeMap<u64, Window> = BTreeMap::new();
    trace.replay(|row| {
        let window = flows.entry(row.number("flow")).or_insert_with(|| spec.make(&common));
        let (now, bytes) = (Time::from_ps(row.number("time_ps")), row.number("bytes"));
        let rtt = Span::from_ps(row.number("rtt_ps"));
        // After RTS, which the peer does not count when it sends them, a few are below zero.
        let in_flight = row.word("in_flight").parse::<i64>().unwrap().max(0) as u64;
        let before = window.size();
        match row.word("kind") {
            "A" => {
                let rtt = (!rtt.is_zero()).then_some(Sample { rtt, lowers_base: !row.flag("is_rts") });
                window.on_ack(&spec, &Acked { now, new: bytes, rtt, marked: row.flag("ecn"), in_flight });
            }
            "N" => {
                let nack = Nacked { now, bytes: bytes as u32, rtt: Some(rtt), spares: false, in_flight };
                window.on_nack(&spec, &nack);
            }
            "T" => window.on_timeout(&spec, bytes as u32),
            other => panic!("{other}"),
        }
        let Window::Nscc(nscc) = window else { panic!("another window") };
        let columns = ["base_rtt_ps", "avg_delay_ps", "inc_bytes", "maxwnd", "cwnd_before", "cwnd_after"];
        let ours = nscc.row(before);
        let theirs = columns.map(|column| row.number(column));
        (ours != theirs).then(|| format!("{columns:?}: {ours:?}"))
    });
}

#[test]
fn a_permutation_with_an_ack_per_packet() {
    replays("uet/cc_perm32_nscc_reps1.csv.gz", 9_348_480, 100, true);
}
#[test]
fn eight_to_one() {
    replays("uet/cc_incast8_nscc_obl.csv.gz", 4_337_120, 400, true);
}
#[test]
fn thirty_two_to_one() {
    replays("uet/cc_incast32_nscc_obl.csv", 7_011_360, 200, true);
}
#[test]
fn slow_links() {
    replays("uet/cc_slow32_nscc_obl.csv.gz", 9_348_480, 100, true);
}
#[test]
fn slow_links_of_switches_that_do_not_trim() {
    replays("uet/cc_slow32_nscc_notrim.csv.gz", 9_348_480, 100, false);
}
#[test]
fn a_dead_link_and_timeouts() {
    replays("uet/cc_dead32_nscc_obl.csv.gz", 9_348_480, 100, true);
}
