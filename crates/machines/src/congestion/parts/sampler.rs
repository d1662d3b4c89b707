//! Delivery rate samples: draft-ietf-ccwg-bbr, §4.1, with its names: `C.` is of the connection, `P.` of what left at
//! one time, `RS.` of the sample. A sender keeps a [`Stamp`] for whatever it sends, and reports what has arrived; how
//! it tells its packets apart is up to the sender.
//!
//! ```
//! use thalweg_machines::congestion::sampler::Sampler;
//! use thalweg_units::{Bytes, Span, Time};
//!
//! let (mut c, us) = (Sampler::default(), Time::from_us);
//! let first = c.on_sent(us(0), 0);
//! let second = c.on_sent(us(10), 1000);
//! c.on_arrived(us(100), 1000);
//! c.note_newest(&first);
//! assert_eq!(c.sample(&first).delivered, Bytes::new(1000));
//! c.on_arrived(us(110), 1000);
//! c.note_newest(&second);
//! let rs = c.sample(&second);
//! assert_eq!((rs.delivered, rs.arrivals), (Bytes::new(2000), Span::from_us(110)));
//! ```

use crate::congestion::Delivery;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Time};

/// P: state of the connection when a packet was sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stamp {
    /// P.send_time.
    pub sent: Time,
    /// P.first_send_time.
    first_sent: Time,
    /// P.delivered_time.
    delivered_at: Time,
    /// P.delivered.
    delivered: u64,
    /// P.lost.
    lost: u64,
    /// P.is_app_limited.
    app_limited: bool,
}

/// C: the state of a connection for delivery rate samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampler {
    /// C.delivered.
    delivered: u64,
    /// C.delivered_time.
    delivered_at: Time,
    /// C.first_send_time.
    first_sent: Time,
    /// C.lost.
    lost: u64,
    /// C.app_limited: until this much is delivered, samples are application-limited; 0: they are not.
    app_limited: u64,
}

impl Sampler {
    /// Bytes that have arrived so far: C.delivered.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// CheckIfApplicationLimited (§4.1.2.4) has found that all that is written is in flight, and the window has room
    /// for more: data sent until all of that and one more byte is delivered is application-limited.
    pub fn limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// A packet is sent; `in_flight` bytes were in flight before it.
    #[inline]
    pub fn on_sent(&mut self, now: Time, in_flight: u64) -> Stamp {
        if in_flight == 0 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        Stamp {
            sent: now,
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            app_limited: self.app_limited > 0,
        }
    }

    /// Bytes are lost.
    #[inline]
    pub fn on_lost(&mut self, bytes: u64) {
        self.lost += bytes;
    }

    /// Bytes have been delivered.
    #[inline]
    pub fn on_arrived(&mut self, now: Time, bytes: u64) {
        self.delivered += bytes;
        self.delivered_at = now;
    }

    /// Of the packets that this acknowledgement has covered so far, this one was sent last.
    #[inline]
    pub fn note_newest(&mut self, stamp: &Stamp) {
        self.first_sent = stamp.sent;
    }

    /// Ends the application-limited phase when enough has been delivered. Called once per acknowledgement, before its
    /// sample.
    #[inline]
    pub fn settle(&mut self) {
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
    }

    /// RS: the sample of the acknowledgement that was just processed; `newest`: of its packets the one sent last.
    pub fn sample(&self, newest: &Stamp) -> Delivery {
        Delivery {
            delivered: Bytes::new(self.delivered - newest.delivered),
            departures: newest.sent.since(newest.first_sent),
            arrivals: self.delivered_at.since(newest.delivered_at),
            sent: newest.sent,
            total: Bytes::new(self.delivered),
            resent: false,
            lost: Bytes::new(self.lost - newest.lost),
            app_limited: newest.app_limited,
        }
    }
}
