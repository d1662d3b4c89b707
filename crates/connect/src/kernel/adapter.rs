//! The kernel's adapter: it turns records of the datapath into calls of [`CongestionControl`] in the order of the
//! contract, and permits into decisions. It has neither I/O nor a clock.
//!
//! The source of each call, and how accurate it is:
//!
//! - `on_open`: the algorithm's `init`, with the smoothed round trip of the handshake. Exact; without a round trip if
//!   the SYN was retransmitted.
//! - `on_sent`: SND.NXT and the count of retransmissions since the last ACK. Approximated: called once before each ACK,
//!   late, for all packets together. Losses that this ACK has shown are in flight until they are reported, because
//!   controllers infer losses from the bytes missing at an ACK.
//! - `rtt`: that of the rate sample, in µs. Exact; absent if a retransmitted segment is acknowledged, for which the
//!   kernel has only that of timestamps, in whole ms.
//! - `acked`, `sacked`: delivered segments × MSS; exact bytes of SND.UNA while nothing is SACKed. The error by short
//!   segments is less than one segment. If an ACK advances SND.UNA and SACKs, the bytes SACKed before are assumed to be
//!   as few as possible.
//! - `in_flight`: packets_out − sacked_out − lost_out + retrans_out, × MSS. Exact except for short segments.
//! - `acked_to`, `sent_to`: SND.UNA, SND.NXT, extended to 64 bits. Exact.
//! - `in_recovery`: the state before this ACK is recovery or loss. Exact.
//! - `app_limited`: SND.NXT is the end of the application's data. Exact.
//! - `cwnd_limited`: is_cwnd_limited. Exact.
//! - `delivery`: the rate sample; `lost` is the counter when the segment was sent. Exact, as of the last ACK before
//!   that.
//! - `marked`: delivered_ce × MSS, the bytes that ACKs with ECE acknowledge (RFC 8257 §3.3). Exact if the receiver
//!   echoes marks as in RFC 8257 §3.2, which this datapath does for controllers that want marks. Classic echoes repeat
//!   a mark until CWR, so the count is too high.
//! - `on_loss`: recovery begins; if an ACK has caused it, after that ACK. Exact.
//! - `on_timeout`: set_state(Loss), at each expiry, and also for reneged SACKs. Exact.
//! - `on_restart`: the first transmission with nothing in the network. The idle time is that since the last record.
//! - `on_tick`: from the daemon. Late by its wake-up latency.
//! - An undone loss is not reported: the window stays as the controller has set it.
//! - `restart_from`, `braked`, other feedback, notifications and notices are missing.

use super::records::{Kind, Record};
use std::collections::VecDeque;
use thalweg_machines::congestion::decisions::Log;
use thalweg_machines::congestion::{
    AckSample, Calls, CongestionControl, Delivery, Feedback, Loss, Needs, Permit,
};
use thalweg_units::{Bytes, Span, Time};

/// Header bytes of a segment: IPv4, TCP and its timestamps.
pub(super) const HEADER: u32 = 52;

/// The decision for a connection, which the kernel follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Decision {
    /// Time of the newest record that it is based on, in ns of the kernel's clock.
    pub time_ns: u64,
    /// Pacing rate in payload bytes per second; 0: from the window.
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
    /// The latest time that the controller was given. A tick may be later than a record that is read after it.
    latest: Time,
    mss: u32,
    last: Record,
    /// SND.UNA and SND.NXT since the connection was opened.
    acked_to: u64,
    sent_to: u64,
    in_recovery: bool,
    /// A loss that is reported after the next ACK, which has shown it.
    held: Option<Loss>,
    /// Number of segments delivered so far, which the kernel counts in 32 bits only.
    delivered: u64,
    /// Numbers of delivered and of lost segments at each ACK that later rate samples may refer to.
    losses: VecDeque<(u32, u32)>,
}

impl<C: CongestionControl> Adapter<C> {
    /// Opens a controller with the first record of its connection.
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

    /// The controller's decision log since the last call, if it keeps one.
    pub fn take_log(&mut self) -> Option<Log> {
        self.controller.take_log()
    }

    /// The current permit.
    pub fn permit(&self) -> Permit {
        self.controller.permit()
    }

    /// Bytes acknowledged so far.
    pub fn acked_to(&self) -> u64 {
        self.acked_to
    }

    /// A time of the kernel's clock as the controller's time.
    fn time(&self, ns: u64) -> Time {
        // 64 bits of ps are 213 days; half of them leave room for times that controllers add.
        Time::from_ps(ns.saturating_sub(self.opened_ns).saturating_mul(1000).min(u64::MAX / 2))
    }

    /// The same, but at least the latest time that the controller was given.
    fn now(&mut self, ns: u64) -> Time {
        self.latest = self.latest.max(self.time(ns));
        self.latest
    }

    /// When the controller wants to be called, in ns of the kernel's clock.
    pub fn wake_ns(&self) -> Option<u64> {
        let wake = self.permit().wake.filter(|_| self.calls.ticks())?;
        Some(self.opened_ns.saturating_add(wake.ps().div_ceil(1000)))
    }

    /// Calls the controller if its wake-up time has come.
    pub fn on_tick(&mut self, now_ns: u64) {
        if self.wake_ns().is_some_and(|wake| wake <= now_ns) {
            let now = self.now(now_ns);
            self.controller.on_tick(now);
        }
    }

    /// Handles a record after the first one.
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
                // All outstanding segments count as lost. The timeout reports them, so no ACK reports them again.
                (self.held, self.last.lost) = (None, record.lost);
                self.in_recovery = true;
                self.controller.on_timeout(&loss);
            }
            Kind::Restart => self.on_restart(record),
            Kind::Open | Kind::Close => {}
        }
    }

    /// The current decision for the kernel.
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

    /// Updates the sequence numbers. Returns the advance of SND.UNA.
    fn advance(&mut self, record: &Record) -> u64 {
        // A difference of more than half of the number space means that the number is older.
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
        // The first data of a connection is no restart.
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
        // The newest ACK before the segment was sent has the count of losses at that time.
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

/// Payload bytes of a full segment, less than 64 KiB in TCP.
pub(super) fn segment(opened: &Record) -> u32 {
    opened.mss.clamp(1, 1 << 16)
}

/// Largest window in segments, for which the kernel's arithmetic does not overflow.
const MOST: u32 = 1 << 20;

#[cfg(test)]
mod tests;
