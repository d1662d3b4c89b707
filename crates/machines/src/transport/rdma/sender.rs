//! A queue pair's requester side: data out, ACKs, NACKs and notifications in (IRN §4.2; TIMELY §3.2). Around the recovery
//! core it keeps the timer, the rate limiter, BDP-FC, and what the controller is told. What an acknowledgement does is in
//! `feedback`, what a packet that leaves does in `emit`, messages back to back in `stream`, what parameters are allowed in `check`.

mod check;
mod emit;
mod feedback;
mod stream;

use super::super::delivery::SendLog;
use super::super::{
    Endpoint, Expiry, HandOver, Heard, Progress, RdmaAcks, RdmaSpec, Rto, SenderStats, SendingEnd, Transmit,
};
use super::hand_over::State;
use super::layout::Layout;
use super::recovery::Recovery;
use super::segments::{Pace, Segments};
use super::timer::{Outlook, Timer};
use crate::congestion::{CongestionControl, Controller, Explicit, FeedbackKind, Loss, Messages, Start};
use crate::packet::{Kind, Packet, Side};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Bytes, FlowId, Rate, Span, Stream, Time};

/// A queue pair's requester side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RdmaSender {
    flow: FlowId,
    class: u8,
    started: bool,
    /// When the connection's earlier flow was done, if there was one.
    predecessor: Option<Time>,
    /// The receiver acknowledges; otherwise the flow is done when all is sent.
    acknowledged: bool,
    /// The timer fired, and no NACK has begun a recovery since.
    by_timer: bool,
    /// Payload bytes of the flow; `u64::MAX`: without end.
    size: u64,
    /// Packets of the flow.
    packets: u64,
    /// Of a stream: the last packets of its messages, where they are not full, and their payload.
    tails: VecDeque<(u64, u32)>,
    pub(super) recovery: Recovery,
    timer: Timer,
    rto: Rto,
    /// The rate limiter allows nothing before.
    next_tx: Time,
    /// What was found lost last may leave from then on.
    fetched: Time,
    /// Offsets of the lowest byte not acknowledged, the next to send, and the first never sent.
    acked_to: u64,
    next_to: u64,
    sent_to: u64,
    /// Bytes selectively acknowledged.
    sacked: u64,
    /// Bytes that earlier flows of the connection have sent: the controller's count goes on.
    origin: u64,
    /// When it was done.
    finished: Time,
    /// The rate engine, where the host posts segments.
    segments: Option<Box<Segments>>,
    line_rate: Rate,
    quantum: Span,
    /// The flow's own: measurement noise.
    stream: Stream,
    sent_packets: u64,
    retransmitted: u64,
    timeouts: u64,
    /// Of the round trips that the controller was told.
    rtt_sum: Span,
    rtt_samples: u32,
    last_rtt: Span,
    /// For controllers that ask for delivery rates.
    log: Option<Box<SendLog>>,
    /// What packets have room for.
    feedback: FeedbackKind,
    /// A new pace moves the departure planned: when the last packet left, and its bytes on the wire.
    planned: Option<(Time, u32)>,
    /// And it does.
    moves: bool,
    /// Congestion points write to it: its pace moves at their messages and at ticks.
    listens: bool,
    /// One did since somebody asked.
    moved: bool,
    controller: Controller,
}

