//! QUIC's adapter: it turns the calls that quinn-proto makes to its controllers into calls of [`CongestionControl`] in
//! the order of the contract. It has neither I/O nor a clock: times are arguments.
//!
//! The source of each call, and how accurate it is:
//!
//! - `on_open`: the first acknowledgement of the handshake, and its round trip. Exact; later packets of the handshake
//!   count as data.
//! - `on_sent`: `on_sent`, once per datagram. Exact, except that packets with acknowledgements only are counted, too,
//!   until the next ACK corrects the number. Packets declared lost since the last ACK are counted until the next one,
//!   because controllers infer losses from the bytes missing at an ACK.
//! - Payload bytes are bytes of QUIC packets, including their headers and tags (some 30 per packet). Approximated, as
//!   RFC 9002 counts.
//! - `rtt`: that of the newest packet of an ACK, unless a newer one was acknowledged before (RFC 9002 §5.1). Exact,
//!   including the receiver's ACK delay, as TCP's.
//! - `acked`: all packets that an ACK frame acknowledges for the first time. Exact; `sacked` is 0, because there are no
//!   cumulative acknowledgements.
//! - `in_flight`: `on_end_acks`. Exact; losses shown by an ACK frame are declared after it, and are missing at the next
//!   one.
//! - The smallest window is two full packets, as in RFC 9002 §7.2.
//! - `acked_to`, `sent_to`: bytes sent up to the newest acknowledged packet, and in all. Rounds are as TCP's;
//!   `acked_to` does not wait for holes, because retransmissions have new numbers.
//! - `in_recovery`: packets sent before the last loss was declared are being acknowledged (RFC 9002 §7.3.2). Exact.
//! - `app_limited`: quinn-proto's own. Exact.
//! - `cwnd_limited`: the window had no room for another packet while these were in flight. Exact.
//! - `delivery`: a record for each instant of departure. Exact; `lost` counts declared losses, `resent` is always 0.
//! - `marked`: an event without a count. Approximated: all bytes of the next ACK.
//! - `on_loss`: the first loss of packets sent after the last episode began (RFC 9002 §7.3.2). Exact.
//! - `on_timeout`: persistent congestion (RFC 9002 §7.6), in place of `on_loss`. A probe timeout alone causes no call,
//!   because it does not change the window (§6.2).
//! - `on_restart`: a datagram leaves when nothing was in flight and nothing to send. Called when the datagram is built,
//!   before it is sent.
//! - `on_tick`: from the driver. Late by its wake-up latency; never called under `quinn`.
//! - `restart_from`, `braked`, other feedback, notifications and notices are missing.
//!
//! If a controller ignores marks but its packets are ECN-capable, which they always are under `quinn`, a mark is
//! reported as a loss (RFC 9002 §7.1).

use super::delivery::SendLog;
use thalweg_machines::congestion::decisions::Log;
use thalweg_machines::congestion::{
    AckSample, Calls, CongestionControl, Feedback, Loss, Marks, Needs, Permit, pace,
};
use thalweg_units::{Bytes, Rate, Span, Time};

/// N of RFC 9002 §7.7, for controllers without a pacing rate of their own.
// CHOICE RFC 9002 §7.7: "a small, but at least 1, value for N (for example, 1.25)". Here: 1.25, and 2 in slow start as
// in Linux, so that the window can double.
const GAIN: f64 = 1.25;

/// The packets that one ACK frame acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Batch {
    bytes: u64,
    newest: Time,
    app_limited: bool,
    /// Bytes sent up to the newest packet acknowledged before this frame.
    acked_before: u64,
}

/// Losses that were declared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Losses {
    /// Packets sent until this time belong to the episode of the last loss.
    episode: Option<Time>,
    /// Bytes lost since the last ACK.
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
    /// When the newest packet ever acknowledged was sent.
    newest: Option<Time>,
    srtt: Span,
    losses: Losses,
    /// True if marks were reported since the last ACK.
    marked: bool,
    /// Bytes sent when the window last had no room.
    limited_to: u64,
    /// Since when nothing has been in flight and nothing to send.
    idle_since: Option<Time>,
    /// At the last ACK, all written data had been sent.
    app_limited: bool,
}

impl<C: CongestionControl> Adapter<C> {
    /// Opens a controller: full packets of `mtu` bytes with `header` bytes of lower layers, the first round trip, and
    /// the bytes in flight at its end.
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

    /// The controller's decision log since the last call, if it keeps one.
    pub fn take_log(&mut self) -> Option<Log> {
        self.controller.take_log()
    }

    /// The current permit.
    #[inline]
    pub fn permit(&self) -> Permit {
        self.controller.permit()
    }

    /// The permit's window, at least two full packets (RFC 9002 §7.2). A single packet is acknowledged only after the
    /// receiver's ACK delay, by default 25 ms (RFC 9000 §13.2.2). A controller that measures round trips takes this for
    /// a queue and keeps its window small. (Controllers count in segments of the handshake's size, and later packets
    /// may be larger: two segments may be less than two packets.)
    pub fn window(&self) -> Bytes {
        self.permit().window.max(Bytes::new(2 * u64::from(self.packet.0)))
    }

    /// The permit's pacing rate, or its window per round trip.
    pub fn pace(&self) -> Option<Rate> {
        let (window, threshold) = (self.window(), self.controller.threshold());
        self.permit().pace.or_else(|| pace::of_window(window, threshold, self.srtt, self.packet, GAIN))
    }

    /// Bytes in flight, as far as known.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// True if the window has room for another full packet.
    pub fn has_room(&self) -> bool {
        self.in_flight.saturating_add(u64::from(self.packet.0)) <= self.window().get()
    }

    /// The largest packet of the path has changed.
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

    /// All packets of an ACK frame were reported; `in_flight` bytes are in flight now.
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

    /// Calls the controller if its wake-up time has come.
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
