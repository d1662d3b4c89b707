//! The kernel's adapter: records of the datapath as the calls of [`CongestionControl`] in their order, and permits as
//! decisions. A machine without I/O or clock.
//!
//! Call by call: where it comes from, and how good that is.
//!
//! - `on_open`: the algorithm's `init`, with the smoothed round trip of the handshake. Exact; absent if
//!   the SYN was repeated.
//! - `on_sent`: SND.NXT and the count of retransmissions since the last ACK. Approximated: once before
//!   each ACK, late and in bulk. What this ACK has shown to be lost is in flight until it is reported:
//!   controllers infer losses from what is missing at an ACK.
//! - `rtt`: the rate sample's, in µs. Exact; absent where what was sent twice is acknowledged: there the
//!   kernel's is of time stamps, in whole ms.
//! - `acked`, `sacked`: segments delivered × MSS; exact bytes of SND.UNA while nothing is SACKed. Short
//!   segments are off by less than one; where an ACK does both, what was SACKed before is taken to be
//!   the least possible.
//! - `in_flight`: packets_out − sacked_out − lost_out + retrans_out, × MSS. Exact but for short
//!   segments.
//! - `acked_to`, `sent_to`: SND.UNA, SND.NXT, widened to 64 bits. Exact.
//! - `in_recovery`: the state before this ACK is recovery or loss. Exact.
//! - `app_limited`: SND.NXT = what the application has written. Exact.
//! - `cwnd_limited`: is_cwnd_limited. Exact.
//! - `delivery`: the rate sample; `lost` from the counter as it stood when the segment left. Exact as
//!   of the last ACK before that.
//! - `marked`: delivered_ce × MSS, what ACKs with ECE acknowledge (RFC 8257 §3.3). Exact if the other
//!   end echoes as RFC 8257 §3.2 has it, as this datapath does for controllers that want marks. Classic
//!   echoes repeat a mark until CWR: too many.
//! - `on_loss`: recovery begins; if an ACK showed it, after that ACK. Exact.
//! - `on_timeout`: set_state(Loss), at each expiry; a reneged SACK likewise. Exact.
//! - `on_restart`: the first transmission with nothing in the network. Idle since the last record, as
//!   it leaves.
//! - `on_tick`: the daemon. Late by its wake-up.
//! - an undone loss: the window stays what the controller has made of it. Missing.
//! - `restart_from`, `braked`, other feedback, notifications, notices: missing.

use super::records::{Kind, Record};
use std::collections::VecDeque;
use thalweg_machines::congestion::decisions::Log;
use thalweg_machines::congestion::{
    AckSample, Calls, CongestionControl, Delivery, Feedback, Loss, Needs, Permit,
};
use thalweg_units::{Bytes, Span, Time};

/// Headers of a segment: IPv4, TCP and its time stamps.
pub(super) const HEADER: u32 = 52;

/// What the kernel is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Decision {
    /// When the newest record was made that it knows of, in ns of the kernel's clock.
    pub time_ns: u64,
    /// Payload bytes per second; 0: as the window.
    pub pace: u64,
    /// The window, in segments.
    pub cwnd: u32,
    /// The slow-start threshold, in segments.
    pub threshold: u32,
}

/// A controller on one TCP connection of the kernel.
#[derive(Clone, Debug)]
pub struct Adapter<C> {
    controller: C,
    calls: Calls,
    delivery: bool,
    opened_ns: u64,
    /// The latest instant that the controller was given: a tick may be later than a record that is read after it.
    latest: Time,
    mss: u32,
    last: Record,
    /// SND.UNA and SND.NXT since the connection was opened.
    acked_to: u64,
    sent_to: u64,
    in_recovery: bool,
    /// The ACK that has shown it comes next.
    held: Option<Loss>,
    /// Segments delivered so far: the kernel counts them in 32 bits.
    delivered: u64,
    /// Segments delivered, and found lost, at each ACK whose segments may be sampled yet.
    losses: VecDeque<(u32, u32)>,
}

