//! Losses found by time: RACK, and probes of the tail: TLP. RFC 8985 (Cheng, Cardwell, Dukkipati, Jha, 2021), §§5 to 7, with its names.
//! A segment is lost if one that left later has arrived, and a round trip and a reordering window have passed since it left; so
//! retransmissions that are lost are found, too, and segments that overtake each other within the window are not taken for lost. A tail
//! of which nothing is heard is probed after two round trips.
//!
//! ```text
//! CHOICE RFC 8985 §6.2: receivers here send no DSACK, so RACK.reo_wnd_mult stays 1; RACK.min_RTT is the least of the connection.
//! CHOICE RFC 8985 §6.2: which segment left later is counted. Other reading: by time, and of those that left at once by their bytes, which
//! takes a retransmission for older than the new data that it left behind.
//! CHOICE RFC 8985 §7.2: TLP.max_ack_delay is how long this transport's receivers delay ACKs. Other reading: 200 ms.
//! CHOICE RFC 8985 §9.3: a retransmission lost within an episode is sent again without another cut, as in Linux.
//! ```

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Span, Time};

/// A segment that is out, §5.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Segment {
    /// Segment.xmit_ts, and how many had left before.
    sent: Time,
    order: u64,
    len: u32,
    /// Segment.retransmitted, Segment.lost; acknowledged, selectively or not.
    again: bool,
    lost: bool,
    arrived: bool,
}

/// TLP's probe that is out, §7.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Probe {
    /// TLP.end_seq, TLP.is_retrans.
    end: u64,
    again: bool,
}

/// What an ACK that answers a probe has told, §7.4.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Nothing,
    /// The probe has repaired a loss, which is to be answered as every loss.
    Repaired,
}

/// RACK's and TLP's state of a connection, §5.3 and §7.1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rack {
    mss: u64,
    /// Number of the first segment that is out; all that were sent since, in their order.
    base: u64,
    out: VecDeque<Segment>,
    /// Bytes of them that are neither acknowledged nor lost; of those that are not acknowledged but lost.
    pipe: u64,
    lost: u64,
    /// Bytes ever found lost.
    pub(super) ever_lost: u64,
    /// How many have left.
    left: u64,
    /// The one that left last of those that have arrived, RACK.xmit_ts; RACK.rtt, RACK.min_RTT.
    newest: Option<u64>,
    rtt: Span,
    min_rtt: Option<Span>,
    /// RACK.fack, as a segment; RACK.reordering_seen.
    fack: u64,
    reordering_seen: bool,
    /// When the reordering timer expires, and the probe timeout; `None`: off.
    reorder_at: Option<Time>,
    probe_at: Option<Time>,
    /// A probe is to leave; and one has.
    pub(super) probe_due: bool,
    probe: Option<Probe>,
}

impl Rack {
    pub(super) fn new(mss: u32) -> Self {
        Self { mss: u64::from(mss), ..Self::default() }
    }

    /// Bytes believed to be in the network.
    pub(super) fn pipe(&self) -> u64 {
        self.pipe
    }
    pub(super) fn has_lost(&self) -> bool {
        self.lost > 0
    }
    /// The earlier of both timers.
    #[inline]
    pub(super) fn timer(&self) -> Time {
        let at = |timer: Option<Time>| timer.unwrap_or(Time::MAX);
        at(self.reorder_at).min(at(self.probe_at))
    }

    // ---- RACK, §6 -------------------------------------------------------------------------------

    /// §6.1: a segment leaves.
    pub(super) fn on_sent(&mut self, now: Time, seq: u64, len: u32) {
        let Some(at) = (seq / self.mss).checked_sub(self.base) else { return };
        let fresh = Segment { sent: now, order: self.left, len, again: false, lost: false, arrived: false };
        self.left += 1;
        match self.out.get_mut(at as usize) {
            Some(known) if !known.arrived => {
                if known.lost {
                    self.lost -= u64::from(known.len);
                    self.pipe += u64::from(known.len);
                }
                *known = Segment { again: true, ..fresh };
            }
            Some(_) => {}
            None => {
                self.out.push_back(fresh);
                self.pipe += u64::from(len);
            }
        }
    }

