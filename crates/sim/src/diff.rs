//! Finds where two runs diverge: both are replayed from the last instant at which they agreed.

use crate::events::{Event, Events};
use crate::sim::Sim;

/// Events between two comparisons of digests.
const STRIDE: u64 = 1 << 14;

/// The first difference between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Events that both runs share.
    pub shared: u64,
    /// What the first run does next; `None`: it has ended.
    pub left: Option<Event>,
    /// What the second run does next; `None`: it has ended.
    pub right: Option<Event>,
}

/// How far a comparison is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// Alike so far, and there is more.
    Alike,
    /// They differ.
    Differ(Difference),
    /// They ended alike.
    EndAlike,
}

/// Runs both from their present states and finds the first event (or effect of an event) that differs.
///
/// `None`: they end alike. Both are left somewhere behind the difference.
pub fn first_difference(left: &mut Sim, right: &mut Sim) -> Option<Difference> {
    loop {
        match compare_some(left, right) {
            Compared::Alike => {}
            Compared::Differ(found) => return Some(found),
            Compared::EndAlike => return None,
        }
    }
}

/// As [`first_difference`], but only a bounded number of events of each.
pub fn compare_some(left: &mut Sim, right: &mut Sim) -> Compared {
    let (was_left, was_right) = (left.clone(), right.clone());
    let running = (left.run(STRIDE), right.run(STRIDE));
    let same = state_word(left) == state_word(right) && running.0 == running.1;
    if !same {
        return Compared::Differ(narrow(was_left, was_right));
    }
    if running.0 {
        return Compared::Alike;
    }
    if left.digest() == right.digest() {
        return Compared::EndAlike;
    }
    Compared::Differ(Difference { shared: left.processed, left: None, right: None })
}

fn narrow(mut left: Sim, mut right: Sim) -> Difference {
    loop {
        let next = (next(&left), next(&right));
        let shared = left.processed;
        if next.0 != next.1 || next.0.is_none() {
            return Difference { shared, left: next.0, right: next.1 };
        }
        left.run(1);
        right.run(1);
        if state_word(&left) != state_word(&right) {
            return Difference { shared, left: next.0, right: next.1 };
        }
    }
}

/// A small part of the state that distinguishes two runs cheaply.
fn state_word(sim: &Sim) -> (u64, u64, u64, u64) {
    let tally = &sim.cx.instruments.tally;
    let digest = sim.cx.instruments.digest;
    (sim.cx.now.ps(), sim.processed, digest, tally.injected ^ tally.dropped << 32)
}

/// What a run does next.
fn next(sim: &Sim) -> Option<Event> {
    if sim.cx.stopped { None } else { sim.cx.events.first() }
}
