//! An engine that is saved and goes on elsewhere decides as if nothing had happened.

use crate::common::{Course, Step, library, policy, run, trace};
use std::sync::Arc;
use thalweg_policy::{Bytecode, Engine, Machine, Misfit, Offered, Policy, Running};
use thalweg_units::Time;
use thalweg_wire::Handle;

type Shared = Machine<Arc<Bytecode>>;

fn new(policy: &Policy, seed: u64) -> Shared {
    Machine::new(policy, Arc::new(Bytecode::of(policy)), seed)
}

/// Through bytes.
fn again(policy: &Policy, engine: &Shared) -> Shared {
    let bytes = postcard::to_allocvec(&engine.save()).expect("bytes");
    let saved = postcard::from_bytes(&bytes).expect("the state");
    Machine::restored(policy, Arc::new(Bytecode::of(policy)), &saved).expect("of this policy")
}

#[test]
fn every_policy_of_the_library_goes_on_after_it_was_saved() {
    for (name, text) in library() {
        let policy = policy(&text);
        for cycles in [false, true] {
            let course = Course { steps: 3_000, arrivals: 8, cycles };
            let (first, rest) = (trace(&policy, 5, course), trace(&policy, 6, course));
            let queues = policy.queues().len();
            let mut straight = new(&policy, 3);
            run(&mut straight, queues, &first);
            // The clock of the second part begins where that of the first ends.
            let end: u64 = first.iter().map(|(after, _)| after).sum();
            let rest: Vec<(u64, Step)> = std::iter::once((end, Step::Dequeue(0))).chain(rest).collect();
            let mut loaded = again(&policy, &straight);
            assert_eq!(loaded.save(), straight.save(), "{name}");
            let (said, done) = (run(&mut straight, queues, &rest), run(&mut loaded, queues, &rest));
            assert_eq!(said, done, "{name}, cycles: {cycles}");
            assert_eq!(loaded.save(), straight.save(), "{name}");
        }
    }
}

#[test]
fn a_state_of_another_policy_is_refused() {
    let (one, two) = (
        "a = Queue(8 pkts); o = Port(a);",
        "two(q1, q2) = (q1.length < q2.length) a = Queue(8 pkts); \
                      b = Queue(8 pkts); o = Port(a, b); o.schedPrio = two;",
    );
    let (one, two) = (policy(one), policy(two));
    let saved = new(&one, 1).save();
    let refused = Machine::restored(&two, Arc::new(Bytecode::of(&two)), &saved);
    assert_eq!(refused.map(|_| ()), Err(Misfit));
}

#[test]
fn what_waits_can_be_seen_taken_out_and_given_up() {
    let policy = policy("big(a, b) = (a.size > b.size) q = Queue(8 pkts); o = Port(q); q.admPrio = big;");
    let (mut engine, mut effects) = (new(&policy, 1), Vec::new());
    for (size, nth) in [500, 100, 300, 400].into_iter().zip(1..) {
        let offered = Offered { size, ..Offered::default() };
        engine.arrive(Time::ZERO, &offered, Handle(nth), &mut effects).expect("no fault");
    }
    let mut out = Vec::new();
    engine.withdraw(&mut |handle| handle == Handle(3), &mut |handle| out.push(handle));
    assert_eq!(engine.give_up(0), Ok(Some(Handle(2))), "the smallest is worth least");
    engine.waiting(&mut |handle| out.push(handle));
    assert_eq!((out[0], &out[1..]), (Handle(3), [Handle(1), Handle(4)].as_slice()));
    assert_eq!((engine.packets(0), engine.bytes(0)), (2, 900));
    assert!(effects.is_empty());
}

#[test]
fn a_policy_that_was_changed_goes_on_with_what_is_left_of_the_old_one() {
    let of = |order: &str| {
        let text =
            format!("by(a, b) = (a.value {order} b.value) q = Queue(9 pkts); o = Port(q); q.procPrio = by;");
        Arc::new(policy(&text))
    };
    let policies = [of("<"), of(">")];
    let mut running = Running::new(Arc::clone(&policies[0]), new(&policies[0], 1));
    let arrive = |running: &mut Running<Shared>, value: u32| {
        let offered = Offered { value: i64::from(value), ..Offered::default() };
        running.arrive(Time::ZERO, &offered, Handle(value), &mut Vec::new()).expect("no fault");
    };
    [2, 1, 3].into_iter().for_each(|value| arrive(&mut running, value));
    running.change(Arc::clone(&policies[1]), new(&policies[1], 2)).expect("alike");
    [4, 6, 5].into_iter().for_each(|value| arrive(&mut running, value));
    running.withdraw(&mut |handle| handle == Handle(3), &mut |_| ());
    assert_eq!(running.packets(0), 5);
    let code = |policy: &Policy| Arc::new(Bytecode::of(policy));
    let of = |version: u32| policies.get(version as usize).map(|policy| (Arc::clone(policy), code(policy)));
    let mut loaded = Running::restored(&running.save(), of).expect("of these policies");
    let drain = |running: &mut Running<Shared>| -> Vec<u32> {
        let next = || running.dequeue(0, Time::ZERO, &mut Vec::new()).expect("no fault");
        std::iter::from_fn(next).map(|(_, served)| served.handle.0).collect()
    };
    assert_eq!((drain(&mut loaded), drain(&mut running)), (vec![1, 2, 6, 5, 4], vec![1, 2, 6, 5, 4]));
    assert_eq!(Running::<Shared>::restored(&running.save(), |_| None).map(|_| ()), Err(Misfit));
}
