//! Functions for the fuzz target and the short mutation test: any text is read or refused, and none causes a panic.

use crate::engine::{Bytecode, Engine, Interpreter, Machine, Offered};
use crate::syntax::{parse, print};
use thalweg_units::Time;
use thalweg_wire::Handle;

/// A file. One that parses is printed and parses to the same tree again; a mistake is reported in one line; a valid
/// policy runs, and both engines make the same decisions.
///
/// # Panics
/// If any of this does not hold.
pub fn policy(text: &str) {
    if let Ok(file) = parse(text) {
        let printed = print(&file);
        assert!(parse(&printed).is_ok_and(|again| again == file), "printed as\n{printed}");
    }
    let policy = match crate::check(text, "fuzz.oq") {
        Ok(policy) => policy,
        Err(wrong) => {
            assert!(wrong.iter().count() > 0 && !wrong.render().is_empty());
            return wrong
                .to_string()
                .lines()
                .for_each(|line| assert!(line.starts_with("fuzz.oq:"), "{line}"));
        }
    };
    let _ = (crate::show(&policy), crate::generate(&policy));
    let mut one = Interpreter::new(&policy, 1);
    let mut other = Machine::new(&policy, Bytecode::of(&policy), 1);
    let (mut effects, mut same) = (Vec::new(), Vec::new());
    for nth in 0..16u32 {
        let offered = Offered {
            queue: nth % policy.queues().len() as u32,
            size: 900,
            tos: nth as u8,
            ..Offered::default()
        };
        let now = Time::from_ps(u64::from(nth / 3));
        let verdicts = (
            one.arrive(now, &offered, Handle(nth), &mut effects),
            other.arrive(now, &offered, Handle(nth), &mut same),
        );
        assert_eq!(verdicts.0, verdicts.1);
        if verdicts.0.is_err() {
            return;
        }
        if nth % 3 == 0 {
            let port = nth as usize % policy.ports().len();
            let served = (one.dequeue(port, now, &mut effects), other.dequeue(port, now, &mut same));
            assert_eq!(served.0, served.1);
            if served.0.is_err() {
                return;
            }
        }
        assert_eq!(effects, same);
    }
}
