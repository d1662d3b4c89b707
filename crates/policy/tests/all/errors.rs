//! One test per kind of mistake (OQ-GEN): its place, its reason, the way out.

use std::collections::BTreeSet;
use thalweg_policy::{Class, check};

/// A right policy around the line in question: the 4th.
fn around(line: &str) -> String {
    format!("// A policy.\nq = Queue(8 pkts);\nout = Port(q);\n{line}\n")
}

/// The 4th line is wrong in this way, at this column, for a reason with these words.
#[track_caller]
fn wrong(class: Class, line: &str, column: usize, words: &str) {
    is_wrong(class, &around(line), (4, column), words);
}

#[track_caller]
fn is_wrong(class: Class, text: &str, place: (usize, usize), words: &str) {
    let found = check(text, "test.oq").expect_err("it is wrong");
    let shown = found.to_string();
    let first = found.iter().next().expect("something is wrong");
    assert_eq!((first.class(), found.place(first)), (class, place), "{shown}");
    assert!(shown.starts_with(&format!("test.oq:{}:{}: ", place.0, place.1)), "{shown}");
    assert!(first.reason().contains(words), "{shown}");
    assert!(!first.way_out().is_empty() && !first.reason().contains('\n') && !first.way_out().contains('\n'));
    let line = text.lines().nth(place.0 - 1).unwrap_or("");
    assert!(
        line.len() > 100 || found.render().contains(line.trim_end()),
        "the line is shown:\n{}",
        found.render()
    );
}

macro_rules! mistakes {
    ($($test:ident: $class:ident, $line:expr, $column:expr, $words:expr;)*) => {
        $(#[test]
        fn $test() {
            wrong(Class::$class, $line, $column, $words);
        })*

        #[test]
        fn every_kind_of_mistake_has_a_test() {
            let here = [$(Class::$class,)*];
            let apart = [Class::Nesting, Class::LongExpression, Class::NoPort, Class::NoSchedule, Class::Empty];
            let apart = apart.into_iter().chain([Class::SeveralBuffers, Class::MixedUnits, Class::TooMany]);
            let tested: BTreeSet<Class> = here.into_iter().chain(apart).collect();
            assert_eq!(tested, Class::ALL.iter().copied().collect::<BTreeSet<_>>());
        }
    };
}

