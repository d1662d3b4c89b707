//! What pictures draw of a run.

use super::arrays::{median, place};
use super::view::View;

/// A run over time, in about a hundred points: what a picture shows.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Curves {
    /// When each interval ends (s).
    pub seconds: Vec<f64>,
    /// What the bottleneck could have carried in it (Mb/s).
    pub capacity: Vec<f64>,
    /// What it carried (Mb/s).
    pub carried: Vec<f64>,
    /// What the flows examined got (Mb/s).
    pub got: Vec<f64>,
    /// The median of their queueing delays (ms); not a number: no round trip was measured.
    pub delay: Vec<f64>,
}

pub(super) fn of(view: &View) -> Curves {
    let few = (view.seconds.len() / 100).max(1);
    let at: Vec<f64> = view.seconds.iter().step_by(few).copied().collect();
    let rate = |sums: &[f64]| -> Vec<f64> {
        let steps = sums.windows(2).zip(at.windows(2));
        steps.map(|(y, t)| (y[1] - y[0]) / (t[1] - t[0]).max(1e-12) * 8e-6).collect()
    };
    let thinned = |sums: &[f64]| -> Vec<f64> { sums.iter().step_by(few).copied().collect() };
    let mine = view.progress.iter().filter(|one| view.ours.contains(&one.flow));
    let mut got = vec![0.0; at.len()];
    for one in mine {
        got.iter_mut().zip(&at).for_each(|(sum, at)| *sum += one.by(*at));
    }
    let places: Vec<usize> = at.iter().map(|at| place(&view.times, *at)).collect();
    Curves {
        seconds: at.iter().skip(1).copied().collect(),
        capacity: rate(&thinned(&view.capacity)),
        carried: rate(&thinned(&view.carried)),
        got: rate(&got),
        delay: places.windows(2).map(|ends| median(&view.delays[ends[0]..ends[1]])).collect(),
    }
}
