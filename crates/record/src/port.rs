//! A port as data.

use serde::{Deserialize, Serialize};
use thalweg_machines::Invalid;
use thalweg_machines::egress::{Egress, EgressSpec};
use thalweg_units::{Rate, Span};

/// A port whose decisions depend on nothing but its own arrivals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Port {
    /// Its name in the scenario: "switch0 -> switch1".
    pub name: String,
    /// Seed of its random streams.
    pub seed: u64,
    /// Its number, which selects its random streams.
    pub entity: u64,
    /// Link, queue, stages.
    pub egress: EgressSpec,
}

impl Port {
    /// The machine of the port, at which nothing has arrived.
    ///
    /// # Errors
    /// If parameters contradict each other.
    pub fn make(&self) -> Result<Egress, Invalid> {
        Egress::new(&self.egress, self.seed, self.entity)
    }

    /// Number of traffic classes that its order distinguishes.
    pub fn classes(&self) -> u16 {
        self.egress.queue.order.needs().classes.unwrap_or(1)
    }

    /// Transmission time of 1500 bytes at its mean rate.
    pub fn packet_time(&self) -> Span {
        let bps = self.rate().bps().max(1);
        Span::from_ps((12_000u128 * 1_000_000_000_000 / u128::from(bps)).min(u128::from(u64::MAX)) as u64)
    }

    /// Its long-term mean rate.
    pub fn rate(&self) -> Rate {
        self.egress.link.mean_rate()
    }

    /// Propagation delay without jitter.
    pub fn delay(&self) -> Span {
        self.egress.link.delay
    }
}
