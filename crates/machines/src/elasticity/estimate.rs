//! The rate of the cross traffic at a busy bottleneck, from the sender alone. Goyal 2022, §4.3.1: a first-in,
//! first-out queue treats all alike, so that R/µ = S/(S + z) for the rate S at which packets are sent, the rate R
//! at which *the same* packets arrive, the link's µ and the others' z.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Span, Time};

/// Equation 4.1: ẑ = µ̂ · S/R − S, in the unit of its arguments. Nothing has arrived: zero. It may be negative where µ̂
/// is too small: who takes a spectrum needs it as it is.
pub fn cross_traffic(mu: f64, sent: f64, received: f64) -> f64 {
    if received > 0.0 { mu * sent / received - sent } else { 0.0 }
}

/// S and R of the packets of one round trip, bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Flight {
    /// S, at which they were sent.
    pub sent: f64,
    /// R, at which they arrived.
    pub received: f64,
}

/// A packet that has arrived, and the flight of the round trip that ends with it: a delivery rate sample, of which
/// Linux' BBR takes the slower rate; here both count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// Payload bytes that arrived since the packet was sent.
    pub delivered: u64,
    /// Between the departures of the first and the last of them.
    pub departures: Span,
    /// Between the ACKs of the same packets.
    pub arrivals: Span,
    /// When the packet was sent.
    pub sent: Time,
    /// Payload bytes that have arrived since the flow began.
    pub total: u64,
}

/// When a packet left, when its ACK came, and what had arrived by then.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Passed {
    sent: Time,
    acked: Time,
    total: u64,
}

/// Measures S and R over the packets of one round trip, or over the last of them if that is too long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meter {
    /// Bytes on the wire per byte of payload.
    overhead: f64,
    /// The longest time between ACKs that is measured over; `None`: a round trip, whatever its length.
    cap: Option<Span>,
    /// Packets within the cap, oldest first; none without one.
    passed: VecDeque<Passed>,
    flight: Flight,
}

impl Meter {
    /// For packets of so many bytes on the wire per byte of payload.
    pub fn new(overhead: f64, cap: Option<Span>) -> Self {
        Self { overhead, cap, passed: VecDeque::new(), flight: Flight::default() }
    }

    /// The last S and R.
    pub fn flight(&self) -> Flight {
        self.flight
    }

    /// The ACK of a packet that was sent once came. (One that was sent twice is a sample of neither rate; its bytes
    /// count with the next.)
    pub fn on_ack(&mut self, now: Time, passage: &Passage) {
        if let Some(cap) = self.cap {
            let newest = Passed { sent: passage.sent, acked: now, total: passage.total };
            self.passed.push_back(newest);
            while self.passed.len() > 2 && now.since(self.passed[1].acked) >= cap {
                self.passed.pop_front();
            }
            if passage.arrivals > cap {
                return self.measure_short(newest);
            }
        }
        self.measure(passage.delivered, passage.departures, passage.arrivals);
    }

    fn measure_short(&mut self, newest: Passed) {
        let Some(first) = self.passed.front().copied() else { return };
        let bytes = newest.total - first.total;
        self.measure(bytes, newest.sent.since(first.sent), newest.acked.since(first.acked));
    }

    /// Equation 4.2, of `payload` bytes.
    fn measure(&mut self, payload: u64, departures: Span, arrivals: Span) {
        if payload == 0 || departures.is_zero() || arrivals.is_zero() {
            return;
        }
        let wire = payload as f64 * self.overhead;
        self.flight = Flight { sent: wire / departures.secs(), received: wire / arrivals.secs() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(delivered: u64, departures: u64, arrivals: u64) -> Passage {
        Passage {
            delivered,
            departures: Span::from_ms(departures),
            arrivals: Span::from_ms(arrivals),
            ..Passage::default()
        }
    }

    #[test]
    fn both_rates_are_of_the_same_bytes_and_on_the_wire() {
        let mut m = Meter::new(1.5, None);
        m.on_ack(Time::from_ms(9), &sample(80_000, 40, 50));
        assert_eq!(m.flight(), Flight { sent: 3e6, received: 2.4e6 });
        m.on_ack(Time::from_ms(10), &sample(0, 1, 1));
        m.on_ack(Time::from_ms(10), &sample(1000, 0, 5));
        assert_eq!(m.flight(), Flight { sent: 3e6, received: 2.4e6 }, "neither tells anything");
        assert_eq!(cross_traffic(12e6, 3e6, 2.4e6), 12e6);
        assert_eq!(cross_traffic(12e6, 3e6, 0.0), 0.0);
    }

    /// 1000 B every 10 ms, acknowledged every 20 ms, in round trips of 400 ms; measured over 100 ms of ACKs.
    #[test]
    fn a_cap_measures_over_the_newest_packets() {
        let mut m = Meter::new(1.0, Some(Span::from_ms(100)));
        for n in 0..50 {
            let delivery =
                Passage { sent: Time::from_ms(10 * n), total: 1000 * (n + 1), ..sample(20_000, 200, 400) };
            m.on_ack(Time::from_ms(400 + 20 * n), &delivery);
        }
        let Flight { sent, received } = m.flight();
        assert!((sent - 1e5).abs() < 1e-6 && (received - 5e4).abs() < 1e-6, "{sent} {received}");
        assert_eq!(m.passed.len(), 6);
    }

    /// Equation 4.7: what a wrong µ̂ makes of it.
    #[test]
    fn a_wrong_rate_of_the_link_mixes_the_senders_own_rate_in() {
        let (mu, s, z) = (12e6, 4e6, 8.5e6);
        let r = mu * s / (s + z);
        for wrong in [0.5, 0.75, 0.95, 1.0, 1.05, 1.5] {
            let found = cross_traffic(wrong * mu, s, r);
            let expected = wrong * z + (wrong - 1.0) * s;
            assert!((found - expected).abs() < 1e-6 * mu, "{wrong}: {found} {expected}");
        }
    }

    /// T3, equation 4.9: 192 and 96 Mb/s in a row, both busy; S = 100, z₁ = 96, z₂ = 60.
    #[test]
    fn two_bottlenecks_mix_both_cross_traffics_and_the_senders_own_rate() {
        let (mu1, mu2, z1, z2) = (192.0, 96.0, 96.0, 60.0);
        let estimate = |s: f64| {
            let first = mu1 * s / (s + z1);
            cross_traffic(mu2, s, mu2 * first / (first + z2))
        };
        assert!((estimate(100.0) - 61.25).abs() < 1e-9, "{}", estimate(100.0));
        let slope = (estimate(100.5) - estimate(99.5)) / 1.0;
        assert!((slope - 0.3125).abs() < 1e-9, "{slope}");
    }
}