impl<C: CongestionControl> Adapter<C> {
    /// A controller that is notified of its connection, whose first record this is.
    pub fn open(mut controller: C, needs: &Needs, opened: &Record) -> Self {
        let rtt = (opened.srtt_us > 0).then(|| Span::from_us(u64::from(opened.srtt_us)));
        controller.on_open(Time::ZERO, rtt, Feedback::None);
        Self {
            controller,
            calls: needs.calls,
            delivery: needs.delivery,
            opened_ns: opened.time_ns,
            latest: Time::ZERO,
            mss: segment(opened),
            last: *opened,
            acked_to: 0,
            sent_to: u64::from(opened.next.wrapping_sub(opened.una)),
            in_recovery: false,
            held: None,
            delivered: u64::from(opened.delivered),
            losses: VecDeque::from([(opened.delivered, opened.lost)]),
        }
    }

    /// The controller.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// What it has recorded of its decisions since the last time, if it does.
    pub fn take_log(&mut self) -> Option<Log> {
        self.controller.take_log()
    }

    /// What is allowed now.
    pub fn permit(&self) -> Permit {
        self.controller.permit()
    }

    /// Bytes acknowledged so far.
    pub fn acked_to(&self) -> u64 {
        self.acked_to
    }

    /// An instant of the kernel's clock, as the controller counts.
    fn time(&self, ns: u64) -> Time {
        // 64 bits of ps are 213 days; half of them leave room for what controllers add.
        Time::from_ps(ns.saturating_sub(self.opened_ns).saturating_mul(1000).min(u64::MAX / 2))
    }

    /// The same, and never before what the controller was given last.
    fn now(&mut self, ns: u64) -> Time {
        self.latest = self.latest.max(self.time(ns));
        self.latest
    }

    /// When the controller wants to be called, in ns of the kernel's clock.
    pub fn wake_ns(&self) -> Option<u64> {
        let wake = self.permit().wake.filter(|_| self.calls.ticks())?;
        Some(self.opened_ns.saturating_add(wake.ps().div_ceil(1000)))
    }

    /// The time is now: calls the controller if its instant has come.
    pub fn on_tick(&mut self, now_ns: u64) {
        if self.wake_ns().is_some_and(|wake| wake <= now_ns) {
            let now = self.now(now_ns);
            self.controller.on_tick(now);
        }
    }

    /// A record after the first.
    pub fn on_record(&mut self, record: &Record) {
        match record.kind {
            Kind::Ack => self.on_ack(record),
            Kind::Loss => {
                let loss = self.loss(record);
                if record.is_in_ack() {
                    self.held = Some(loss);
                } else {
                    self.in_recovery = true;
                    self.controller.on_loss(&loss);
                }
            }
            Kind::Timeout => {
                let loss = self.loss(record);
                // All that was out counts as lost; the timeout says so, and no ACK once more.
                (self.held, self.last.lost) = (None, record.lost);
                self.in_recovery = true;
                self.controller.on_timeout(&loss);
            }
            Kind::Restart => self.on_restart(record),
            Kind::Open | Kind::Close => {}
        }
    }

    /// What the kernel is to do now.
    pub fn decision(&self) -> Decision {
        let Permit { window, pace, .. } = self.permit();
        let (mss, wire) = (u64::from(self.mss), u64::from(self.mss + HEADER));
        let segments = |bytes: Bytes| u32::try_from(bytes.get() / mss).unwrap_or(u32::MAX).clamp(1, MOST);
        let payload = |bps: u64| (u128::from(bps) * u128::from(mss) / (8 * u128::from(wire))) as u64;
        Decision {
            time_ns: self.last.time_ns,
            pace: pace.map_or(0, |rate| payload(rate.bps()).max(1)),
            cwnd: segments(window),
            threshold: segments(self.controller.threshold()),
        }
    }

    fn bytes(&self, segments: u32) -> Bytes {
        Bytes::new(u64::from(segments) * u64::from(self.mss))
    }

    fn in_flight(&self, r: &Record) -> Bytes {
        let out = u64::from(r.packets_out) + u64::from(r.retrans_out);
        let left = out.saturating_sub(u64::from(r.sacked_out) + u64::from(r.lost_out));
        Bytes::new(left * u64::from(self.mss))
    }

    /// Takes over sequence numbers; returns by how much SND.UNA advanced.
    fn advance(&mut self, record: &Record) -> u64 {
        // A difference of more than half of all numbers is one that goes back.
        let forward =
            |to: u32, from: u32| u64::from(u32::try_from(to.wrapping_sub(from) as i32).unwrap_or(0));
        let advance = forward(record.una, self.last.una);
        self.acked_to += advance;
        self.sent_to += forward(record.next, self.last.next);
        advance
    }

