//! Recycled balls into bins (REPS, §5): why recycling converges where chance does not.
//!
//! Every step n balls are thrown into n bins, and one leaves each bin that is not empty. Each ball has a colour, of
//! b · n that take turns. A colour remembers the bin that its ball left, if that held τ balls at most, and the next
//! ball of the colour goes there; otherwise it is thrown at random. With b ≥ 2.4 ln n and τ ≥ 4 ln n all bins stay at
//! O(log n) balls; thrown at random they grow without bound.

use super::*;
use std::collections::VecDeque;
use thalweg_units::mix64;

/// What leaves a bin: who threw it, and the value that it carried.
type Ball = (usize, u32);

/// How full the bins were.
struct Filled {
    /// The fullest one ever.
    most: usize,
    /// All of them together, by step.
    all: Vec<usize>,
}

/// n bins, n balls a step: `throw` a sender's ball, and whether its bin held few balls as it `left`.
fn play<S>(
    n: usize,
    steps: usize,
    state: &mut S,
    throw: impl Fn(&mut S, usize, usize) -> (usize, u32),
    left: impl Fn(&mut S, Ball, usize, usize),
) -> Filled {
    let mut bins = vec![VecDeque::<Ball>::new(); n];
    let mut filled = Filled { most: 0, all: Vec::new() };
    for step in 0..steps {
        for sender in 0..n {
            let (bin, value) = throw(state, step, sender);
            bins[bin].push_back((sender, value));
        }
        for (bin, balls) in bins.iter_mut().enumerate() {
            let held = balls.len();
            if let Some(ball) = balls.pop_front() {
                left(state, ball, bin, held);
            }
        }
        filled.most = bins.iter().map(VecDeque::len).max().unwrap_or(0).max(filled.most);
        filled.all.push(bins.iter().map(VecDeque::len).sum());
    }
    filled
}

struct Bounds {
    n: usize,
    /// τ.
    few: usize,
    /// b.
    colours: usize,
    /// 40 n ln n.
    steps: usize,
    /// 10 ln n.
    most: usize,
}

impl Bounds {
    fn of(n: usize) -> Self {
        let ln = (n as f64).log2() * std::f64::consts::LN_2;
        let up = |factor: f64| (factor * ln).ceil() as usize;
        Self { n, few: up(4.0), colours: up(2.4), steps: up(40.0 * n as f64), most: up(10.0) }
    }
}

/// As defined.
fn recycled(at: &Bounds, seed: u64) -> Filled {
    let Bounds { n, few, colours, steps, .. } = *at;
    let mut state = (vec![None; colours * n], Stream::new(seed, "throws", 0));
    play(
        n,
        steps,
        &mut state,
        |(remembered, chance), step, sender| {
            let colour = step % colours * n + sender;
            let bin = remembered[colour].unwrap_or_else(|| chance.below(n as u64) as usize);
            (bin, colour as u32)
        },
        |(remembered, _), (_, colour), bin, held| {
            remembered[colour as usize] = (held <= few).then_some(bin);
        },
    )
}

/// The same of n senders whose values are hashed to bins; a bin marks what leaves it while it holds more than τ.
fn sent(at: &Bounds, spec: &PathSelectionSpec, seed: u64) -> Filled {
    let Bounds { n, few, steps, .. } = *at;
    let sender = |sender| spec.make(Stream::new(seed, "paths", sender as u64));
    let mut senders: Vec<PathSelector> = (0..n).map(sender).collect();
    play(
        n,
        steps,
        &mut senders,
        |senders, step, sender| {
            let value = senders[sender].next(spec, Time::from_ns(step as u64), n as u64);
            let hash = mix64((sender as u64) << 32 | u64::from(value));
            ((hash % n as u64) as usize, value)
        },
        |senders, (sender, value), _, held| {
            let what = if held <= few { PathFeedback::Good } else { PathFeedback::Marked };
            senders[sender].on_feedback(spec, Time::ZERO, value, what);
        },
    )
}

#[test]
fn recycled_balls_leave_all_bins_with_order_log_n_of_them() {
    for (n, seed) in [(16, 1), (16, 2), (32, 3), (64, 4), (128, 5)] {
        let at = Bounds::of(n);
        let Filled { most, all } = recycled(&at, seed);
        assert!(most <= at.most, "{n} bins: {most} in one, more than {}", at.most);
        let grown = all[at.steps - 1] as f64 / all[at.steps / 2] as f64;
        assert!(grown < 1.1, "{n} bins: {grown} times as many as after half of the steps");
    }
}

#[test]
fn balls_thrown_at_random_become_more_and_more() {
    for (n, seed) in [(32, 1), (64, 2), (128, 3)] {
        let at = Bounds::of(n);
        let Filled { most, all } = sent(&at, &PathSelectionSpec::random(), seed);
        assert!(most > 3 * at.most, "{n} bins: only {most} in one");
        // As the root of the time, so twice as many after four times as many steps.
        let grown = all[at.steps - 1] as f64 / all[at.steps / 4] as f64;
        assert!((1.4..2.8).contains(&grown), "{n} bins: {grown} times as many");
    }
}

#[test]
fn values_that_senders_recycle_do_as_the_balls_whose_colours_remember() {
    // Rings of eight are as many colours as the theorem requires of up to 28 bins.
    for (n, seed) in [(16, 1), (16, 2), (24, 3), (28, 4)] {
        let at = Bounds::of(n);
        assert!(at.colours <= 8);
        for spec in [PathSelectionSpec::reps(), PathSelectionSpec::reps_legacy()] {
            let Filled { most, all } = sent(&at, &spec, seed);
            assert!(most <= at.most, "{}, {n} bins: {most} in one", spec.key());
            // On average no more than τ, where chance has three times that.
            let left = all[at.steps - 1];
            assert!(left <= n * at.few, "{}, {n} bins: {left} in all", spec.key());
        }
    }
}
