//! Worked examples, and the orders that are written in Rust as oracles of the same ones as policies.

use super::*;
use crate::schedule::{Discipline, DisciplineSpec, OrderSpec, Queue, Verdict, pifo, priority, srpt};
use thalweg_units::{Bytes, FlowId, HostId, Rate, Stream, Time};
use thalweg_wire::{Ecn, Handle, Packet};

const FIFO: &str = "q = Queue(12000 bytes); out = Port(q);";

/// What the laws of all orders are tried on.
pub(super) fn variants() -> Vec<Params> {
    // One structure, two, and none with a key.
    let shared =
        "big(a, b) = (a.size > b.size) q = Queue(20 pkts); out = Port(q); q.admPrio = big; q.procPrio = big;
                  q.congestion = (currSize >= 0.5 * size, drop(0.5)); q.postAdmAct = (length > 3, mark);";
    let dense = "dense(a, b) = (a.value * b.size > b.value * a.size) few(a, b) = (a.flow % 8 < b.flow % 8)
                 q = Queue(30 pkts); out = Port(q); q.admPrio = dense; q.procPrio = few;";
    // Several queues that share a buffer; and so many that the best is kept.
    let several = |queues: u32| {
        format!(
            "least(a, b) = (a.schedState < b.schedState) long(a, b) = (a.currSize < b.currSize)
             q[1..{queues}] = Queue(9000 bytes); all = Buffer(15000 bytes, q[1..{queues}]); out = Port(q[1..{queues}]);
             all.queuePrio = long; out.schedPrio = least; out.postSchedAct = served; out.returning = catchUp;
             served(o, p) = (true, modify(schedState := schedState + p.size) & mark);"
        )
    };
    let at = |us, text: &str| Change {
        at: Span::from_us(us),
        file: None,
        text: Some(Text::new(text)),
        ports: None,
    };
    let lifo = "late(a, b) = (a.arrival > b.arrival) q = Queue(9 pkts); out = Port(q); q.procPrio = late;";
    vec![
        Params::of(FIFO),
        Params { value: Value::Rank, ..Params::of(shared) },
        Params::of(dense),
        Params::of(&several(3)),
        Params { classify: Classify::Flow, ..Params::of(&several(20)) },
        Params { changes: vec![at(200, lifo), at(300, FIFO)], ..Params::of(FIFO) },
    ]
}

fn queue(order: impl Into<OrderSpec>, limit: Limit) -> Queue {
    let spec = DisciplineSpec {
        order: order.into(),
        limit,
        front: Vec::new(),
        stage: StageSpec::default(),
        preemptive: false,
    };
    spec.make(Stream::new(1, "queue", 0), Rate::from_gbps(8)).expect("a policy that a port can keep")
}

fn refused(params: &Params) -> String {
    let spec = DisciplineSpec {
        order: params.clone().into(),
        limit: Limit::Unlimited,
        front: Vec::new(),
        stage: StageSpec::default(),
        preemptive: false,
    };
    spec.make(Stream::new(1, "queue", 0), Rate::from_gbps(8)).expect_err("refused").to_string()
}

/// What happened: verdicts, who was pushed out, who left.
#[derive(PartialEq, Debug, Default)]
struct Seen {
    verdicts: Vec<Verdict>,
    out: Vec<Handle>,
    left: Vec<Option<Handle>>,
}

/// A random course: phases that fill and phases that drain.
fn course(mut queue: Queue, seed: u64, drawn: impl Fn(&mut Stream) -> Packet) -> Seen {
    let (mut draw, mut seen, mut now) = (Stream::new(seed, "course", 0), Seen::default(), Time::ZERO);
    for nth in 0..20_000u32 {
        now += Span::from_ns(draw.below(1500));
        let fills = draw.below(10) < if nth / 64 % 3 == 2 { 3 } else { 6 };
        if fills {
            seen.verdicts.push(queue.enqueue(now, &drawn(&mut draw), Handle(nth), &mut seen.out));
        } else {
            let served = queue.dequeue(now, &mut seen.out);
            seen.left.push(served.map(|served| served.handle));
        }
    }
    assert!(seen.verdicts.contains(&Verdict::Dropped) && seen.left.iter().flatten().count() > 5_000);
    seen
}

