//! RC3 in scenarios: what is refused, literally, and that it keeps the simulator's laws and helps.

use crate::common::*;
use std::path::Path;
use thalweg_scenario::load;

const RIGHT: &str = r#"
topology = { kind = "star", hosts = 3, rate = "1Gbps", delay = "1ms" }
switch = { buffer = "100KB", scheduler = { kind = "priority", classes = 5, control = "by-class" } }
[nic]
buffer = "unlimited"
[transport]
initial_window = "4pkts"
rc3 = {}
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "300KB"
[[traffic]]
kind = "flow"
src = 2
dst = 1
size = "200001B"
[run]
until = "1s"
check = true
"#;

#[track_caller]
fn wrong(set: &[(&str, &str)], expected: &str) {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let message = match load(RIGHT, "s.toml", Path::new("."), &set) {
        Ok(_) => "nothing".to_owned(),
        Err(errors) => errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    };
    assert!(message.lines().any(|line| line.ends_with(expected)), "{message}\nexpected: {expected}");
}

#[test]
fn what_cannot_work_or_has_no_effect_is_refused() {
    wrong(
        &[("switch.scheduler", "fifo")],
        "`transport.rc3`: no scheduler serves by class, so packets of rc3 would delay all others; write `switch.scheduler = { kind = \"priority\", classes = 5, control = \"by-class\" }`",
    );
    wrong(
        &[("switch.scheduler.classes", "3")],
        "`transport.rc3.levels`: it has no effect: 4 levels below the flow's class need more classes than the 3 that there are; at most 2, or give the scheduler more `classes`",
    );
    wrong(
        &[("transport.rc3.first", "0")],
        "`transport.rc3.first`: 0 is out of range; allowed: at least 1 and at most 1000000",
    );
    wrong(
        &[("transport.delayed_acks", "on")],
        "`transport.delayed_acks`: rc3 needs an ACK for each packet; write \"off\"",
    );
    wrong(
        &[("transport.ack_class", "data")],
        "`transport.ack_class`: it has no effect: with rc3 ACKs always have the class of their data; remove the key",
    );
    wrong(
        &[("transport.loss", "timeout-only")],
        "`transport.loss`: the primary loop of rc3 acts on duplicate ACKs; write \"dup-ack\"",
    );
    wrong(
        &[("traffic.0", "{kind=\"backlogged\",src=0,dst=1}")],
        "rc3 sends the end of a flow first, and a flow without end has none; give it a size, or remove `rc3`",
    );
    wrong(
        &[("transport.rc3.mode", "pull"), ("transport.rc3.together", "8")],
        "`transport.rc3.together`: with `pull` packets are handed over one by one; remove the key, or write `mode = \"push\"`",
    );
    wrong(
        &[("transport.rc3.mode", "pull"), ("nic.order", "round-robin")],
        "`transport.rc3.mode`: `pull` waits for the queue of a NIC to be empty, and with this `nic.order` NICs have no queue; write \"push\": such NICs pull every packet when the link is free",
    );
    wrong(
        &[("transport.rc3.mode", "pull"), ("switch.cut_through", "64B")],
        "`switch.cut_through`: rc3's `pull` needs store and forward; remove one of them",
    );
    wrong(
        &[("transport.rc3.mode", "pull"), ("switch.preemptive", "true")],
        "`switch.preemptive`: rc3's `pull` needs transmissions that are not interrupted; remove one of them",
    );
    wrong(
        &[("transport.rc3.mode", "pull"), ("transport.rc3.flush", "true")],
        "`transport.rc3.flush`: it has no effect: NICs pull these packets, so none of them waits in a queue; remove the key",
    );
    wrong(
        &[("nic.scheduler", "fifo"), ("transport.rc3.flush", "true")],
        "`transport.rc3.flush`: packets cannot be removed from the queue of `nic.scheduler`; write `nic.scheduler = { kind = \"priority\", .. }`, or remove the key",
    );
    wrong(
        &[("transport.rc3.mode", "pul")],
        "`transport.rc3.mode`: `pul` is not a choice; did you mean `pull`? (known: push, pull)",
    );
    wrong(
        &[("transport.writes", "{first=\"1KB\",chunk=\"0B\",every=\"1ms\"}")],
        "`transport.writes.chunk`: an application that writes 0 bytes at a time never finishes; for example \"64KB\"",
    );
}

/// Two flows that overflow a port: every law is checked after every event, and both are faster than with TCP alone.
#[test]
fn it_keeps_the_laws_and_is_faster() {
    let set = |k: &str, v: &str| (k.to_owned(), v.to_owned());
    let fct = |settings: &[(String, String)]| {
        let run = finish(&scenario(RIGHT, Path::new("."), settings));
        (column(&run, "flows", "fct_ps"), column(&run, "flows", "drops"))
    };
    let (rc3, drops) = fct(&[]);
    let tcp = RIGHT.replace("rc3 = {}\n", "").replace(
        "scheduler = { kind = \"priority\", classes = 5, control = \"by-class\" }",
        "scheduler = \"fifo\"",
    );
    let (plain, _) = {
        let run = finish(&scenario(&tcp, Path::new("."), &[]));
        (column(&run, "flows", "fct_ps"), 0)
    };
    assert!(drops.iter().sum::<i128>() > 0, "nothing is pushed out");
    assert!(rc3.iter().zip(&plain).all(|(r, t)| 0 < *r && r < t), "{rc3:?} {plain:?}");
    let (pull, _) = fct(&[set("transport.rc3.mode", "pull")]);
    assert!(pull.iter().zip(&plain).all(|(r, t)| 0 < *r && r < t), "{pull:?} {plain:?}");
    // Two flows of one host: TCP fills its link, and what the second loop has handed over waits until they are over.
    let long = [set("traffic.0.size", "3MB"), set("traffic.1.size", "3MB"), set("traffic.1.src", "0")];
    let (kept, before) = fct(&long);
    let (taken, after) = fct(&[&long[..], &[set("transport.rc3.flush", "true")]].concat());
    assert_eq!(kept, taken, "it is over when it is taken back");
    assert!(before.iter().all(|x| *x == 0) && after.iter().all(|x| *x > 100), "{before:?} {after:?}");
    let (levels, _) = fct(&[set("transport.rc3.levels", "1")]);
    assert!(levels.iter().all(|x| *x > 0));
}

/// A cut and resumed run is the straight one, writers and second loop included.
#[test]
fn a_cut_run_goes_on_as_if_it_had_not_been_cut() {
    let video = ("transport.writes".to_owned(), "{first=\"100KB\",chunk=\"20KB\",every=\"2ms\"}".to_owned());
    for (key, value) in [("first", "40"), ("mode", "pull"), ("flush", "true")] {
        let set = [video.clone(), (format!("transport.rc3.{key}"), value.to_owned())];
        let s = scenario(RIGHT, Path::new("."), &set);
        let straight = finish(&s);
        let mut cut = thalweg_lab::Run::new(&s).expect("a run");
        while cut.step(200) {
            cut = thalweg_lab::Run::load(&cut.save()).expect("resumed");
        }
        assert_eq!(cut.digest(), straight.digest(), "{key}");
    }
}
