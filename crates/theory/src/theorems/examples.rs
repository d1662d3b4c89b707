//! The counter-examples as claims: UPS-F7a, F7b, TH3c, F8a, TH5b.

use crate::candidate::{Candidate, Rule, Ties};
use crate::counterexamples::{
    LSTF_CASE_1, LSTF_THREE_POINTS, no_universal_scheduler, priorities_in_a_circle, three_points,
};
use crate::headers::Headers;
use crate::outcome::Outcome;
use crate::search::search;
use crate::table::Example;

/// The statement that two things are equal, both shown if not.
fn equal<T: PartialEq + std::fmt::Debug>(outcome: &mut Outcome, what: &str, got: T, expected: T) {
    outcome.expect(got == expected, || format!("{what}: {got:?}, not {expected:?}"));
}

/// With and without preemption: the table of LSTF's replay and who is late.
fn lstf(outcome: &mut Outcome, example: &Example, table: &[&str], late: &str) {
    let headers = Headers::slack(&example.instance, &example.record);
    for candidate in [Candidate::waiting(Rule::Lstf), Candidate::preemptive(Rule::Lstf)] {
        let replay = outcome.replay(&example.instance, &headers, candidate);
        outcome.overdue += replay.overdue(&example.record.exit).len() as u64;
        equal(outcome, "LSTF", example.replayed(&replay), table.iter().map(|l| l.to_string()).collect());
        equal(outcome, "late under LSTF", example.late(&replay).as_str(), late);
    }
}

/// Omniscient initialisation with preemption: no packet late.
fn omniscient(outcome: &mut Outcome, example: &Example) {
    let headers = Headers::timetable(&example.instance, &example.record);
    let replay = outcome.replay(&example.instance, &headers, Candidate::preemptive(Rule::Omniscient));
    equal(outcome, "late under the omniscient scheduler", example.late(&replay).as_str(), "");
}

/// UPS-F7a: a and x look the same to a black-box ingress in both cases, yet case 1 can be replayed only if a
/// goes first at α0 and case 2 only if x does: tried are all orders at all nodes, of packets and of half
/// packets (preemption). So no deterministic scheduler replays both. `found`: feasible orders at α0, in all;
/// LSTF, which picks x, fails case 1.
pub fn no_universal(_: u32, _: u64) -> Outcome {
    let mut outcome = Outcome::default();
    let cases = [no_universal_scheduler(1), no_universal_scheduler(2)];
    for name in ["a", "x"] {
        let view = |e: &Example| {
            let p = e.packet(name);
            let headers = [Headers::slack(&e.instance, &e.record), Headers::exit(&e.instance, &e.record)];
            (
                e.instance.packets[p],
                e.instance.path(p).to_vec(),
                e.record.exit[p],
                headers.map(|h| h.value[p]),
            )
        };
        equal(&mut outcome, "what the ingress knows", view(&cases[0]), view(&cases[1]));
    }
    for parts in [1, 2] {
        for (example, first, second) in [(&cases[0], "a", "x"), (&cases[1], "x", "a")] {
            let found = search(&example.instance, &example.record.exit, parts as i64);
            let (first, second) = (example.packet(first), example.packet(second));
            let only: Vec<usize> = [vec![first; parts], vec![second; parts]].concat();
            equal(&mut outcome, "orders at α0 that can be completed", found.feasible.clone(), vec![only]);
            outcome.found += found.feasible.len() as u64;
        }
    }
    for (example, table, late) in
        [(&cases[0], LSTF_CASE_1.to_vec(), "b2+1 b3+1"), (&cases[1], cases[1].table.clone(), "")]
    {
        outcome.count(&example.instance);
        lstf(&mut outcome, example, &table, late);
        omniscient(&mut outcome, example);
    }
    outcome
}

/// UPS-F7b: both schedules are viable with the times listed, a leaves at 5 and x at 4 in both; the omniscient
/// scheduler, run, gives the same tables.
pub fn viable(_: u32, _: u64) -> Outcome {
    let mut outcome = Outcome::default();
    let exits =
        ["a=5 b1=3 b2=4 b3=5 c1=3 c2=4 x=4 y1=4 y2=5 z=3", "a=5 b1=4 b2=5 b3=6 c1=3 c2=4 x=4 y1=3 y2=4 z=3"];
    for case in [1, 2] {
        let example = no_universal_scheduler(case);
        outcome.count(&example.instance);
        outcome.found += 1;
        equal(&mut outcome, "viable", example.record.check(&example.instance), Ok(()));
        let table: Vec<String> = example.table.iter().map(|l| l.to_string()).collect();
        equal(&mut outcome, "table", example.original(), table.clone());
        equal(&mut outcome, "exits", example.exits(&example.record.exit).as_str(), exits[case - 1]);
        let headers = Headers::timetable(&example.instance, &example.record);
        for c in [Candidate::waiting(Rule::Omniscient), Candidate::preemptive(Rule::Omniscient)] {
            let replay = outcome.replay(&example.instance, &headers, c);
            equal(&mut outcome, "simulated table", example.replayed(&replay), table.clone());
        }
    }
    outcome
}