fn packet(draw: &mut Stream) -> Packet {
    Packet {
        flow: FlowId(draw.below(9) as u32),
        dst: HostId(draw.below(4) as u32),
        rank: draw.below(12) as i64 * 2000,
        class: draw.below(3) as u8,
        wire: 64 + draw.below(1400) as u32,
        ecn: if draw.below(2) == 0 { Ecn::Ect0 } else { Ecn::NotEct },
        ..Packet::default()
    }
}

fn alike(params: Params, order: impl Into<OrderSpec>, limit: Limit, drawn: fn(&mut Stream) -> Packet) {
    let order = order.into();
    for seed in 0..4 {
        let policy = course(queue(params.clone(), Limit::Unlimited), seed, drawn);
        let hand = course(queue(order.clone(), limit), seed, drawn);
        assert!(policy == hand, "not as {order:?}");
    }
}

#[test]
fn fifo_with_tail_drop_is_the_order_fifo_in_bytes_and_in_packets() {
    let bytes = "full(q, p) = (q.currSize + p.size > q.size, drop(1)) q = Queue(9000 bytes); out = Port(q); \
                 q.congestion = full;";
    alike(Params::of(bytes), OrderSpec::fifo(), Limit::Bytes(Bytes::new(9000)), packet);
    // A full queue gives up its last packet by itself: the hard bound is tail drop, too, where sizes are alike.
    alike(Params::of("q = Queue(7 pkts); out = Port(q);"), OrderSpec::fifo(), Limit::Packets(7), packet);
}

#[test]
fn srpt_with_push_out_is_the_order_srpt() {
    let text = "srpt(a, b) = (a.processing < b.processing) q = Queue(9 pkts); out = Port(q); q.admPrio = srpt; \
                q.procPrio = srpt;";
    alike(Params::of(text), srpt::Params { flow_order: false }, Limit::Packets(9), packet);
}

#[test]
fn least_slack_and_ranks_are_the_order_pifo() {
    let lstf = "lstf(a, b) = (a.arrival + a.slack < b.arrival + b.slack) q = Queue(9 pkts); out = Port(q);
                q.admPrio = lstf; q.procPrio = lstf;";
    // Keys later than any instant of the course: no slack is used up. No two are equal: of those that are a PIFO gives
    // up the latest but the one that arrives, a policy that one.
    let slack = |draw: &mut Stream| Packet { rank: 1 << 40 | draw.below(1 << 30) as i64, ..packet(draw) };
    alike(Params::of(lstf), pifo::Params::default(), Limit::Packets(9), slack);
    let worth = "worth(a, b) = (a.value > b.value) q = Queue(9 pkts); out = Port(q);
                 q.admPrio = worth; q.procPrio = worth;";
    let params = Params { value: Value::Rank, ..Params::of(worth) };
    alike(params, pifo::Params::default(), Limit::Packets(9), slack);
}

/// Strict priorities that share their memory: the last packet of the least important queue makes room.
#[test]
fn strict_priorities_in_one_buffer_are_the_order_priority() {
    let text = "first(a, b) = (a.getHOL().value > b.getHOL().value) keep(a, b) = (a.getHOL().value > b.getHOL().value)
                q[0..2] = Queue(9 pkts); all = Buffer(9 pkts, q[0..2]); out = Port(q[0..2]);
                out.schedPrio = first; all.queuePrio = keep;";
    alike(Params::of(text), priority::Params::from(3), Limit::Packets(9), packet);
    // The same by the class itself, in one queue.
    let text = "class(a, b) = (a.TOS < b.TOS) q = Queue(9 pkts); out = Port(q); q.admPrio = class; q.procPrio = class;";
    alike(Params::of(text), priority::Params::from(3), Limit::Packets(9), packet);
}

