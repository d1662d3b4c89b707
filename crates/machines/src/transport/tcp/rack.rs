//! Losses found by time: RACK, and probes of the tail: TLP. RFC 8985 (Cheng, Cardwell, Dukkipati, Jha, 2021), §§5 to 7,
//! with its names. A segment is lost if one that left later has arrived, and a round trip and a reordering window have
//! passed since it left; so retransmissions that are lost are found, too, and segments that overtake each other within
//! the window are not taken for lost. A tail loss probe is sent if no ACK arrives for two round trips.
//!
//! ```text
//! CHOICE RFC 8985 §6.2: receivers here send no DSACK, so RACK.reo_wnd_mult stays 1; RACK.min_RTT is the
//! least of the connection.
//! CHOICE RFC 8985 §6.2: which segment left later is counted. Other reading: by time, and of those that left
//! at once by their bytes, which takes a retransmission for older than the new data that it left behind.
//! CHOICE RFC 8985 §6.2: RACK.rtt is that of the segment which left last, as step 5 is worded. Other reading: of
//! every segment that passes step 2, in the order of the ACK, as its pseudo-code and Linux have it.
//! CHOICE RFC 8985 §7.2: TLP.max_ack_delay is how long this transport's receivers delay ACKs. Other reading: 200 ms.
//! CHOICE RFC 8985 §8: the retransmission timer runs in parallel with the other two, which expire no later.
//! Other reading: one timer of three kinds, so that the retransmission timer begins anew when another has
//! expired.
//! CHOICE RFC 8985 §9.3: a retransmission lost within an episode is sent again without another cut, as in Linux.
//! CHOICE RFC 5681 §4.3: so the window is not lowered twice for it. Other reading: a second cut, as a timeout brings
//! where losses are found by duplicate ACKs.
//! ```

mod segments;
mod tail;

use crate::steps::steps;
use segments::Segments;
use serde::{Deserialize, Serialize};
pub(super) use tail::ProbeOutcome;
use tail::TailProbe;
use thalweg_units::{Span, Time};

/// RACK's and TLP's state of a connection, §5.3 and §7.1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rack {
    pub(super) segments: Segments,
    /// Of the segments that have arrived, the one sent last (RACK.xmit_ts); RACK.rtt, RACK.min_RTT.
    newest: Option<u64>,
    rtt: Span,
    min_rtt: Option<Span>,
    /// RACK.fack, as a segment; RACK.reordering_seen.
    fack: u64,
    reordering_seen: bool,
    /// When the reordering timer expires; `None`: off.
    reorder_at: Option<Time>,
    pub(super) tail: TailProbe,
}

impl Rack {
    pub(super) fn new(mss: u32) -> Self {
        Self { segments: Segments::new(mss), ..Self::default() }
    }

    /// The earlier of both timers.
    #[inline]
    pub(super) fn timer(&self) -> Time {
        let at = |timer: Option<Time>| timer.unwrap_or(Time::MAX);
        at(self.reorder_at).min(at(self.tail.at))
    }

    /// §6.1: a segment leaves.
    pub(super) fn on_sent(&mut self, now: Time, seq: u64, len: u32) {
        self.segments.on_sent(now, seq, len);
    }

    /// §6.2, steps 1 to 3: segments of the bytes `from..to` are acknowledged by an ACK that echoes the time
    /// stamp of a segment sent at `echo` (`None`: there are no time stamps).
    pub(super) fn on_arrived(&mut self, now: Time, from: u64, to: u64, echo: Option<Time>) {
        for number in self.segments.numbers(from, to) {
            steps(1);
            let Some(one) = self.segments.arrives(number) else { continue };
            let rtt = now.since(one.sent);
            // Step 3.
            if number > self.fack {
                self.fack = number;
            } else if number < self.fack && !one.again {
                self.reordering_seen = true;
            }
            // Step 2: an ACK of the original, not of the retransmission.
            let original =
                echo.is_some_and(|echo| echo < one.sent) || self.min_rtt.is_some_and(|min| rtt < min);
            if one.again && original {
                continue;
            }
            if !one.again {
                self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
            }
            if self.newest.is_none_or(|newest| one.order > newest) {
                (self.newest, self.rtt) = (Some(one.order), rtt);
            }
        }
        self.segments.forget_arrived();
    }

