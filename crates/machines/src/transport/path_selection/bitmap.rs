//! Penalty points per value: the oblivious sequence skips values whose packets met congestion, once per point.
//!
//! ```text
//! CHOICE uet-htsim (uec_mp.cpp): a mark is 1 point, a trimmed packet 4, a timeout 15, and 15 are the most. Of the
//! values that one packet passes over only the first is forgiven a point. When all have points, a round is passed
//! over.
//! CHOICE: 64 values by default, as there: a flow of fewer packets than values never comes back to one, and each
//! value is a byte per flow.
//! ```

use super::PathFeedback;
use super::declare::{Choice, Parameters};
use super::oblivious::Sequence;
use crate::problems::Problems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Stream, Time};

/// Takes all values in turn, but skips those with penalty points (uet-htsim: `bitmap`, after STrack: Le et al., 2024).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Number of path values, a power of two. Penalties take effect once a flow has sent more packets than that.
    #[schemars(extend("minimum" = 2, "maximum" = 65536))]
    pub values: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { values: 64 }
    }
}

impl Parameters for Params {
    type Machine = Bitmap;

    fn values(&self) -> u32 {
        self.values
    }
    fn check(&self, problems: &mut Problems) {
        problems.power_of_two("values", self.values);
        // More than the 16 bits of a port would only take memory.
        if self.values > 1 << 16 {
            let reason = format!("{} penalties of a byte for every flow", self.values);
            problems.wrong("values", reason, "allowed: 2 to 65536");
        }
    }
    fn make(&self, stream: Stream) -> Bitmap {
        Bitmap::new(stream, self.values)
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { values: 8 }, Self::default()]
    }
}

/// A mark.
const MARK: u8 = 1;
/// A packet that was trimmed.
const TRIM: u8 = 4;
/// The most: a timeout.
const MOST: u8 = 15;

/// The penalties of one flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bitmap {
    sequence: Sequence,
    /// Points of each value. Empty until the first one.
    points: Vec<u8>,
}

impl Bitmap {
    pub(super) fn new(stream: Stream, values: u32) -> Self {
        Self { sequence: Sequence::new(stream, values), points: Vec::new() }
    }

    /// The next value without points.
    #[inline]
    pub(super) fn pass_over(&mut self, values: u32) -> u32 {
        for passed in 0..values {
            match self.points.get_mut(self.sequence.value() as usize) {
                Some(points) if *points > 0 => *points -= u8::from(passed == 0),
                _ => break,
            }
            self.sequence.advance(values);
        }
        let value = self.sequence.value();
        self.sequence.advance(values);
        value
    }

    pub(super) fn learn(&mut self, values: u32, value: u32, what: PathFeedback) {
        match what {
            PathFeedback::Good => {}
            PathFeedback::Marked => self.charge(values, value, MARK),
            PathFeedback::Trimmed => self.charge(values, value, TRIM),
        }
    }

    pub(super) fn time_out(&mut self, values: u32, value: u32) {
        self.charge(values, value, MOST);
    }

    fn charge(&mut self, values: u32, value: u32, more: u8) {
        if self.points.is_empty() {
            self.points = vec![0; values as usize];
        }
        if let Some(points) = self.points.get_mut(value as usize) {
            *points = (*points + more).min(MOST);
        }
    }
}

impl Choice for Bitmap {
    type Params = Params;

    #[inline]
    fn next(&mut self, p: &Params, _: Time, _: u64) -> u32 {
        self.pass_over(p.values)
    }
    #[inline]
    fn on_feedback(&mut self, p: &Params, _: Time, value: u32, what: PathFeedback) {
        self.learn(p.values, value, what);
    }
    fn on_timeout(&mut self, p: &Params, _: Time, value: u32, _: f64) {
        self.time_out(p.values, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: Params = Params { values: 4 };

    fn machine() -> Bitmap {
        // To a round in the order 0, 1, 2, 3.
        let mut bitmap = P.make(Stream::new(1, "paths", 0));
        for _ in 0..1000 {
            if bitmap.sequence.mask() == 0 && bitmap.sequence.value() == 0 {
                return bitmap;
            }
            bitmap.sequence.advance(4);
        }
        panic!("no such round");
    }

    #[test]
    fn values_with_points_are_passed_over_and_the_first_of_them_forgiven_one() {
        let mut bitmap = machine();
        bitmap.on_feedback(&P, Time::ZERO, 0, PathFeedback::Trimmed);
        bitmap.on_feedback(&P, Time::ZERO, 1, PathFeedback::Marked);
        bitmap.on_feedback(&P, Time::ZERO, 2, PathFeedback::Good);
        assert_eq!(bitmap.points, [4, 1, 0, 0]);
        // 0 is passed over and forgiven a point, 1 only passed over.
        assert_eq!(bitmap.next(&P, Time::ZERO, 1), 2);
        assert_eq!(bitmap.points, [3, 1, 0, 0]);
        assert_eq!(bitmap.next(&P, Time::ZERO, 1), 3);
        assert_eq!(bitmap.points, [3, 1, 0, 0]);
    }

    #[test]
    fn fifteen_points_are_the_most_and_a_timeout_is_all_of_them() {
        let mut bitmap = machine();
        bitmap.on_timeout(&P, Time::ZERO, 3, 1.0);
        bitmap.on_feedback(&P, Time::ZERO, 3, PathFeedback::Trimmed);
        assert_eq!(bitmap.points, [0, 0, 0, 15]);
    }

    #[test]
    fn where_all_have_points_a_round_is_passed_over_and_one_point_forgiven() {
        let mut bitmap = machine();
        (0..4).for_each(|value| bitmap.on_timeout(&P, Time::ZERO, value, 1.0));
        let first = bitmap.sequence.value();
        let taken = bitmap.next(&P, Time::ZERO, 1);
        assert!(taken < 4);
        assert_eq!(bitmap.points[first as usize], 14);
        assert_eq!(bitmap.points.iter().map(|p| u32::from(*p)).sum::<u32>(), 59);
    }
}
