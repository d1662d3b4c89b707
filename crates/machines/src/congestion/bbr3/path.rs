//! What the path delivers: rate samples, rounds, bandwidth, a full pipe, round trips. draft-ietf-ccwg-bbr-06,
//! §4.1, §5.3.1.2, §5.3.4.3, §5.5.1 to §5.5.7.

use super::super::{AckSample, bbr::bits_per_second};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Span, Time};

/// RS: the sample of an ACK. Bytes of payload, bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sample {
    /// There is a rate sample.
    pub(super) is_there: bool,
    /// RS.delivery_rate; 0: discarded.
    pub(super) rate: u64,
    pub(super) delivered: u64,
    /// RS.prior_delivered.
    pub(super) prior: u64,
    /// Lost since the packet was sent.
    pub(super) lost: u64,
    /// C.inflight when it was sent.
    pub(super) tx_in_flight: u64,
    pub(super) app_limited: bool,
    pub(super) newly_acked: u64,
    pub(super) newly_lost: u64,
    pub(super) rtt: Option<Span>,
}

impl Sample {
    /// InflightAtLoss (§5.5.10.2): what was in flight when losses crossed the threshold, somewhere within
    /// what was lost just now.
    pub(super) fn inflight_at_loss(&self, threshold: f64) -> u64 {
        let size = self.newly_lost as f64;
        let inflight_prev = (self.tx_in_flight as f64 - size).max(0.0);
        let lost_prev = (self.lost as f64 - size).max(0.0);
        let lost_prefix = (threshold * inflight_prev - lost_prev) / (1.0 - threshold);
        (inflight_prev + lost_prefix).max(0.0) as u64
    }
}

/// What is in flight, delivered and lost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Flight {
    pub(super) in_flight: u64,
    /// C.delivered, C.lost.
    pub(super) delivered: u64,
    lost: u64,
    /// Pairs (C.delivered, C.lost), ascending: from the oldest that a later sample may still need.
    losses: VecDeque<(u64, u64)>,
    /// The smallest round trip so far; a delivery rate sample over a shorter interval is discarded (§4.1.2.3).
    least: Option<Span>,
    /// C.delivered when the first and the last segment of ProbeRTT were sent: rate samples of segments in between do
    /// not show the path's limit.
    pub(super) limited: (u64, u64),
    pub(super) idle_restart: bool,
}

impl Flight {
    /// GenerateRateSample, with what is lost.
    // CHOICE BBRv3 §4.1.2: C.inflight at transmission is what was delivered and lost from then until the
    // segment's own ACK: where nothing overtakes it is the same. Other reading: to write it down with every
    // segment.
    pub(super) fn observe(&mut self, ack: &AckSample<'_>) -> Sample {
        let newly_acked = (ack.acked + ack.sacked).get();
        let newly_lost = self.in_flight.saturating_sub(newly_acked + ack.in_flight.get());
        self.delivered += newly_acked;
        self.in_flight = ack.in_flight.get();
        self.lose(newly_lost);
        if let Some(rtt) = ack.rtt {
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        }
        let rs = Sample { newly_acked, newly_lost, rtt: ack.rtt, ..Sample::default() };
        let Some(delivery) = ack.delivery else { return rs };
        let (delivered, interval) = (delivery.delivered.get(), delivery.interval());
        let prior = self.delivered.saturating_sub(delivered);
        let lost = self.lost - self.lost_at(prior);
        let trusted = !interval.is_zero() && self.least.is_none_or(|least| interval >= least);
        let limited = self.limited.1 > 0 && (self.limited.0..=self.limited.1).contains(&prior);
        Sample {
            is_there: true,
            rate: if trusted { bits_per_second(delivered as f64, interval) } else { 0 },
            delivered,
            prior,
            lost,
            tx_in_flight: delivered + lost,
            app_limited: delivery.app_limited || limited,
            ..rs
        }
    }

    /// Everything in flight is lost.
    pub(super) fn all_lost(&mut self) {
        let bytes = std::mem::take(&mut self.in_flight);
        self.lose(bytes);
    }

    fn lose(&mut self, bytes: u64) {
        if bytes > 0 {
            self.lost += bytes;
            match self.losses.back_mut() {
                Some(last) if last.0 == self.delivered => last.1 = self.lost,
                _ => self.losses.push_back((self.delivered, self.lost)),
            }
        }
    }