    /// §6.2, step 4: RACK_update_reo_wnd.
    fn window(&self, srtt: Span, repairing: bool, enough: bool) -> Span {
        if !self.reordering_seen && (repairing || enough) {
            return Span::ZERO;
        }
        let quarter = Span::from_ps(self.min_rtt.unwrap_or(Span::ZERO).ps() / 4);
        quarter.min(srtt)
    }

    /// §6.2, step 5: RACK_detect_loss; `enough`: three or more segments are SACKed. Sets the reordering timer if a
    /// segment may yet turn out to be lost.
    pub(super) fn detect(&mut self, now: Time, srtt: Span, repairing: bool, enough: bool) {
        self.reorder_at = None;
        let Some(newest) = self.newest else { return };
        let patience = self.rtt + self.window(srtt, repairing, enough);
        // In the order in which they were sent.
        while let Some((place, one)) = self.segments.earliest().filter(|(_, one)| one.order < newest) {
            let at = one.sent.saturating_add(patience);
            if at > now {
                // The timer is set for the last of them.
                let last = self.segments.last_before(newest);
                self.reorder_at = last.map(|last| last.sent.saturating_add(patience));
                self.tail.at = None; // §8: one of both timers runs
                return;
            }
            self.segments.lose(place);
        }
    }

    /// The reordering timer expires.
    pub(super) fn reorders(&self, now: Time) -> bool {
        self.reorder_at.is_some_and(|at| at <= now)
    }

    /// §6.3: RACK_mark_losses_on_RTO.
    pub(super) fn on_timeout(&mut self, now: Time, srtt: Span) {
        let patience = self.rtt + self.window(srtt, true, true);
        for place in 0..self.segments.count() {
            steps(1);
            let one = self.segments.get(place);
            let late = place == 0 || one.sent.saturating_add(patience) <= now;
            if !one.arrived && !one.lost && late {
                self.segments.lose(place);
            }
        }
        self.reorder_at = None;
        self.tail.on_timeout();
    }

    /// §7.1: fast recovery begins, and answers any loss that a probe still out may reveal.
    pub(super) fn forget_probe(&mut self) {
        self.tail.forget();
    }

