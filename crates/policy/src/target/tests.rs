//! The refusals of each target, for small policies and for the library.

use super::*;
use crate::check;

fn policy(text: &str) -> Policy {
    check(text, "test.oq").unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn refused(text: &str, target: Target) -> Vec<String> {
    refusals(&policy(text), target).iter().map(ToString::to_string).collect()
}

fn of_library(name: &str, target: Target) -> Vec<String> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("library/{name}.oq"));
    refused(&std::fs::read_to_string(path).expect("a policy of the library"), target)
}

/// The policies of the library that a queueing discipline supports.
const FITS: &[&str] = &[
    "a1",
    "algorithm-b",
    "algorithm-c",
    "crr",
    "fifo",
    "lqf",
    "maxqf",
    "minqf",
    "policy-file",
    "rfifo",
    "sqf",
    "strict",
    "tail-drop",
    "two-priorities",
    "wfq",
];

#[test]
fn rust_keeps_everything_and_a_discipline_what_one_port_can() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
    for entry in std::fs::read_dir(folder).expect("the library") {
        let name = entry.expect("a file").path().file_stem().expect("a name").to_string_lossy().into_owned();
        assert!(of_library(&name, Target::Rust).is_empty());
        let found = of_library(&name, Target::BpfQdisc);
        assert_eq!(found.is_empty(), FITS.contains(&name.as_str()), "{name}: {found:?}");
    }
}

#[test]
fn a_discipline_is_of_one_port_and_of_packets_that_carry_what_it_reads() {
    assert_eq!(
        of_library("lqd", Target::BpfQdisc),
        ["ports out[1] to out[4]: it is attached to one device, which is one port: a file for each port"]
    );
    let lstf = of_library("lstf", Target::BpfQdisc);
    assert_eq!(lstf[0], "queue q, admPrio: packets here have no `slack`: use TOS, size, flow or arrival");
    assert_eq!(of_library("srpt", Target::BpfQdisc).len(), 2);
    assert_eq!(
        of_library("steps", Target::BpfQdisc),
        [
            "queue q, postAdmAct: the kernel lets no discipline in BPF write into packets, so `mark` has no effect: \
          drop, notify, or marks by what a packet says in the target tc-bpf"
        ]
    );
    assert!(of_library("a3", Target::BpfQdisc).iter().any(|one| one.starts_with("port in[1], connect: ")));
    let wide = "wide(p1, p2) = (p1.value * p1.size < p2.value * p2.size) q = Queue(9); out = Port(q);\n\
                q.procPrio = wide;";
    assert_eq!(
        refused(wide, Target::BpfQdisc),
        ["queue q, procPrio: it needs more than 64 bits on the way, which the target does not have: \
          compare smaller numbers, such as size or TOS"]
    );
}

#[test]
fn a_program_of_tc_keeps_what_looks_at_single_packets_and_nothing_that_waits() {
    let police = "police(q, p) = (p.TOS < 8 && p.size > 1000, drop(1)).(p.TOS < 8, mark & drop(0.5));\n\
                  q = Queue(64 pkts); out = Port(q); q.congestion = police;";
    assert!(refused(police, Target::TcBpf).is_empty());
    let twice = police.replace("mark & drop(0.5)", "drop(1) & drop(1)");
    assert_eq!(
        refused(&twice, Target::TcBpf),
        ["queue q, congestion: no packet that waits can be given up: one `drop` in each case"]
    );
    let after = "q = Queue(64 pkts); out = Port(q); q.postAdmAct = (true, modify(admState := admState + 1));";
    assert_eq!(
        refused(after, Target::TcBpf),
        [
            "queue q, postAdmAct: whether a packet stays is known behind it only: the same in `congestion`, or the target \
          bpf-qdisc"
        ]
    );
    let waits =
        "it does not know what waits: packets leave unseen: the queue's size alone, or the target bpf-qdisc";
    assert_eq!(of_library("fifo", Target::TcBpf), [format!("queue q, congestion: {waits}")]);
    let c = of_library("algorithm-c", Target::TcBpf);
    assert!(c[0].starts_with("queue q, admPrio: no packet that waits can be given up"));
    assert!(c[1].starts_with("queue q, procPrio: it has no queue whose order it could choose"));
    assert!(
        of_library("wfq", Target::TcBpf).iter().any(|one| one.starts_with("port out, postSchedAct: packets"))
    );
    assert!(of_library("a2", Target::TcBpf).iter().any(|one| one.starts_with("buffer memory: ")));
}

#[test]
fn p4_keeps_strict_priorities_marks_behind_the_queue_and_no_order_of_packets() {
    let marks = "strict(q1, q2) = (q1.schedState < q2.schedState) q[1..2] = Queue(64 pkts); out = Port(q[1..2]);\n\
                 q[1].schedState = 1; q[2].schedState = 2; out.schedPrio = strict;\n\
                 q[1..2].postAdmAct = (length >= 20, mark);";
    assert!(refused(marks, Target::P4).is_empty());
    let moving = format!("{marks} out.postSchedAct = (true, modify(schedState := schedState + 1));");
    let moved = refused(&moving, Target::P4);
    assert!(moved[0].starts_with("port out, schedPrio: which queue goes first may not depend"));
    assert!(moved[1].starts_with("port out, postSchedAct: a state here wraps"), "{moved:?}");
    let fifo = of_library("fifo", Target::P4);
    assert_eq!(
        fifo,
        [
            "queue q, congestion: before the queue its depth is not known: the queue's size alone; marks in postAdmAct \
          or postSchedAct"
        ]
    );
    assert!(
        of_library("tail-drop", Target::P4)
            .contains(&"queue q: queues are limited in packets: a size in pkts".to_owned())
    );
    let divides = marks.replace("length >= 20", "length % 3 == 0");
    assert!(refused(&divides, Target::P4)[0].ends_with("P4 does not divide: powers of two"));
    assert!(refused(&marks.replace("length >= 20", "length % 4 == 0"), Target::P4).is_empty());
}
