//! Transports of kinds `homa` and `expresspass`: schedules worked out by hand, what is never lost, what is refused.

use crate::common::*;
use std::path::Path;
use thalweg_lab::Run;
use thalweg_scenario::load;

/// 10 Gb/s, 1 us a link: a packet of 1500 B takes 1.2 us.
const HOMA: &str = r#"
topology = { kind = "star", hosts = 10, rate = "10Gbps", delay = "1us" }
run = { until = "100ms" }
[switch]
scheduler = { kind = "priority", classes = 8 }
buffer = "unlimited"
[nic]
order = "round-robin"
[transport]
kind = "homa"
[measure]
fct = "receiver"
"#;

/// The same hosts; credits of 84 B, a packet of 1538 B each.
const EXPRESSPASS: &str = r#"
topology = { kind = "star", hosts = 10, rate = "10Gbps", delay = "1us" }
run = { until = "100ms" }
[switch]
scheduler = "expresspass"
buffer = "unlimited"
[transport]
kind = "expresspass"
[measure]
fct = "receiver"
"#;

/// Eight hosts in two racks, half the hosts' rate between them.
const FABRIC: &str = r#"
topology = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 4, spine_rate = "10Gbps" }
run = { until = "100ms" }
SETTINGS
[[traffic]]
kind = "poisson"
sizes = { uniform = { min = "1KB", max = "300KB", steps = 10 } }
load = 0.4
until = "3ms"
"#;

/// With flows (source, destination, packets, start in us), and settings.
fn of(text: &str, flows: &[(u32, u32, u64, f64)], pairs: &[(&str, &str)]) -> Run {
    let flows: String = flows
        .iter()
        .map(|(src, dst, packets, at)| {
            let size = packets * 1460;
            format!("[[traffic]]\nkind = \"flow\"\nsrc = {src}\ndst = {dst}\nsize = \"{size}B\"\nstart = \"{at}us\"\n")
        })
        .collect();
    finish(&scenario(&format!("{text}{flows}"), Path::new("."), &set(pairs)))
}
/// Completion times beyond those alone on the path, ps.
fn late(run: &Run) -> Vec<i128> {
    let (fct, ideal) = (column(run, "flows", "fct_ps"), column(run, "flows", "ideal_ps"));
    fct.iter().zip(ideal).map(|(fct, ideal)| fct - ideal).collect()
}

#[test]
fn a_message_of_homa_alone_takes_its_ideal_time_to_the_picosecond() {
    for packets in [1, 2, 9, 10, 11, 1000] {
        assert_eq!(late(&of(HOMA, &[(0, 1, packets, 0.0)], &[])), [0], "{packets} packets");
    }
    // With RTTbytes of five packets, which take 6 us, the sixth waits for the grant that the first one
    // brings, after 6.464 us: 2.4 us and 64 ns on the wire, 4 us of propagation.
    let slow = of(HOMA, &[(0, 1, 1000, 0.0)], &[("transport.rtt_bytes", "7300B")]);
    assert_eq!(late(&slow), [199 * 464_000]);
}

#[test]
fn of_two_messages_at_a_source_the_shorter_goes_first_and_waits_for_the_packet_in_transmission() {
    let run = of(HOMA, &[(0, 1, 100, 0.0), (0, 2, 5, 1.0)], &[]);
    // The packet in transmission ends at 1.2 us; the long message waits for five packets.
    assert_eq!(late(&run), [6_000_000, 200_000]);
}

#[test]
fn at_a_destination_the_shorter_message_takes_the_link_from_the_longer_one() {
    // Twenty packets of the short one arrive while the long one's are at a lower level: it waits at most for
    // a packet in transmission at the switch, and for that packet's beginning.
    let run = of(HOMA, &[(1, 0, 500, 0.0), (2, 0, 20, 100.0)], &[]);
    let late = late(&run);
    assert!(late[1] <= 2 * 1_200_000, "{late:?}");
    assert!(late[0] >= 20 * 1_200_000 && late[0] <= 24 * 1_200_000, "{late:?}");
}