    /// §6.2, steps 1 to 3: segments of the bytes `from..to` are acknowledged by an ACK that echoes the time stamp of a segment sent
    /// at `echo` (`None`: there are no time stamps).
    pub(super) fn on_arrived(&mut self, now: Time, from: u64, to: u64, echo: Option<Time>) {
        let (first, last) = ((from / self.mss).max(self.base), to.div_ceil(self.mss));
        for number in first..last.min(self.base + self.out.len() as u64) {
            let one = &mut self.out[(number - self.base) as usize];
            if std::mem::replace(&mut one.arrived, true) {
                continue;
            }
            let one = *one;
            if one.lost {
                self.lost -= u64::from(one.len);
            } else {
                self.pipe -= u64::from(one.len);
            }
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
        while self.out.front().is_some_and(|one| one.arrived) {
            self.out.pop_front();
            self.base += 1;
        }
    }

    /// §6.2, step 4: RACK_update_reo_wnd.
    fn window(&self, srtt: Span, repairing: bool, enough: bool) -> Span {
        if !self.reordering_seen && (repairing || enough) {
            return Span::ZERO;
        }
        let quarter = Span::from_ps(self.min_rtt.unwrap_or(Span::ZERO).ps() / 4);
        quarter.min(srtt)
    }

    /// §6.2, step 5: RACK_detect_loss, while losses are repaired or not; `enough`: three segments or more are SACKed. The reordering
    /// timer is set if something may yet be.
    pub(super) fn detect(&mut self, now: Time, srtt: Span, repairing: bool, enough: bool) {
        self.reorder_at = None;
        let Some(newest) = self.newest else { return };
        let patience = self.rtt + self.window(srtt, repairing, enough);
        let mut last: Option<Time> = None;
        for one in &mut self.out {
            if one.order >= newest && !one.again {
                break; // what never left again left in order: all that follows left later
            }
            if one.arrived || one.lost || one.order >= newest {
                continue;
            }
            let at = one.sent.saturating_add(patience);
            if at <= now {
                one.lost = true;
                let len = u64::from(one.len);
                (self.pipe, self.lost, self.ever_lost) =
                    (self.pipe - len, self.lost + len, self.ever_lost + len);
            } else {
                last = Some(last.map_or(at, |last| last.max(at)));
            }
        }
        self.reorder_at = last;
    }

    /// The reordering timer expires.
    pub(super) fn reorders(&self, now: Time) -> bool {
        self.reorder_at.is_some_and(|at| at <= now)
    }

    /// §6.3: RACK_mark_losses_on_RTO.
    pub(super) fn on_timeout(&mut self, now: Time, srtt: Span) {
        let patience = self.rtt + self.window(srtt, true, true);
        for (at, one) in self.out.iter_mut().enumerate() {
            if !one.arrived && !one.lost && (at == 0 || one.sent.saturating_add(patience) <= now) {
                one.lost = true;
                let len = u64::from(one.len);
                (self.pipe, self.lost, self.ever_lost) =
                    (self.pipe - len, self.lost + len, self.ever_lost + len);
            }
        }
        (self.reorder_at, self.probe_at, self.probe_due, self.probe) = (None, None, false, None);
    }

    /// The first segment that is lost: start and length.
    pub(super) fn first_lost(&self) -> Option<(u64, u32)> {
        if self.lost == 0 {
            return None;
        }
        let at = self.out.iter().position(|one| one.lost && !one.arrived)?;
        Some(((self.base + at as u64) * self.mss, self.out[at].len))
    }

    // ---- TLP, §7 --------------------------------------------------------------------------------

    /// §7.2: the probe timeout runs, if it may, and no longer than the retransmission timer. (`None`: it may not.)
    pub(super) fn schedule(&mut self, now: Time, srtt: Option<Span>, max_ack_delay: Span, rto_at: Time) {
        self.probe_at = None;
        let Some(srtt) = srtt else { return };
        if self.probe.is_some() || self.probe_due || self.pipe == 0 {
            return;
        }
        let one = if self.out.len() == 1 { max_ack_delay } else { Span::ZERO };
        let pto = if srtt.is_zero() { Span::from_secs(1) } else { srtt.saturating_mul(2) + one };
        self.probe_at = Some(now.saturating_add(pto).min(rto_at));
    }

    /// §7.3: it expires. True: a probe is to leave.
    pub(super) fn probes(&mut self, now: Time) -> bool {
        let due = self.probe_at.is_some_and(|at| at <= now);
        if due {
            (self.probe_at, self.probe_due) = (None, true);
        }
        due
    }

    /// The segment that was sent last: start and length.
    pub(super) fn last(&self) -> Option<(u64, u32)> {
        let at = self.out.iter().rposition(|one| !one.arrived)?;
        Some(((self.base + at as u64) * self.mss, self.out[at].len))
    }

    /// The probe has left: up to `end` everything is sent.
    pub(super) fn probed(&mut self, end: u64, again: bool) {
        (self.probe_due, self.probe) = (false, Some(Probe { end, again }));
    }

    /// §7.4.2: TLP_process_ack. `duplicate`: it advances nothing, and brings no SACK.
    pub(super) fn hear_probe(&mut self, ack: u64, duplicate: bool) -> Told {
        let Some(probe) = self.probe.filter(|probe| ack >= probe.end) else { return Told::Nothing };
        if !probe.again {
            self.probe = None;
        } else if ack > probe.end {
            self.probe = None;
            return Told::Repaired;
        } else if duplicate {
            self.probe = None; // both the original and the probe have arrived
        }
        Told::Nothing
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
        assert_eq!((rack.first_lost(), rack.timer()), (None, US(135)));
        rack.detect(US(135), Span::from_us(100), false, false);
        assert_eq!((rack.first_lost(), rack.timer(), rack.pipe()), (Some((1000, 1000)), Time::MAX, 2000));
    }

    #[test]
    fn once_three_are_sacked_or_losses_are_repaired_nothing_is_waited_for_unless_reordering_was_seen() {
        let lost_at_once = |repairing, enough, seen| {
            let mut rack = five();
            rack.reordering_seen = seen;
            arrives(&mut rack, 100, 0);
            arrives(&mut rack, 120, 2);
            rack.detect(US(120), Span::from_us(100), repairing, enough);
            rack.has_lost()
        };
        assert!(lost_at_once(false, true, false) && lost_at_once(true, false, false));
        assert!(!lost_at_once(false, true, true) && !lost_at_once(true, false, true));
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
        assert_eq!((rack.first_lost(), rack.pipe()), (None, 3000));
        rack.on_sent(US(121), 5000, 1000);
        // 3 and 4 left before it: they say nothing. 5 left after.
        arrives(&mut rack, 140, 4);
        rack.detect(US(140), Span::from_us(100), true, true);
        assert_eq!(rack.first_lost(), Some((3000, 1000)));
        arrives(&mut rack, 221, 5);
        rack.detect(US(221), Span::from_us(100), true, true);
        assert_eq!(rack.first_lost(), Some((1000, 1000)));
    }

    /// Sent again at 120; an ACK at 125 can only be of the original.
    #[test]
    fn an_ack_too_early_for_a_retransmission_says_nothing_of_its_time() {
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
        let lost: Vec<bool> = rack.out.iter().map(|one| one.lost).collect();
        assert_eq!((lost, rack.pipe()), (vec![true, true, true, false, false], 2000));
    }

    #[test]
    fn a_probe_is_due_after_two_round_trips_or_with_the_retransmission_timer() {
        let at = |srtt, delay, rto, count: u64| {
            let mut rack = Rack::new(1000);
            (0..count).for_each(|n| rack.on_sent(US(0), 1000 * n, 1000));
            rack.schedule(US(50), Some(Span::from_us(srtt)), Span::from_us(delay), US(rto));
            rack.timer()
        };
        assert_eq!(at(100, 40, 1000, 2), US(250));
        assert_eq!(at(100, 40, 1000, 1), US(290), "its ACK may be delayed");
        assert_eq!(at(100, 40, 200, 2), US(200));
        assert_eq!(at(0, 40, 9_000_000, 2), US(1_000_050), "no round trip is known");
        assert_eq!(at(100, 40, 1000, 0), Time::MAX);
    }

    #[test]
    fn what_answers_a_probe_tells_whether_it_repaired_a_loss() {
        let told = |again, ack, duplicate| {
            let mut rack = five();
            rack.probed(5000, again);
            (rack.hear_probe(ack, duplicate), rack.probe.is_none())
        };
        assert_eq!(told(false, 5000, false), (Told::Nothing, true), "new data has arrived");
        assert_eq!(told(true, 4000, false), (Told::Nothing, false));
        assert_eq!(told(true, 5000, false), (Told::Nothing, false), "the original or the probe");
        assert_eq!(told(true, 5000, true), (Told::Nothing, true), "both");
        assert_eq!(told(true, 6000, false), (Told::Repaired, true), "the original never came");
    }
}
