//! One port of a scenario on a trace: by hand, and what is refused.

#[path = "../../examples/port_on_a_trace.rs"]
mod example;

use crate::common::scenario;
use example::{Arrival, Fate, generated, play, read, report};
use std::path::Path;
use thalweg_scenario::Scenario;
use thalweg_units::{PortId, Time};

/// 8 Gb/s: a packet of 1000 B takes 1 us, and 1 us more to the far end.
const STAR: &str = "topology = { kind = \"star\", hosts = 4, rate = \"8Gbps\", delay = \"1us\" }\n\
    transport = { kind = \"tcp\", congestion = \"dctcp\" }\n\
    switch = { buffer = \"2pkts\", marking = { kind = \"step\", threshold = \"1pkts\" } }\n\
    [[traffic]]\nkind = \"incast\"\nfan_in = 3\nreceiver = 2\nsize = \"64KB\"\n";

fn star(set: &[(&str, &str)]) -> Scenario {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    scenario(STAR, Path::new("."), &set)
}

fn sent(until_us: u64, marked: bool) -> Fate {
    let arrives = Some(Time::from_us(until_us + 1));
    Fate::Sent { until: Time::from_us(until_us), arrives, marked }
}

/// The first two come at once: the second finds the first waiting and is marked; then the first leaves. The third finds
/// one, too, and fills the queue; the fourth is dropped. At 1 us the second leaves, after what comes at that instant,
/// which is dropped as well. What comes thereafter finds the third. The last comes when all is empty.
#[test]
fn a_small_trace_has_the_fates_that_were_computed_by_hand() {
    let trace = read(
        "time_s,flow,bytes\n0,0,1000\n0,1,1000\n1e-7,0,1000\n\n# full\n2e-7,2,1000\n1e-6,1,1000\n1.1e-6,1,500\n9e-6,0,1000\n",
    )
    .expect("a trace");
    assert_eq!(trace[5], Arrival { at: Time::from_ns(1100), flow: 1, wire: 500 });
    let port = star(&[]).bottleneck().expect("a port");
    // Host 2 has link 2, and the switch is its second end.
    assert_eq!((port.id, port.from.0, port.to.0), (PortId(5), 4, 2));
    let fates = play(&port, &trace).expect("it stands alone");
    let short = Fate::Sent { until: Time::from_ns(3500), arrives: Some(Time::from_ns(4500)), marked: true };
    let expected =
        [sent(1, false), sent(2, true), sent(3, true), Fate::Dropped, Fate::Dropped, short, sent(10, false)];
    assert_eq!(fates, expected);
    let text = report(&trace, &fates);
    assert!(text.contains("1100000,1,500,sent,3500000,1\n"), "{text}");
    assert!(text.ends_with("# 5 sent, 2 dropped, 3 marked\n"), "{text}");
}

#[test]
fn a_port_is_found_by_the_names_of_its_ends() {
    let s = star(&[]);
    assert_eq!(s.port("switch0", "h2").expect("a port"), s.bottleneck().expect("a port"));
    assert_eq!(s.port("2", "4").expect("a port").id, PortId(4));
    let message = |from, to| s.port(from, to).expect_err("no port").to_string();
    let to = "`h0` is linked to `switch0`";
    assert_eq!(message("h0", "h1"), format!("s.toml: there is no link between `h0` and `h1`; {to}"));
    let hint = "nodes are `h0` to `switch0`, or by number 0 to 4";
    assert_eq!(message("h0", "swich0"), format!("s.toml: there is no node `swich0`; {hint}"));
    assert_eq!(message("h0", "9"), "s.toml: there is no node 9; nodes are numbered 0 to 4");
}

#[test]
fn ports_along_nodes_are_those_of_neighbours_and_what_is_no_path_is_refused() {
    let lot = "topology = { kind = \"parking-lot\", bottlenecks = 3 }\n\
        [[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 1\n[run]\nuntil = \"1ms\"\n";
    let s = scenario(lot, Path::new("."), &[]);
    let ends = |nodes: &[&str]| {
        let ports = s.ports(nodes).expect("ports");
        ports.iter().map(|p| (p.from.0, p.to.0)).collect::<Vec<_>>()
    };
    assert_eq!(ends(&["switch0", "switch1", "10"]), [(8, 9), (9, 10)]);
    assert_eq!(ends(&["switch2", "switch1", "switch0", "h0"]), [(10, 9), (9, 8), (8, 0)]);
    assert_eq!(s.ports(&["switch0", "switch1"]).expect("one")[0], s.port("switch0", "switch1").expect("it"));
    for (nodes, why) in [
        (
            vec!["switch0", "switch2"],
            "there is no link between `switch0` and `switch2`; `switch0` is linked to `h0`, `h2`, `switch1`",
        ),
        (
            vec!["switch0", "swich1"],
            "there is no node `swich1`; nodes are `h0` to `switch3`, or by number 0 to 11",
        ),
        (
            vec!["switch0", "switch1", "switch0"],
            "the path passes `switch0` twice; a path passes a node once: `switch1` is linked to `h3`, `h4`, `switch2`, \
             which it has not passed",
        ),
        (
            vec!["switch0", "h0", "switch0"],
            "the path passes `switch0` twice; a path passes a node once: end it at `h0`",
        ),
        (vec!["switch0"], "a port is between two nodes"),
    ] {
        assert_eq!(s.ports(&nodes).expect_err("no path").to_string(), format!("s.toml: {why}"));
    }
}

#[test]
fn generated_packets_are_more_than_the_link_carries() {
    let port = star(&[]).bottleneck().expect("a port");
    let trace = generated(&port, 1000);
    let fates = play(&port, &trace).expect("it stands alone");
    let dropped = fates.iter().filter(|fate| **fate == Fate::Dropped).count();
    assert!(dropped > 100 && !fates.contains(&Fate::Waits), "{dropped} dropped");
}

#[test]
fn what_does_not_stand_alone_is_refused_by_name() {
    for (set, key, why) in [
        (("nic", "{ order = \"round-robin\" }"), "nic.order", "pulls packets from flows"),
        (("switch.scheduler", "\"lstf\""), "switch.scheduler", "headers that change from hop to hop"),
    ] {
        let more: &[(&str, &str)] = match key {
            "nic.order" => &[set],
            _ => &[set, ("slack", "{ kind = \"constant\", value = \"1ms\" }")],
        };
        let s = star(more);
        let (from, to) = if key == "nic.order" { ("h2", "switch0") } else { ("switch0", "h2") };
        let error = s.port(from, to).expect_err("not alone");
        assert!(error.key == key && error.to_string().contains(why), "{error}");
    }
    let shared = star(&[("switch.buffer", "unlimited"), ("switch.shared_buffer", "{ total = \"1MB\" }")]);
    let port = shared.bottleneck().expect("a port");
    assert!(port.shared.is_some());
    let refused = play(&port, &[]).expect_err("refused");
    assert!(refused.contains("memory that it shares with other ports"), "{refused}");
}

#[test]
fn lines_that_are_no_packets_are_refused_with_their_number() {
    for (text, why) in [
        ("0,0\n", "line 1: `0,0` is not time_s,flow,bytes"),
        ("0,0,1\n\n0,x,1\n", "line 3: `0,x,1` is not time_s,flow,bytes"),
        ("1,0,1\n0,0,1\n", "line 2: it comes before the line above"),
        ("-1,0,1\n", "line 1: -1 s is out of range"),
        ("NaN,0,1\n", "line 1: NaN s is out of range"),
    ] {
        assert_eq!(read(text), Err(why.to_owned()));
    }
}
