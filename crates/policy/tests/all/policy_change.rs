//! Another policy while packets wait (OQ-D1).

use crate::common::policy;
use thalweg_policy::{Bytecode, Effect, Interpreter, Machine, Offered, Policy, Running, Verdict};
use thalweg_units::{Stream, Time};
use thalweg_wire::Handle;

/// Two ports; the second serves by `order`.
fn two_ports(order: &str) -> Policy {
    policy(&format!(
        "import \"openqueue\"\nbyValue(p1, p2) = (p1.value > p2.value)\na = Queue(8 pkts); b = Queue(8 pkts);\n\
         one = Port(a); other = Port(b);\na.congestion = (currSize >= 0.5 * size, drop(0.5));\n\
         b.admPrio = {order}; b.procPrio = {order}; b.congestion = tailDrop;"
    ))
}

fn running(policy: &Policy) -> Running<Machine<Bytecode>> {
    Running::new(policy.clone(), Machine::new(policy, Bytecode::of(policy), 1))
}

/// What happened at each port.
#[derive(PartialEq, Debug, Default)]
struct Seen {
    kept: Vec<(usize, Verdict)>,
    left: Vec<(usize, Option<Handle>)>,
    dropped: Vec<Handle>,
}

/// Load on both ports; the policy changes at this step.
fn loaded(change_at: Option<usize>) -> [Seen; 2] {
    let mut running = running(&two_ports("fifo"));
    let (mut draw, mut seen) = (Stream::new(4, "load", 0), [Seen::default(), Seen::default()]);
    for step in 0..4_000 {
        if change_at == Some(step) {
            let new = two_ports("byValue");
            assert_eq!(running.change(new.clone(), Machine::new(&new, Bytecode::of(&new), 9)), Ok(1));
        }
        let (port, arrives) = (draw.below(2) as usize, draw.below(5) < 3);
        let (now, mut effects) = (Time::from_ps(step as u64), Vec::new());
        if arrives {
            let packet = Offered { queue: port as u32, value: draw.below(9) as i64, ..Offered::default() };
            let verdict = running.arrive(now, &packet, Handle(step as u32), &mut effects).expect("no fault");
            seen[port].kept.push((step, verdict));
        } else {
            let served = running.dequeue(port, now, &mut effects).expect("no fault");
            seen[port].left.push((step, served.map(|(_, served)| served.handle)));
        }
        seen[port].dropped.extend(effects.iter().filter_map(|effect| match effect {
            Effect::Dropped(handle) => Some(*handle),
            _ => None,
        }));
    }
    seen
}

#[test]
fn a_change_at_one_port_leaves_the_other_as_it_was_bit_by_bit() {
    let ([one, other], [same, changed]) = (loaded(None), loaded(Some(2_000)));
    assert!(one.dropped.len() > 50 && one == same, "random drops included");
    assert_ne!(other, changed);
}

#[test]
fn what_waits_leaves_in_its_old_order_before_anything_newer_and_none_is_lost() {
    let (fifo, by_value) = (two_ports("fifo"), two_ports("byValue"));
    let mut running = running(&fifo);
    let mut effects = Vec::new();
    let packet = |value| Offered { queue: 1, value, ..Offered::default() };
    let mut arrive = |running: &mut Running<Machine<Bytecode>>, nth: u32, value| {
        running.arrive(Time::ZERO, &packet(value), Handle(nth), &mut effects).expect("no fault")
    };
    [3, 1, 2]
        .into_iter()
        .zip(0..)
        .for_each(|(value, nth)| assert_eq!(arrive(&mut running, nth, value), Verdict::Kept));
    running.change(by_value.clone(), Machine::new(&by_value, Bytecode::of(&by_value), 1)).expect("alike");
    [4, 9, 5]
        .into_iter()
        .zip(3..)
        .for_each(|(value, nth)| assert_eq!(arrive(&mut running, nth, value), Verdict::Kept));
    let left: Vec<(u32, u32)> = (0..6)
        .filter_map(|_| running.dequeue(1, Time::ZERO, &mut Vec::new()).expect("no fault"))
        .map(|(version, served)| (version, served.handle.0))
        .collect();
    // By arrival under version 0, then by value under version 1.
    assert_eq!(left, [(0, 0), (0, 1), (0, 2), (1, 4), (1, 5), (1, 3)]);
}

#[test]
fn what_waits_counts_against_the_new_sizes_and_is_no_victim() {
    let (fifo, by_value) = (two_ports("fifo"), two_ports("byValue"));
    let mut running = running(&fifo);
    let arrive = |running: &mut Running<Machine<Bytecode>>, nth: u32| {
        let packet = Offered { queue: 1, value: i64::from(nth), ..Offered::default() };
        let mut effects = Vec::new();
        running.arrive(Time::ZERO, &packet, Handle(nth), &mut effects).expect("no fault");
        effects
    };
    (0..7).for_each(|nth| assert!(arrive(&mut running, nth).is_empty()));
    running.change(by_value.clone(), Machine::new(&by_value, Bytecode::of(&by_value), 1)).expect("alike");
    // Of eight places seven are taken: the new ones compete for the last.
    assert!(arrive(&mut running, 7).is_empty());
    assert_eq!(arrive(&mut running, 8), [Effect::Dropped(Handle(7))]);
    running.dequeue(1, Time::ZERO, &mut Vec::new()).expect("no fault");
    assert!(arrive(&mut running, 9).is_empty(), "an old one has left");
}

#[test]
fn a_policy_with_other_queues_is_refused() {
    let mut running = running(&two_ports("fifo"));
    let other = policy("a = Queue(8 pkts); one = Port(a);");
    let refused = running.change(other.clone(), Machine::new(&other, Bytecode::of(&other), 1));
    assert!(refused.unwrap_err().to_string().contains("other queues or ports"));
    let _ = Interpreter::new(&other, 1);
}
