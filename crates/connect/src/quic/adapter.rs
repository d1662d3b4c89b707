//! QUIC's adapter: what quinn-proto reports to a controller of its own, as the calls of
//! [`CongestionControl`] in their order. A machine without I/O or clock: instants are arguments.
//!
//! Call by call: where it comes from, and how good that is.
//!
//! - `on_open`: the first acknowledgement of the handshake, and its round trip. Exact; what the
//!   handshake sends after it counts as data.
//! - `on_sent`: `on_sent`, once per datagram. Exact; packets that only acknowledge are counted, too,
//!   until the next ACK sets the number right. What was declared lost since the last ACK is counted until
//!   the next one: controllers infer losses from what is missing at an ACK.
//! - payload bytes: bytes of QUIC packets, their headers and tags included (some 30 per packet).
//!   Approximated, as RFC 9002 counts.
//! - `rtt`: the newest packet of an ACK, if none newer was acknowledged before (RFC 9002 §5.1). Exact,
//!   with the receiver's ACK delay in it, as TCP's.
//! - `acked`: all packets that an ACK frame is the first to acknowledge. Exact; `sacked` is 0: nothing
//!   is cumulative.
//! - `in_flight`: `on_end_acks`. Exact; losses that an ACK frame shows are declared after it, and are
//!   missing at the next one.
//! - the permit's window: RFC 9002 §7.2's least window is two full packets, and so is the least here.
//! - `acked_to`, `sent_to`: bytes sent up to the newest acknowledged packet, and altogether. Rounds as
//!   TCP's; no hole holds `acked_to` back, as nothing is sent again under its number.
//! - `in_recovery`: packets sent before the last loss was declared are being acknowledged (RFC 9002
//!   §7.3.2). Exact.
//! - `app_limited`: quinn-proto's own. Exact.
//! - `cwnd_limited`: the window had no room for another packet while these were in flight. Exact.
//! - `delivery`: a record per instant of departure. Exact; `lost` is counted as losses are declared,
//!   `resent` is never.
//! - `marked`: an event without a count. Approximated: all bytes of the next ACK.
//! - `on_loss`: the first loss of packets sent after the last episode began (RFC 9002 §7.3.2). Exact.
//! - `on_timeout`: persistent congestion (RFC 9002 §7.6), in place of `on_loss`. A probe timeout alone
//!   is no call, as it changes no window (§6.2).
//! - `on_restart`: a datagram leaves when nothing was in flight and nothing to send. Called as it is
//!   built, before it is on the wire.
//! - `on_tick`: the driver. Late by its wake-up; never under `quinn`.
//! - `restart_from`, `braked`, other feedback, notifications, notices: missing.
//!
//! Where a controller ignores marks and the packets are ECN-capable nevertheless, as always under `quinn`, a mark is
//! what a loss would be (RFC 9002 §7.1).

use super::delivery::SendLog;
use thalweg_machines::congestion::decisions::Log;
use thalweg_machines::congestion::{
    AckSample, Calls, CongestionControl, Feedback, Loss, Marks, Needs, Permit, pace,
};
use thalweg_units::{Bytes, Rate, Span, Time};

/// RFC 9002 §7.7: N, for controllers without a pace of their own.
// CHOICE RFC 9002 §7.7: "a small, but at least 1, value for N (for example, 1.25)". Here: 1.25, and 2 in slow start as
// Linux has it, so that the window can double.
const GAIN: f64 = 1.25;

/// The packets that one ACK frame acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Batch {
    bytes: u64,
    newest: Time,
    app_limited: bool,
    /// Bytes sent up to the newest packet acknowledged before.
    acked_before: u64,
}

/// What was declared lost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Losses {
    /// Packets sent up to then belong to the episode of the last loss.
    episode: Option<Time>,
    /// Bytes, since the last ACK.
    since_ack: u64,
}