#[test]
fn a_mark_is_for_packets_that_can_carry_it_on_arrival_and_on_departure() {
    let marks = |hook: &str| format!("q = Queue(9 pkts); out = Port(q); {hook} = (length >= 1, mark);");
    let data = |ecn| Packet { wire: 1500, ecn, ..Packet::default() };
    let mut arriving = queue(Params::of(&marks("q.postAdmAct")), Limit::Unlimited);
    let mut arrive = |ecn| arriving.enqueue(Time::ZERO, &data(ecn), Handle(1), &mut Vec::new());
    assert_eq!([Ecn::Ect0, Ecn::NotEct].map(&mut arrive), [Verdict::Marked, Verdict::Queued]);
    let mut leaving = queue(Params::of(&marks("out.postSchedAct")), Limit::Unlimited);
    for (nth, ecn) in [Ecn::Ect1, Ecn::NotEct, Ecn::Ect0].into_iter().enumerate() {
        leaving.enqueue(Time::ZERO, &data(ecn), Handle(nth as u32), &mut Vec::new());
    }
    let served: Vec<bool> =
        (0..3).filter_map(|_| leaving.dequeue(Time::ZERO, &mut Vec::new())).map(|one| one.mark).collect();
    assert_eq!(served, [true, false, false], "of the last nothing is left behind it");
}

/// RED-like steps: at a fixed length the share that is dropped is that of the first case that matches, within three
/// standard deviations.
#[test]
fn steps_drop_their_shares() {
    let text = "steps(q) = (q.length >= 9, drop(1)).(q.length >= 6, drop(0.9)).(q.length >= 3, drop(0.5)) \
                q = Queue(20 pkts); out = Port(q); q.congestion = steps;";
    const TRIALS: u32 = 4_000;
    for (length, share) in [(2, 0.0), (3, 0.5), (5, 0.5), (6, 0.9), (9, 1.0)] {
        let mut port = queue(Params::of(text), Limit::Unlimited);
        let (mut dropped, mut nth) = (0, 0);
        for _ in 0..TRIALS {
            // Filled up to that length, however often that takes.
            while port.packets() < length {
                nth += 1;
                port.enqueue(Time::ZERO, &packet(&mut Stream::new(1, "p", 0)), Handle(nth), &mut Vec::new());
            }
            nth += 1;
            let verdict =
                port.enqueue(Time::ZERO, &Packet { wire: 99, ..Packet::default() }, Handle(nth), &mut vec![]);
            dropped += u32::from(verdict == Verdict::Dropped);
            while port.packets() > length {
                port.dequeue(Time::ZERO, &mut Vec::new());
            }
        }
        let (n, found) = (f64::from(TRIALS), f64::from(dropped) / f64::from(TRIALS));
        let sigma = (share * (1.0 - share) / n).sqrt();
        assert!((found - share).abs() <= 3.0 * sigma, "{length} waiting: {found}, not {share}");
    }
}

#[test]
fn a_state_beyond_64_bits_stops_the_port_and_what_waits_leaves() {
    let text = "q = Queue(9 pkts); out = Port(q); q.congestion = (admState > 0, mark); q.admState = 1;
                q.postAdmAct = (true, modify(admState := admState * 4000000000));";
    let mut port = queue(Params::of(text), Limit::Unlimited);
    let mut arrive =
        |nth| port.enqueue(Time::ZERO, &Packet { wire: 99, ..Packet::default() }, Handle(nth), &mut vec![]);
    let verdicts: Vec<Verdict> = (0..5).map(&mut arrive).collect();
    assert_eq!(verdicts[0], Verdict::Queued);
    assert_eq!(verdicts[1..], [Verdict::Dropped; 4], "4 * 10^9 times itself is above 2^63");
    let left = std::iter::from_fn(|| port.dequeue(Time::ZERO, &mut vec![]).map(|one| one.handle.0));
    assert_eq!(left.collect::<Vec<_>>(), [0]);
    assert_eq!((port.packets(), port.bytes()), (0, 0));
    let stopped = Stopped::take().expect("it ends the run");
    assert_eq!(
        stopped.to_string(),
        "the policy cannot go on at 0ps: a state of queue `q` would exceed 64 bits"
    );
    assert!(Stopped::take().is_none());
}

