//! What is refused of slack, of what reads it, of the new schedulers and topologies: literally.

use std::path::Path;
use thalweg_scenario::load;

/// A scenario that is right: least slack time first between two switches.
const RIGHT: &str = r#"name = "t"
[topology]
kind = "dumbbell"
pairs = 2
[switch]
scheduler = "lstf"
[slack]
kind = "constant"
[transport]
kind = "tcp"
[[traffic]]
kind = "flow"
src = 0
dst = 2
size = "1MB"
"#;

/// The first error if `from` is replaced by `to`; "" if there is none.
#[track_caller]
fn refusals(from: &str, to: &str) -> String {
    assert!(RIGHT.contains(from), "{from}");
    let text = RIGHT.replacen(from, to, 1);
    match load(&text, "s.toml", Path::new("."), &[]) {
        Ok(_) => String::new(),
        Err(errors) => errors[0].to_string(),
    }
}

#[track_caller]
fn wrong(from: &str, to: &str, expected: &str) {
    assert_eq!(refusals(from, to), expected);
}

const SWITCH: &str = "scheduler = \"lstf\"";
const SLACK: &str = "[slack]\nkind = \"constant\"\n";
const TCP: &str = "kind = \"tcp\"";

#[test]
fn what_is_right_is_accepted() {
    wrong("name = \"t\"", "name = \"u\"", "");
    // The NIC's queue comes before slack is written: it is FIFO if no other is given.
    let s = load(RIGHT, "s.toml", Path::new("."), &[]).expect("right");
    assert!(
        s.to_toml().contains("[nic]\nbuffer = \"500KB\"\nmarking = \"none\"\norder = \"queue\"\npause_control = true\nscheduler = \"fifo\""),
        "{}",
        s.to_toml()
    );
    let again = load(&s.to_toml(), "r.toml", Path::new("."), &[]).expect("resolved");
    assert!(again == s);
}

#[test]
fn slack_needs_a_reader_and_readers_need_slack() {
    wrong(
        SLACK,
        "",
        "s.toml:6: `switch.scheduler`: the scheduler lstf sorts by slack, and packets carry none; write [slack], for example with `kind = \"constant\"`",
    );
    wrong(
        SWITCH,
        "scheduler = \"fifo\"",
        "s.toml:7: `slack`: it has no effect: nothing reads the slack; use the scheduler lstf, or [edge], or remove [slack]",
    );
    wrong(
        SLACK,
        "[slack]\nkind = \"constant\"\n[nic]\nscheduler = \"lstf\"\n",
        "s.toml:10: `nic.scheduler`: slack is written when the NIC begins to transmit, so its own queue cannot sort by it; write \"fifo\"",
    );
    wrong(
        SWITCH,
        "scheduler = \"srpt\"",
        "s.toml:6: `switch.scheduler`: it sorts by rank, and [slack] uses the same header field; remove [slack], or use the scheduler lstf with `slack.kind = \"flow-size\"`",
    );
    wrong(
        TCP,
        "rank = \"remaining\"",
        "s.toml:10: `transport.rank`: it has no effect: NICs overwrite ranks with slack, which has the same header field; remove the key, or [slack]",
    );
    wrong(
        SLACK,
        "[slack]\nkind = \"constant\"\n[measure]\npriority_histogram = {}\n",
        "s.toml:10: `measure.priority_histogram`: it counts ranks, and [slack] uses the same header field; remove the key, or [slack]",
    );
    wrong(
        &format!("{SWITCH}\n{SLACK}"),
        "scheduler = \"pifo\"\n",
        "s.toml:6: `switch.scheduler`: the scheduler sorts by rank, and no sender writes one; write `transport.rank = \"flow-size\"`, or [slack]",
    );
}

#[test]
fn least_slack_wants_exact_links_and_buckets_that_hold_something() {
    wrong(
        "pairs = 2",
        "pairs = 2\ntime_quantum = \"1ns\"",
        "s.toml:5: `topology.time_quantum`: `switch.scheduler` needs exact transmission times, which a time quantum rounds; remove the key, or use another scheduler",
    );
    wrong(
        "pairs = 2\n[switch]\nscheduler = \"lstf\"",
        "pairs = 2\ntime_quantum = \"1ns\"\n[switch]\nmix = { scheduler = \"lstf\", nodes = \"even\" }",
        "s.toml:5: `topology.time_quantum`: `switch.mix.scheduler` needs exact transmission times, which a time quantum rounds; remove the key, or use another scheduler",
    );
    wrong(SWITCH, "scheduler = { kind = \"lstf\", bucket = \"10us\" }", "");
    wrong(
        SWITCH,
        "scheduler = { kind = \"lstf\", bucket = \"0s\" }",
        "s.toml:6: `switch.scheduler.bucket`: a bucket of 0s holds nothing; remove the key: slacks are exact without it",
    );
}

