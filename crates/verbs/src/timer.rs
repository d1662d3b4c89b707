//! The retransmission timer: IRN's two static timeouts (§4.2.1). Which of them counts is decided when the
//! short one runs out.
//!
//! CHOICE IRN §4.2.1 (not stated): armed when a packet is sent and it does not run, when the cumulative
//! acknowledgement advances, when the lowest unacknowledged packet is sent again, and after it fires; always
//! with RTO_low first. No back-off.

use crate::setup::Setup;
use crate::wire::Dialect;
use thalweg_units::Time;

/// Of one space of numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rto {
    armed: Option<Armed>,
}

#[derive(Clone, Copy, Debug)]
struct Armed {
    at: Time,
    low: bool,
}

impl Rto {
    /// Starts again from now.
    pub fn restart(&mut self, setup: &Setup, now: Time) {
        self.armed = Some(Armed { at: now, low: setup.dialect == Dialect::Irn });
    }
    /// Starts if it does not run.
    pub fn start(&mut self, setup: &Setup, now: Time) {
        if self.armed.is_none() {
            self.restart(setup, now);
        }
    }
    /// Stops.
    pub fn stop(&mut self) {
        self.armed = None;
    }
    /// After an acknowledgement that advanced.
    pub fn on_advance(&mut self, setup: &Setup, now: Time, in_flight: u32) {
        if in_flight > 0 { self.restart(setup, now) } else { self.stop() }
    }
    /// When [`Rto::expire`] must be called.
    pub fn deadline(&self, setup: &Setup) -> Option<Time> {
        self.armed.map(|armed| armed.at + if armed.low { setup.rto_low } else { setup.rto_high })
    }
    /// Whether it fires now: not if RTO_low ran out with more than N packets in flight. It then goes on to RTO_high.
    pub fn expire(&mut self, setup: &Setup, now: Time, in_flight: u32) -> bool {
        if self.deadline(setup).is_none_or(|deadline| now < deadline) {
            return false;
        }
        match &mut self.armed {
            Some(armed) if armed.low && in_flight > setup.low_in_flight => {
                armed.low = false;
                self.expire(setup, now, in_flight)
            }
            _ => {
                self.restart(setup, now);
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_timeout_fires_with_few_in_flight_and_is_extended_with_more() {
        let setup = Setup::default();
        let us = Time::from_us;
        let mut rto = Rto::default();
        rto.start(&setup, us(7));
        rto.start(&setup, us(50)); // it runs already
        assert!(!rto.expire(&setup, us(106), 2));
        assert!(rto.expire(&setup, us(107), 3));
        assert_eq!(rto.deadline(&setup), Some(us(207)));
        assert!(!rto.expire(&setup, us(207), 4));
        assert_eq!(rto.deadline(&setup), Some(us(107 + 320)));
        assert!(rto.expire(&setup, us(427), 4));
        rto.on_advance(&setup, us(430), 0);
        assert_eq!(rto.deadline(&setup), None);
    }
}
