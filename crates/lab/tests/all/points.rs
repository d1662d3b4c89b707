//! Congestion points from end to end: what ports write reaches sources, and the refusals around them, literally.

use crate::common;
use std::path::Path;
use thalweg_lab::Run;

/// Ten sources of 36 Gb/s into 40 (RoCC §3.5.1).
const STAR: &str = r#"
topology = { kind = "star", hosts = 11, rate = "36Gbps", sink_rate = "40Gbps", delay = "1us" }
nic = { order = "round-robin" }
[switch]
inputs = { shared = "12MB" }
pfc = { threshold = { kind = "static", xoff = "500KB" } }
control_first = true
congestion_point = "rocc"
[transport]
kind = "rdma"
mtu = "1000B"
header = "48B"
recovery = "go-back-n"
congestion = "rocc"
[[traffic]]
kind = "incast"
fan_in = 10
size = "20MB"
receiver = 0
[measure]
queues = { every = "50us", ports = [1] }
controllers = { every = "50us", flows = [0, 9] }
[run]
until = "8ms"
"#;

fn run(pairs: &[(&str, &str)]) -> Run {
    common::finish(&common::scenario(STAR, Path::new("."), &common::set(pairs)))
}

fn refusals(pairs: &[(&str, &str)]) -> Vec<String> {
    common::refusals(STAR, pairs)
}

/// A column of a table, of the last `rows` rows.
fn last(run: &Run, table: &str, name: &str, rows: usize) -> Vec<f64> {
    let tables = run.tables();
    let table = tables.iter().find(|t| t.name == table).expect("a table");
    let column = table.columns.iter().find(|c| c.name == name).expect("a column");
    let all: Vec<f64> = match &column.data {
        thalweg_lab::ColumnData::U64(values) => values.iter().map(|v| *v as f64).collect(),
        thalweg_lab::ColumnData::Maybe(values) => values.iter().map(|v| v.unwrap_or(0) as f64).collect(),
        _ => panic!("{name} holds whole numbers"),
    };
    all[all.len() - rows..].to_vec()
}

#[test]
fn ten_flows_get_a_tenth_each_with_a_queue_at_the_set_point_and_no_pauses() {
    let run = run(&[]);
    let mean = |v: Vec<f64>| v.iter().sum::<f64>() / v.len() as f64;
    let queue = mean(last(&run, "queues", "bytes", 40));
    assert!((queue - 150e3).abs() < 7.5e3, "{queue} B at the last 2 ms");
    for pace in last(&run, "controllers", "pace", 40) {
        assert!((pace - 4e9).abs() < 0.12e9, "{pace} b/s");
    }
    let summary = format!("{:?}", run.summary());
    assert!(run.violation().is_none(), "{summary}");
}

#[test]
fn hosts_that_compute_and_smaller_tables_come_to_the_same() {
    for more in ["computes=\"host\"", "recipients=\"aged\""] {
        let point = format!("{{kind=\"rocc\",{more}}}");
        let run = run(&[("switch.congestion_point", &point)]);
        for pace in last(&run, "controllers", "pace", 40) {
            assert!((pace - 4e9).abs() < 0.2e9, "{more}: {pace} b/s");
        }
    }
}

#[test]
fn what_no_end_receives_or_sends_is_refused() {
    let cases: [(&[(&str, &str)], &str); 5] = [
        (
            &[
                ("transport.congestion", "dcqcn"),
                ("switch.marking", "{kind=\"red-ecn\",min=\"5KB\",max=\"200KB\"}"),
            ],
            "`switch.congestion_point`: it has no effect: no controller reacts to its messages; write `transport.congestion = \"rocc\"`, or remove the key",
        ),
        (
            &[("switch.congestion_point", "qcn")],
            "`transport.congestion`: rocc needs congestion points of its own kind, and switches have none; write `switch.congestion_point = \"rocc\"`",
        ),
        (
            &[("switch.control_first", "false")],
            "`switch.control_first`: messages of congestion points come in by no input, and `switch.inputs` counts the packets of a queue by input; write `switch.control_first = true`",
        ),
        (
            &[("routing", "spray-random")],
            "`routing`: `switch.congestion_point` needs flows that keep their path, and this rule chooses one for each packet; \
             write \"ecmp\"",
        ),
        (
            &[("switch.congestion_point", "{kind=\"rocc\",growth=\"400KB\"}")],
            "`switch.congestion_point`: at 10 Gb/s: Q_ref, 75KB, Q_mid, 400KB, and Q_max, 210KB, are not in this order; Q_ref < Q_mid < Q_max, or `any_order = true`",
        ),
    ];
    for (pairs, expected) in cases {
        let found = refusals(pairs);
        assert!(found.iter().any(|line| line == expected), "{pairs:?}: {found:#?}");
    }
}