#[test]
fn impossible_slack() {
    wrong(
        "\"constant\"",
        "\"flow-size\"\nunit = \"0s\"",
        "s.toml:9: `slack.unit`: with a unit of 0 flows of all sizes have the same slack; for example \"1s\"",
    );
    wrong(
        "\"constant\"",
        "\"virtual-clock\"",
        "s.toml:7: `slack.rate`: the key is missing; for example `rate = \"100Mbps\"`",
    );
    wrong(
        "\"constant\"",
        "\"virtual-clock\"\nrate = \"0bps\"",
        "s.toml:9: `slack.rate`: no flow can be entitled to 0bps; for example \"100Mbps\"",
    );
    wrong(
        "\"constant\"",
        "\"constant\"\nclass_offset = \"1s\"",
        "s.toml:9: `slack.class_offset`: it has no effect: all traffic is of class 0; write `class = 1` in a [[traffic]] section, or remove the key",
    );
    wrong(
        "size = \"1MB\"",
        "size = \"1MB\"\nweight = 2",
        "s.toml:16: `traffic.0.weight`: it has no effect: no slack rule uses weights; write [slack] with `kind = \"virtual-clock\"`, or remove the key",
    );
    wrong(
        "kind = \"constant\"\n[transport]\nkind = \"tcp\"",
        "kind = \"flow-size\"\n[transports.x]\nmss = \"1000B\"\n[[traffic]]\nkind = \"flow\"\nsrc = 1\ndst = 3\nsize = \"1KB\"\ntransport = \"x\"",
        "s.toml:8: `slack.kind`: flow sizes are counted in packets of 1460 bytes, and packets of transports.x carry 1000; give all transports packets of one size",
    );
}

#[test]
fn impossible_edges() {
    let edge = |more: &str| format!("[slack]\nkind = \"constant\"\n[edge]\n{more}\n");
    wrong(
        SLACK,
        "[edge]\nkind = \"codel\"\n",
        "s.toml:6: `switch.scheduler`: the scheduler lstf sorts by slack, and packets carry none; write [slack], for example with `kind = \"constant\"`",
    );
    wrong(
        &format!("{SWITCH}\n{SLACK}"),
        "[edge]\nkind = \"codel\"\n",
        "s.toml:6: `edge`: it computes waiting times from the slack that packets have used, and packets carry none; write [slack], for example with `kind = \"constant\"`",
    );
    wrong(
        SLACK,
        &edge("kind = \"codel\"\nrefresh = \"5ms\""),
        "s.toml:11: `edge.refresh`: a gap of 5ms is not longer than the target, 5ms; write two to four times the target",
    );
    wrong(
        SLACK,
        &edge("kind = \"codel\"\ntarget = \"200ms\"\nrefresh = \"1s\""),
        "s.toml:11: `edge.target`: the target, 200ms, is not below the interval, 100ms; for example a twentieth of it",
    );
    wrong(
        SLACK,
        &edge("kind = \"ecn\"\nthreshold = \"15pkts\""),
        "s.toml:9: `edge`: it has no effect: no transport is ECN-capable, so no packet can be marked; write `transport.ecn = \"classic\"`, or the controller dctcp, or remove [edge]",
    );
    wrong(
        SLACK,
        &edge("kind = \"ecn\"\nthreshold = \"15\""),
        "s.toml:11: `edge.threshold`: `15` is not a time: the unit is missing (units: ps, ns, us, ms, s, pkts)",
    );
    let udp = format!("{}[transport]\nkind = \"udp\"", edge("kind = \"codel\""));
    wrong(
        &format!("{SLACK}[transport]\n{TCP}"),
        &udp,
        "s.toml:9: `edge`: it has no effect: no transport slows down when packets are dropped; use a transport of kind tcp, or remove [edge]",
    );
}

/// DCTCP is content with marks from the edge; K packets are a time only if all hosts' links are alike.
#[test]
fn the_edge_marks_for_dctcp() {
    let text = RIGHT.replacen(TCP, "congestion = \"dctcp\"", 1).replacen(
        SLACK,
        "[slack]\nkind = \"constant\"\n[edge]\nkind = \"ecn\"\nthreshold = \"15pkts\"\n",
        1,
    );
    let s = load(&text, "s.toml", Path::new("."), &[]).expect("right");
    // 15 x 1500 B at 10 Gb/s.
    let expected = thalweg_units::Span::from_us(18);
    let edge = s.network().expect("a network").edge;
    assert_eq!(edge, Some(thalweg_machines::stage::EdgeSpec::Ecn { threshold: expected }));
    let star = text.replacen(
        "kind = \"dumbbell\"\npairs = 2",
        "kind = \"star\"\nhosts = 4\nsink_rate = \"20Gbps\"",
        1,
    );
    let e = load(&star, "s.toml", Path::new("."), &[]).expect_err("different links");
    assert_eq!(
        e[0].to_string(),
        "s.toml:12: `edge.threshold`: hosts' links have different rates, so a number of packets is no single time; write a time, for example \"17.5us\""
    );
}

