//! Delivery rate samples of TCP and RDMA senders: a record of every outstanding segment, kept only for controllers that
//! declare [`Needs::delivery`]. Segments are numbered from 0 in the order of the flow. [`Sampler`] computes the
//! samples.
//!
//! [`Needs::delivery`]: crate::congestion::Needs::delivery

use crate::congestion::Delivery;
use crate::congestion::sampler::{Sampler, Stamp};
use crate::steps::steps;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::Time;

/// An outstanding segment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    stamp: Stamp,
    len: u32,
    /// It has arrived.
    arrived: bool,
    /// It was sent before.
    resent: bool,
}

/// The newest segment that an acknowledgement has reported.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Newest {
    record: Record,
    segment: u64,
}

/// A sender's records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SendLog {
    /// Segment of the first record: all before it have arrived.
    base: u64,
    records: VecDeque<Record>,
    sampler: Sampler,
    newest: Option<Newest>,
}

impl SendLog {
    /// See [`Sampler::limited`].
    pub(super) fn limited(&mut self, in_flight: u64) {
        self.sampler.limited(in_flight);
    }

    /// A segment of `len` payload bytes leaves; `in_flight` bytes were in flight before it.
    // CHOICE: bytes count as lost when they leave again, not when they are given up, which each recovery here knows in
    // another way.
    pub(super) fn on_sent(&mut self, now: Time, segment: u64, len: u32, in_flight: u64) {
        let at = segment.checked_sub(self.base).map(|at| at as usize);
        let known = at.and_then(|at| self.records.get_mut(at));
        if known.is_some() {
            self.sampler.on_lost(u64::from(len));
        }
        let stamp = self.sampler.on_sent(now, in_flight);
        match (known, at) {
            (Some(known), _) => *known = Record { stamp, len, arrived: known.arrived, resent: true },
            (None, None) => {} // it has arrived
            (None, at) => {
                debug_assert_eq!(at, Some(self.records.len()), "new segments leave in order");
                self.records.push_back(Record { stamp, len, arrived: false, resent: false });
            }
        }
    }

    /// Segments `from..to` have arrived; some of them may have been known to.
    pub(super) fn on_arrived(&mut self, now: Time, from: u64, to: u64) {
        let (from, to) = (from.max(self.base), to.min(self.base + self.records.len() as u64));
        for segment in from..to {
            steps(1);
            let record = &mut self.records[(segment - self.base) as usize];
            if std::mem::replace(&mut record.arrived, true) {
                continue;
            }
            self.sampler.on_arrived(now, u64::from(record.len));
            let newer = |n: &Newest| (record.stamp.sent, segment) > (n.record.stamp.sent, n.segment);
            if self.newest.as_ref().is_none_or(newer) {
                self.newest = Some(Newest { record: *record, segment });
                self.sampler.note_newest(&record.stamp);
            }
        }
        while self.records.front().is_some_and(|record| record.arrived) {
            self.records.pop_front();
            self.base += 1;
        }
    }

