use super::super::tests::{ends, in_folder};
use super::*;
use thalweg_net::spec::{Edge, End, NetworkSpec, Predecessor, Step};
use thalweg_units::{FlowId, HostId, Time, WorkId};

fn network(trace: &str, keys: &str) -> NetworkSpec {
    try_network(trace, keys).unwrap_or_else(|e| panic!("{e}"))
}

fn try_network(trace: &str, keys: &str) -> Result<NetworkSpec, Diagnostic> {
    in_folder(4, &[("t.goal", trace)], &format!("kind = \"goal\"\nfile = \"t.goal\"\n{keys}"))
}

fn refused(trace: &str, keys: &str) -> String {
    try_network(trace, keys).expect_err("refused").to_string()
}

fn received(flow: u32) -> Predecessor {
    Predecessor::Flow { flow: FlowId(flow), end: End::Received }
}

fn ended(work: u32) -> Predecessor {
    Predecessor::Work { work: WorkId(work), edge: Edge::Ended }
}

fn of(net: &NetworkSpec, step: Step) -> Vec<Predecessor> {
    net.precedence.of_step(step).to_vec()
}

fn flow(number: u32) -> Step {
    Step::Flow(FlowId(number))
}

fn work(number: u32) -> Step {
    Step::Work(WorkId(number))
}

const REQUEST: &str = "num_ranks 2\n\
    rank 0 { a: calc 100 cpu 3\n b: send 10b to 1\n b requires a\n c: recv 0b from 1 tag 2\n\
    d: calc 7\n d irequires a\n d requires c }\n\
    rank 1 { a: recv 10b from 0\n b: calc 50\n b requires a\n c: send 0b to 0 tag 2\n c irequires b }\n";

#[test]
fn messages_are_flows_and_computations_keep_processors_busy() {
    let net = network(REQUEST, "hosts = [2, 1]\nstart = \"5us\"");
    assert_eq!(ends(&net.flows), [(2, 1), (1, 2)]);
    assert_eq!(
        net.flows.iter().map(|f| (f.size, f.start)).collect::<Vec<_>>(),
        [(10, Time::ZERO), (1, Time::ZERO)]
    );
    let works: Vec<_> = net.works.iter().map(|w| (w.host, w.cpu, w.start, w.lasts)).collect();
    let ns = Span::from_ns;
    let first = (HostId(2), Some(3), Time::from_us(5), ns(100));
    assert_eq!(works[..2], [first, (HostId(1), Some(0), Time::ZERO, ns(50))]);
    assert_eq!(works[2], (HostId(2), Some(0), Time::ZERO, ns(7)));
    assert_eq!((of(&net, flow(0)), of(&net, work(0))), (vec![ended(0)], vec![]));
    assert_eq!(of(&net, work(1)), [received(0)]);
    let begun = |work| Predecessor::Work { work: WorkId(work), edge: Edge::Begun };
    assert_eq!(of(&net, flow(1)), [begun(1)], "it may start as the computation does");
    assert_eq!(of(&net, work(2)), [received(1), begun(0)]);
}

#[test]
fn overhead_is_time_of_the_processor_before_and_after_a_message() {
    let net = network(REQUEST, "overhead = \"3ns\"");
    let lasts: Vec<u64> = net.works.iter().map(|w| w.lasts.ps() / 1000).collect();
    assert_eq!(lasts, [100, 3, 3, 50, 3, 3, 7]);
    assert_eq!((of(&net, work(1)), of(&net, flow(0))), (vec![ended(0)], vec![ended(1)]));
    assert_eq!((of(&net, work(2)), of(&net, work(3))), (vec![received(0)], vec![ended(2)]));
}

