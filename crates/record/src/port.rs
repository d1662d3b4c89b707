//! A port as data.

use serde::{Deserialize, Serialize};
use thalweg_machines::Invalid;
use thalweg_machines::egress::{Egress, EgressSpec};
use thalweg_units::{Rate, Span};

/// A port that stands alone: nothing that it decides depends on more than what arrives there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Port {
    /// As the scenario calls it: "switch0 -> switch1".
    pub name: String,
    /// Seed of its random streams.
    pub seed: u64,
    /// Its number, which picks its streams.
    pub entity: u64,
    /// Link, queue, stages.
    pub egress: EgressSpec,
}

impl Port {
    /// The machine before anything has arrived.
    ///
    /// # Errors
    /// If parameters contradict each other.
    pub fn make(&self) -> Result<Egress, Invalid> {
        Egress::new(&self.egress, self.seed, self.entity)
    }

    /// How many classes of service its order knows.
    pub fn classes(&self) -> u16 {
        self.egress.queue.order.needs().classes.unwrap_or(1)
    }

    /// What 1500 bytes take at its mean rate.
    pub fn packet_time(&self) -> Span {
        let bps = self.rate().bps().max(1);
        Span::from_ps((12_000u128 * 1_000_000_000_000 / u128::from(bps)).min(u128::from(u64::MAX)) as u64)
    }

    /// Its rate in the long run.
    pub fn rate(&self) -> Rate {
        self.egress.link.mean_rate()
    }

    /// Propagation, without jitter.
    pub fn delay(&self) -> Span {
        self.egress.link.delay
    }
}
