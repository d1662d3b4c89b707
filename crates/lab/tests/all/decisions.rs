//! Recorded decisions: a replay decides the same, whatever the transport; recording changes nothing else.

use crate::common::*;
use std::path::Path;
use thalweg_lab::{Run, decisions};
use thalweg_scenario::load;

/// Eight flows of two sections into one port that marks and drops.
fn busy(transport: &str, decides: bool) -> String {
    format!(
        "seed = 3\ntransport = {transport}\n[topology]\nkind = \"star\"\nhosts = 5\n[switch]\nbuffer = \"40KB\"\n\
         {}[[traffic]]\nkind = \"incast\"\nfan_in = 4\nsize = \"150KB\"\nperiod = \"2ms\"\nrepeat = 2\n\
         [measure]\ndecisions = {decides}\n[run]\nuntil = \"200ms\"\n",
        if MARKED.iter().any(|name| transport.contains(name)) {
            "marking = { kind = \"step\", threshold = \"15KB\" }\n"
        } else {
            ""
        }
    )
}

/// They make something of marks unless they are kept from it.
const MARKED: [&str; 2] = ["dctcp", "dcqcn"];

const TRANSPORTS: &[&str] = &[
    "{ congestion = \"newreno\" }",
    "{ congestion = \"cubic\", handshake = true }",
    "{ congestion = \"dctcp\" }",
    "{ congestion = \"bbr3\", handshake = true }",
    "{ congestion = \"copa\" }",
    "{ kind = \"rdma\", congestion = \"dcqcn\" }",
    "{ kind = \"rdma\", recovery = \"go-back-n\", congestion = \"timely\" }",
    "{ kind = \"rdma\", congestion = \"hpcc\" }",
];

fn parsed(text: &str) -> thalweg_scenario::Scenario {
    scenario(text, Path::new("."), &[])
}

#[test]
fn a_replay_decides_as_recorded_and_recording_changes_nothing() {
    for transport in TRANSPORTS {
        let (plain, mut recorded) = (run(&busy(transport, false)), run(&busy(transport, true)));
        assert_eq!(plain.digest(), recorded.digest(), "{transport}");
        let file = recorded.take_decisions();
        let found = decisions::replay(&file).unwrap();
        assert_eq!(found.len(), 8, "{transport}");
        for flow in found {
            assert_eq!((flow.same, &flow.differs), (flow.decisions, &None), "{transport}");
            assert!(flow.decisions >= 5, "{transport}: {flow:?}");
        }
        assert!(recorded.take_decisions().len() < 30, "{transport}: nothing has happened since");
    }
}

#[test]
fn a_record_goes_on_where_a_saved_run_does() {
    for transport in TRANSPORTS {
        let spec = parsed(&busy(transport, true));
        let whole = finish(&spec).take_decisions();
        let mut first = Run::new(&spec).unwrap();
        first.step(2000);
        let mut second = Run::load(&first.save()).unwrap();
        while second.step(1 << 20) {}
        assert_eq!(decisions::compare(&whole, &second.take_decisions()).unwrap(), [], "{transport}");
    }
}

#[test]
fn flows_on_one_connection_have_one_record_without_gaps() {
    let text = "[topology]\nkind = \"star\"\nhosts = 3\n[transport]\nkind = \"rdma\"\ncongestion = \"timely\"\n[[traffic]]\n\
         kind = \"poisson\"\nsizes = { fixed = \"30KB\" }\nload = 0.5\nuntil = \"3ms\"\nconnection = \"per-pair\"\n[measure]\n\
         decisions = true\n[run]\nuntil = \"20ms\"\n";
    let mut run = finish(&parsed(text));
    let flows = column(&run, "flows", "id").len();
    let found = decisions::replay(&run.take_decisions()).unwrap();
    assert!(found.len() <= 6 && flows > 20, "{} records of {flows} flows", found.len());
    assert!(found.iter().all(|r| r.differs.is_none() && r.decisions > 100), "{found:?}");
}

#[test]
fn the_first_decision_that_differs_is_named() {
    let record = |beta: f64| {
        let transport = format!("{{ congestion = {{ kind = \"cubic\", beta = {beta} }} }}");
        run(&busy(&transport, true)).take_decisions()
    };
    let found = decisions::compare(&record(0.7), &record(0.6)).unwrap();
    assert_eq!(found.len(), 8);
    assert!(found[0].1.contains("made differently"), "{found:?}");
    let other =
        run(&busy("{ congestion = \"cubic\" }", true).replace("seed = 3", "seed = 4")).take_decisions();
    let found = decisions::compare(&record(0.7), &other).unwrap();
    assert!(found.iter().any(|(_, words)| words.contains("are the same; then")), "{found:?}");
}

#[test]
fn where_nothing_decides_the_key_is_refused() {
    let text = busy("{ kind = \"udp\", pace = { kind = \"constant\", rate = \"1Gbps\" } }", true);
    let all = load(&text, "x.toml", Path::new("."), &[]).unwrap_err();
    assert!(all[0].to_string().contains("no flow has a congestion controller"), "{all:?}");
}
