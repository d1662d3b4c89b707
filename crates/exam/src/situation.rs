//! One situation: a network with its traffic, and what is looked at in it.

use serde::Deserialize;

/// One network with its traffic, and what is looked at in it. [`all`](crate::situations::all) lists them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Situation {
    /// What it is called: `shallow-buffer`.
    pub name: String,
    /// What it examines, in a line.
    pub about: String,
    /// The scenario, without a controller at `transport.congestion`.
    pub text: String,
    /// How its runs are looked at.
    pub look: Look,
    /// The two ends of the link that counts.
    pub bottleneck: (String, String),
}

/// How the runs of a situation are looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Utilisation, delay, fairness and share count from here on (s).
    pub from: f64,
    /// The time to converge counts from here on (s).
    pub event: f64,
    /// What it waits for.
    pub settles: Settles,
    /// Over so many seconds that is taken, and it has to last for three times that.
    pub window: f64,
    /// The empty path's round trip of each flow (ms), where they differ.
    pub base_rtt: Vec<f64>,
}

/// What the time to converge waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Settles {
    /// Nothing: there is no such time.
    #[default]
    #[serde(rename = "")]
    Nothing,
    /// 80 % of what the link could carry is carried.
    Link,
    /// Jain's index of all flows is 0.9; only these situations have marks for fairness.
    Share,
    /// The queueing delay has come to where it stays.
    Delay,
    /// Every flow is complete.
    Done,
}

impl Settles {
    /// As `situations.toml` has it; none is called otherwise.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Nothing, Self::Link, Self::Share, Self::Delay, Self::Done]
            .into_iter()
            .find(|s| s.word() == word)
    }

    /// As `situations.toml` has it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Link => "link",
            Self::Share => "share",
            Self::Delay => "delay",
            Self::Done => "done",
        }
    }
}