/// A controller on one path of a QUIC connection.
#[derive(Clone, Debug)]
pub struct Adapter<C> {
    controller: C,
    calls: Calls,
    delivery: bool,
    reads_marks: bool,
    /// Bytes of a full packet, and of the headers below it.
    packet: (u32, u32),
    log: SendLog,
    in_flight: u64,
    batch: Option<Batch>,
    /// The newest packet ever acknowledged was sent then.
    newest: Option<Time>,
    srtt: Span,
    losses: Losses,
    /// There were marks since the last ACK.
    marked: bool,
    /// Bytes sent when the window last had no room.
    limited_to: u64,
    /// Nothing is in flight and nothing to send since then.
    idle_since: Option<Time>,
    /// As of the last ACK: all that was written had been sent.
    app_limited: bool,
}

impl<C: CongestionControl> Adapter<C> {
    /// A controller that is notified of its connection: full packets of `mtu` bytes with `header` bytes below them,
    /// the first round trip, and what was in flight as it ended.
    pub fn open(
        mut controller: C,
        needs: &Needs,
        packet: (u32, u32),
        (now, rtt): (Time, Span),
        in_flight: u64,
    ) -> Self {
        controller.on_open(now, Some(rtt), Feedback::None);
        Self {
            controller,
            calls: needs.calls,
            delivery: needs.delivery,
            reads_marks: needs.marks != Marks::Ignored,
            packet,
            log: SendLog::default(),
            in_flight,
            batch: None,
            newest: None,
            srtt: rtt,
            losses: Losses::default(),
            marked: false,
            limited_to: 0,
            idle_since: None,
            app_limited: false,
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
    #[inline]
    pub fn permit(&self) -> Permit {
        self.controller.permit()
    }

    /// The permit's window, and at least two full packets (RFC 9002 §7.2). A lone packet is acknowledged when the
    /// receiver's delay is over, by default after 25 ms (RFC 9000 §13.2.2): to a controller that goes by round trips
    /// that is a queue, because of which its window stays the least. (Controllers count in segments of the handshake's
    /// size, and paths take larger packets: two segments may be less than two packets.)
    pub fn window(&self) -> Bytes {
        self.permit().window.max(Bytes::new(2 * u64::from(self.packet.0)))
    }

    /// The permit's pace, or its window spread over a round trip.
    pub fn pace(&self) -> Option<Rate> {
        let (window, threshold) = (self.window(), self.controller.threshold());
        self.permit().pace.or_else(|| pace::of_window(window, threshold, self.srtt, self.packet, GAIN))
    }

    /// Bytes in flight, as far as is known.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// The window has room for another full packet.
    pub fn has_room(&self) -> bool {
        self.in_flight.saturating_add(u64::from(self.packet.0)) <= self.window().get()
    }

    /// The path takes packets of so many bytes.
    pub fn on_mtu(&mut self, mtu: u16) {
        self.packet.0 = u32::from(mtu);
    }

    /// A datagram leaves.
    pub fn on_sent(&mut self, now: Time, bytes: u64) {
        if let Some(since) = self.idle_since.take() {
            let idle = now.since(since);
            if !idle.is_zero() {
                self.controller.on_restart(now, idle);
            }
        }
        self.log.on_sent(now, bytes, self.in_flight);
        self.in_flight += bytes;
        if self.calls.sent() {
            self.controller.on_sent(
                now,
                Bytes::new(bytes),
                Bytes::new(self.in_flight + self.losses.since_ack),
            );
        }
        self.note_limit();
    }

    /// A packet that was sent at `sent` is acknowledged for the first time; [`Self::on_end_acks`] follows.
    pub fn on_acked(&mut self, now: Time, sent: Time, bytes: u64, app_limited: bool) {
        if self.batch.is_none() && app_limited {
            self.log.limited(self.in_flight);
        }
        let acked_before = self.log.acked_to();
        let batch = self.batch.get_or_insert(Batch { acked_before, ..Batch::default() });
        batch.bytes += bytes;
        batch.newest = batch.newest.max(sent);
        batch.app_limited = app_limited;
        self.log.on_acked(now, sent, bytes);
    }

    /// All packets of an ACK frame were reported; so much is in flight now.
    pub fn on_end_acks(&mut self, now: Time, in_flight: u64, app_limited: bool) {
        self.in_flight = in_flight;
        self.app_limited = app_limited;
        let Some(batch) = self.batch.take() else { return };
        self.losses.since_ack = 0;
        let rtt = self.sample(now, batch.newest);
        let in_recovery = self.losses.episode.is_some_and(|start| batch.newest <= start);
        if !in_recovery {
            self.losses.episode = None;
        }
        let delivery = self.log.sample().filter(|_| self.delivery);
        let marked = std::mem::take(&mut self.marked);
        self.controller.on_ack(&AckSample {
            now,
            rtt,
            acked: Bytes::new(batch.bytes),
            sacked: Bytes::ZERO,
            in_flight: Bytes::new(in_flight),
            acked_to: self.log.acked_to(),
            sent_to: self.log.sent_to(),
            marked: Bytes::new(if marked { batch.bytes } else { 0 }),
            braked: Bytes::ZERO,
            in_recovery,
            app_limited: batch.app_limited,
            cwnd_limited: batch.acked_before < self.limited_to,
            delivery,
            feedback: if marked { Feedback::Mark } else { Feedback::None },
        });
        self.note_limit();
        self.note_silence(now);
    }

    /// Packets are declared lost, `bytes` in all and the newest of them sent at `sent`, or they were marked (no bytes).
    pub fn on_congestion(&mut self, now: Time, sent: Time, persistent: bool, bytes: u64) {
        if bytes == 0 && !persistent && self.reads_marks {
            self.marked = true;
            return;
        }
        let (acked_to, sent_to) = (self.log.acked_to(), self.log.sent_to());
        let loss = Loss { now, in_flight: Bytes::new(self.in_flight), acked_to, sent_to };
        if bytes > 0 {
            self.in_flight = self.in_flight.saturating_sub(bytes);
            self.losses.since_ack += bytes;
            self.log.on_lost(sent, bytes);
        }
        let news = self.losses.episode.is_none_or(|start| sent > start);
        if persistent {
            self.losses = Losses::default();
            self.controller.on_timeout(&loss);
        } else if news {
            self.losses.episode = Some(now);
            self.controller.on_loss(&loss);
        }
        self.note_limit();
        self.note_silence(now);
    }

    /// The time is now: calls the controller if its instant has come.
    pub fn on_tick(&mut self, now: Time) {
        if self.calls.ticks() && self.permit().wake.is_some_and(|wake| wake <= now) {
            self.controller.on_tick(now);
        }
    }

    /// The instant at which the controller wants to be called.
    pub fn wake(&self) -> Option<Time> {
        self.permit().wake.filter(|_| self.calls.ticks())
    }

    /// A round trip, if the packet is newer than all acknowledged before (RFC 9002 §5.1).
    fn sample(&mut self, now: Time, sent: Time) -> Option<Span> {
        if self.newest.is_some_and(|newest| sent <= newest) {
            return None;
        }
        self.newest = Some(sent);
        let rtt = now.since(sent);
        // RFC 9002 §5.3, without the receiver's ACK delay, which controllers are not given either.
        self.srtt = Span::from_ps(self.srtt.ps() - self.srtt.ps() / 8 + rtt.ps() / 8);
        Some(rtt)
    }

    fn note_limit(&mut self) {
        if !self.has_room() {
            self.limited_to = self.log.sent_to();
        }
    }

    fn note_silence(&mut self, now: Time) {
        if self.in_flight == 0 && self.app_limited {
            self.idle_since.get_or_insert(now);
        }
    }
}

#[cfg(test)]
mod tests;