impl RdmaSender {
    /// A sender of `size` payload bytes (`u64::MAX`: without end) that has not started. `stream` is the flow's own.
    ///
    /// # Errors
    /// If a parameter is out of range, or parameters exclude each other; the message names them.
    pub fn new(
        spec: &RdmaSpec,
        flow: FlowId,
        size: u64,
        start: &Start,
        stream: Stream,
    ) -> Result<Self, String> {
        let controller = spec.controller.make(start)?;
        let needs = spec.controller.needs();
        check::check(spec, size, start, &controller)?;
        Ok(Self {
            flow,
            class: start.class,
            started: false,
            predecessor: None,
            acknowledged: spec.acks != RdmaAcks::Never,
            by_timer: false,
            size,
            packets: Layout::new(spec, size).packets(),
            tails: VecDeque::new(),
            recovery: Recovery::new(spec),
            timer: Timer::STOPPED,
            rto: Rto::default(),
            next_tx: Time::ZERO,
            fetched: Time::ZERO,
            acked_to: 0,
            next_to: 0,
            sent_to: 0,
            sacked: 0,
            origin: 0,
            finished: Time::ZERO,
            segments: spec.segments.as_ref().map(|_| Box::new(Segments::new())),
            line_rate: start.line_rate,
            quantum: start.time_quantum,
            stream,
            sent_packets: 0,
            retransmitted: 0,
            timeouts: 0,
            rtt_sum: Span::ZERO,
            rtt_samples: 0,
            last_rtt: Span::ZERO,
            log: needs.delivery.then(Box::default),
            feedback: needs.feedback,
            planned: None,
            moves: needs.moves_departures,
            listens: needs.messages != Messages::None,
            moved: false,
            controller,
        })
    }

    /// The controller.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// The timers of a controller that was taken over have run while the connection was silent.
    fn catch_up(&mut self, now: Time) {
        while let Some(wake) = self.controller.permit().wake.filter(|wake| *wake < now) {
            self.controller.on_tick(wake);
            if self.controller.permit().wake == Some(wake) {
                break; // it wants nothing but to be asked again
            }
        }
    }

    /// The round trip that the controller was told last; `None` before the first. One more was told whenever
    /// [`SenderStats::rtt_samples`] has risen.
    pub fn last_round_trip(&self) -> Option<Span> {
        (self.rtt_samples > 0).then_some(self.last_rtt)
    }

    /// Payload bytes believed to be in the network.
    #[inline]
    fn in_flight(&self) -> u64 {
        if self.acknowledged { self.next_to - self.acked_to - self.sacked } else { 0 }
    }

    fn loss(&self, now: Time) -> Loss {
        Loss {
            now,
            in_flight: Bytes::new(self.sent_to - self.acked_to),
            acked_to: self.origin + self.acked_to,
            sent_to: self.origin + self.sent_to,
        }
    }

    /// Hands the NIC the segments that are due.
    #[inline]
    fn post(&mut self, spec: &RdmaSpec, now: Time) {
        if let (Some(segments), Some(posted)) = (&mut self.segments, &spec.segments)
            && self.started
        {
            let pace = Pace { rate: self.controller.permit().pace, quantum: self.quantum };
            let layout = Layout::new(spec, self.size);
            segments.post(posted, &layout, now, pace, self.recovery.high());
        }
    }

    /// BDP-FC, and the controller's window in whole packets.
    // CHOICE IRN §4.3.4: a window below what one acknowledgement covers would never be acknowledged.
    #[inline]
    fn cap(&self, spec: &RdmaSpec, window: Bytes) -> u32 {
        let packets = if window == Bytes::MAX {
            u64::MAX
        } else {
            let least = Layout::new(spec, self.size).per_ack(spec.acks);
            (window.get() / u64::from(spec.payload)).max(least)
        };
        spec.cap.unwrap_or(u32::MAX).min(u32::try_from(packets).unwrap_or(u32::MAX))
    }

    /// Neither the rate limiter nor the fetching of what was lost allows the next packet before.
    #[inline]
    fn allowed_from(&self) -> Time {
        if self.recovery.is_pending() { self.next_tx.max(self.fetched) } else { self.next_tx }
    }

    /// The retransmission timer fires.
    #[cold]
    fn on_timeout(&mut self, spec: &RdmaSpec, now: Time) {
        self.timeouts += 1;
        self.controller.on_timeout(&self.loss(now));
        self.by_timer = true;
        self.recovery.on_timeout();
        self.found_lost(spec, now);
        if self.recovery.in_flight() > 0 {
            self.timer.start(&spec.timer, now, &self.rto);
        } else {
            self.timer.stop(); // go-back-N: it runs again from when the first packet leaves
        }
    }

    /// Something was found lost. With go-back-N, what follows it is sent again too.
    #[cold]
    fn found_lost(&mut self, spec: &RdmaSpec, now: Time) {
        self.fetched = now.saturating_add(spec.fetch_delay);
        if self.recovery.goes_back() {
            let nxt = self.recovery.nxt();
            self.next_to = Layout::new(spec, self.size).offset(nxt);
            if let Some(segments) = &mut self.segments {
                segments.go_back(nxt);
            }
        }
    }
}

