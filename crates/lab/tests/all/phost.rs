//! Transports of kind `phost`: what follows from other keys, what is refused, and what tokens are worth.

use crate::common::*;
use std::path::Path;
use thalweg_scenario::load;

/// Fifteen senders to one host, 10 Gb/s: a packet of 1500 B takes 1.2 us, a round trip about 8.
const INCAST: &str = r#"
topology = { kind = "star", hosts = 16, rate = "10Gbps", delay = "1us" }
run = { until = "100ms" }
[switch]
scheduler = { kind = "priority", classes = 3 }
[nic]
order = "round-robin"
[transport]
kind = "phost"
[[traffic]]
kind = "incast"
fan_in = 15
size = "146KB"
receiver = 0
[measure]
fct = "receiver"
"#;

#[track_caller]
fn wrong(pairs: &[(&str, &str)], expected: &str) {
    let errors = load(INCAST, "s.toml", Path::new("."), &set(pairs)).expect_err("refused");
    let text: Vec<String> = errors
        .iter()
        .map(|e| e.to_string().split_once(": `").map_or(e.to_string(), |(_, rest)| format!("`{rest}")))
        .collect();
    assert_eq!(text, [expected]);
}

#[test]
fn an_incast_by_tokens_loses_nothing_where_one_without_them_does() {
    let small = [("switch.buffer", "270KB")];
    let run = finish(&scenario(INCAST, Path::new("."), &set(&small)));
    assert_eq!(column(&run, "flows", "retransmissions").iter().sum::<i128>(), 0);
    // 15 flows of 100 packets on one link, after a request: no more than a packet's time per flow is lost.
    let last = column(&run, "flows", "fct_ps").into_iter().max().expect("flows");
    let busy = 1500 * 1_200_000;
    assert!(last > busy && last < busy + 40_000_000, "{last} ps, and the link needs {busy} ps");
    let without = [small[0], ("transport.free_tokens", "100"), ("transport.free_class", "2")];
    let run = finish(&scenario(INCAST, Path::new("."), &set(&without)));
    assert!(column(&run, "flows", "retransmissions").iter().sum::<i128>() > 100);
}

#[test]
fn times_follow_from_the_rate_and_classes_from_the_scheduler() {
    let resolved = scenario(INCAST, Path::new("."), &[]).to_toml();
    for line in [
        "token_life = \"1800ns\"",
        "patience = \"30us\"",
        "retry = \"300us\"",
        "again = \"10800ns\"",
        "free_class = 1",
        "token_class = 2",
    ] {
        assert!(resolved.contains(line), "{line} in\n{resolved}");
    }
    let fifo = scenario(INCAST, Path::new("."), &set(&[("switch.scheduler", "fifo")])).to_toml();
    assert!(fifo.contains("free_class = 0") && fifo.contains("token_class = 0"), "{fifo}");
}

/// One host of four has 40 Gb/s and sends nothing: between two of the others a token calls for a packet each 1.2 us, as
/// fast as their links carry them, and none is called for twice.
#[test]
fn tokens_keep_to_the_pace_of_the_link_that_they_call_packets_to() {
    let mixed = INCAST
        .replace("hosts = 16, rate = \"10Gbps\"", "hosts = 4, rate = \"10Gbps\", sink_rate = \"40Gbps\"");
    for sources in ["[1]", "[1, 3]"] {
        let flows = "kind = \"incast\"\nfan_in = 15\nsize = \"146KB\"\nreceiver = 0";
        let of = |src: &str| format!("kind = \"flow\"\nsrc = {src}\ndst = 2\nsize = \"1MB\"");
        let each: Vec<_> = sources.trim_matches(['[', ']']).split(", ").map(of).collect();
        let text = mixed.replace(flows, &each.join("\n[[traffic]]\n"));
        let s = scenario(&text, Path::new("."), &[]);
        assert!(!s.to_toml().contains("spacing"), "it is each host's own");
        let run = finish(&s);
        assert_eq!(column(&run, "flows", "retransmissions").iter().sum::<i128>(), 0, "{sources}");
        let last = column(&run, "flows", "fct_ps").into_iter().max().expect("flows");
        let busy = each.len() as i128 * 685 * 1_200_000;
        assert!(last > busy && last < busy + 20_000_000, "{last} ps, and the link needs {busy} ps");
    }
}

#[test]
fn what_cannot_work_is_refused_with_the_way_out() {
    wrong(
        &[("nic.order", "queue")],
        "`transport.kind`: phost spends a token when the link is free, so packets must not wait in a queue of the NIC; write \
         `nic.order = \"round-robin\"`",
    );
    wrong(
        &[("transport.window", "0")],
        "`transport.window`: with a window of 0 no token is ever sent; at least 1",
    );
    wrong(
        &[("transport.retry", "0s")],
        "`transport.retry`: a time of 0 has passed before anything can arrive; write a time above zero",
    );
    wrong(
        &[("transport.token_class", "3")],
        "`transport.token_class`: there is no class 3; classes are 0 to 2",
    );
    let fifo = [("switch.scheduler", "fifo"), ("transport.free_class", "0"), ("transport.token_class", "1")];
    wrong(
        &fifo,
        "`transport.token_class`: it has no effect: no scheduler serves by class; use the scheduler priority, or remove the \
         key",
    );
    wrong(
        &[("traffic.0.class", "1")],
        "`traffic.0.class`: it has no effect: the transport writes the class of each packet itself; remove the key; see \
         `transport.free_class`",
    );
    wrong(
        &[("traffic.0", "{kind=\"backlogged\",src=0,dst=1}")],
        "`traffic.0.transport`: a request carries the size of its flow, and a flow without end has none; use traffic whose flows end",
    );
    wrong(
        &[("transport.free_tokens", "0"), ("transport.free_for", "all")],
        "`transport.free_for`: it has no effect: there are no free tokens; remove the key, or raise `free_tokens`",
    );
    wrong(
        &[
            ("slack", "{kind=\"constant\",value=\"1ms\"}"),
            ("switch.scheduler", "lstf"),
            ("nic.scheduler", "fifo"),
        ],
        "`transport.kind`: slack and token numbers would use the same header field; remove [slack], or use another transport",
    );
    wrong(
        &[("transport.control_size", "0B")],
        "`transport.control_size`: 0B is not a packet size: it must be 1 B to 1 MB; for example \"40B\"",
    );
}
