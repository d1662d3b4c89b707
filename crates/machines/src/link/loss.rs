//! Packets that are lost on the link itself, whatever the load: independent losses, and losses in bursts.
//!
//! Bursts are a chain of two states: Gilbert, "Capacity of a Burst-Noise Channel", Bell System Technical
//! Journal 39(5), 1960; Elliott, "Estimates of Error Rates for Codes on Burst-Noise Channels", ibid. 42(5), 1963.
//! With one step per packet, the stationary share of the bad state is p / (p + r), and stays there last 1 / r
//! packets on average.

use crate::problems::{Invalid, Problem, Problems};
use serde::{Deserialize, Serialize};
use thalweg_units::{Stream, tagged};

tagged! {
    /// Random losses on the link, independent of load.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum LossSpec {
        /// Independent losses.
        Independent {
            /// Loss probability of each packet.
            #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0, "examples" = [0.01]))]
            probability: f64,
        },
        /// Gilbert–Elliott: a good state and a bad one, a step after each packet; begins in the good one (Gilbert 1960,
        /// Elliott 1963).
        Bursts {
            /// p: from the good state to the bad one.
            #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0, "examples" = [0.001]))]
            enter: f64,
            /// r: from the bad state to the good one; bursts last 1 / r packets on average.
            #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0, "examples" = [0.2]))]
            leave: f64,
            /// 1 − k: probability of loss in the good state.
            #[serde(default)]
            #[schemars(range(min = 0.0, max = 1.0))]
            good: f64,
            /// 1 − h: probability of loss in the bad state.
            #[serde(default = "certain")]
            #[schemars(range(min = 0.0, max = 1.0))]
            bad: f64,
        },
    }
}

fn certain() -> f64 {
    1.0 // Gilbert 1960, with h = 0
}

impl LossSpec {
    /// What cannot take effect.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Problems::default();
        if let Self::Bursts { good, bad, .. } = *self
            && good == bad
        {
            let why = format!("packets are lost alike in both states ({good})");
            problems.useless(
                "bad",
                &why,
                format!("write {{ kind = \"independent\", probability = {good} }}"),
            );
        } else if self.mean() == 0.0 {
            problems.useless("", "nothing is lost", "remove the key");
        }
        problems.0
    }

    /// The share of packets that is lost in the long run.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Independent { probability } => probability,
            // A chain that never moves stays in the good state.
            Self::Bursts { enter, leave, good, .. } if enter + leave == 0.0 => good,
            Self::Bursts { enter, leave, good, bad } => {
                let in_bad = enter / (enter + leave);
                (1.0 - in_bad) * good + in_bad * bad
            }
        }
    }
}

/// The loss process of a path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    spec: LossSpec,
    stream: Stream,
    in_bad: bool,
}

impl Loss {
    /// A path that draws from `stream`.
    ///
    /// # Errors
    /// If something is no probability.
    pub fn new(spec: LossSpec, stream: Stream) -> Result<Self, Invalid> {
        let given = match spec {
            LossSpec::Independent { probability } => vec![("probability", probability)],
            LossSpec::Bursts { enter, leave, good, bad } => {
                vec![("enter", enter), ("leave", leave), ("good", good), ("bad", bad)]
            }
        };
        match given.into_iter().find(|(_, p)| !(0.0..=1.0).contains(p)) {
            Some((name, p)) => {
                Err(Invalid::new(format!("a link's loss needs `{name}` in 0 to 1, not {p}")).at(name))
            }
            None => Ok(Self { spec, stream, in_bad: false }),
        }
    }

    /// Is the next packet lost? One draw, two with bursts, whatever comes of them.
    #[inline]
    pub fn strikes(&mut self) -> bool {
        match self.spec {
            LossSpec::Independent { probability } => self.stream.unit() < probability,
            LossSpec::Bursts { enter, leave, good, bad } => {
                let lost = self.stream.unit() < if self.in_bad { bad } else { good };
                self.in_bad ^= self.stream.unit() < if self.in_bad { leave } else { enter };
                lost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(spec: LossSpec, n: u32) -> Vec<bool> {
        let mut m = Loss::new(spec, Stream::new(1, "loss", 0)).unwrap();
        (0..n).map(|_| m.strikes()).collect()
    }
    fn share(lost: &[bool]) -> f64 {
        lost.iter().filter(|l| **l).count() as f64 / lost.len() as f64
    }

    #[test]
    fn independent_losses_come_as_often_as_they_should_and_not_in_bursts() {
        let lost = losses(LossSpec::Independent { probability: 0.02 }, 200_000);
        assert!((share(&lost) - 0.02).abs() < 0.002);
        let after: Vec<bool> = lost.windows(2).filter(|w| w[0]).map(|w| w[1]).collect();
        assert!((share(&after) - 0.02).abs() < 0.01, "{}", share(&after));
        assert_eq!(share(&losses(LossSpec::Independent { probability: 0.0 }, 1000)), 0.0);
        assert_eq!(share(&losses(LossSpec::Independent { probability: 1.0 }, 1000)), 1.0);
    }

    #[test]
    fn with_p_one_per_cent_and_r_a_quarter_bursts_last_four_packets_and_4_per_cent_are_lost() {
        let spec = LossSpec::Bursts { enter: 0.01, leave: 0.25, good: 0.0, bad: 1.0 };
        assert!((spec.mean() - 0.01 / 0.26).abs() < 1e-12);
        let lost = losses(spec, 400_000);
        assert!((share(&lost) - spec.mean()).abs() < 0.003, "{}", share(&lost));
        let bursts = lost.windows(2).filter(|w| !w[0] && w[1]).count() as f64;
        let length = lost.iter().filter(|l| **l).count() as f64 / bursts;
        assert!((length - 4.0).abs() < 0.2, "{length}");
    }

    #[test]
    fn elliott_loses_in_both_states() {
        let spec = LossSpec::Bursts { enter: 0.1, leave: 0.3, good: 0.05, bad: 0.6 };
        assert!((spec.mean() - (0.75 * 0.05 + 0.25 * 0.6)).abs() < 1e-12);
        let seen = share(&losses(spec, 400_000));
        assert!((seen - spec.mean()).abs() < 0.005, "{seen}");
        let still = LossSpec::Bursts { enter: 0.0, leave: 0.0, good: 0.0, bad: 1.0 };
        assert_eq!((still.mean(), share(&losses(still, 1000))), (0.0, 0.0));
    }

    #[test]
    fn what_is_no_probability_is_refused_with_its_name() {
        let refuse = |spec| Loss::new(spec, Stream::new(1, "loss", 0)).unwrap_err().to_string();
        assert!(
            refuse(LossSpec::Independent { probability: 1.5 }).contains("`probability` in 0 to 1, not 1.5")
        );
        let bursts = LossSpec::Bursts { enter: 0.1, leave: f64::NAN, good: 0.0, bad: 1.0 };
        assert!(refuse(bursts).contains("`leave`"));
    }
}
