//! Verus' delay profile, §4.2: the smoothed delay of packets by the window by which they left, and a natural
//! cubic spline through it.
//!
//! CHOICE Verus §5.2: the authors' sender fits a penalised spline with a basis function per 15 windows and at
//! least five; here a knot per 15 windows, at least five, is the mean of what was seen between, and the curve
//! goes through the knots: with as few, both smooth. Beyond the last knot it goes on straight.

use serde::{Deserialize, Serialize};

/// Weight of what was seen before.
const OLD: f64 = 0.875;
/// Windows per knot, and least knots.
const PER_KNOT: usize = 15;
const KNOTS: usize = 5;
/// The largest window, segments.
const LARGEST: f64 = 40_000.0;

/// What was seen, and the curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Profile {
    /// Smoothed delay by window, ms; zero: nothing was seen.
    seen: Vec<f32>,
    curve: Spline,
}

impl Profile {
    /// A packet that left by this window took so long.
    pub(super) fn see(&mut self, window: u32, delay: f64) {
        let at = (window as usize).min(LARGEST as usize);
        if self.seen.len() <= at {
            self.seen.resize(at + 1, 0.0);
        }
        let seen = &mut self.seen[at];
        let old = f64::from(*seen);
        *seen = (if old > 0.0 { OLD * old + (1.0 - OLD) * delay } else { delay }) as f32;
    }

    /// The curve through what is known. False: too little is.
    pub(super) fn draw(&mut self) -> bool {
        if self.seen.len() <= KNOTS {
            return false;
        }
        let count = (self.seen.len() / PER_KNOT).max(KNOTS);
        let wide = self.seen.len().div_ceil(count).max(1);
        let knots: Vec<(f64, f64)> = (0..self.seen.len().div_ceil(wide))
            .filter_map(|bin| {
                let from = bin * wide;
                let to = (from + wide).min(self.seen.len());
                let known = (from..to).filter(|&w| self.seen[w] > 0.0);
                let (n, w, d) = known.fold((0.0, 0.0, 0.0), |(n, w, d), at| {
                    (n + 1.0, w + at as f64, d + f64::from(self.seen[at]))
                });
                (n > 0.0).then(|| (w / n, d / n))
            })
            .collect();
        if knots.len() >= 2 {
            self.curve = Spline::through(&knots);
        }
        knots.len() >= 2
    }

    /// The delay that this window brings; `None` without a curve.
    pub(super) fn delay(&self, window: f64) -> Option<f64> {
        (!self.curve.knots.is_empty()).then(|| self.curve.at(window))
    }

    /// The largest whole window below the first that brings a longer delay; `None` if none does, so that no
    /// window belongs to it. Without a curve the same of what was seen.
    pub(super) fn window(&self, delay: f64) -> Option<f64> {
        let Some(last) = self.curve.knots.last() else {
            let first = self.seen.iter().skip(2).position(|&d| f64::from(d) > delay);
            return Some(first.map_or(1.0, |at| (at + 1) as f64));
        };
        let end = libm::floor(last.x).max(2.0) as u32;
        if let Some(first) = (2..=end).find(|&w| self.curve.at(f64::from(w)) > delay) {
            return Some(f64::from(first - 1));
        }
        // Straight on.
        let slope = self.curve.end_slope();
        let crosses = last.x + (delay - last.y) / slope;
        (slope > 0.0 && crosses < LARGEST).then(|| libm::floor(crosses).max(1.0))
    }
}

/// A knot: where, how much, and the second derivative there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Knot {
    x: f64,
    y: f64,
    bend: f64,
}

/// A natural cubic spline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Spline {
    knots: Vec<Knot>,
}

impl Spline {
    /// Through points whose abscissae ascend.
    fn through(points: &[(f64, f64)]) -> Self {
        let mut knots: Vec<Knot> = points.iter().map(|&(x, y)| Knot { x, y, bend: 0.0 }).collect();
        // The tridiagonal system of the bends; those at the ends are zero.
        let mut eliminated = vec![(0.0, 0.0); knots.len()];
        for i in 1..knots.len().saturating_sub(1) {
            let (before, here, after) = (knots[i - 1], knots[i], knots[i + 1]);
            let (h, k) = (here.x - before.x, after.x - here.x);
            let turn = 6.0 * ((after.y - here.y) / k - (here.y - before.y) / h);
            let pivot = 2.0 * (h + k) - h * eliminated[i - 1].0;
            eliminated[i] = (k / pivot, (turn - h * eliminated[i - 1].1) / pivot);
        }
        for i in (1..knots.len().saturating_sub(1)).rev() {
            knots[i].bend = eliminated[i].1 - eliminated[i].0 * knots[i + 1].bend;
        }
        Self { knots }
    }