#[test]
fn who_cannot_be_interrupted() {
    wrong(SWITCH, "scheduler = \"lstf\"\npreemptive = true", "");
    let plain = format!("{SWITCH}\n{SLACK}");
    wrong(
        &plain,
        "scheduler = \"drr\"\npreemptive = true\n",
        "s.toml:7: `switch.preemptive`: `switch.scheduler` never ranks a later packet before the one in transmission; remove the key, or use priority, sjf, srpt, lifo, random, lstf or pifo",
    );
    wrong(
        &plain,
        "scheduler = \"lifo\"\npreemptive = true\nshared_buffer = { total = \"700KB\" }\n",
        "s.toml:7: `switch.preemptive`: an interrupted packet would have to return to the shared memory, which it has left; remove the key or `switch.shared_buffer`",
    );
    wrong(
        &plain,
        "scheduler = \"lifo\"\npreemptive = true\nmarking = \"codel\"\n",
        "s.toml:7: `switch.preemptive`: an interrupted packet would return to the queue after passing its marking, `codel`; remove the key, or write `switch.marking = \"none\"`",
    );
    wrong(
        &plain,
        "scheduler = \"lifo\"\npreemptive = true\nmix = { scheduler = \"fq\" }\n",
        "s.toml:7: `switch.preemptive`: `switch.mix.scheduler` never ranks a later packet before the one in transmission; remove the key, or use priority, sjf, srpt, lifo, random, lstf or pifo",
    );
}

#[test]
fn impossible_mixes_and_codels() {
    let mix = |text: &str| format!("{SWITCH}\nmix = {text}");
    wrong(SWITCH, &mix("{ scheduler = \"fifo\" }"), "");
    wrong(
        SWITCH,
        &mix("{ scheduler = \"lstf\" }"),
        "s.toml:7: `switch.mix.scheduler`: it has no effect: it is the same as `switch.scheduler`; write another one or remove `switch.mix`",
    );
    wrong(
        SWITCH,
        &mix("{ scheduler = \"fifo\", nodes = { listed = [3] } }"),
        "s.toml:7: `switch.mix.nodes`: there is no switch 3; switches are 4 to 5",
    );
    wrong(
        SWITCH,
        &mix("{ scheduler = \"fifo\", nodes = { listed = [] } }"),
        "s.toml:7: `switch.mix.nodes`: it has no effect: it selects no switch; switches are 4 to 5",
    );
    wrong(
        SWITCH,
        &mix("{ scheduler = \"fifo\", nodes = { listed = [4, 5] } }"),
        "s.toml:7: `switch.mix.nodes`: it selects every switch, so that none runs `switch.scheduler`; write it as `switch.scheduler` and remove `switch.mix`",
    );
    let plain = format!("{SWITCH}\n{SLACK}");
    wrong(
        &plain,
        "scheduler = \"fq-codel\"\nmarking = \"codel\"\n",
        "s.toml:7: `switch.marking`: the scheduler already runs CoDel in every queue; write \"none\", or the scheduler round-robin",
    );
    wrong(
        &plain,
        "marking = { kind = \"codel\", target = \"100ms\" }\n",
        "s.toml:6: `switch.marking.target`: the target, 100ms, is not below the interval, 100ms; for example a twentieth of it",
    );
    wrong(
        &plain,
        "scheduler = { kind = \"parity\", even = \"srpt\", odd = \"sjf\" }\n",
        "s.toml:6: `switch.scheduler.odd`: sjf and srpt need different ranks in one header; write \"fifo\"",
    );
}

#[test]
fn impossible_backbones_and_loads() {
    let network = "kind = \"dumbbell\"\npairs = 2";
    wrong(
        network,
        "kind = \"backbone\"\nlinks = 200",
        "s.toml:4: `topology.links`: 83 routers cannot have 200 links; write from 82 to 163",
    );
    wrong(
        network,
        "kind = \"internet2\"\nedge_routers = false\nedge_rate = \"1Gbps\"",
        "s.toml:5: `topology.edge_rate`: it has no effect: without edge routers hosts are linked to the core; remove the key or `edge_routers = false`",
    );
    let flow = "kind = \"flow\"\nsrc = 0\ndst = 2\nsize = \"1MB\"";
    let poisson = |more: &str| format!("kind = \"poisson\"\nsizes = \"heavy-tailed\"\nload = 0.5\n{more}");
    wrong(
        flow,
        &poisson("of = { rate = \"0bps\" }"),
        "s.toml:15: `traffic.0.of.rate`: a rate of 0bps sends nothing; write a rate above zero",
    );
    wrong(
        flow,
        &poisson("pairs = { min_links = 4 }"),
        "s.toml:15: `traffic.0.pairs`: no two hosts of this topology are such a pair; write `pairs = \"uniform\"`",
    );
    wrong(
        flow,
        &poisson("pairs = { min_links = 2 }"),
        "s.toml:15: `traffic.0.pairs.links`: 2 is out of range; allowed: at least 3 and at most 1000",
    );
}
