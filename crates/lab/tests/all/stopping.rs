//! Flows without end that stop at a time.
use crate::common::*;
use std::path::Path;
use thalweg_lab::{ColumnData, Run};
use thalweg_scenario::load;

/// Two hosts send to a third for 3 ms of the 20; nothing else ends them.
const RIGHT: &str = r#"
topology = { kind = "star", hosts = 3, rate = "10Gbps", delay = "1us" }
[switch]
buffer = "30pkts"
[[traffic]]
kind = "backlogged"
src = 0
dst = 2
start = "10us"
until = "3ms"
count = 2
spacing = "5us"
[[traffic]]
kind = "backlogged"
src = 1
dst = 2
until = "2ms"
[run]
until = "20ms"
stop_when_done = false
check = true
"#;

fn with(set: &[(&str, &str)]) -> Run {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    finish(&scenario(RIGHT, Path::new("."), &set))
}

fn words(run: &Run, name: &str) -> Vec<String> {
    let tables = run.tables();
    let column = tables[0].columns.iter().find(|c| c.name == name).expect("a column");
    match &column.data {
        ColumnData::Text(v) => v.clone(),
        ColumnData::MaybeText(v) => {
            v.iter().map(|word| word.clone().unwrap_or_else(|| "null".into())).collect()
        }
        other => panic!("{other:?}"),
    }
}

const FABRIC: &str = "{scheduler=\"fifo\",inputs={memory=\"60KB\"},pfc={}}";

/// What it is called, settings, and the bytes of which a flow has whole ones only.
type Row = (&'static str, &'static [(&'static str, &'static str)], i128);
const TRANSPORTS: &[Row] = &[
    ("tcp", &[("transport", "{kind=\"tcp\",rto={kind=\"fixed\",value=\"1ms\"}}")], 1460),
    (
        "tcp without sack",
        &[("transport", "{kind=\"tcp\",sack=\"off\",handshake=true,rto={kind=\"fixed\",value=\"1ms\"}}")],
        1460,
    ),
    (
        "tcp, delayed acks",
        &[("transport", "{kind=\"tcp\",delayed_acks={kind=\"on\"},rto={kind=\"fixed\",value=\"1ms\"}}")],
        1460,
    ),
    ("udp", &[("transport", "{kind=\"udp\",pace={constant=\"3Gbps\"}}")], 1460),
    ("irn", &[("transport", "{kind=\"rdma\"}")], 1024),
    (
        "irn, one ack per segment",
        &[("transport", "{kind=\"rdma\",acks=\"per-segment\",rtt={segment=3}}")],
        3 * 1024,
    ),
    (
        "go-back-n",
        &[("transport", "{kind=\"rdma\",recovery=\"go-back-n\"}"), ("nic.order", "round-robin")],
        1024,
    ),
    (
        "silent",
        &[
            ("transport", "{kind=\"rdma\",recovery=\"go-back-n\"}"),
            ("switch", FABRIC),
            ("nic.order", "round-robin"),
        ],
        1024,
    ),
    (
        "no timer, one ack per segment",
        &[
            ("transport", "{kind=\"rdma\",recovery=\"go-back-n\",acks=\"per-segment\"}"),
            ("switch", FABRIC),
            ("nic.order", "round-robin"),
        ],
        16 * 1024,
    ),
    (
        "posted segments",
        &[
            (
                "transport",
                "{kind=\"rdma\",recovery=\"go-back-n\",congestion=\"timely\",segments={bytes=\"16KB\",outstanding=2}}",
            ),
            ("switch", FABRIC),
        ],
        16_000,
    ),
];

#[test]
fn flows_stop_with_what_they_have_sent_and_nothing_of_it_is_lost() {
    for (name, set, unit) in TRANSPORTS {
        let run = with(set);
        // Open-loop datagrams that were dropped are gone.
        let lossy = *name == "udp";
        let (until, sent) = ([3_000_000_000, 3_000_000_000, 2_000_000_000], column(&run, "flows", "packets"));
        let (received, delivered) =
            (column(&run, "flows", "received_ps"), column(&run, "flows", "delivered"));
        let (fct, again) = (column(&run, "flows", "fct_ps"), column(&run, "flows", "retransmissions"));
        let ends = words(&run, "end");
        for flow in 0..3 {
            // Flows are in the order of their starts: the second section's is first.
            let until = until[(flow + 2) % 3];
            assert!(delivered[flow] > 50_000, "{name}");
            assert_eq!(fct[flow], -1, "{name}: a flow without a size has no completion time");
            if lossy && ends[flow] != "stopped" {
                continue;
            }
            assert_eq!(ends[flow], "stopped", "{name}, flow {flow}: {:?}", words(&run, "reason"));
            assert_eq!(delivered[flow] % unit, 0, "{name}: {}", delivered[flow]);
            assert!(
                received[flow] >= until && received[flow] < until + 8_000_000_000,
                "{name}: {}",
                received[flow]
            );
            let fresh = sent[flow] - again[flow];
            assert!(
                delivered[flow] <= fresh * 1460 && (lossy || delivered[flow] >= (fresh - 16) * 1000),
                "{name}"
            );
        }
        let flows = &run.summary()["flows"];
        assert!(lossy || flows["stopped"] == 3, "{name}: {flows}");
        assert_eq!((&flows["completed"], &flows["not_started"]), (&0.into(), &0.into()));
    }
}

