//! Every class of error about the scheduler `policy`, literally: file, line, key, reason, way out. What is wrong in a
//! policy is of its own file; all classes of that are tests of the language.

use crate::common::Folder;
use std::path::Path;
use thalweg_scenario::{Scenario, load};

/// A scenario that is right.
const RIGHT: &str = r#"topology = { kind = "star", hosts = 3 }
run = { until = "2ms" }
nic = { scheduler = "fifo" }
[switch]
scheduler = { kind = "policy", file = "fifo.oq" }
[[traffic]]
kind = "backlogged"
src = 0
dst = 2
"#;

const FILES: &[(&str, &str)] = &[
    ("fifo.oq", "q = Queue(64 pkts);\nout = Port(q);\n"),
    ("typo.oq", "q = Queue(64 pkts);\nout = Port(r);\n"),
    ("three.oq", "q = Queue(3 pkts);\nout = Port(q);\n"),
    ("other.oq", "r = Queue(3 pkts);\nout = Port(r);\n"),
    ("a2.oq", "q[1..2] = Queue(3 pkts);\nm = Buffer(4 pkts, q[1..2]);\nout[i: 1..2] = Port(q[i]);\n"),
    ("mark.oq", "q = Queue(9 pkts);\nout = Port(q);\nq.postAdmAct = (length > 4, mark);\n"),
    ("slack.oq", "s(a, b) = (a.slack < b.slack)\nq = Queue(9 pkts);\nout = Port(q);\nq.procPrio = s;\n"),
    ("value.oq", "s(a, b) = (a.value > b.value)\nq = Queue(9 pkts);\nout = Port(q);\nq.procPrio = s;\n"),
    (
        "two.oq",
        "s(a, b) = (a.length > b.length)\nq[1..2] = Queue(9 pkts);\nout = Port(q[1..2]);\nout.schedPrio = s;\n",
    ),
];

