//! Rates of ports and the lines behind them.

use crate::normal::{Policy, Port};
use crate::syntax::tree::RateUnit;
use std::fmt;
use thalweg_units::{Bytes, Rate, Span, Time};

/// A port that is faster than its link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooFast {
    /// Its name.
    pub port: String,
    /// Its rate.
    pub rate: Rate,
}

impl fmt::Display for TooFast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "port {} sends at {} Mb/s, more than its link", self.port, self.rate.bps() as f64 / 1e6)
    }
}

impl std::error::Error for TooFast {}

/// The rate of each port, if their links have this rate: a share of it where the policy gives percentages.
///
/// # Errors
/// If a port is faster than that.
pub fn line_rates(policy: &Policy, link: Rate) -> Result<Vec<Rate>, TooFast> {
    let rate = |port: &Port| {
        let own = of_port(port, link);
        if own > link { Err(TooFast { port: port.name.clone(), rate: own }) } else { Ok(own) }
    };
    policy.ports().iter().map(rate).collect()
}

fn of_port(port: &Port, link: Rate) -> Rate {
    let (amount, unit) = (port.rate.amount, port.rate.unit);
    let (whole, parts): (u128, u128) = match unit {
        RateUnit::Percent => (u128::from(link.bps()), 100),
        RateUnit::Kbps => (1_000, 1),
        RateUnit::Mbps => (1_000_000, 1),
        RateUnit::Gbps => (1_000_000_000, 1),
    };
    let over = whole.saturating_mul(u128::from(amount.digits));
    let bps = over / (parts * 10u128.pow(amount.decimals));
    // At least one bit per second, so that transmissions end.
    Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX).max(1))
}

/// The lines behind ports.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    rates: Vec<Rate>,
    /// For each line, when it has sent all packets that it was given.
    free_at: Vec<Time>,
    /// For each line, when it begins, or has begun, the last packet that it was given.
    begun_at: Vec<Time>,
}

impl Lines {
    pub(super) fn new(rates: &[Rate]) -> Self {
        let idle = vec![Time::ZERO; rates.len()];
        Self { rates: rates.to_vec(), free_at: idle.clone(), begun_at: idle }
    }

    pub(super) fn len(&self) -> usize {
        self.rates.len()
    }

    pub(super) fn is_free(&self, port: usize, now: Time) -> bool {
        self.free_at[port] <= now
    }

    /// True if the line is sending the last packet that it was given, so that it may be given another one to send
    /// directly after it.
    pub(super) fn has_begun(&self, port: usize, now: Time) -> bool {
        self.begun_at[port] <= now
    }

    /// Sends a packet of this size once the line is free. Returns when its last bit has been sent.
    pub(super) fn send(&mut self, port: usize, now: Time, size: u32) -> Time {
        let begin = self.free_at[port].max(now);
        let span = Bytes::new(u64::from(size)) / self.rates[port];
        self.begun_at[port] = begin;
        // Every packet takes some time, however fast the line.
        self.free_at[port] = begin.saturating_add(span.max(Span::from_ps(1)));
        self.free_at[port]
    }

    /// The next instant at which a line becomes free.
    pub(super) fn next_free(&self, now: Time) -> Option<Time> {
        self.free_at.iter().copied().filter(|at| *at > now).min()
    }

    /// The next instant at which a line begins a packet.
    pub(super) fn next_begin(&self, now: Time) -> Option<Time> {
        self.begun_at.iter().copied().filter(|at| *at > now).min()
    }
}
