//! Compiled policies decide as the interpreter does, bit by bit.

#[path = "../../tests/all/common/mod.rs"]
#[allow(dead_code, reason = "shared with the other engines' tests")]
mod common;

use common::{Course, assert_same, of_library, run, trace};
use thalweg_policy::Interpreter;
use thalweg_policy_compiled as compiled;

fn length() -> usize {
    std::env::var("THALWEG_POLICY_STEPS").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000)
}

/// Seed, arrivals of 16 steps, cycles of processing, and which part of all steps.
const COURSES: [(u64, u64, bool, usize); 4] =
    [(0, 10, false, 3), (1, 7, false, 3), (2, 13, false, 6), (3, 4, true, 6)];

macro_rules! each {
    ($($name:ident;)*) => {
        $(#[test]
        fn $name() {
            let policy = of_library(&stringify!($name).replace('_', "-"));
            let queues = policy.queues().len();
            for (nth, arrivals, cycles, share) in COURSES {
                let trace = trace(&policy, nth, Course { steps: length() / share, arrivals, cycles });
                let said = run(&mut Interpreter::new(&policy, nth), queues, &trace);
                let done = run(&mut compiled::$name::machine(nth), queues, &trace);
                assert_same(&said, &done, &trace);
            }
        })*
    };
}

compiled::all_policies!(each);

#[test]
fn a_policy_is_found_by_its_statements_whatever_its_comments() {
    let fifo = common::of_library("fifo");
    assert!(compiled::machine_of(&fifo, 1).is_some());
    let commented = common::policy(&format!("// mine\n{}", fifo.statements()));
    assert!(compiled::machine_of(&commented, 1).is_some());
    let other = common::policy(&fifo.statements().replace("64", "65"));
    assert!(compiled::machine_of(&other, 1).is_none());
}
