//! Delays that differ from packet to packet.

use crate::problems::{Problem, Problems};
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Stream, Time, tagged};

tagged! {
    /// Random additional delay of each packet.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum JitterParams {
        /// Uniformly distributed between zero and `max`.
        Uniform {
            /// Largest additional delay.
            #[schemars(extend("examples" = ["2ms"]))]
            max: Span,
            /// Packets may overtake each other. Otherwise one that would arrive before an earlier one arrives at the
            /// same time as it.
            #[serde(default)]
            reorder: bool,
        },
        /// Exponentially distributed.
        Exponential {
            /// Mean additional delay.
            #[schemars(extend("examples" = ["2ms"]))]
            mean: Span,
            /// Packets may overtake each other. Otherwise one that would arrive before an earlier one arrives at the
            /// same time as it.
            #[serde(default)]
            reorder: bool,
        },
    }
}

impl JitterParams {
    /// What cannot take effect.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Problems::default();
        let (key, span) = match *self {
            Self::Uniform { max, .. } => ("max", max),
            Self::Exponential { mean, .. } => ("mean", mean),
        };
        if span.is_zero() {
            problems.useless(
                key,
                "nothing is added to any delay",
                "write a time above 0, or remove `jitter`",
            );
        }
        problems.0
    }

    /// The machine's parameters.
    pub fn spec(&self) -> JitterSpec {
        match *self {
            Self::Uniform { max, reorder } => JitterSpec { shape: JitterShape::Uniform(max), reorder },
            Self::Exponential { mean, reorder } => {
                JitterSpec { shape: JitterShape::Exponential(mean), reorder }
            }
        }
    }
}

/// Parameters of [`Jitter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JitterSpec {
    /// How the additional delay is distributed.
    pub shape: JitterShape,
    /// Packets may overtake each other; default false: one that would arrive before an earlier one arrives with it.
    pub reorder: bool,
}

/// How an additional delay is distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JitterShape {
    /// Anything from zero to this, equally likely.
    Uniform(Span),
    /// Exponential with this mean.
    Exponential(Span),
}

/// What a path adds to the delay of each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jitter {
    spec: JitterSpec,
    stream: Stream,
    /// The latest arrival so far.
    latest: Time,
}

impl Jitter {
    /// A path that draws from `stream`.
    pub fn new(spec: JitterSpec, stream: Stream) -> Self {
        Self { spec, stream, latest: Time::ZERO }
    }

    /// Packets may overtake each other.
    pub fn reorders(&self) -> bool {
        self.spec.reorder
    }

    /// When a packet arrives that would arrive at `plain`. One draw.
    #[inline]
    pub fn arrives(&mut self, plain: Time) -> Time {
        let added = match self.spec.shape {
            JitterShape::Uniform(max) => self.stream.below(max.ps().saturating_add(1)),
            JitterShape::Exponential(mean) => self.stream.exponential(mean.ps() as f64) as u64,
        };
        let at = plain.saturating_add(Span::from_ps(added));
        if self.spec.reorder {
            return at;
        }
        self.latest = self.latest.max(at);
        self.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrivals of packets that would arrive 1 us apart.
    fn arrivals(shape: JitterShape, reorder: bool) -> Vec<Time> {
        let mut m = Jitter::new(JitterSpec { shape, reorder }, Stream::new(1, "jitter", 0));
        (0..50_000).map(|i| m.arrives(Time::from_us(i))).collect()
    }
    fn mean_us(arrivals: &[Time]) -> f64 {
        let added = arrivals.iter().enumerate().map(|(i, at)| at.secs() * 1e6 - i as f64);
        added.sum::<f64>() / arrivals.len() as f64
    }

    #[test]
    fn a_packet_that_would_overtake_arrives_with_the_one_before_it() {
        let shape = JitterShape::Uniform(Span::from_us(10));
        let (free, kept) = (arrivals(shape, true), arrivals(shape, false));
        assert!(!free.is_sorted() && kept.is_sorted());
        let mut latest = Time::ZERO;
        for (free, kept) in free.iter().zip(&kept) {
            latest = latest.max(*free);
            assert_eq!(*kept, latest, "the same draws");
        }
    }

    #[test]
    fn uniform_delays_lie_between_zero_and_the_maximum_and_exponential_ones_have_their_mean() {
        let uniform = arrivals(JitterShape::Uniform(Span::from_us(10)), true);
        assert!((mean_us(&uniform) - 5.0).abs() < 0.1);
        assert!(
            uniform.iter().enumerate().all(|(i, at)| at.since(Time::from_us(i as u64)) <= Span::from_us(10))
        );
        let exponential = arrivals(JitterShape::Exponential(Span::from_us(3)), true);
        assert!((mean_us(&exponential) - 3.0).abs() < 0.1);
        let none = arrivals(JitterShape::Uniform(Span::ZERO), false);
        assert_eq!(none[7], Time::from_us(7));
    }
}