mistakes! {
    characters_that_begin_no_token: Character, "q.admState = $3;", 14, "`$`";
    texts_end_on_their_line: OpenText, "import \"openqueue", 8, "ends on its line";
    numbers_have_18_digits: LongNumber, "const x = 1234567890123456789;", 11, "18 digits";
    statements_end_with_a_semicolon: Semicolon, "const x = 3 const y = 4;", 13, "does not end before `const`";
    tokens_stand_where_they_may: Unexpected, "q.congestion = ;", 16, "`;` cannot stand here";
    comparators_call_nothing: Call, "f(a, b) = (cost(a) < cost(b))", 12, "call nothing";
    actions_are_four: Action, "q.congestion = (true, explode);", 23, "no action";
    attributes_are_known: Attribute, "q.colour = fifo;", 3, "no attribute";
    units_are_known: Unit, "r = Queue(8 boxes);", 13, "no unit";
    names_are_declared_once: Duplicate, "q = Queue(3);", 1, "declared already";
    names_are_declared: Unknown, "p2 = Port(r);", 11, "`r` is declared nowhere";
    a_port_serves_queues: Kind, "p2 = Port(out);", 11, "is a port, not a queue";
    indices_are_within_their_array: Index, "r[1..2] = Queue(3); p2 = Port(r[3]);", 31, "no `r[3]`";
    queues_have_no_schedules: Misplaced, "q.schedPrio = lqf;", 3, "a queue has no `schedPrio`";
    attributes_are_set_once: SetTwice, "q.admState = 1; q.admState = 2;", 19, "set already";
    a_queue_has_one_port: SeveralPorts, "p2 = Port(q);", 11, "belongs to a port already";
    sizes_are_positive: Size, "r = Queue(0 pkts); p2 = Port(r);", 11, "positive whole number";
    rates_are_at_most_the_link: Rate, "r = Queue(1); p2 = Port(110%, r);", 25, "at most 100 %";
    probabilities_are_at_most_one: Probability, "q.congestion = (true, drop(1.5));", 28, "at most 1";
    comparators_have_two_parameters: Parameters, "f(a) = (a.value < 3) q.admPrio = f;", 34, "1 parameters";
    definitions_take_no_arguments: Arguments, "f(a, b) = (a.value < b.value) q.admPrio = f(3);", 43, "no arguments";
    numbers_are_no_conditions: Type, "q.congestion = (size, drop(1));", 17, "a Boolean is needed";
    fields_are_those_of_the_entity: Field, "f(a, b) = (a.colour < b.colour) q.admPrio = f;", 14, "no field `colour`";
    only_what_is_compared_is_in_sight: OutOfSight, "f(a, b) = (a.value < c.value) q.admPrio = f;", 22, "`c`";
    only_queues_have_a_head: HeadOfLine, "f(a, b) = (a.getHOL().value < b.value) q.admPrio = f;", 14, "head of line";
    only_congestion_drops: ActionSet, "q.postAdmAct = (true, drop(1));", 23, "nothing is dropped";
    hooks_change_states_only: State, "q.congestion = (true, modify(size := 3));", 30, "no state";
    definitions_fit_some_attribute: Body, "f(a, b) = (a.value < b.currSize)", 1, "fits no attribute";
    divisors_are_positive: Divisor, "f(a, b) = (1 / a.value < 1 / b.value) q.admPrio = f;", 16, "may be zero";
    remainders_are_of_whole_numbers: Remainder, "q.congestion = (size / 2 % 3 == 0, mark);", 17, "a fraction";
    arithmetic_stays_within_128_bits: Range,
        "f(a, b) = (a.value * a.value < b.value * b.value) q.admPrio = f;", 12, "128 bits";
    comparators_are_strict_weak_orders: Order, "f(a, b) = (a.value <= b.value) q.admPrio = f;", 44, "before itself";
    queues_that_are_chosen_exist: Selection, "out.queueSelect = inline { Packet.TOS };", 19, "has 1, numbered from 0";
    conditions_have_actions: Condition, "q.congestion = currSize >= size;", 16, "no action";
    wires_lead_onwards: Wiring, "connect(out -> q);", 1, "comes back";
    what_has_no_effect_is_refused: NoEffect, "q.admState = 3;", 3, "nothing reads";
}

#[test]
fn parentheses_stand_32_deep_in_each_other() {
    let line = format!("q.congestion = {}size > 3{}, drop(1);", "(".repeat(33), ")".repeat(33));
    wrong(Class::Nesting, &line, 48, "32 parentheses");
    let line = format!("q.congestion = {}size > 3{}, drop(1);", "(".repeat(32), ")".repeat(32));
    assert!(check(&around(&line), "test.oq").is_ok());
}

#[test]
fn expressions_have_256_operators() {
    let sum = |operators: usize| format!("q.congestion = size{} > 3, drop(1);", " + 1".repeat(operators));
    wrong(Class::LongExpression, &sum(256), 20 + 4 * 256 + 1, "256 operators");
    assert!(check(&around(&sum(255)), "test.oq").is_ok());
}

#[test]
fn every_queue_has_a_port() {
    is_wrong(Class::NoPort, &around("r = Queue(3);"), (4, 1), "no port serves queue `r`");
}

#[test]
fn a_queue_has_one_buffer() {
    wrong(Class::SeveralBuffers, "b = Buffer(9, q); c = Buffer(9, q);", 33, "belongs to a buffer already");
}

#[test]
fn several_queues_of_a_port_have_an_order() {
    let text = "q[1..2] = Queue(8 pkts);\nout = Port(q[1..2]);\n";
    is_wrong(Class::NoSchedule, text, (2, 1), "no order of them");
}