#[test]
fn a_large_message_waits_until_its_receive_is_posted() {
    let trace = "num_ranks 2\nrank 0 { a: send 11b to 1\n b: calc 5\n b requires a\n send 10b to 1 tag 1 }\n\
        rank 1 { a: calc 9\n b: recv 11b from 0\n b requires a\n recv 10b from 0 tag 1 }";
    let eager = network(trace, "");
    assert_eq!((of(&eager, flow(0)), of(&eager, work(0))), (vec![], vec![]));
    let net = network(trace, "rendezvous = \"10B\"");
    // The small one starts by the clock and is therefore first.
    assert_eq!(net.flows.iter().map(|f| f.size).collect::<Vec<_>>(), [10, 11]);
    let posts = net.works.iter().position(|w| w.lasts == Span::from_ns(9)).expect("rank 1 computes") as u32;
    assert_eq!((of(&net, flow(0)), of(&net, flow(1))), (vec![], vec![ended(posts)]));
    let started = Predecessor::Flow { flow: FlowId(1), end: End::Started };
    assert_eq!(of(&net, work(1 - posts)), [started], "the send is over as it is handed over");
    let none = refused(trace, "rendezvous = \"11B\"");
    assert!(none.contains("it has no effect: no message is larger than 11B"), "{none}");
}

/// Of many instants that several wait for, one is made.
#[test]
fn what_waits_for_much_together_waits_for_one_instant() {
    let mut trace = String::from("num_ranks 2\nrank 0 {\n");
    for n in 0..9 {
        trace.push_str(&format!(
            "s{n}: send 1b to 1 tag {n}\nr{n}: recv 1b from 1 tag {n}\nlast requires r{n}\n"
        ));
    }
    trace.push_str("last: calc 3\nnext: calc 4\nnext irequires last }\nrank 1 {\n");
    for n in 0..9 {
        trace.push_str(&format!(
            "r{n}: recv 1b from 0 tag {n}\ns{n}: send 1b to 0 tag {n}\ns{n} requires r{n}\n"
        ));
    }
    trace.push('}');
    let net = network(&trace, "");
    let works: Vec<_> = net.works.iter().map(|w| (w.cpu, w.lasts.ps() / 1000)).collect();
    assert_eq!(works, [(None, 0), (Some(0), 3), (Some(0), 4)]);
    assert_eq!((of(&net, work(0)).len(), of(&net, work(1))), (9, vec![ended(0)]));
}

#[test]
fn what_cannot_be_run_is_refused() {
    let circle = "num_ranks 2\nrank 0 { a: recv 1b from 1\n b: send 1b to 1\n b requires a }\n\
        rank 1 { a: recv 1b from 0\n b: send 1b to 0\n b requires a }";
    let e = refused(circle, "");
    assert!(e.contains("operations wait for each other in a cycle: lines"), "{e}");
    let e = refused("num_ranks 1 rank 0 { calc 5 }", "");
    assert!(e.contains("t.goal:1: the trace contains no messages; remove the section"), "{e}");
    let e = refused(REQUEST, "hosts = [0, 1, 2]");
    assert!(e.contains("the trace has 2 ranks, and 3 hosts are named"), "{e}");
    let e = refused(&REQUEST.replace("num_ranks 2", "num_ranks 5"), "");
    assert!(e.contains("the trace has 5 ranks, and the network only 4 hosts"), "{e}");
    let e = refused(&REQUEST.replace("10b from", "11b from"), "");
    assert!(e.contains("t.goal:9: it has 11 bytes, and the other end in line 3 has 10"), "{e}");
    // A receive that is posted after what it waits for itself: only large messages wait for that.
    let late = "num_ranks 2\nrank 0 { a: send 9b to 1\n b: send 9b to 1 tag 1\n b requires a }\n\
        rank 1 { a: recv 9b from 0 tag 1\n b: recv 9b from 0\n b requires a }";
    network(late, "");
    let e = refused(late, "rendezvous = \"8B\"");
    assert!(e.contains("operations wait for each other in a cycle"), "{e}");
}

#[test]
fn estimates_count_flows_and_bytes_and_take_chains_into_account() {
    let trace = goal::parse(REQUEST).expect("a trace");
    let job = assemble(&trace, &[0, 1], Span::ZERO, u64::MAX).expect("no circle");
    let graph = crate::topology::Graph::new(4, 1);
    let e = job.expected(&graph);
    assert_eq!((e.flows, e.bytes, e.endless), (2.0, 11.0, 0.0));
    assert!(e.span >= 100e-9 && e.active > 0.0, "{e:?}");
}