    /// RS: the sample of the acknowledgement that was just processed; `None` if nothing new arrived.
    pub(super) fn sample(&mut self) -> Option<Delivery> {
        self.sampler.settle();
        let Newest { record, .. } = self.newest.take()?;
        Some(Delivery { resent: record.resent, ..self.sampler.sample(&record.stamp) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Time = Time::from_us;

    /// What was delivered, in how many us, how much was lost, and whether the application is to blame.
    type Reported = Option<(u64, u64, u64, bool)>;

    fn delivery(delivered: u64, us: u64, lost: u64, app_limited: bool) -> Reported {
        Some((delivered, us, lost, app_limited))
    }
    fn reported(sample: Option<Delivery>) -> Reported {
        let of =
            |d: Delivery| (d.delivered.get(), d.interval().ps() / 1_000_000, d.lost.get(), d.app_limited);
        sample.map(of)
    }

    /// Four segments of 1000 B leave at once; a bottleneck lets one through per 10 us.
    #[test]
    fn the_rate_is_what_arrived_between_the_ack_that_freed_a_segment_and_its_own() {
        let mut log = SendLog::default();
        (0..4).for_each(|n| log.on_sent(US(0), n, 1000, n * 1000));
        log.on_arrived(US(100), 0, 1);
        assert_eq!(reported(log.sample()), delivery(1000, 100, 0, false));
        log.on_sent(US(100), 4, 1000, 3000);
        for n in 1..4 {
            log.on_arrived(US(100 + 10 * n), 0, n + 1);
            assert_eq!(reported(log.sample()), delivery(1000 * (n + 1), 100 + 10 * n, 0, false));
        }
        // Segment 4 left when 1000 B had arrived; 4000 B more have by 200 us, in 100 us.
        log.on_arrived(US(200), 0, 5);
        assert_eq!(reported(log.sample()), delivery(4000, 100, 0, false));
        assert!(log.records.is_empty() && log.sample().is_none());
    }

    #[test]
    fn acks_that_come_compressed_do_not_make_the_rate_that_of_the_acks() {
        let mut log = SendLog::default();
        // One segment per 10 us; the ACKs of all come at once at 200 us.
        (0..10).for_each(|n| log.on_sent(US(10 * n), n, 1000, n * 1000));
        log.on_arrived(US(100), 0, 1);
        assert_eq!(reported(log.sample()), delivery(1000, 100, 0, false));
        log.on_sent(US(100), 10, 1000, 9000);
        log.on_sent(US(150), 11, 1000, 10_000);
        log.on_arrived(US(199), 0, 11);
        log.sample();
        log.on_arrived(US(200), 0, 12);
        // 11 000 B were acknowledged within 100 us; they left within 150 us, which is the slower of both.
        assert_eq!(reported(log.sample()), delivery(11_000, 150, 0, false));
    }

    #[test]
    fn segments_count_once_and_what_is_sent_again_counts_as_lost() {
        let mut log = SendLog::default();
        (0..3).for_each(|n| log.on_sent(US(0), n, 1000, n * 1000));
        log.on_arrived(US(50), 1, 2);
        assert_eq!(reported(log.sample()), delivery(1000, 50, 0, false));
        log.on_arrived(US(51), 1, 3); // the second, again, and the third
        assert_eq!(reported(log.sample()), delivery(2000, 51, 0, false));
        log.on_sent(US(60), 0, 1000, 0);
        log.on_arrived(US(110), 0, 3);
        // The copy left after the loss was known: of its own flight nothing was lost.
        assert_eq!(reported(log.sample()), delivery(1000, 50, 0, false));
        assert_eq!(log.sampler.delivered(), 3000);
    }

    #[test]
    fn samples_are_app_limited_until_the_data_then_in_flight_is_delivered() {
        let mut log = SendLog::default();
        log.on_sent(US(0), 0, 1000, 0);
        log.limited(1000); // all that is written is in flight
        log.on_sent(US(30), 1, 1000, 1000);
        log.on_arrived(US(50), 0, 1);
        assert_eq!(reported(log.sample()), delivery(1000, 50, 0, false), "it left before");
        // The 1000 B in flight then are delivered, and not one byte more: what leaves now is the
        // application's doing, too.
        log.on_sent(US(60), 2, 1000, 1000);
        log.on_arrived(US(80), 0, 2);
        assert_eq!(reported(log.sample()), delivery(2000, 80, 0, true));
        log.on_sent(US(90), 3, 1000, 1000);
        log.on_arrived(US(110), 0, 3);
        assert_eq!(reported(log.sample()), delivery(2000, 60, 0, true));
        log.on_arrived(US(140), 0, 4);
        assert_eq!(reported(log.sample()), delivery(2000, 60, 0, false), "it left when more was delivered");
    }
}
