//! ABC over whole networks: what both encodings have in common, what sets them apart, and two queues at one
//! router (Goyal, MIT 2022, §2.4).

use crate::common::*;
use std::path::Path;
use thalweg_scenario::load;

/// A flow over 12 Mb/s, 20 ms away.
const WIRED: &str = r#"topology = { kind = "dumbbell", pairs = 1, bottleneck_rate = "12Mbps", delay = "10ms" }
switch = { buffer = "100pkts", marking = { kind = "abc", encoding = "ENCODING" } }
nic = { marking = "none", buffer = "unlimited" }
run = { until = "5s", stop_when_done = false }
[transport]
congestion = { kind = "abc", encoding = "ENCODING" }
delayed_acks = { kind = "on", every = 2, delay = "40ms" }
[[traffic]]
kind = "backlogged"
src = 0
dst = 1
count = 3
"#;

fn wired(encoding: &str) -> String {
    WIRED.replace("ENCODING", encoding)
}

/// §2.4.2: without other routers that mark, the two encodings cannot be distinguished.
#[test]
fn both_encodings_send_the_same_packets_at_the_same_instants() {
    let [proxy, full] = ["proxy", "full"].map(|encoding| run(&wired(encoding)));
    assert_eq!(proxy.digest(), full.digest());
    assert_eq!(column(&proxy, "flows", "delivered"), column(&full, "flows", "delivered"));
    let marks = |run| column(run, "ports", "marked").iter().sum::<i128>();
    assert!(marks(&proxy) > 1000 && marks(&proxy) == marks(&full));
}

/// A router that marks every other packet for reasons of its own: they neither accelerate nor brake, and
/// CUBIC's window, which halves by them, rules.
#[test]
fn next_to_a_router_that_marks_the_other_window_rules_and_the_link_stands_idle() {
    let legacy = |dual: &str| {
        let marks =
            "nic = { marking = { kind = \"random-ecn\", probability = 0.5 }, buffer = \"unlimited\" }";
        wired("full").replace("nic = { marking = \"none\", buffer = \"unlimited\" }", marks).replace(
            "kind = \"abc\", encoding = \"full\" }\ndelayed",
            &format!("kind = \"abc\", encoding = \"full\", dual = {dual} }}\ndelayed"),
        )
    };
    let delivered = |text: &str| column(&run(text), "flows", "delivered").iter().sum::<i128>();
    let (without, both, single) =
        (delivered(&wired("full")), delivered(&legacy("true")), delivered(&legacy("false")));
    assert!(single * 4 > without * 3, "{single} of {without}: half of the feedback is enough");
    assert!(both * 2 < without, "{both} of {without}");
}

#[track_caller]
fn refusals(text: &str) -> String {
    match load(text, "s.toml", Path::new("."), &[]) {
        Ok(_) => String::new(),
        Err(all) => all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

#[test]
fn encodings_that_do_not_fit_are_refused() {
    assert_eq!(refusals(&wired("full")), "");
    let mixed =
        wired("full").replace("marking = { kind = \"abc\", encoding = \"full\" }", "marking = \"abc\"");
    assert_eq!(
        refusals(&mixed),
        "s.toml:6: `transport.congestion.encoding`: routers use another encoding: `switch.marking.encoding`; write the same in both"
    );
    let step = wired("proxy").replace(
        "nic = { marking = \"none\"",
        "nic = { marking = { kind = \"step\", threshold = \"9pkts\" }",
    );
    assert_eq!(
        refusals(&step),
        "s.toml:6: `transport.congestion.encoding`: `nic.marking` marks packets, too, and with this encoding ABC reads every mark as a brake; write \"full\" here and in ABC's marking"
    );
    let classic = wired("full").replace("delayed_acks", "ecn = \"classic\"\ndelayed_acks");
    assert_eq!(
        refusals(&classic),
        "s.toml:7: `transport.ecn`: the controller needs an exact echo of both codepoints; write \"accurate\" or remove the key"
    );
}

/// One flow of each; by class they are in different queues.
const NEXT_TO: &str = r#"topology = { kind = "dumbbell", pairs = 1, bottleneck_rate = "12Mbps", delay = "10ms" }
switch = { buffer = "80pkts", marking = "abc", scheduler = "max-min" }
nic = { marking = "none", buffer = "unlimited", scheduler = "fifo" }
run = { until = "20s", stop_when_done = false }
transports = { cubic = { kind = "tcp", congestion = "cubic" } }
[transport]
congestion = "abc"
[[traffic]]
kind = "backlogged"
src = 0
dst = 1
class = 1
[[traffic]]
kind = "backlogged"
src = 0
dst = 1
transport = "cubic"
"#;

#[test]
fn a_flow_of_abc_next_to_one_of_cubic_gets_half_in_a_queue_of_its_own_and_little_in_the_same() {
    let share = |text: &str| {
        let delivered = column(&run(text), "flows", "delivered");
        delivered[0] as f64 / (delivered[0] + delivered[1]) as f64
    };
    let two = share(NEXT_TO);
    assert!((0.42..0.58).contains(&two), "{two}");
    let one = share(&NEXT_TO.replace(", scheduler = \"max-min\"", "").replace("class = 1\n", ""));
    assert!(one < 0.3, "{one}");
}

#[test]
fn shares_of_a_rate_that_changes_are_refused() {
    let link =
        "[[link]]\nwhich = \"core-links\"\ndirection = \"forward\"\ntransmitter = { kind = \"cellular\" }\n";
    assert_eq!(
        refusals(&format!("{NEXT_TO}{link}")),
        "s.toml:21: `link.0.transmitter`: `switch.scheduler` computes with a fixed link rate, and the rate of this transmitter varies; remove the key, or use another scheduler"
    );
    assert_eq!(
        refusals(&NEXT_TO.replace("class = 1\n", "")),
        "s.toml:2: `switch.scheduler`: it has no effect: all traffic is of class 0; write `class = 1` in a [[traffic]] section, or another scheduler"
    );
}
