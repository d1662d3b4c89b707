//! Delivery rate samples of a QUIC sender: the properties of its packets that [`Sampler`] needs.
//!
//! quinn-proto identifies an acknowledged packet by its departure time. Packets with the same departure time have the
//! same record, so one record per departure time is exact. Byte positions take the place of packet numbers, which begin
//! anew in each of QUIC's three number spaces.

use std::collections::VecDeque;
use thalweg_machines::congestion::Delivery;
use thalweg_machines::congestion::sampler::{Sampler, Stamp};
use thalweg_units::Time;

/// Number of records older than the newest acknowledged one that are kept. Packets of older records were acknowledged
/// or declared lost (RFC 9002 §6.1.1: three suffice), or need no acknowledgement and never get one.
const UNSETTLED: usize = 64;

/// The packets with one departure time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Record {
    stamp: Stamp,
    /// Bytes sent up to the last of these.
    end: u64,
    /// Of these bytes, those neither acknowledged nor declared lost.
    outstanding: u64,
}

/// A sender's records.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SendLog {
    /// In the order of departure times.
    records: VecDeque<Record>,
    sampler: Sampler,
    sent_to: u64,
    acked_to: u64,
    newest: Option<Record>,
}

impl SendLog {
    /// Bytes sent so far.
    pub(super) fn sent_to(&self) -> u64 {
        self.sent_to
    }

    /// Bytes sent up to the newest acknowledged packet.
    pub(super) fn acked_to(&self) -> u64 {
        self.acked_to
    }

    /// See [`Sampler::limited`].
    pub(super) fn limited(&mut self, in_flight: u64) {
        self.sampler.limited(in_flight);
    }

    /// `bytes` are sent, with `in_flight` bytes in flight before.
    pub(super) fn on_sent(&mut self, now: Time, bytes: u64, in_flight: u64) {
        let stamp = self.sampler.on_sent(now, in_flight);
        self.sent_to += bytes;
        match self.records.back_mut().filter(|last| last.stamp.sent >= now) {
            Some(last) => (last.end, last.outstanding) = (self.sent_to, last.outstanding + bytes),
            None => self.records.push_back(Record { stamp, end: self.sent_to, outstanding: bytes }),
        }
    }

    /// `bytes` that left at `sent` have arrived.
    pub(super) fn on_acked(&mut self, now: Time, sent: Time, bytes: u64) {
        self.sampler.on_arrived(now, bytes);
        // Packets that were never reported as sent have no record: probes of the path's MTU.
        let Ok(at) = self.records.binary_search_by_key(&sent, |record| record.stamp.sent) else { return };
        let record = &mut self.records[at];
        record.outstanding = record.outstanding.saturating_sub(bytes);
        self.acked_to = self.acked_to.max(record.end);
        if self.newest.is_none_or(|newest| record.stamp.sent >= newest.stamp.sent) {
            self.newest = Some(*record);
            self.sampler.note_newest(&record.stamp);
        }
    }

    /// `bytes` are declared lost; the newest of them was sent at `sent`.
    pub(super) fn on_lost(&mut self, sent: Time, bytes: u64) {
        self.sampler.on_lost(bytes);
        // RFC 9002 §6.1: both thresholds declare whatever is older lost, too.
        while self.records.front().is_some_and(|record| record.stamp.sent < sent) {
            self.records.pop_front();
        }
    }

    /// RS: the rate sample of the last acknowledgement; `None` if its packets have no record.
    pub(super) fn sample(&mut self) -> Option<Delivery> {
        self.sampler.settle();
        let Record { stamp, .. } = self.newest.take()?;
        self.settle(stamp.sent);
        Some(self.sampler.sample(&stamp))
    }

    /// Removes records that no acknowledgement can refer to.
    fn settle(&mut self, acked: Time) {
        while self.records.front().is_some_and(|record| record.outstanding == 0) {
            self.records.pop_front();
        }
        let older = self.records.partition_point(|record| record.stamp.sent < acked);
        self.records.drain(..older.saturating_sub(UNSETTLED));
    }

    #[cfg(test)]
    pub(super) fn records(&self) -> usize {
        self.records.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Bytes, Span};

    const US: fn(u64) -> Time = Time::from_us;

    /// What was delivered, and between which departures and arrivals, in us.
    fn reported(log: &mut SendLog) -> (u64, u64, u64) {
        let us = |span: Span| span.ps() / 1_000_000;
        let d = log.sample().unwrap();
        (d.delivered.get(), us(d.departures), us(d.arrivals))
    }

    /// The worked example of TCP's log (`transport/delivery.rs`), with the same numbers.
    #[test]
    fn the_rate_is_what_arrived_between_the_ack_that_freed_a_packet_and_its_own() {
        let mut log = SendLog::default();
        (0..4).for_each(|n| log.on_sent(US(0), 1000, n * 1000));
        assert_eq!(log.records(), 1, "one record for one instant");
        log.on_acked(US(100), US(0), 1000);
        assert_eq!(reported(&mut log), (1000, 0, 100));
        log.on_sent(US(100), 1000, 3000);
        for n in 1..4 {
            log.on_acked(US(100 + 10 * n), US(0), 1000);
            assert_eq!(reported(&mut log), (1000 * (n + 1), 0, 100 + 10 * n));
        }
        log.on_acked(US(200), US(100), 1000);
        assert_eq!(reported(&mut log), (4000, 100, 100));
        assert_eq!((log.records(), log.sample()), (0, None));
    }

    #[test]
    fn what_is_lost_is_counted_and_its_records_go() {
        let mut log = SendLog::default();
        (0..5).for_each(|n| log.on_sent(US(n), 1000, n * 1000));
        log.on_acked(US(100), US(4), 1000);
        assert_eq!(log.sample().unwrap().lost, Bytes::ZERO);
        log.on_lost(US(1), 2000);
        assert_eq!(log.records(), 4, "1, which other packets may have shared, 2, 3 and 4");
        log.on_acked(US(101), US(3), 1000);
        let sample = log.sample().unwrap();
        assert_eq!((sample.lost, sample.total), (Bytes::new(2000), Bytes::new(2000)));
        assert_eq!((log.acked_to(), log.sent_to()), (5000, 5000));
    }

    #[test]
    fn packets_that_need_no_acknowledgement_are_forgotten() {
        let mut log = SendLog::default();
        for n in 0..10_000 {
            log.on_sent(US(2 * n), 40, 0);
            log.on_sent(US(2 * n + 1), 1000, 0);
            log.on_acked(US(2 * n + 2), US(2 * n + 1), 1000);
            log.sample();
        }
        assert!(log.records() <= UNSETTLED + 2, "{}", log.records());
    }

    #[test]
    fn samples_are_app_limited_until_the_data_then_in_flight_is_delivered() {
        let mut log = SendLog::default();
        log.on_sent(US(0), 1000, 0);
        log.limited(1000);
        log.on_sent(US(30), 1000, 1000);
        log.on_acked(US(50), US(0), 1000);
        assert!(!log.sample().unwrap().app_limited, "it left before");
        log.on_acked(US(80), US(30), 1000);
        assert!(log.sample().unwrap().app_limited);
        log.on_sent(US(90), 1000, 0);
        log.on_acked(US(110), US(90), 1000);
        assert!(!log.sample().unwrap().app_limited, "it left when more was delivered");
    }
}
