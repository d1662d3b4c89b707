//! Delivery rate samples of a QUIC sender: draft-ietf-ccwg-bbr, §4.1, with its names (`C.` of the log, `P.` of a
//! record, `RS.` of the sample).
//!
//! quinn-proto names an acknowledged packet by the instant at which it was sent, and no two packets that left at one
//! instant differ in what was known then: a record per instant is exact. Positions in bytes stand for packet numbers,
//! which begin anew in each of QUIC's three number spaces.

use std::collections::VecDeque;
use thalweg_machines::congestion::Delivery;
use thalweg_units::{Bytes, Time};

/// Records older than the newest acknowledged one that are kept: the packets of the others were acknowledged or
/// declared lost (RFC 9002 §6.1.1: three suffice), or needed no acknowledgement and never get one.
const UNSETTLED: usize = 64;

/// P: what was known when these bytes left.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Record {
    /// P.send_time.
    sent: Time,
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
    /// Bytes sent up to the last of these.
    end: u64,
    /// Of them: neither acknowledged nor known to be lost.
    outstanding: u64,
}

/// A sender's records.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SendLog {
    /// In the order of their instants.
    records: VecDeque<Record>,
    /// C.delivered.
    delivered: u64,
    /// C.delivered_time.
    delivered_at: Time,
    /// C.first_send_time.
    first_sent: Time,
    /// C.lost: bytes declared lost.
    lost: u64,
    /// C.app_limited: until so much is delivered samples are the application's doing; 0: they are not.
    app_limited: u64,
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

    /// All that is written is in flight, and the window has room for more.
    pub(super) fn limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// `bytes` leave, with so much in flight before.
    pub(super) fn on_sent(&mut self, now: Time, bytes: u64, in_flight: u64) {
        if in_flight == 0 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        self.sent_to += bytes;
        if let Some(last) = self.records.back_mut().filter(|last| last.sent >= now) {
            (last.end, last.outstanding) = (self.sent_to, last.outstanding + bytes);
            return;
        }
        self.records.push_back(Record {
            sent: now,
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            app_limited: self.app_limited > 0,
            end: self.sent_to,
            outstanding: bytes,
        });
    }

    /// `bytes` that left at `sent` have arrived.
    pub(super) fn on_acked(&mut self, now: Time, sent: Time, bytes: u64) {
        self.delivered += bytes;
        self.delivered_at = now;
        // Packets that were never reported as sent have no record: probes of the path's MTU.
        let Ok(at) = self.records.binary_search_by_key(&sent, |record| record.sent) else { return };
        let record = &mut self.records[at];
        record.outstanding = record.outstanding.saturating_sub(bytes);
        self.acked_to = self.acked_to.max(record.end);
        if self.newest.is_none_or(|newest| record.sent >= newest.sent) {
            self.newest = Some(*record);
            self.first_sent = record.sent;
        }
    }

    /// `bytes` are lost, the newest of them sent at `sent`.
    pub(super) fn on_lost(&mut self, sent: Time, bytes: u64) {
        self.lost += bytes;
        // RFC 9002 §6.1: both thresholds declare whatever is older lost, too.
        while self.records.front().is_some_and(|record| record.sent < sent) {
            self.records.pop_front();
        }
    }

    /// RS: the sample of the acknowledgement that was just processed; `None` if it is of no packet known here.
    pub(super) fn sample(&mut self) -> Option<Delivery> {
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let record = self.newest.take()?;
        self.settle(record.sent);
        Some(Delivery {
            delivered: Bytes::new(self.delivered - record.delivered),
            departures: record.sent.since(record.first_sent),
            arrivals: self.delivered_at.since(record.delivered_at),
            sent: record.sent,
            total: Bytes::new(self.delivered),
            resent: false,
            lost: Bytes::new(self.lost - record.lost),
            app_limited: record.app_limited,
        })
    }

    /// Forgets what no acknowledgement will name.
    fn settle(&mut self, acked: Time) {
        while self.records.front().is_some_and(|record| record.outstanding == 0) {
            self.records.pop_front();
        }
        let older = self.records.partition_point(|record| record.sent < acked);
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
    use thalweg_units::Span;

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