    /// P.lost of a segment that was sent when C.delivered was `delivered`. Older entries are removed: no later sample
    /// needs them.
    fn lost_at(&mut self, delivered: u64) -> u64 {
        while self.losses.get(1).is_some_and(|later| later.0 <= delivered) {
            self.losses.pop_front();
        }
        self.losses.front().map_or(0, |&(at, lost)| if at <= delivered { lost } else { 0 })
    }
}

/// §5.5.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rounds {
    /// BBR.round_count, round_start, next_round_delivered, rounds_since_probe_up.
    pub(super) count: u64,
    pub(super) begins: bool,
    next: u64,
    pub(super) since_probe_up: u64,
}

impl Rounds {
    /// UpdateRound.
    pub(super) fn update(&mut self, rs: &Sample, delivered: u64) {
        self.begins = rs.is_there && rs.prior >= self.next;
        if self.begins {
            self.start(delivered);
            self.count += 1;
            self.since_probe_up += 1;
        }
    }

    /// StartRound.
    pub(super) fn start(&mut self, delivered: u64) {
        self.next = delivered;
    }
}

/// BBR.max_bw (§5.5.3): of the present cycle of ProbeBW and the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Bandwidth {
    /// The largest of a cycle in which there was any, and of the one before it.
    latest: u64,
    before: u64,
    /// By how many BBR.cycle_count has advanced since.
    cycles: u64,
}

impl Bandwidth {
    pub(super) fn max(&self) -> u64 {
        self.latest.max(self.before)
    }

    /// UpdateMaxBw.
    pub(super) fn update(&mut self, rs: &Sample) {
        if rs.rate == 0 || rs.rate < self.max() && rs.app_limited {
            return;
        }
        // The older maximum expires when a newer one is there.
        match std::mem::take(&mut self.cycles) {
            0 => {}
            1 => (self.before, self.latest) = (self.latest, 0),
            _ => (self.before, self.latest) = (0, 0),
        }
        self.latest = self.latest.max(rs.rate);
    }

    /// AdvanceMaxBwFilter.
    pub(super) fn advance(&mut self) {
        self.cycles += 1;
    }
}

/// The pipe is full after three rounds with less than a quarter more (§5.3.1.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FullPipe {
    /// BBR.full_bw, full_bw_count, full_bw_now, full_bw_reached.
    bw: u64,
    count: u8,
    pub(super) now: bool,
    pub(super) reached: bool,
}

impl FullPipe {
    /// ResetFullBW, from a baseline.
    pub(super) fn reset(&mut self, bw: u64) {
        (self.bw, self.count, self.now) = (bw, 0, false);
    }

    /// CheckFullBWReached.
    pub(super) fn check(&mut self, rs: &Sample, round_start: bool) {
        if self.now || !round_start || rs.app_limited || !rs.is_there {
            return;
        }
        if rs.rate as f64 >= self.bw as f64 * 1.25 {
            self.reset(rs.rate);
            return;
        }
        self.count += 1;
        self.now = self.count >= 3;
        self.reached |= self.now;
    }
}

/// The least round trip, and ProbeRTT that measures it anew (§5.3.4.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RoundTrips {
    /// BBR.min_rtt, min_rtt_stamp.
    pub(super) min_rtt: Option<Span>,
    min_at: Time,
    /// BBR.probe_rtt_min_delay, probe_rtt_min_stamp.
    probe_min: Option<Span>,
    pub(super) probe_at: Time,
    /// BBR.probe_rtt_expired.
    pub(super) expired: bool,
    /// BBR.probe_rtt_done_stamp, probe_rtt_round_done.
    pub(super) done_at: Option<Time>,
    pub(super) round_done: bool,
}

impl RoundTrips {
    /// UpdateMinRTT; MinRTTFilterLen is twice the interval.
    pub(super) fn update(&mut self, now: Time, rtt: Option<Span>, interval: Span) {
        self.expired = self.probe_min.is_some() && now.since(self.probe_at) > interval;
        // CHOICE BBRv3 §5.3.4.3: an equal round trip renews it, as in version 1's draft: without jitter
        // nothing would ever be smaller, and a flow that never queues would empty its pipe every five
        // seconds. Other reading: only a smaller one does.
        if let Some(rtt) = rtt
            && (self.expired || self.probe_min.is_none_or(|least| rtt <= least))
        {
            (self.probe_min, self.probe_at) = (Some(rtt), now);
        }
        let min_expired = now.since(self.min_at) > interval.saturating_mul(2);
        let Some(probe_min) = self.probe_min else { return };
        if min_expired || self.min_rtt.is_none_or(|least| probe_min <= least) {
            (self.min_rtt, self.min_at) = (Some(probe_min), self.probe_at);
        }
    }
}