#[test]
fn silence_follows() {
    // The link to host 2 carries nothing once all are over, and stopping takes no time of its own: TCP without losses.
    let run = with(&[("transport.max_window", "20pkts"), ("switch.buffer", "1000pkts")]);
    let received = column(&run, "flows", "received_ps");
    // 20 packets of each of three flows wait at most: 60 x 1.2 us.
    assert!(received.iter().all(|at| *at < 3_000_000_000 + 80_000_000), "{received:?}");
    assert_eq!(column(&run, "flows", "retransmissions"), [0, 0, 0]);
}

#[test]
fn a_flow_that_waits_for_its_connection_stops_with_nothing() {
    let run = with(&[("transport", "{kind=\"rdma\"}"), ("traffic.0.connection", "per-pair")]);
    assert_eq!(words(&run, "end"), ["stopped", "stopped", "stopped"]);
    let delivered = column(&run, "flows", "delivered");
    assert!(delivered[1] > 0);
    assert_eq!(delivered[2], 0, "its connection was busy to the end");
}

#[test]
fn without_it_nothing_stops() {
    let never = "[{kind=\"backlogged\",src=0,dst=2},{kind=\"backlogged\",src=1,dst=2,until=\"19ms\"}]";
    let run = with(&[("traffic", never), ("transport.rto", "{kind=\"fixed\",value=\"1ms\"}")]);
    assert_eq!(words(&run, "end"), ["censored", "stopped"]);
}

#[track_caller]
fn wrong(text: &str, expected: &str) {
    match load(text, "s.toml", Path::new("."), &[]) {
        Ok(_) => panic!("accepted"),
        Err(errors) => assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]),
    }
}

#[test]
fn what_cannot_be_is_refused() {
    wrong(
        &RIGHT.replace("until = \"3ms\"", "until = \"15us\""),
        "s.toml:10: `traffic.0.until`: 15us is not after the start, 15us; stop later or start earlier",
    );
    wrong(
        &RIGHT.replace("until = \"3ms\"", "until = \"20ms\""),
        "s.toml:10: `traffic.0.until`: 20ms is not before the end of the run, 20ms; start earlier or raise `run.until`",
    );
    let finite = "topology = \"pair\"\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1KB\"\nuntil = \"1ms\"\n";
    let known = "class, connection, dst, measured, name, size, src, start, transport, weight";
    wrong(finite, &format!("s.toml:7: `traffic.0.until`: unknown key; known: {known}"));
}

/// A measured flow without end is never complete: the run goes on to its end, and with it the measured window.
#[test]
fn a_measured_flow_without_end_keeps_a_run_from_stopping_early() {
    let ended = |measured: bool| {
        let text = format!(
            "[topology]\nkind = \"star\"\nhosts = 3\nrate = \"10Gbps\"\n[[traffic]]\nkind = \"backlogged\"\nsrc = 0\n\
             dst = 1\nmeasured = {measured}\n[[traffic]]\nkind = \"flow\"\nsrc = 2\ndst = 1\nsize = \"100KB\"\n\
             start = \"1ms\"\n[measure]\nfrom = \"0.5ms\"\nuntil = \"8ms\"\n[run]\nuntil = \"10ms\"\n"
        );
        let summary = crate::common::run(&text).summary();
        (
            summary["simulated_seconds"].as_f64().expect("s"),
            summary["endless"]["sum_gbps"].as_f64().expect("Gb/s"),
        )
    };
    let ((short, _), (long, rate)) = (ended(false), ended(true));
    assert!(short < 0.003 && long == 0.01, "{short} {long}");
    assert!((9.5..9.75).contains(&rate), "{rate}: 1460 of 1500 B, less what the other flow had");
}
