//! Sprout's header (Winstein, Sivaraman, Balakrishnan, "Stochastic Forecasts Achieve High Throughput and Low Delay
//! over Cellular Networks", NSDI 2013, §3).

use serde::{Deserialize, Serialize};

/// How Sprout's receiver reads what comes; data carry it, since a receiver has no parameters of its own. A
/// byte: every sender has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Reading {
    /// As the paper does.
    #[default]
    Paper,
    /// What comes in different ticks is taken for independent.
    Independent,
    /// Bytes are counted, not segments.
    Bytes,
    /// Both, as the authors' program does.
    Program,
}

impl Reading {
    /// What comes in different ticks is taken for independent; bytes are counted.
    pub fn new(independent: bool, bytes: bool) -> Self {
        match (independent, bytes) {
            (false, false) => Self::Paper,
            (true, false) => Self::Independent,
            (false, true) => Self::Bytes,
            (true, true) => Self::Program,
        }
    }
    /// What comes in different ticks is taken for independent.
    pub fn is_independent(self) -> bool {
        matches!(self, Self::Independent | Self::Program)
    }
    /// Bytes are counted, not segments.
    pub fn is_by_bytes(self) -> bool {
        matches!(self, Self::Bytes | Self::Program)
    }
}

/// Sprout's header: what a link will deliver, in ACKs; in data what its sender will send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Forecast {
    /// ACK: the tick that it was made in.
    pub tick: u32,
    /// ACK: packets that come within one, two, … ticks from then, or more.
    pub delivers: [u8; Forecast::TICKS],
    /// Data: the last packet of a flight.
    pub pauses: bool,
    /// Data: how to read them.
    pub reading: Reading,
}

impl Forecast {
    /// How far a forecast reaches, ticks.
    pub const TICKS: usize = 8;
}