fn loaded(text: &str, dir: &Path) -> Result<Scenario, Vec<String>> {
    load(text, "s.toml", dir, &[]).map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

#[test]
fn mistakes_in_policies_and_settings_in_vain_are_reported_where_they_stand() {
    let dir = Folder::new("errors-policy", FILES);
    let policy = "{ kind = \"policy\", file = \"fifo.oq\" }";
    let of = |text: &str| RIGHT.replace(policy, text);
    let scheduler = |rest: &str| of(&format!("{{ kind = \"policy\", {rest} }}"));
    let scenario = loaded(RIGHT, &dir.0).expect("right");
    assert_eq!(scenario.files(), ["fifo.oq"]);
    assert_eq!(loaded(&scenario.to_toml(), &dir.0), Ok(scenario));
    let cases = [
        (
            scheduler("file = \"typo.oq\""),
            "typo.oq:2: column 12: `r` is declared nowhere; declare it, or correct the name",
        ),
        (
            scheduler("text = \"q = Queue(64 pkts); out = Port(r);\""),
            "s.toml:5: `switch.scheduler.text`: line 1, column 32: `r` is declared nowhere; declare it, or correct the name",
        ),
        (
            scheduler("file = \"fivo.oq\""),
            "s.toml:5: `switch.scheduler.file`: there is no file `fivo.oq`; did you mean `fifo.oq`? (paths are relative to the scenario)",
        ),
        (
            of("\"policy\""),
            "s.toml:5: `switch.scheduler`: there is no policy; write `file = \"fifo.oq\"`, or `text = \"..\"`",
        ),
        (
            scheduler("file = \"fifo.oq\", text = \"q = Queue(64 pkts); out = Port(q);\""),
            "s.toml:5: `switch.scheduler.text`: `file` and `text` cannot both be given; remove one",
        ),
        (
            scheduler("file = \"a2.oq\""),
            "s.toml:5: `switch.scheduler`: node 3 (`switch0`) has 3 ports, and the policy that they run together is written for 2; write it for as many ports as the largest switch has",
        ),
        (
            RIGHT.replace("[switch]", "[switch]\nbuffer = \"50KB\""),
            "s.toml:5: `switch.buffer`: it has no effect: the scheduler `policy` limits its queue itself; remove the key, or write \"unlimited\"",
        ),
        (
            RIGHT.replace("[switch]", "[switch]\nmarking = { kind = \"red\", min = 5, max = 15 }"),
            "s.toml:5: `switch.marking`: it has no effect: the scheduler `policy` has marking of its own; write \"none\"",
        ),
        (
            RIGHT.replace("[switch]", "[switch]\ninputs = { memory = \"240KB\" }"),
            "s.toml:6: `switch.scheduler`: with memory by input, output queues have no limit of their own, and the scheduler `policy` sets one; write another scheduler, or remove `switch.inputs`",
        ),
        (
            scheduler("file = \"mark.oq\""),
            "s.toml:5: `switch.scheduler`: it has no effect: it marks packets, and no transport is ECN-capable; write `transport.ecn = \"accurate\"`, or remove what marks",
        ),
        (
            scheduler("file = \"slack.oq\""),
            "s.toml:5: `switch.scheduler`: the scheduler lstf sorts by slack, and packets carry none; write [slack], for example with `kind = \"constant\"`",
        ),
        (
            scheduler("file = \"value.oq\", value = \"rank\""),
            "s.toml:5: `switch.scheduler`: the scheduler sorts by rank, and no sender writes one; write `transport.rank = \"flow-size\"`, or [slack]",
        ),
        (
            scheduler("file = \"value.oq\""),
            "s.toml:5: `switch.scheduler`: it has no effect: all traffic is of class 0; write `class = 1` in a [[traffic]] section, or another scheduler",
        ),
        (
            scheduler("file = \"two.oq\"").replace("dst = 2", "dst = 2\nclass = 2"),
            "s.toml:10: `traffic.0.class`: there is no class 2; classes are 0 to 1",
        ),
        (
            scheduler("file = \"fifo.oq\", value = \"rank\""),
            "s.toml:5: `switch.scheduler.value`: it has no effect: the policy does not read `value`; remove the key",
        ),
        (
            RIGHT.replace("[switch]", "[switch]\npreemptive = true"),
            "s.toml:5: `switch.preemptive`: `switch.scheduler` never ranks a later packet before the one in transmission; remove the key, or use priority, sjf, srpt, lifo, random, lstf or pifo",
        ),
        (
            RIGHT
                .replace(
                    "[switch]",
                    "[switch]\nshared_buffer = { total = \"50KB\", sharing = \"longest-queue\" }",
                )
                .replace("fifo.oq", "two.oq")
                .replace("dst = 2", "dst = 2\nclass = 1"),
            "s.toml:5: `switch.shared_buffer.sharing.kind`: the policy pushes waiting packets out of queues, which `switch.scheduler` does not allow; use another scheduler than policy, or another `sharing`",
        ),
        (
            scheduler("file = \"fifo.oq\", changes = [{ at = \"1ms\", file = \"other.oq\" }]"),
            "s.toml:5: `switch.scheduler.changes.0.file`: the new policy has other queues or ports: give it the same names in the same order; packets join queues by their numbers",
        ),
        (
            scheduler("file = \"fifo.oq\", changes = [{ at = \"1ms\", file = \"three.oq\", ports = [9] }]"),
            "s.toml:5: `switch.scheduler.changes.0.ports.0`: there is no port 9; ports are 0 to 5",
        ),
        (
            scheduler("file = \"fifo.oq\", changes = [{ at = \"1ms\", file = \"three.oq\", ports = [0] }]"),
            "s.toml:5: `switch.scheduler.changes.0.ports.0`: it has no effect: port 0 belongs to node 0, which runs another scheduler; the other direction of the link is port 1",
        ),
        (
            scheduler("file = \"fifo.oq\", changes = [{ at = \"5ms\", file = \"three.oq\" }]"),
            "s.toml:5: `switch.scheduler.changes.0.at`: it has no effect: the run ends at 2ms; write an earlier time or raise `run.until`",
        ),
        (
            scheduler("file = \"fifo.oq\", changes = [{ at = \"1ms\" }]"),
            "s.toml:5: `switch.scheduler.changes.0`: there is no policy; write `file = \"fifo.oq\"`, or `text = \"..\"`",
        ),
    ];
    let wrong = |(text, expected): (String, &str)| {
        let found = loaded(&text, &dir.0).map(|_| ());
        (found != Err(vec![expected.to_owned()])).then(|| format!("{found:?}\n instead of {expected}"))
    };
    let wrong: Vec<String> = cases.into_iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_policy_over_memory_that_ports_share_gives_up_its_victim() {
    let dir = Folder::new("errors-policy-shared", FILES);
    let shared = "[switch]\nshared_buffer = { total = \"50KB\", sharing = \"longest-queue\" }";
    assert!(loaded(&RIGHT.replace("[switch]", shared), &dir.0).is_ok());
}
