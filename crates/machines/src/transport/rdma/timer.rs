//! The retransmission timer of RDMA transports: IRN's pair of timeouts (§4.2, §4.5.2), one fixed timeout,
//! Jacobson's and Karels', or none. When it runs is the sender's business; there is no exponential back-off.

use super::super::{RdmaTimer, Rto, RtoRule};
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Span, Time};

/// The sender's state when the timer expires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outlook {
    /// Packets in flight.
    pub in_flight: u64,
    /// The line's rate.
    pub line: Rate,
    /// The flow's; `None`: the line's.
    pub rate: Option<Rate>,
}

/// The answer to an expiry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expiry {
    /// Retransmit.
    Fire,
    /// Wait until this time after the timer was started: RTO_high.
    Extend(Span),
}

/// Module timeout's first step: whether a timer that runs out with RTO_low (`low`) really fires.
pub fn expiry(policy: &RdmaTimer, low: bool, outlook: Outlook) -> Expiry {
    match *policy {
        RdmaTimer::Pair { high, max_in_flight, max_rate_factor, .. } if low => {
            // rate_factor = C / R
            let slow = max_rate_factor != 0
                && outlook.rate.is_some_and(|rate| {
                    u128::from(rate.bps()) * u128::from(max_rate_factor) < u128::from(outlook.line.bps())
                });
            if outlook.in_flight > u64::from(max_in_flight) || slow {
                Expiry::Extend(high)
            } else {
                Expiry::Fire
            }
        }
        _ => Expiry::Fire,
    }
}

/// One flow's timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Timer {
    /// When it runs out; [`Time::MAX`]: it does not run.
    at: Time,
    started: Time,
    /// It runs with RTO_low.
    low: bool,
    /// It fired, and no NACK has begun a recovery since.
    pub(super) fired: bool,
}

impl Timer {
    pub(super) const STOPPED: Self = Self { at: Time::MAX, started: Time::ZERO, low: true, fired: false };

    /// (Re)starts it; with [`RdmaTimer::Off`] it never runs.
    #[inline]
    pub(super) fn start(&mut self, policy: &RdmaTimer, now: Time, rto: &Rto) {
        let span = match *policy {
            RdmaTimer::Off => return,
            RdmaTimer::Fixed { value } => value,
            RdmaTimer::Pair { low, .. } => low,
            RdmaTimer::Dynamic { initial, min } => {
                rto.timeout(&RtoRule::Rfc6298 { initial, min, max: Span::MAX })
            }
        };
        (self.at, self.started, self.low) = (now.saturating_add(span), now, true);
    }

    /// Stops it.
    #[inline]
    pub(super) fn stop(&mut self) {
        self.at = Time::MAX;
    }

    #[inline]
    pub(super) fn runs(&self) -> bool {
        self.at != Time::MAX
    }

    /// When it runs out; [`Time::MAX`]: never.
    #[inline]
    pub(super) fn at(&self) -> Time {
        self.at
    }

    /// True if it fires now: it has run out and is not extended.
    pub(super) fn fires(&mut self, policy: &RdmaTimer, now: Time, outlook: Outlook) -> bool {
        if self.at > now {
            return false;
        }
        if let Expiry::Extend(high) = expiry(policy, self.low, outlook) {
            self.low = false;
            self.at = self.started.saturating_add(high);
        }
        self.at <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIR: RdmaTimer = RdmaTimer::Pair {
        low: Span::from_us(100),
        high: Span::from_us(320),
        max_in_flight: 3,
        max_rate_factor: 4,
    };
    const LINE: Rate = Rate::from_gbps(40);

    fn with(in_flight: u64, rate: Option<Rate>) -> Outlook {
        Outlook { in_flight, line: LINE, rate }
    }

    #[test]
    fn the_short_timeout_fires_with_few_packets_in_flight_and_a_quarter_of_the_line_at_least() {
        let high = Expiry::Extend(Span::from_us(320));
        assert_eq!(expiry(&PAIR, true, with(2, None)), Expiry::Fire); // the second golden vector
        assert_eq!(expiry(&PAIR, true, with(3, None)), Expiry::Fire);
        assert_eq!(expiry(&PAIR, true, with(4, None)), high);
        assert_eq!(expiry(&PAIR, false, with(4, None)), Expiry::Fire);
        assert_eq!(expiry(&PAIR, true, with(3, Some(Rate::from_gbps(10)))), Expiry::Fire); // rate factor 4
        assert_eq!(expiry(&PAIR, true, with(3, Some(Rate::from_mbps(9999)))), high);
        let any_rate = RdmaTimer::Pair {
            low: Span::from_us(100),
            high: Span::from_us(320),
            max_in_flight: 3,
            max_rate_factor: 0,
        };
        assert_eq!(expiry(&any_rate, true, with(3, Some(Rate::from_mbps(1)))), Expiry::Fire);
        assert_eq!(expiry(&RdmaTimer::Fixed { value: Span::from_us(1) }, true, with(99, None)), Expiry::Fire);
    }

    #[test]
    fn it_is_extended_from_when_it_was_started_and_then_fires_whatever_is_in_flight() {
        let mut t = Timer::STOPPED;
        t.start(&PAIR, Time::from_us(50), &Rto::default());
        assert_eq!(t.at(), Time::from_us(150));
        assert!(!t.fires(&PAIR, Time::from_us(149), with(1, None)));
        assert!(!t.fires(&PAIR, Time::from_us(150), with(4, None)));
        assert_eq!(t.at(), Time::from_us(370));
        assert!(t.fires(&PAIR, Time::from_us(370), with(4, None)));
        t.start(&PAIR, Time::from_us(370), &Rto::default());
        assert!(t.fires(&PAIR, Time::from_us(470), with(3, None))); // started again: the short one
        t.stop();
        assert!(!t.runs());
    }

    #[test]
    fn a_dynamic_timeout_follows_the_round_trips_above_its_floor_and_an_absent_one_never_runs() {
        let policy = RdmaTimer::Dynamic { initial: Span::from_us(320), min: Span::from_us(100) };
        let (mut t, mut rto) = (Timer::STOPPED, Rto::default());
        t.start(&policy, Time::ZERO, &rto);
        assert_eq!(t.at(), Time::from_us(320));
        rto.sample(Span::from_us(40)); // 40 + 4 · 20
        t.start(&policy, Time::ZERO, &rto);
        assert_eq!(t.at(), Time::from_us(120));
        (0..100).for_each(|_| rto.sample(Span::from_us(40)));
        t.start(&policy, Time::ZERO, &rto);
        assert_eq!(t.at(), Time::from_us(100));
        t.stop();
        t.start(&RdmaTimer::Off, Time::ZERO, &rto);
        assert!(!t.runs());
    }
}