    /// §7.2: the probe timeout runs, if it may, and no longer than the retransmission timer. (`None`: it may not.)
    /// It may not while the reordering timer runs (§8).
    pub(super) fn schedule(&mut self, now: Time, srtt: Option<Span>, max_ack_delay: Span, rto_at: Time) {
        self.tail.at = None;
        let may = self.tail.may() && self.reorder_at.is_none() && self.segments.pipe() > 0;
        let Some(srtt) = srtt.filter(|_| may) else { return };
        let alone = self.segments.count() == 1;
        self.tail.schedule(now, srtt, if alone { max_ack_delay } else { Span::ZERO }, rto_at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Time = Time::from_us;

    /// Five segments of 1000 B leave, 10 us apart.
    fn five() -> Rack {
        let mut rack = Rack::new(1000);
        (0..5).for_each(|n| rack.on_sent(US(10 * n), 1000 * n, 1000));
        rack
    }
    fn arrives(rack: &mut Rack, us: u64, segment: u64) {
        rack.on_arrived(US(us), 1000 * segment, 1000 * segment + 1000, None);
    }

    #[test]
    fn what_left_before_one_that_has_arrived_is_lost_a_quarter_of_a_round_trip_after_its_own() {
        let mut rack = five();
        arrives(&mut rack, 100, 0);
        arrives(&mut rack, 120, 2);
        rack.detect(US(120), Span::from_us(100), false, false);
        // Segment 1 left at 10: 10 + 100 + 25.
        assert_eq!((rack.segments.first_lost(), rack.timer()), (None, US(135)));
        rack.detect(US(135), Span::from_us(100), false, false);
        assert_eq!(
            (rack.segments.first_lost(), rack.timer(), rack.segments.pipe()),
            (Some((1000, 1000)), Time::MAX, 2000)
        );
    }

    #[test]
    fn once_three_are_sacked_or_losses_are_repaired_nothing_is_waited_for_unless_reordering_was_seen() {
        let lost_at_once = |repairing, enough, seen| {
            let mut rack = five();
            rack.reordering_seen = seen;
            arrives(&mut rack, 100, 0);
            arrives(&mut rack, 120, 2);
            rack.detect(US(120), Span::from_us(100), repairing, enough);
            rack.segments.has_lost()
        };
        assert!(lost_at_once(false, true, false) && lost_at_once(true, false, false));
        assert!(!lost_at_once(false, true, true) && !lost_at_once(true, false, true));
    }

    /// RFC 8985 §6.2, step 4.
    #[test]
    fn the_reordering_window_is_a_quarter_of_the_least_round_trip_and_no_more_than_the_smoothed_one() {
        let us = Span::from_us;
        let mut rack = five();
        assert_eq!(rack.window(us(100), false, false), Span::ZERO, "no round trip is known");
        arrives(&mut rack, 100, 0);
        assert_eq!(rack.window(us(100), false, false), us(25));
        assert_eq!(rack.window(us(10), false, false), us(10));
    }

    #[test]
    fn one_that_fills_a_gap_and_was_sent_once_shows_reordering_and_a_retransmission_does_not() {
        let mut rack = five();
        arrives(&mut rack, 120, 2);
        arrives(&mut rack, 130, 1);
        assert!(rack.reordering_seen);
        let mut rack = five();
        arrives(&mut rack, 120, 2);
        rack.on_sent(US(130), 1000, 1000);
        arrives(&mut rack, 230, 1);
        assert!(!rack.reordering_seen);
    }

    #[test]
    fn a_retransmission_that_is_lost_is_found_by_what_left_after_it() {
        let mut rack = five();
        arrives(&mut rack, 100, 0);
        arrives(&mut rack, 120, 2);
        rack.detect(US(120), Span::from_us(100), false, true);
        rack.on_sent(US(120), 1000, 1000);
        assert_eq!((rack.segments.first_lost(), rack.segments.pipe()), (None, 3000));
        rack.on_sent(US(121), 5000, 1000);
        // 3 and 4 left before it: they are no evidence. 5 left after.
        arrives(&mut rack, 140, 4);
        rack.detect(US(140), Span::from_us(100), true, true);
        assert_eq!(rack.segments.first_lost(), Some((3000, 1000)));
        arrives(&mut rack, 221, 5);
        rack.detect(US(221), Span::from_us(100), true, true);
        assert_eq!(rack.segments.first_lost(), Some((1000, 1000)));
    }

    /// Sent again at 120; an ACK at 125 can only be of the original.
    #[test]
    fn an_ack_too_early_for_a_retransmission_is_no_sample_of_it() {
        let acked = |us, echo| {
            let mut rack = five();
            arrives(&mut rack, 100, 0);
            rack.on_sent(US(120), 1000, 1000);
            rack.on_arrived(US(us), 1000, 2000, echo);
            rack.newest.unwrap()
        };
        assert_eq!(acked(125, None), 0);
        assert_eq!(acked(220, None), 5, "the sixth that left");
        assert_eq!(acked(220, Some(US(10))), 0, "by its time stamp");
    }

    #[test]
    fn a_timeout_loses_the_first_and_what_left_a_round_trip_and_a_window_ago() {
        let mut rack = five();
        rack.rtt = Span::from_us(100);
        rack.on_timeout(US(120), Span::from_us(100));
        let lost: Vec<bool> = (0..5).map(|at| rack.segments.get(at).lost).collect();
        assert_eq!((lost, rack.segments.pipe()), (vec![true, true, true, false, false], 2000));
    }

    #[test]
    fn a_probe_is_due_after_two_round_trips_or_with_the_retransmission_timer() {
        let at = |srtt, delay, rto, count: u64| {
            let mut rack = Rack::new(1000);
            (0..count).for_each(|n| rack.on_sent(US(0), 1000 * n, 1000));
            rack.tail.measures();
            rack.schedule(US(50), Some(Span::from_us(srtt)), Span::from_us(delay), US(rto));
            rack.timer()
        };
        assert_eq!(at(100, 40, 1000, 2), US(250));
        assert_eq!(at(100, 40, 1000, 1), US(290), "its ACK may be delayed");
        assert_eq!(at(100, 40, 200, 2), US(200));
        assert_eq!(at(100, 40, 1000, 0), Time::MAX);
    }
}
