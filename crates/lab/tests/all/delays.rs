//! What data packets wait on their way, over packets: worked examples.

use crate::common::*;
use serde_json::Value as Json;

const MEASURED: &str = "measure = { delays = true }\n";

/// `n` hosts send a packet of 1500 B to another one at the same instant, over 10 Gb/s: one takes 1.2 us on a link.
fn meet(n: u32, more: &str) -> Json {
    let text = format!(
        "topology = {{ kind = \"star\", hosts = {}, rate = \"10Gbps\", delay = \"1us\" }}\n\
         traffic = [{{ kind = \"incast\", fan_in = {n}, size = \"1460B\", receiver = 0 }}]\n\
         run = {{ until = \"1ms\" }}\n{more}",
        n + 1
    );
    run(&text).summary()["packet_queueing_us"].clone()
}

fn us(waits: &Json, key: &str) -> f64 {
    waits[key].as_f64().unwrap_or_else(|| panic!("{key}: {waits}"))
}

#[test]
fn of_packets_that_meet_each_waits_for_those_before_it() {
    let waits = meet(5, MEASURED);
    assert_eq!((waits["count"].as_u64(), us(&waits, "max")), (Some(5), 4.8));
    assert!((us(&waits, "mean") - 2.4).abs() < 1e-9, "{waits}");
    // Nearest rank: the third of 0, 1.2, 2.4, 3.6, 4.8.
    assert!((us(&waits, "p50") / 2.4 - 1.0).abs() < 0.004, "{waits}");
}

#[test]
fn what_is_cut_through_waits_no_less() {
    let waits = meet(3, &format!("{MEASURED}switch = {{ cut_through = \"64B\" }}"));
    assert_eq!(us(&waits, "max"), 2.4);
    assert!(
        (us(&waits, "mean") - 1.2).abs() < 1e-9 && (us(&waits, "p50") / 1.2 - 1.0).abs() < 0.004,
        "{waits}"
    );
}

#[test]
fn a_packet_alone_waits_nowhere_whatever_its_size_and_its_links() {
    for size in ["1B", "700B", "1460B"] {
        for more in [
            "",
            "switch = { cut_through = \"64B\" }",
            "nic = { scheduler = \"fq\" }\nswitch = { scheduler = \"fq\" }",
        ] {
            let text = format!(
                "topology = {{ kind = \"dumbbell\", pairs = 1, host_rate = \"10Gbps\", bottleneck_rate = \"3Gbps\" }}\n\
                 traffic = [{{ kind = \"flow\", src = 0, dst = 1, size = \"{size}\" }}]\nrun = {{ until = \"1s\" }}\n{MEASURED}{more}"
            );
            let waits = run(&text).summary()["packet_queueing_us"].clone();
            assert_eq!((waits["count"].as_u64(), us(&waits, "max")), (Some(1), 0.0), "{size} {more}");
        }
    }
}

#[test]
fn percentiles_are_over_packets_and_not_over_flows() {
    // 99 packets of one flow find the port idle; the single packets of three others meet.
    let text = "topology = { kind = \"star\", hosts = 5, rate = \"10Gbps\", delay = \"1us\" }\n\
                transport = { congestion = { kind = \"fixed\" }, initial_window = \"1pkts\" }\n\
                run = { until = \"50ms\" }\nmeasure = { delays = true }\n\
                [[traffic]]\nkind = \"flow\"\nsrc = 4\ndst = 3\nsize = \"144540B\"\n\
                [[traffic]]\nkind = \"incast\"\nfan_in = 2\nsize = \"1460B\"\nreceiver = 0\n";
    let summary = run(text).summary();
    let (all, parts) = (&summary["packet_queueing_us"], &summary["groups"]);
    assert_eq!(all["count"].as_u64(), Some(101));
    assert_eq!((us(all, "p50"), us(all, "p95"), us(all, "max")), (0.0, 0.0, 1.2));
    assert_eq!(us(&parts[0]["packet_queueing_us"], "max"), 0.0);
    assert_eq!(us(&parts[1]["packet_queueing_us"], "max"), 1.2);
}

#[test]
fn flows_with_an_end_are_not_measured_unless_that_is_set() {
    assert_eq!(meet(2, ""), Json::Null);
    let text = "topology = { kind = \"star\", hosts = 2 }\nrun = { until = \"1ms\" }\n\
                traffic = [{ kind = \"backlogged\", src = 0, dst = 1 }]\n";
    assert!(run(text).summary()["packet_queueing_us"]["count"].as_u64() > Some(0));
    assert_eq!(
        run(&format!("{text}measure = {{ delays = false }}")).summary()["packet_queueing_us"],
        Json::Null
    );
}

#[test]
fn a_run_that_was_cut_counts_the_same_delays() {
    let text = "topology = { kind = \"star\", hosts = 6 }\n\
                traffic = [{ kind = \"poisson\", sizes = \"web-search\", load = 0.6, until = \"2ms\" }]\nrun = { until = \"4ms\" }\nmeasure = { delays = true }";
    let straight = run(text).summary();
    let mut cut = thalweg_lab::Run::new(&scenario(text, std::path::Path::new("."), &[])).expect("a run");
    cut.step(20_000);
    let mut resumed = thalweg_lab::Run::load(&cut.save()).expect("saved");
    while resumed.step(1 << 20) {}
    assert_eq!(resumed.summary()["packet_queueing_us"], straight["packet_queueing_us"]);
}

/// A way around a failed link is longer, and no queue: nothing waits at 1 Gb/s over links of 2 Gb/s and more.
#[test]
fn a_way_around_a_failure_is_no_queueing() {
    let graph = "hosts = 2\nswitches = 3\n".to_owned()
        + &[(0, 2, "10", "1"), (1, 3, "10", "1"), (2, 3, "10", "1"), (2, 4, "2", "5"), (4, 3, "2", "5")]
            .map(|(a, b, rate, us)| {
                format!("[[links]]\na = {a}\nb = {b}\nrate = \"{rate}Gbps\"\ndelay = \"{us}us\"\n")
            })
            .concat();
    let folder = Folder::new("around", &[("triangle.toml", &graph)]);
    let text = "[topology]\nkind = \"file\"\nfile = \"triangle.toml\"\nformat = \"thalweg-toml\"\n[routing]\nkind = \"ecmp\"\n\
         convergence = \"100us\"\n[[incident]]\nkind = \"link-failure\"\nlink = [\"switch0\", \"switch1\"]\nat = \"1ms\"\n\
         [[traffic]]\nkind = \"udp\"\nsrc = 0\ndst = 1\nrate = \"1Gbps\"\npayload = \"1000B\"\n\
         [measure]\ndelays = true\n[run]\nuntil = \"3ms\"\n";
    let waits = finish(&scenario(text, &folder.0, &[])).summary()["packet_queueing_us"].clone();
    assert!(waits["count"].as_u64() > Some(300) && us(&waits, "max") == 0.0, "{waits}");
}