#[test]
fn more_overcommitment_more_queue_and_the_link_is_never_idle() {
    let flows: Vec<(u32, u32, u64, f64)> = (1..9).map(|n| (n, 0, 200, 0.0)).collect();
    let peak = |k: &str| {
        let run = of(HOMA, &flows, &[("transport.overcommitment", k), ("transport.rtt_bytes", "14600B")]);
        let last = column(&run, "flows", "fct_ps").into_iter().max().expect("flows");
        let busy = 1600 * 1_200_000;
        assert!(last > busy && last < busy + 12_000_000, "{last} ps, and the link needs {busy} ps");
        column(&run, "ports", "max_queue").into_iter().max().expect("ports")
    };
    let (one, four) = (peak("1"), peak("4"));
    // RTTbytes of each unscheduled, and ten packets more of each that is granted to.
    assert!(one <= 90 * 1500 && four > one && four <= 120 * 1500, "{one}, {four}");
}

#[test]
fn what_homa_loses_is_sent_again_and_every_byte_is_delivered_once() {
    let flows: Vec<(u32, u32, u64, f64)> = (1..10).map(|n| (n, 0, 100, 0.0)).collect();
    let run = of(HOMA, &flows, &[("switch.buffer", "30KB"), ("transport.resend", "100us")]);
    assert!(column(&run, "flows", "data_drops").iter().sum::<i128>() > 0, "nothing was lost");
    assert!(column(&run, "flows", "delivered").iter().all(|d| *d == 146_000));
}

#[test]
fn levels_are_cut_by_the_sizes_of_the_traffic() {
    let settings = "nic = { order = \"round-robin\" }\ntransport = { kind = \"homa\" }\n\
                    switch = { scheduler = { kind = \"priority\", classes = 8 } }";
    let text = FABRIC.replace("SETTINGS", settings);
    let resolved = scenario(&text, Path::new("."), &[]).to_toml();
    // 50 KB leave unscheduled of messages of 66 KB on average: 5 of 8 levels.
    assert!(resolved.contains("levels = 8") && resolved.contains("cutoffs = ["), "{resolved}");
}

#[test]
fn a_flow_of_expresspass_alone_has_a_packet_whenever_a_credit_and_a_packet_have_had_the_link() {
    let exact = [
        ("transport.alpha", "1.0"),
        ("transport.jitter", "0.0"),
        ("transport.credit_min", "84B"),
        ("transport.credit_max", "84B"),
    ];
    let took = |packets| column(&of(EXPRESSPASS, &[(0, 1, packets, 0.0)], &exact), "flows", "fct_ps")[0];
    // 1622 B at 10 Gb/s are 1297.6 ns.
    let per_packet = (took(2000) - took(1000)) as f64 / 1000.0;
    assert!((per_packet - 1_297_600.0).abs() < 10.0, "{per_packet} ps");
    let one = took(1);
    // Request, credit and packet over two links each.
    assert_eq!(one, 6 * 1_000_000 + 2 * (67_200 + 67_200 + 1_230_400));
}

#[test]
fn two_flows_of_expresspass_to_one_host_converge_to_half_each() {
    let run = of(EXPRESSPASS, &[(1, 0, 100_000, 0.0), (2, 0, 100_000, 500.0)], &[("run.until", "20ms")]);
    let delivered = column(&run, "flows", "delivered");
    let all = delivered.iter().sum::<i128>() as f64 * 8.0 / 0.02;
    // Of 10 Gb/s 1460 B of 1622 at most.
    assert!(all > 0.9 * 9.0e9 && all <= 9.01e9, "{all}");
    let ratio = delivered[0] as f64 / delivered[1] as f64;
    assert!((0.9..1.15).contains(&ratio), "{delivered:?}");
}