impl Endpoint for RdmaSender {
    type Spec = RdmaSpec;

    #[inline]
    fn on_packet(&mut self, spec: &RdmaSpec, now: Time, packet: &Packet, side: Option<&Side>) -> Heard {
        let mut heard = Heard::default();
        match packet.kind {
            Kind::Ack => heard.round_trip = self.on_ack(spec, now, packet, side),
            Kind::Control if self.started => {
                if self.is_done() {
                    self.catch_up(now);
                }
                match side {
                    Some(Side::Notice(notice)) => {
                        let before = self.controller.permit().pace;
                        self.controller.on_notice(now, notice);
                        self.rescale_departure(now, before);
                    }
                    _ => self.controller.on_notification(now),
                }
            }
            Kind::Control | Kind::Data | Kind::Syn | Kind::SynAck => {}
        }
        self.post(spec, now);
        heard
    }

    fn on_timer(&mut self, spec: &RdmaSpec, now: Time) -> Expiry {
        if !self.started || self.is_done() {
            return Expiry::Controller;
        }
        let permit = self.controller.permit();
        let outlook =
            Outlook { in_flight: self.recovery.in_flight(), line: self.line_rate, rate: permit.pace };
        self.recovery.listen(now);
        let expired = self.timer.fires(&spec.timer, now, outlook);
        if expired {
            self.on_timeout(spec, now);
        }
        if permit.wake.is_some_and(|wake| wake <= now) {
            self.controller.on_tick(now);
            self.rescale_departure(now, permit.pace);
        }
        self.post(spec, now);
        if expired { Expiry::Retransmission } else { Expiry::Controller }
    }

    #[inline(always)]
    fn poll_transmit(
        &mut self,
        spec: &RdmaSpec,
        now: Time,
        packet: &mut Packet,
        side: &mut Side,
    ) -> Transmit {
        if !self.started || self.is_done() {
            return Transmit::Idle;
        }
        self.post(spec, now);
        let permit = self.controller.permit();
        if permit.pace == Some(Rate::ZERO) {
            return Transmit::Idle; // until the controller's next tick or ACK
        }
        let cap = self.cap(spec, permit.window);
        let (ready, look) =
            self.segments.as_ref().map_or((self.packets, Time::MAX), |s| (s.posted(), s.look()));
        // A search for a hole takes an opportunity of the core's, but no time.
        loop {
            let more = self.recovery.nxt() < ready;
            if !self.recovery.can_send(more, cap) {
                return if look == Time::MAX { Transmit::Idle } else { Transmit::At(look) };
            }
            let from = self.allowed_from();
            if now < from {
                return Transmit::At(from);
            }
            let sent = self.recovery.tx_free(more, cap);
            if !self.recovery.goes_back() && self.recovery.is_pending() {
                self.fetched = now.saturating_add(spec.fetch_delay); // a hole was found
            }
            if let Some(sent) = sent {
                self.emit(spec, now, sent, packet);
                match self.feedback {
                    FeedbackKind::None => return Transmit::Packet,
                    FeedbackKind::Int => {
                        side.new_int();
                    }
                    FeedbackKind::Explicit(kind) => {
                        side.new_explicit(Explicit::unwritten(kind), self.rto.srtt());
                    }
                }
                packet.side = 0;
                return Transmit::Packet;
            }
        }
    }

    #[inline]
    fn timer(&self) -> Option<Time> {
        if !self.started || self.is_done() {
            return None;
        }
        let wake = self.controller.permit().wake.unwrap_or(Time::MAX);
        let look = self.segments.as_ref().map_or(Time::MAX, |s| s.look());
        let next = self.timer.at().min(wake).min(look).min(self.recovery.next_word());
        (next != Time::MAX).then_some(next)
    }

    #[inline]
    fn is_done(&self) -> bool {
        let reached = if self.acknowledged { self.recovery.una() } else { self.recovery.nxt() };
        reached >= self.packets
    }
}