/// UPS-TH3c: every packet of the first counter-example meets at most three congestion points, and no order at α0 serves
/// both cases; so nothing handles all schedules with three, and LSTF, which handles two (TH5a), is the best there is.
pub fn three_is_too_many(instances: u32, seed: u64) -> Outcome {
    let mut outcome = no_universal(instances, seed);
    let orders = [1, 2].map(|case| {
        let example = no_universal_scheduler(case);
        let most = (0..example.names.len()).map(|p| example.instance.hops(p)).max();
        equal(&mut outcome, "congestion points of a packet, at most", most, Some(3));
        search(&example.instance, &example.record.exit, 2).feasible
    });
    outcome.expect(!orders[0].iter().any(|o| orders[1].contains(o)), || "one order at α0 serves both".into());
    outcome
}

/// UPS-F8a: all six static orders of a, b, c make a packet late, with and without preemption, so do
/// priorities o(p); LSTF repeats the schedule. `found`: orders that fail.
pub fn circle(_: u32, _: u64) -> Outcome {
    let mut outcome = Outcome::default();
    let example = priorities_in_a_circle();
    outcome.count(&example.instance);
    equal(&mut outcome, "viable", example.record.check(&example.instance), Ok(()));
    equal(&mut outcome, "exits", example.exits(&example.record.exit).as_str(), "a=3.4 b=2.5 c=3.2");
    let late = [
        ("abc", "c+0.2"),
        ("acb", "b+0.5"),
        ("cab", "b+0.5"),
        ("bac", "a+0.8"),
        ("bca", "a+0.8"),
        ("cba", "a+0.8"),
    ];
    for preemptive in [false, true] {
        let candidate = Candidate { rule: Rule::Priority, preemptive, ties: Ties::Fcfs };
        for (order, late) in late {
            let place = |name: &&str| order.find(*name).expect("abc") as i64;
            let headers = Headers { value: example.names.iter().map(place).collect(), times: Vec::new() };
            let replay = outcome.replay(&example.instance, &headers, candidate);
            equal(&mut outcome, order, example.late(&replay).as_str(), late);
            let overdue = replay.overdue(&example.record.exit).len() as u64;
            outcome.overdue += overdue;
            outcome.found += u64::from(overdue > 0);
        }
        let headers = Headers::exit(&example.instance, &example.record);
        let replay = outcome.replay(&example.instance, &headers, candidate);
        equal(&mut outcome, "priorities o(p)", example.late(&replay).as_str(), "a+0.8");
    }
    lstf(&mut outcome, &example, &example.table, "");
    outcome
}

/// UPS-TH5b: LSTF replays the third example as printed: exactly c2 is late, by 1; with ties the other way
/// round exactly a; a reaches α1 after its local deadline. The omniscient scheduler has no packet late.
/// `found`, `overdue`: late packets.
pub fn beyond_two(_: u32, _: u64) -> Outcome {
    let mut outcome = Outcome::default();
    let example = three_points();
    let (a, instance) = (example.packet("a"), &example.instance);
    outcome.count(instance);
    equal(&mut outcome, "viable", example.record.check(instance), Ok(()));
    lstf(&mut outcome, &example, &LSTF_THREE_POINTS, "c2+1");
    omniscient(&mut outcome, &example);
    let headers = Headers::slack(instance, &example.record);
    for preemptive in [false, true] {
        let replay =
            outcome.replay(instance, &headers, Candidate { rule: Rule::Lstf, preemptive, ties: Ties::Fcfs });
        let (arrives, local) = (replay.hops[a][1].arrive, example.record.hops[a][1].start);
        let unit = crate::instance::UNIT;
        equal(&mut outcome, "a at α1: arrival, local deadline", (arrives, local), (2 * unit, unit));
        let candidate = Candidate { rule: Rule::Lstf, preemptive, ties: Ties::Lcfs };
        let replay = outcome.replay(instance, &headers, candidate);
        equal(&mut outcome, "late with the other rule for ties", example.late(&replay).as_str(), "a+1");
    }
    outcome.found = outcome.overdue;
    outcome
}
