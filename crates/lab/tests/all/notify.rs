//! Policies that notify senders, from a scenario to rates that fall; and what is refused, literally.

use crate::common;
use std::path::Path;
use thalweg_lab::Run;
use thalweg_scenario::load;

/// Four senders, each as fast as the receiver. From 20 packets on the policy notifies the sender of a packet, once in
/// 20 us.
const STAR: &str = r#"
topology = { kind = "star", hosts = 5, rate = "10Gbps", delay = "1us" }
nic = { order = "round-robin" }
[switch.scheduler]
kind = "policy"
text = """
full(q, p) = (q.length >= 20 && p.arrival - q.admState >= 20000000, notify & modify(admState := p.arrival))
q = Queue(2000 pkts);
out = Port(q);
q.congestion = full;
"""
[transport]
kind = "rdma"
congestion = "dcqcn"
recovery = "go-back-n"
[[traffic]]
kind = "incast"
fan_in = 4
size = "4MB"
receiver = 0
[measure]
queues = { every = "10us", ports = [1] }
controllers = { every = "100us" }
[run]
until = "3ms"
stop_when_done = false
"#;

const QUIET: &str = "{kind=\"policy\",text=\"q = Queue(2000 pkts); out = Port(q);\"}";

fn run(pairs: &[(&str, &str)]) -> Run {
    common::finish(&common::scenario(STAR, Path::new("."), &common::set(pairs)))
}

fn refusals(pairs: &[(&str, &str)]) -> Vec<String> {
    common::refusals(STAR, pairs)
}

/// A column of whole numbers.
fn column(run: &Run, table: &str, name: &str) -> Vec<f64> {
    let tables = run.tables();
    let table = tables.iter().find(|t| t.name == table).expect("a table");
    match &table.columns.iter().find(|c| c.name == name).expect("a column").data {
        thalweg_lab::ColumnData::U64(values) => values.iter().map(|v| *v as f64).collect(),
        thalweg_lab::ColumnData::Maybe(values) => values.iter().map(|v| v.unwrap_or(0) as f64).collect(),
        _ => panic!("{name} holds whole numbers"),
    }
}

/// The same DCQCN, whose marks and receivers do not exist here.
#[test]
fn rates_fall_to_what_the_link_has_and_the_queue_with_them() {
    let run = run(&[]);
    assert!(run.violation().is_none());
    let paces = column(&run, "controllers", "pace");
    let sums: Vec<f64> = paces.chunks(4).map(|of_all| of_all.iter().sum()).collect();
    assert_eq!(sums[0], 40e9, "line rate until the first CNP");
    assert!(sums.iter().all(|sum| *sum <= 40e9) && sums[10..].iter().all(|sum| *sum < 10e9), "{sums:?}");
    let queue = column(&run, "queues", "bytes");
    let top = |part: &[f64]| part.iter().copied().fold(0.0, f64::max);
    assert!(top(&queue[..100]) > 300e3 && top(&queue[queue.len() - 100..]) < 50e3, "{queue:?}");
}

#[test]
fn a_policy_that_notifies_brings_its_point_and_leaves_the_hosts_alone() {
    let scenario =
        load(STAR, "s.toml", Path::new("."), &common::set(&[("nic.order", "queue")])).expect("a scenario");
    let text = scenario.to_toml();
    assert!(text.contains("congestion_point = { kind = \"policy\", message = \"82B\" }"), "{text}");
    let nic = text.split("[nic]").nth(1).and_then(|rest| rest.split("[transport]").next());
    assert!(nic.is_some_and(|nic| nic.contains("scheduler = \"fifo\"")), "{text}");
    assert!(load(&text, "again.toml", Path::new("."), &[]).expect("the same") == scenario);
}

#[test]
fn what_no_end_receives_and_what_contradicts_is_refused() {
    let cases: [(&[(&str, &str)], &str); 5] = [
        (
            &[("transport", "{kind=\"tcp\"}")],
            "`switch.scheduler`: its policy notifies senders (`notify`), and no sender reacts to notifications of switches \
             (CNPs); write `transport.kind = \"rdma\"` with `transport.congestion = \"dcqcn\"`, or remove `notify`",
        ),
        (
            &[(
                "nic.scheduler",
                "{kind=\"policy\",text=\"q = Queue(9 pkts); out = Port(q); q.postAdmAct = (length > 3, notify);\"}",
            )],
            "`nic.scheduler`: its policy notifies senders (`notify`), and at a NIC the sender is the host itself; write \"fifo\", or \
             a policy without `notify`",
        ),
        (
            &[("switch.congestion_point", "qcn")],
            "`switch.congestion_point`: the policy of `switch.scheduler` notifies senders itself (`notify`); remove the \
             key, or `notify`",
        ),
        (
            &[("switch.congestion_point", "policy"), ("switch.scheduler", QUIET)],
            "`switch.congestion_point`: it has no effect: no policy of a switch uses `notify`; write a policy with \
             `notify` as `switch.scheduler`, or remove the key",
        ),
        (
            &[("transport.notification", "{kind=\"cnp\",interval=\"20us\"}")],
            "`transport.notification`: it has no effect: no queue marks packets: switches alone notify senders; \
             remove the key",
        ),
    ];
    for (pairs, expected) in cases {
        let found = refusals(pairs);
        assert!(found.iter().any(|line| line == expected), "{pairs:?}: {found:#?}");
    }
}