impl SendingEnd for RdmaSender {
    fn hand_over(&self) -> Option<HandOver> {
        Some(HandOver(State {
            controller: self.controller.clone(),
            next_tx: self.next_tx,
            origin: self.origin + self.sent_to,
            finished: self.finished,
            segments: self.segments.as_ref().map(|s| Box::new(s.successor())),
        }))
    }

    /// Rate, state and pacing go on.
    fn take_over(&mut self, HandOver(before): HandOver) {
        debug_assert!(!self.started);
        self.controller = before.controller;
        self.next_tx = before.next_tx;
        self.origin = before.origin;
        self.predecessor = Some(before.finished);
        if let (Some(ours), Some(theirs)) = (&mut self.segments, before.segments) {
            *ours = theirs;
        }
    }

    fn start(&mut self, spec: &RdmaSpec, now: Time) {
        if self.started {
            return;
        }
        self.started = true;
        let idle = self.predecessor.map_or(Span::ZERO, |finished| now.since(finished));
        if self.predecessor.is_some() {
            self.catch_up(now);
            if !idle.is_zero() {
                self.controller.on_restart(now, idle);
            }
        }
        if let Some(segments) = &mut self.segments {
            segments.start(now, self.predecessor.is_some() && idle.is_zero());
        }
        self.post(spec, now);
    }

    /// With what it has posted, too, to the end of what one acknowledgement covers.
    fn stop(&mut self, spec: &RdmaSpec, now: Time) -> u64 {
        let layout = Layout::new(spec, self.size);
        let posted = self.segments.as_ref().map_or(0, |segments| segments.posted());
        let whole = if self.segments.is_some() { RdmaAcks::PerSegment } else { spec.acks };
        let begun = self.recovery.high().max(posted).next_multiple_of(layout.per_ack(whole));
        self.size = layout.offset(begun.min(self.packets));
        self.packets = Layout::new(spec, self.size).packets();
        if self.is_done() {
            self.finished = now;
        }
        self.size
    }

    fn append(&mut self, spec: &RdmaSpec, now: Time, bytes: u64) -> Option<u64> {
        self.append_message(spec, now, bytes)
    }

    fn on_drop(&mut self, spec: &RdmaSpec, seq: u64, at: Time) {
        self.recovery.announce(Layout::new(spec, self.size).index(seq), at);
    }

    #[inline]
    fn progress(&self) -> Progress {
        let acked = if self.acknowledged { self.acked_to } else { self.next_to };
        Progress { sent: self.sent_to, acked }
    }

    fn stats(&self) -> SenderStats {
        SenderStats {
            acked_bytes: self.progress().acked,
            sent_packets: self.sent_packets,
            retransmitted_packets: self.retransmitted,
            timeouts: self.timeouts,
            window: self.controller.permit().window,
            threshold: self.controller.threshold(),
            other_window: self.controller.other_window(),
            in_flight: Bytes::new(self.in_flight()),
            srtt: self.rto.srtt(),
            rtt_sum: self.rtt_sum,
            rtt_samples: self.rtt_samples,
            pace: self.controller.permit().pace,
            wasted_credits: 0,
        }
    }

    fn next_departure(&self) -> Option<Time> {
        let any = self.started && self.segments.is_none() && self.recovery.nxt() < self.packets;
        any.then_some(self.next_tx)
    }

    #[inline]
    fn foresee(&self, spec: &RdmaSpec, at: Time) -> Option<Transmit> {
        if !self.started || self.segments.is_some() || self.is_done() {
            return None;
        }
        let permit = self.controller.permit();
        let more = self.recovery.nxt() < self.packets;
        if permit.pace == Some(Rate::ZERO) || !self.recovery.can_send(more, self.cap(spec, permit.window)) {
            return Some(Transmit::Idle);
        }
        let from = self.allowed_from();
        (at < from).then_some(Transmit::At(from))
    }

    fn remaining(&self) -> u64 {
        if self.size == u64::MAX { u64::MAX } else { self.size.saturating_sub(self.next_to) }
    }

    fn take_moved(&mut self) -> Option<Time> {
        std::mem::take(&mut self.moved).then_some(self.next_tx)
    }
}
