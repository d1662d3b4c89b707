//! µ̂, the bottleneck's rate on the wire, bytes per second. Goyal 2022, §4.3.1: known, or estimated.

use super::params::{Estimate, Params};
use crate::elasticity::Flight;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Span, Time};

/// Weight of the old value of the smoothed R per tick of 10 ms.
// CHOICE: the published implementation weighs R with 0.2 every 5 ms.
const KEEPS: f64 = 0.8 * 0.8;
/// Packets sent within this time form a train, if there are at least [`TRAIN`] of them.
const TOGETHER: Span = Span::from_ms(1);
const TRAIN: u32 = 4;
/// Time for which a train's rate is kept.
const MEMORY: Span = Span::from_secs(10);
/// The estimate is this quantile of the trains' rates.
const PERCENTILE: f64 = 0.9;

/// µ̂.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Capacity {
    Known(f64),
    MaxReceived { smoothed: f64, largest: f64 },
    PacketPairs { train: Option<Train>, rates: VecDeque<(Time, f64)> },
}

/// Packets that left together, as far as they have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Train {
    /// When its first packet left, when that one's ACK came, and what had arrived with it.
    left: Time,
    first: Time,
    total: u64,
    /// The same of the last.
    last: Time,
    last_total: u64,
    packets: u32,
}

impl Capacity {
    pub(super) fn new(params: &Params) -> Self {
        match (params.link_rate, params.estimate.unwrap_or_default()) {
            (Some(rate), _) => Self::Known(rate.bps() as f64 / 8.0),
            (None, Estimate::MaxReceived) => Self::MaxReceived { smoothed: 0.0, largest: 0.0 },
            (None, Estimate::PacketPairs) => Self::PacketPairs { train: None, rates: VecDeque::new() },
        }
    }

    /// A packet that left at `sent` is acknowledged; with it `total` bytes have arrived, each `overhead` times itself
    /// on the wire.
    pub(super) fn on_ack(&mut self, now: Time, sent: Time, total: u64, overhead: f64) {
        let Self::PacketPairs { train, rates } = self else { return };
        match train {
            Some(t) if sent >= t.left && sent.since(t.left) <= TOGETHER => {
                (t.last, t.last_total) = (now, total);
                t.packets += 1;
            }
            _ => {
                if let Some(rate) = train.and_then(|t| t.rate(overhead)) {
                    rates.push_back((now, rate));
                }
                *train =
                    Some(Train { left: sent, first: now, total, last: now, last_total: total, packets: 1 });
            }
        }
        while rates.front().is_some_and(|(at, _)| now.since(*at) > MEMORY) {
            rates.pop_front();
        }
    }

    /// A tick: packets arrive at this rate.
    pub(super) fn on_tick(&mut self, flight: Flight) {
        if let Self::MaxReceived { smoothed, largest } = self {
            *smoothed = KEEPS * *smoothed + (1.0 - KEEPS) * flight.received;
            *largest = largest.max(*smoothed);
        }
    }

    /// µ̂; zero: not known yet.
    pub(super) fn rate(&self) -> f64 {
        match self {
            Self::Known(rate) => *rate,
            Self::MaxReceived { largest, .. } => *largest,
            Self::PacketPairs { rates, .. } => {
                let mut rates: Vec<f64> = rates.iter().map(|(_, rate)| *rate).collect();
                rates.sort_unstable_by(f64::total_cmp);
                let rank = libm::ceil(rates.len() as f64 * PERCENTILE) as usize;
                rank.checked_sub(1).map_or(0.0, |at| rates[at])
            }
        }
    }
}

impl Train {
    /// The bytes after the first packet in the time after its ACK.
    fn rate(&self, overhead: f64) -> Option<f64> {
        let span = self.last.since(self.first);
        let counts = self.packets >= TRAIN && !span.is_zero();
        counts.then(|| (self.last_total - self.total) as f64 * overhead / span.secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Rate;

    #[test]
    fn a_known_rate_is_in_bytes_per_second() {
        let params = Params { link_rate: Some(Rate::from_mbps(96)), ..Params::default() };
        assert_eq!(Capacity::new(&params).rate(), 12e6);
    }

    #[test]
    fn the_largest_smoothed_rate_stays() {
        let mut c = Capacity::new(&Params::default());
        let tick = |c: &mut Capacity, received| c.on_tick(Flight { sent: 0.0, received });
        (0..40).for_each(|_| tick(&mut c, 10e6));
        assert!((c.rate() - 10e6).abs() < 1.0);
        (0..40).for_each(|_| tick(&mut c, 1e6));
        assert!((c.rate() - 10e6).abs() < 1.0, "never less");
        tick(&mut c, 30e6);
        assert!(c.rate() < 13e6, "one sample is smoothed: {}", c.rate());
    }

    /// Trains of five packets of 1000 B whose ACKs are 100 us apart; a pair is no measurement.
    #[test]
    fn only_trains_measure_the_rate() {
        let mut c = Capacity::new(&Params { estimate: Some(Estimate::PacketPairs), ..Params::default() });
        let mut total = 0;
        let mut train = |c: &mut Capacity, ms: u64, packets: u64, gap: u64| {
            for n in 0..packets {
                total += 1000;
                c.on_ack(Time::from_us(1000 * ms + 50_000 + gap * n), Time::from_ms(ms), total, 1.5);
            }
        };
        train(&mut c, 10, 5, 100);
        train(&mut c, 20, 2, 1);
        train(&mut c, 30, 5, 100);
        train(&mut c, 40, 1, 1);
        assert!((c.rate() - 15e6).abs() < 1e-3, "1500 B per 100 us: {}", c.rate());
        train(&mut c, 10_035, 1, 1);
        assert!(c.rate() > 14e6, "the second one is not ten seconds old");
        train(&mut c, 11_000, 1, 1);
        assert_eq!(c.rate(), 0.0);
    }
}