#[test]
fn a_change_drains_the_old_policy_first_and_happens_at_its_instant() {
    let late =
        "late(a, b) = (a.arrival > b.arrival) q = Queue(12000 bytes); out = Port(q); q.procPrio = late;";
    let change = Change { at: Span::from_us(5), file: None, text: Some(Text::new(late)), ports: None };
    let mut port = queue(Params { changes: vec![change], ..Params::of(FIFO) }, Limit::Unlimited);
    let arrive = |port: &mut Queue, us: u64, nth| {
        let packet = Packet { wire: 1000, ..Packet::default() };
        port.enqueue(Time::from_ns(1000 * us), &packet, Handle(nth), &mut Vec::new())
    };
    for nth in 1..4 {
        arrive(&mut port, u64::from(nth), nth);
    }
    assert_eq!(port.wake(), Some(Time::from_ns(5000)));
    port.on_tick(Time::from_ns(5000));
    assert_eq!(port.wake(), None);
    for nth in 4..7 {
        arrive(&mut port, u64::from(nth) + 2, nth);
    }
    let mut left = || port.dequeue(Time::from_ns(9000), &mut Vec::new()).map(|served| served.handle.0);
    assert_eq!([(); 7].map(|()| left()), [Some(1), Some(2), Some(3), Some(6), Some(5), Some(4), None]);
}

/// Each `notify` is of the packet that comes or leaves with the call, though it be given up at once.
#[test]
fn packets_that_are_notified_of_are_shown_once_and_in_order() {
    let text = "q = Queue(2 pkts); b = Buffer(9 pkts, q); out = Port(q); q.congestion = (length >= 1, notify & mark);
                b.postAdmAct = (currSize >= 2, notify); out.postSchedAct = (length == 0, notify);";
    assert!(Params::of(text).needs().notifies && !Params::of(FIFO).needs().notifies);
    let (mut port, mut out) = (queue(Params::of(text), Limit::Unlimited), Vec::new());
    fn shown(port: &mut Queue) -> Vec<u32> {
        let mut all = Vec::new();
        port.take_notified(&mut |Handle(one)| all.push(one));
        all
    }
    let mut arrive = |port: &mut Queue, nth: u32| {
        let packet = Packet { wire: 100, ecn: Ecn::NotEct, ..Packet::default() };
        port.enqueue(Time::from_ns(nth.into()), &packet, Handle(nth), &mut out)
    };
    assert_eq!((arrive(&mut port, 1), shown(&mut port)), (Verdict::Queued, vec![]));
    assert_eq!((arrive(&mut port, 2), shown(&mut port)), (Verdict::Queued, vec![2, 2]));
    // The hard bound takes it after the condition has notified of it.
    assert_eq!((arrive(&mut port, 3), shown(&mut port)), (Verdict::Dropped, vec![3]));
    let leave = |port: &mut Queue| port.dequeue(Time::from_ns(9), &mut Vec::new()).map(|served| served.mark);
    assert_eq!((leave(&mut port), shown(&mut port)), (Some(false), vec![]));
    assert_eq!((leave(&mut port), shown(&mut port), shown(&mut port)), (Some(false), vec![2], vec![]));
}

