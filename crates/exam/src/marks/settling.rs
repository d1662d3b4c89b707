//! When what a situation waits for has come to last.

use super::arrays::{jain, median, place};
use super::seen::Seen;
use super::view::View;
use crate::situation::{Look, Settles};

// Shares of time-outs, sawteeth and PROBE_RTT leave this much of a link idle for a while: it still counts as used.
const USED: f64 = 0.8;
const FAIR: f64 = 0.9;
// The delay has settled within a quarter of where it stays, or this many milliseconds.
const NEAR: f64 = 1.25;
const NEAR_MS: f64 = 5.0;
// It has settled if this holds for three windows, and in nine tenths of all that follow: a rate that probes for more,
// or a cut now and then, does not undo it.
const HOLD: f64 = 3.0;
const MOST: f64 = 0.9;

/// Seconds after the event; infinite: it never did; not a number: nothing is waited for.
pub(super) fn settled(look: &Look, seen: &Seen, view: &View) -> f64 {
    let good = match look.settles {
        Settles::Nothing => return f64::NAN,
        Settles::Done => return done(look, seen),
        Settles::Link => windows(view, look.window, |a, b| {
            view.carried[b] - view.carried[a] >= USED * (view.capacity[b] - view.capacity[a])
        }),
        Settles::Share => {
            let got: Vec<Vec<f64>> =
                view.progress.iter().map(|one| view.seconds.iter().map(|at| one.by(*at)).collect()).collect();
            windows(view, look.window, |a, b| {
                jain(&got.iter().map(|sums| sums[b] - sums[a]).collect::<Vec<_>>()) >= FAIR
            })
        }
        Settles::Delay => {
            let last: Vec<f64> = view.trips_since(view.end() - (view.end() - look.event) / 4.0).collect();
            if last.is_empty() {
                return f64::INFINITY;
            }
            let limit = NEAR * median(&last) + NEAR_MS;
            let places: Vec<usize> = view.seconds.iter().map(|at| place(&view.times, *at)).collect();
            windows(view, look.window / 2.0, |a, b| {
                places[b] > places[a] && median(&view.delays[places[a]..places[b]]) <= limit
            })
        }
    };
    first_lasting(look, view, &good)
}

/// When the last flow is complete, if all are.
fn done(look: &Look, seen: &Seen) -> f64 {
    let ends =
        seen.flows.start_ps.iter().zip(&seen.flows.fct_ps).map(|(start, fct)| Some((*start)? + (*fct)?));
    let last = ends.collect::<Option<Vec<u64>>>().and_then(|all| all.into_iter().max());
    last.map_or(f64::INFINITY, |last| last as f64 * 1e-12 - look.event)
}

/// Of each instant whether it holds in the window that begins there; windows that the run cuts off are left out.
fn windows(view: &View, width: f64, holds: impl Fn(usize, usize) -> bool) -> Vec<bool> {
    let ends = view.seconds.iter().map(|at| place(&view.seconds, at + width - 1e-9));
    ends.enumerate().filter(|(_, b)| *b < view.seconds.len()).map(|(a, b)| holds(a, b)).collect()
}

fn first_lasting(look: &Look, view: &View, good: &[bool]) -> f64 {
    let step = view.seconds.get(1).map_or(1.0, |second| second - view.seconds[0]);
    let hold = ((HOLD * look.window / step).round_ties_even() as usize).max(1);
    let lasts = |n: &usize| {
        let rest = &good[*n..];
        let kept = rest.iter().filter(|good| **good).count();
        rest.len() >= hold
            && rest.iter().take(hold).all(|good| *good)
            && kept as f64 / rest.len() as f64 >= MOST
    };
    let first = (place(&view.seconds, look.event - 1e-9)..good.len()).find(lasts);
    first.map_or(f64::INFINITY, |n| view.seconds[n] - look.event)
}
