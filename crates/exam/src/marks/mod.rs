//! What is measured of a run, in numbers and as curves: the one definition of the marks, for Rust and for Python.

mod arrays;
mod curves;
mod seen;
mod settling;
mod view;

pub use curves::Curves;
pub use seen::{Flows, Link, Progress, Seen, Trips};

use crate::situation::{Look, Settles};
use arrays::{jain, ratio};
use serde::Serialize;
use view::View;

/// One controller in one situation.
///
/// Not a number: there is no such mark (nothing was sent, or no other flow to share with). A comparison with that is
/// false, so that an assertion about a mark that there is not fails.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Marks {
    /// What the bottleneck carried over what it could have carried.
    pub utilisation: f64,
    /// Of every round trip of the flows examined, less that of the empty path: 95 % are below (ms).
    pub delay_ms: f64,
    /// Data packets lost over data packets sent.
    pub loss: f64,
    /// Jain's index of all flows that share the link, where several do.
    pub fairness: f64,
    /// What the flows examined got over an equal share, in competition: below 1 they are starved, above they starve
    /// the others.
    pub share: f64,
    /// Seconds from the event, or the start, until what the situation waits for has come to last; infinite: never.
    pub settled_s: f64,
}

impl Marks {
    /// All by name, in the order of the columns.
    pub fn row(&self) -> [(&'static str, f64); 6] {
        [
            ("utilisation", self.utilisation),
            ("delay_ms", self.delay_ms),
            ("loss", self.loss),
            ("fairness", self.fairness),
            ("share", self.share),
            ("settled_s", self.settled_s),
        ]
    }
}

/// The marks of a run, and what pictures draw of it.
pub fn measure(look: &Look, seen: &Seen) -> (Marks, Curves) {
    let view = View::of(look, seen);
    let late = view.seconds.partition_point(|at| *at < look.from);
    let since = |sums: &[f64]| match (sums.last(), sums.get(late)) {
        (Some(last), Some(first)) => last - first,
        _ => 0.0,
    };
    let mut measured: Vec<f64> = view.trips_since(look.from).collect();
    let ours = |column: &[u64]| {
        let mine = seen.flows.id.iter().zip(column).filter(|(id, _)| view.ours.contains(id));
        mine.map(|(_, n)| *n).sum::<u64>() as f64
    };
    let (fairness, share) = sharing(look, &view);
    let marks = Marks {
        utilisation: ratio(since(&view.carried), since(&view.capacity)),
        delay_ms: arrays::percentile_95(&mut measured),
        loss: ratio(ours(&seen.flows.data_drops), ours(&seen.flows.packets)),
        fairness,
        share,
        settled_s: settling::settled(look, seen, &view),
    };
    (marks, curves::of(&view))
}

/// Jain's index of all flows, and what those examined got over an equal share if there are others.
fn sharing(look: &Look, view: &View) -> (f64, f64) {
    if view.progress.len() < 2 || look.settles != Settles::Share {
        return (f64::NAN, f64::NAN);
    }
    let got: Vec<f64> = view.progress.iter().map(|one| one.since(look.from)).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let all = view.progress.iter().zip(&got);
    let mine: Vec<f64> = all.filter(|(one, _)| view.ours.contains(&one.flow)).map(|(_, got)| *got).collect();
    let share = if mine.len() < got.len() { ratio(mean(&mine), mean(&got)) } else { f64::NAN };
    (jain(&got), share)
}

#[cfg(test)]
mod tests;