#[test]
fn where_credits_are_metered_no_data_are_lost_and_those_that_come_too_late_are_wasted() {
    let settings = "switch = { scheduler = { kind = \"expresspass\", credits = 16 }, buffer = \"200KB\" }\n\
                    transport = { kind = \"expresspass\" }\nrouting = \"ecmp-symmetric\"";
    let text = FABRIC.replace("SETTINGS", settings);
    for seed in ["1", "2", "3"] {
        let run = finish(&scenario(&text, Path::new("."), &set(&[("seed", seed)])));
        let sum = |name| column(&run, "flows", name).iter().sum::<i128>();
        assert_eq!((sum("data_drops"), sum("retransmissions")), (0, 0));
        assert!(sum("wasted_credits") > 0 && sum("drops") > 0, "credits are wasted, and dropped");
        assert_eq!(run.summary()["flows"]["censored"], 0);
    }
}

#[test]
fn runs_of_both_that_are_cut_saved_and_resumed_have_the_digest_of_the_straight_one() {
    let flows: String = (1..6)
        .map(|n| format!("[[traffic]]\nkind = \"flow\"\nsrc = {n}\ndst = 0\nsize = \"90KB\"\n"))
        .collect();
    for text in [HOMA, EXPRESSPASS] {
        let s = scenario(&format!("{text}{flows}"), Path::new("."), &[]);
        let straight = finish(&s).digest();
        let mut run = Run::new(&s).expect("a network");
        while run.step(301) {
            run = Run::load(&run.save()).expect("a snapshot");
        }
        assert_eq!(run.digest(), straight);
    }
}

#[track_caller]
fn wrong(text: &str, pairs: &[(&str, &str)], expected: &str) {
    let text = format!("{text}[[traffic]]\nkind = \"incast\"\nfan_in = 5\nsize = \"20KB\"\n");
    let errors = load(&text, "s.toml", Path::new("."), &set(pairs)).expect_err("refused");
    let text: Vec<String> = errors
        .iter()
        .map(|e| e.to_string().split_once(": `").map_or(e.to_string(), |(_, rest)| format!("`{rest}")))
        .collect();
    assert_eq!(text, [expected]);
}

#[test]
fn what_cannot_work_is_refused_with_the_way_out() {
    wrong(
        HOMA,
        &[("nic.order", "queue")],
        "`transport.kind`: homa sends the message with the least left next, so packets must not wait in a queue of the NIC; write `nic.order = \"round-robin\"`",
    );
    wrong(
        HOMA,
        &[("transport.levels", "9")],
        "`transport.levels`: the scheduler of the switches has 8 classes; write fewer, or use the scheduler priority with as many `classes`",
    );
    wrong(
        HOMA,
        &[("transport.cutoffs", "[\"2KB\",\"1KB\"]")],
        "`transport.cutoffs`: the cutoffs are not in ascending order; sort them, each once",
    );
    wrong(
        HOMA,
        &[("transport.cutoffs", "[\"1KB\",\"2KB\"]"), ("transport.levels", "2")],
        "`transport.cutoffs`: 2 cutoffs separate 3 levels, and there are 2; write fewer, or raise `levels`",
    );
    wrong(
        HOMA,
        &[("traffic.0", "{kind=\"backlogged\",src=0,dst=1}")],
        "`traffic.0.transport`: packets carry the size of their message, and a flow without end has none; use traffic whose flows end",
    );
    wrong(
        EXPRESSPASS,
        &[("switch.scheduler", "fifo"), ("nic.scheduler", "expresspass")],
        "`switch.scheduler`: every port must limit the rate of credits, and this scheduler does not; write \"expresspass\"",
    );
    wrong(
        EXPRESSPASS,
        &[("transport.credit_max", "70B")],
        "`transport.credit_max`: the largest credit, 70B, is smaller than the smallest, 76B; swap them",
    );
    wrong(
        EXPRESSPASS,
        &[("topology", "{kind=\"leaf-spine\",leaves=2,spines=2,hosts_per_leaf=4}")],
        "`routing.kind`: data must take the path of its credits in reverse, and this rule does not ensure it; write \"ecmp-symmetric\"",
    );
    wrong(
        EXPRESSPASS,
        &[("traffic.0.class", "1")],
        "`traffic.0.class`: it has no effect: no scheduler serves by class; use the scheduler priority, or remove the key",
    );
}