#[test]
fn a_file_has_a_port() {
    is_wrong(Class::Empty, "", (1, 1), "no port");
}

#[test]
fn sizes_that_are_compared_are_counted_alike() {
    let text = "q = Queue(8 pkts); r = Queue(8 bytes);\nout = Port(q, r);\nimport \"openqueue\"\nout.schedPrio = lqf;\n";
    is_wrong(Class::MixedUnits, text, (4, 17), "in packets are compared with sizes in bytes");
}

#[test]
fn there_are_at_most_4096_queues() {
    let text = "a[1..4000] = Queue(8); b[1..100] = Queue(8);\nout = Port(a[1..4000], b[1..100]);\n";
    is_wrong(Class::TooMany, text, (1, 24), "more than 4096 queues");
}

#[test]
fn a_counterexample_is_shown() {
    // "Less by at least two" is a strict order, but ties do not carry over.
    let line = "f(a, b) = (a.value + 1 < b.value) q.admPrio = f;";
    let found = check(&around(line), "test.oq").unwrap_err().to_string();
    assert!(found.contains("no strict weak order: (value="), "{found}");
    assert!(found.contains("but not the first with the last"), "{found}");
    // Stone, scissors, paper: each beats the next.
    let line = "f(a, b) = ((a.value + 1) % 3 == b.value % 3) q.admPrio = f;";
    let found = check(&around(line), "test.oq").unwrap_err().to_string();
    assert!(found.contains("but not the first before the last"), "{found}");
}

#[test]
fn mistakes_in_imported_definitions_are_shown_where_they_are_used() {
    let text = "import \"openqueue\"\nq = Queue(8); out = Port(q);\nq.admPrio = lqf;\n";
    is_wrong(Class::Field, text, (3, 13), "`lqf` does not fit here: a packet has no field `currSize`");
}

#[test]
fn several_mistakes_are_shown_at_once_in_their_order() {
    let text = around("q.admPrio = fast;\nq.procPrio = slow;");
    let found = check(&text, "test.oq").unwrap_err();
    assert_eq!(found.iter().count(), 2);
    assert!(found.to_string().contains("\ntest.oq:5:14: `slow` is defined nowhere"));
}

#[test]
fn twenty_lines_are_checked_within_50_ms() {
    let text = twenty_lines();
    #[allow(clippy::disallowed_methods, reason = "the time it takes is what is tested")]
    let start = std::time::Instant::now();
    check(&text, "wfq.oq").expect("it is right");
    // Unoptimised and next to other tests: the bound is generous.
    assert!(start.elapsed().as_millis() < 50 * 10, "{:?}", start.elapsed());
}

/// Twenty lines of all kinds.
fn twenty_lines() -> String {
    crate::common::library().into_iter().find(|(name, _)| name == "wfq").expect("wfq").1
}

/// A mistake that repeats does not bury its reason; programs are given all of them, each at its place.
#[test]
fn of_many_mistakes_texts_show_the_first() {
    let lines: Vec<String> = (0..250).map(|nth| format!("é{} = 1;", "x".repeat(nth % 7))).collect();
    let text = format!("q = Queue(8 pkts);\nout = Port(q);\n{}\n", vec!["out = Port(r);"; 250].join("\n"));
    let found = check(&text, "test.oq").expect_err("it is wrong");
    assert!(found.iter().count() > 200);
    for (shown, separator) in [(found.to_string(), "\n"), (found.render(), "\n\n")] {
        assert!(shown.ends_with(&format!(" {} more like these", found.iter().count() - 100)), "{shown}");
        assert_eq!(shown.split(separator).filter(|part| part.contains("test.oq:")).count(), 101, "{shown}");
    }
    let text = lines.join("\n");
    let found = check(&text, "test.oq").expect_err("it is no policy");
    for one in found.iter() {
        let before = &text[..one.span().start as usize];
        let last = before.rsplit('\n').next().unwrap_or("");
        assert_eq!(found.place(one), (before.matches('\n').count() + 1, last.chars().count() + 1));
    }
}