    fn at(&self, x: f64) -> f64 {
        let (first, last) = (self.knots[0], self.knots[self.knots.len() - 1]);
        if x <= first.x {
            return first.y + (x - first.x) * self.slope(0, first.x);
        }
        if x >= last.x {
            return last.y + (x - last.x) * self.end_slope();
        }
        let i = self.knots.partition_point(|k| k.x <= x) - 1;
        let (a, b) = (self.knots[i], self.knots[i + 1]);
        let h = b.x - a.x;
        let (u, v) = ((b.x - x) / h, (x - a.x) / h);
        u * a.y + v * b.y + ((u * u * u - u) * a.bend + (v * v * v - v) * b.bend) * h * h / 6.0
    }

    /// Of the piece from knot `i` on, at `x` within it.
    fn slope(&self, i: usize, x: f64) -> f64 {
        let (a, b) = (self.knots[i], self.knots[i + 1]);
        let h = b.x - a.x;
        let (u, v) = ((b.x - x) / h, (x - a.x) / h);
        (b.y - a.y) / h + ((3.0 * v * v - 1.0) * b.bend - (3.0 * u * u - 1.0) * a.bend) * h / 6.0
    }

    fn end_slope(&self) -> f64 {
        let last = self.knots.len() - 1;
        self.slope(last - 1, self.knots[last].x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knots (0, 0), (1, 1), (2, 0): the bend in the middle is -3, by 2 (1 + 1) m = 6 (-1 - 1).
    #[test]
    fn a_natural_spline_is_that_of_the_textbook() {
        let s = Spline::through(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)]);
        assert_eq!(s.knots[1].bend, -3.0);
        // 0.5: 0.5 · 1 + (0.125 - 0.5)(-3) / 6 = 0.6875
        assert_eq!((s.at(0.5), s.at(1.5), s.at(1.0)), (0.6875, 0.6875, 1.0));
        // The first piece has slope 1 + 1/2 at its beginning, and goes on straight before it.
        assert_eq!((s.at(-1.0), s.at(3.0)), (-1.5, -1.5));
    }

    #[test]
    fn through_points_of_a_line_it_is_the_line_and_it_meets_every_knot() {
        let line: Vec<_> = [0.0, 1.0, 4.0, 9.0].map(|x| (x, 3.0 * x + 2.0)).into();
        let s = Spline::through(&line);
        assert!([-2.0, 0.5, 3.0, 8.9, 20.0].iter().all(|&x| (s.at(x) - (3.0 * x + 2.0)).abs() < 1e-9));
        let wild = [(1.0, 5.0), (2.0, -1.0), (5.0, 7.0), (6.0, 6.0), (9.0, 0.0)];
        let s = Spline::through(&wild);
        assert!(wild.iter().all(|&(x, y)| (s.at(x) - y).abs() < 1e-9));
    }

    #[test]
    fn a_window_is_the_last_before_the_delay_is_exceeded_and_beyond_what_was_seen_the_curve_goes_on_straight()
    {
        let mut p = Profile::default();
        // 100 ms and 2 ms more per segment, seen up to 20.
        (1..=20).for_each(|w| p.see(w, 100.0 + 2.0 * f64::from(w)));
        assert_eq!((p.window(111.0), p.delay(5.0)), (Some(5.0), None), "without a curve what was seen");
        p.draw();
        assert!((p.delay(8.0).unwrap() - 116.0).abs() < 1e-3);
        assert_eq!((p.window(121.0), p.window(50.0)), (Some(10.0), Some(1.0)));
        assert_eq!(p.window(161.0), Some(30.0), "half as much again as was ever seen");
        let mut flat = Profile::default();
        (1..=20).for_each(|w| flat.see(w, 100.0));
        flat.draw();
        assert_eq!(flat.window(101.0), None, "no window brings more");
    }

    #[test]
    fn what_was_seen_before_counts_for_seven_eighths() {
        let mut p = Profile::default();
        p.see(3, 80.0);
        p.see(3, 160.0);
        assert_eq!(p.seen[3], 90.0);
    }
}