    fn loss(&mut self, record: &Record) -> Loss {
        self.advance(record);
        (self.last.una, self.last.next, self.last.time_ns) = (record.una, record.next, record.time_ns);
        let now = self.now(record.time_ns);
        let in_flight = self.bytes(record.packets_out);
        Loss { now, in_flight, acked_to: self.acked_to, sent_to: self.sent_to }
    }

    fn on_restart(&mut self, record: &Record) {
        let idle = self.time(record.time_ns).since(self.time(self.last.time_ns));
        // The first data of all restarts nothing.
        if self.acked_to > 0 && !idle.is_zero() {
            let now = self.now(record.time_ns);
            self.controller.on_restart(now, idle);
        }
    }

    fn on_ack(&mut self, record: &Record) {
        let sent_before = self.sent_to;
        let resent = record.resent.wrapping_sub(self.last.resent);
        let advance = self.advance(record);
        let delivered = record.delivered.wrapping_sub(self.last.delivered);
        let now = self.now(record.time_ns);
        let in_flight = self.in_flight(record);
        let total = self.bytes(delivered);
        self.delivered += u64::from(delivered);

        if self.calls.sent() {
            let sent = Bytes::new(self.sent_to - sent_before) + self.bytes(resent);
            if sent > Bytes::ZERO {
                let lost = self.bytes(record.lost.wrapping_sub(self.last.lost));
                self.controller.on_sent(now, sent, in_flight + total + lost);
            }
        }
        let sacks = record.sacked_out > 0 || self.last.sacked_out > 0;
        let (acked, sacked) = if !sacks {
            (Bytes::new(advance), Bytes::ZERO)
        } else {
            let sacked = record.sacked_out.saturating_sub(self.last.sacked_out).min(delivered);
            (self.bytes(delivered - sacked), self.bytes(sacked))
        };
        if acked + sacked > Bytes::ZERO {
            let marks = record.delivered_ce.wrapping_sub(self.last.delivered_ce);
            let marked = self.bytes(marks).min(acked + sacked);
            let delivery = if self.delivery { self.sample(record) } else { None };
            self.controller.on_ack(&AckSample {
                now,
                rtt: u64::try_from(record.rtt_us).ok().map(Span::from_us),
                acked,
                sacked,
                in_flight,
                acked_to: self.acked_to,
                sent_to: self.sent_to,
                marked,
                braked: Bytes::ZERO,
                in_recovery: self.in_recovery,
                app_limited: record.written == record.next,
                cwnd_limited: record.is_cwnd_limited(),
                delivery,
                feedback: if marked > Bytes::ZERO { Feedback::Mark } else { Feedback::None },
            });
        }
        if let Some(loss) = self.held.take() {
            self.controller.on_loss(&loss);
        }
        self.in_recovery = record.is_in_recovery();
        self.last = *record;
    }

    /// The kernel's rate sample (tcp_rate.c, the draft's RS).
    fn sample(&mut self, r: &Record) -> Option<Delivery> {
        self.losses.push_back((r.delivered, r.lost));
        let delivered = u32::try_from(r.sample_delivered).ok().filter(|segments| *segments > 0)?;
        // The newest ACK before the segment left says how much was lost by then.
        let is_before = |&(delivered, _): &(u32, u32)| r.prior_delivered.wrapping_sub(delivered) as i32 >= 0;
        while self.losses.get(1).is_some_and(is_before) {
            self.losses.pop_front();
        }
        let lost_before = self.losses.front().map_or(r.lost, |(_, lost)| *lost);
        Some(Delivery {
            delivered: self.bytes(delivered),
            departures: Span::from_us(u64::from(r.departures_us)),
            arrivals: Span::from_us(u64::from(r.arrivals_us)),
            sent: self.time(r.newest_sent_us.saturating_mul(1000)),
            total: Bytes::new(self.delivered * u64::from(self.mss)),
            resent: r.is_retransmitted(),
            lost: self.bytes(r.lost.wrapping_sub(lost_before)),
            app_limited: r.is_app_limited(),
        })
    }
}

/// Payload bytes of a full segment: TCP knows none of more than 64 KiB.
pub(super) fn segment(opened: &Record) -> u32 {
    opened.mss.clamp(1, 1 << 16)
}

/// The most segments that a window may have: what the kernel's own arithmetic takes.
const MOST: u32 = 1 << 20;

#[cfg(test)]
mod tests;