#[test]
fn what_a_port_cannot_keep_is_refused_by_name() {
    let reason = |text: &str| refused(&Params::of(text));
    let at_host = |text: &str| {
        let nic = Around { section: "nic", ..Around::ANY };
        OrderSpec::from(Params::of(text)).problems(&nic).into_iter().map(|one| one.reason).collect::<String>()
    };
    let two = "a = Queue(1 pkts); b = Queue(1 pkts); one = Port(a); two = Port(b);";
    assert!(at_host(two).contains("`one` and `two`, and a NIC is one"));
    assert!(Params::of(two).check_is_fine(), "the ports of a switch run it together");
    assert!(reason("a = Queue(1 pkts); out = Port(10 Mbps, a);").contains("port `out` has a rate"));
    assert!(reason("a = Queue(1 pkts); out = Port(50%, a);").contains("port `out` has a rate"));
    let level = "a = Queue(1 pkts); b = Queue(1 pkts); x = Port(a); y = Port(b); connect(x -> b);";
    assert!(at_host(level).contains("`x` and `y`, and a NIC is one"));
    assert!(Params::of(level).check_is_fine(), "a switch of one port");
    let three = |more: &str| {
        format!(
            "a[1..2] = Queue(1 pkts); b = Queue(1 pkts); x[i: 1..2] = Port(a[i]); y = Port(b);
             connect(x[i: 1..2] -> b); {more}"
        )
    };
    assert!(reason(&three("")).contains("2 inputs") && reason(&three("")).contains("1 outputs"));
    let apart = three("c = Queue(1 pkts); z = Port(c);");
    assert!(reason(&apart).contains("nothing goes on to all queues of port `z`"));
    let marks = format!("{level} b.congestion = (length > 0, mark);");
    assert!(reason(&marks).contains("the policy has levels, and may `mark`"));
    let later =
        Change { at: Span::from_us(1), file: None, text: Some(Text::new(level)), ports: Some(vec![1]) };
    let changed = Params { changes: vec![later], ..Params::of(level) };
    assert!(refused(&changed).contains("the policy has levels"));
    let both = "by(a, b) = (a.processing < b.processing || a.processing == b.processing && a.slack < b.slack) \
                a = Queue(1 pkts); out = Port(a); a.procPrio = by;";
    assert!(reason(both).contains("`processing` and `slack`"));
    assert!(reason("a = Queue(1 pkts);").contains("line 1, column"));
    assert!(refused(&Params::default()).contains("there is no policy"));
    let file = Params { file: Some(File::named("x.oq")), ..Params::default() };
    assert!(refused(&file).contains("`x.oq` was not read"));
    let whole = "a = Queue(1 pkts); out = Port(100.0%, a);";
    assert!(Params::of(whole).check_is_fine());
}

#[test]
fn a_change_to_other_queues_or_to_the_same_policy_is_refused() {
    let to = |us, text: &str| Change {
        at: Span::from_us(us),
        file: None,
        text: Some(Text::new(text)),
        ports: None,
    };
    let with = |changes| Params { changes, ..Params::of(FIFO) };
    let other = "r = Queue(12000 bytes); out = Port(r);";
    assert!(refused(&with(vec![to(1, other)])).contains("other queues or ports"));
    let same = with(vec![to(1, FIFO)]);
    assert!(problems(&same).iter().any(|one| one.useless && one.reason == "it is the policy before"));
    let less = "q = Queue(6000 bytes); out = Port(q);";
    assert!(refused(&with(vec![to(2, less), to(1, FIFO)])).contains("not later than 2us"));
    let never = Around { end: Span::from_us(1), ..Around::ANY };
    let found = OrderSpec::from(with(vec![to(2, less)])).problems(&never);
    assert!(found.iter().any(|one| one.useless && one.reason.contains("the run ends")));
}

#[test]
fn what_is_set_in_vain_is_reported() {
    let vain = |params: Params| problems(&params).into_iter().find(|one| one.useless).map(|one| one.key);
    assert_eq!(vain(Params { classify: Classify::Flow, ..Params::of(FIFO) }).as_deref(), Some("classify"));
    assert_eq!(vain(Params { value: Value::Rank, ..Params::of(FIFO) }).as_deref(), Some("value"));
    assert_eq!(
        vain(Params { processing: Work::FlowSize, ..Params::of(FIFO) }).as_deref(),
        Some("processing")
    );
    assert_eq!(vain(Params::of(FIFO)), None);
}

#[test]
fn a_saved_port_holds_the_texts_of_its_policies_and_not_their_files() {
    let mut params = Params { file: Some(File::named("x.oq")), ..Params::default() };
    assert_eq!(params.files(), [("file".to_owned(), "x.oq".to_owned())]);
    params.read(&[FIFO.to_owned()]);
    assert_eq!(serde_json::to_value(&params).unwrap()["file"], "x.oq");
    let port = queue(params.clone(), Limit::Unlimited);
    let bytes = postcard::to_allocvec(&port).unwrap();
    assert!(bytes.windows(FIFO.len()).any(|at| at == FIFO.as_bytes()));
    assert!(postcard::from_bytes::<Queue>(&bytes).unwrap().is_empty());
    params.settle(0);
    assert_eq!(params, Params::of(FIFO), "what a specification holds needs no file");
}

fn problems(params: &Params) -> Vec<crate::problems::Problem> {
    OrderSpec::from(params.clone()).problems(&Around::ANY)
}

impl Params {
    fn check_is_fine(&self) -> bool {
        problems(self).is_empty()
    }
}
