//! A queue pair's requester side: data out, ACKs, NACKs and notifications in (IRN §4.2; TIMELY §3.2). It adds to the
//! recovery core the timer, the rate limiter, BDP-FC and the controller. What an acknowledgement does is in `feedback`,
//! what a packet that leaves does in `emit`, when it may in `limiter`, messages back to back in `stream`, what
//! parameters are allowed in `check`.

mod check;
mod emit;
mod feedback;
mod limiter;
mod offsets;
mod repair;
mod stream;

use super::super::counts::Counts;
use super::super::delivery::SendLog;
use super::super::path_values::Writer;
use super::super::{
    Endpoint, Expiry, HandOver, Progress, RdmaAcks, RdmaSpec, Reception, SenderStats, SendingEnd, Transmit,
};
use super::hand_over::State;
use super::layout::Layout;
use super::segments::Segments;
use super::timer::Outlook;
use crate::congestion::decisions::Log;
use crate::congestion::{
    Calls, CongestionControl, Controller, FeedbackKind, Interval, Permit, Report, Start,
};
use crate::problems::Invalid;
use limiter::Limiter;
use offsets::Offsets;
use repair::Repair;
use serde::{Deserialize, Serialize};
use stream::Data;
use thalweg_units::{Bytes, FlowId, Rate, Span, Stream, Time};
use thalweg_wire::{Explicit, Kind, Packet, Side};

/// The flow's turn on its queue pair, which carries one flow after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Turn {
    started: bool,
    /// When the flow was done; before it starts, when the flow before it on the queue pair was.
    done: Option<Time>,
}

/// State that only few senders need.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    /// For controllers that need delivery rates.
    log: Option<SendLog>,
    /// Where path values are written.
    paths: Option<Writer>,
}

impl Kept {
    fn new(log: bool, paths: Option<Writer>) -> Option<Box<Self>> {
        (log || paths.is_some()).then(|| Box::new(Self { log: log.then(SendLog::default), paths }))
    }
}

/// A queue pair's requester side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RdmaSender {
    flow: FlowId,
    class: u8,
    turn: Turn,
    data: Data,
    offsets: Offsets,
    pub(super) repair: Repair,
    limiter: Limiter,
    /// The rate engine, if the host posts segments.
    segments: Option<Box<Segments>>,
    /// The flow's random stream, for measurement noise.
    stream: Stream,
    counts: Counts,
    kept: Option<Box<Kept>>,
    /// The feedback for which packets reserve room.
    feedback: FeedbackKind,
    /// The calls that the controller requires.
    calls: Calls,
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
    ) -> Result<Self, Invalid> {
        let controller = spec.controller.make(start)?;
        let needs = spec.controller.needs();
        check::check(spec, size, start, &controller)?;
        let kept = Kept::new(needs.delivery, spec.path_values.map(|_| Writer::new(&stream, flow)));
        Ok(Self {
            flow,
            class: start.class,
            turn: Turn { started: false, done: None },
            data: Data::new(spec, size),
            offsets: Offsets::new(spec.acks != RdmaAcks::Never),
            repair: Repair::new(spec),
            limiter: Limiter::new(start, &needs),
            segments: spec.segments.as_ref().map(|_| Box::new(Segments::new())),
            stream,
            counts: Counts::default(),
            kept,
            feedback: needs.feedback,
            calls: needs.calls,
            controller,
        })
    }

    /// The controller.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Calls the ticks that a controller, taken over from the flow before, has missed while the connection was idle.
    fn catch_up(&mut self, now: Time) {
        while let Some(wake) = self.controller.permit().wake.filter(|wake| *wake < now) {
            self.controller.on_tick(wake);
            if self.controller.permit().wake == Some(wake) {
                break; // it only requests the same instant again
            }
        }
    }

    /// Hands the NIC the segments that are due.
    #[inline]
    fn post(&mut self, spec: &RdmaSpec, now: Time) {
        if let (Some(segments), Some(posted)) = (&mut self.segments, &spec.segments)
            && self.turn.started
        {
            let pace = self.limiter.pace(self.controller.permit().pace);
            let layout = Layout::new(spec, self.data.size);
            segments.post(posted, &layout, now, pace, self.repair.recovery.high());
        }
    }

    /// The record of what was sent.
    #[inline]
    fn log(&mut self) -> Option<&mut SendLog> {
        self.kept.as_mut()?.log.as_mut()
    }

    /// The next packet's path value.
    #[inline]
    fn path_value(&mut self, spec: &RdmaSpec) -> u32 {
        match (self.kept.as_mut().and_then(|kept| kept.paths.as_mut()), &spec.path_values) {
            (Some(writer), Some(values)) => writer.next(values),
            _ => 0,
        }
    }

    /// An ACK has brought one back.
    #[inline]
    fn path_acked(&mut self, spec: &RdmaSpec, value: u32, marked: bool) {
        let writer = self.kept.as_mut().and_then(|kept| kept.paths.as_mut());
        if let (Some(writer), Some(values)) = (writer, &spec.path_values) {
            writer.on_ack(values, value, marked);
        }
    }

    /// BDP-FC, and the controller's window in whole packets.
    // CHOICE IRN §4.3.4: a window below what one acknowledgement covers would never be acknowledged.
    #[inline]
    fn cap(&self, spec: &RdmaSpec, window: Bytes) -> u32 {
        let packets = if window == Bytes::MAX {
            u64::MAX
        } else {
            let least = Layout::new(spec, self.data.size).per_ack(spec.acks);
            (window.get() / u64::from(spec.payload)).max(least)
        };
        spec.cap.unwrap_or(u32::MAX).min(u32::try_from(packets).unwrap_or(u32::MAX))
    }

    /// The instant before which the rate limiter, or the fetching of lost data, allows no packet.
    #[inline]
    fn allowed_from(&self) -> Time {
        self.limiter.next_tx.max(self.repair.allows_from())
    }

    /// The retransmission timer fires.
    #[cold]
    fn on_timeout(&mut self, spec: &RdmaSpec, now: Time) {
        self.counts.timeouts += 1;
        self.controller.on_timeout(&self.offsets.loss(now));
        self.repair.timer.fired = true;
        self.repair.recovery.on_timeout();
        self.found_lost(spec, now);
        if self.repair.recovery.in_flight() > 0 {
            self.repair.start_timer(spec, now);
        } else {
            self.repair.timer.stop(); // go-back-N: it runs again from when the first packet leaves
        }
    }

    /// Something was found lost. With go-back-N, what follows it is sent again too.
    #[cold]
    fn found_lost(&mut self, spec: &RdmaSpec, now: Time) {
        self.repair.fetched = now.saturating_add(spec.fetch_delay);
        if self.repair.recovery.goes_back() {
            let nxt = self.repair.recovery.nxt();
            self.offsets.next_to = Layout::new(spec, self.data.size).offset(nxt);
            if let Some(segments) = &mut self.segments {
                segments.go_back(nxt);
            }
        }
    }
}

impl Endpoint for RdmaSender {
    type Spec = RdmaSpec;

    #[inline]
    fn on_packet(&mut self, spec: &RdmaSpec, now: Time, packet: &Packet, side: Option<&Side>) -> Reception {
        let mut reception = Reception::Taken;
        match packet.kind {
            Kind::Ack => reception = self.on_ack(spec, now, packet, side).into(),
            Kind::Control => match side.and_then(Side::message) {
                Some(message) if self.takes(message) => self.on_message(now, message),
                _ => return Reception::Ignored,
            },
            Kind::Data | Kind::Syn | Kind::SynAck => {}
        }
        self.post(spec, now);
        reception
    }

    fn on_timer(&mut self, spec: &RdmaSpec, now: Time) -> Expiry {
        if !self.turn.started || self.is_done() {
            return Expiry::Controller;
        }
        let permit = self.controller.permit();
        let outlook = Outlook {
            in_flight: self.repair.recovery.in_flight(),
            line: self.limiter.line_rate(),
            rate: permit.pace,
        };
        self.repair.recovery.take_notifications(now);
        let expired = self.repair.timer.fires(&spec.timer, now, outlook);
        if expired {
            self.check_app_limited(self.is_used_up(spec));
            self.on_timeout(spec, now);
        }
        if permit.wake.is_some_and(|wake| wake <= now) {
            self.controller.on_tick(now);
            self.limiter.rescale(now, permit.pace, self.controller.permit().pace);
        }
        self.post(spec, now);
        if self.controller.interval().is_some_and(|interval| interval.due) {
            Expiry::Decision
        } else if expired {
            Expiry::Retransmission
        } else {
            Expiry::Controller
        }
    }

    #[inline(always)]
    fn poll_transmit(
        &mut self,
        spec: &RdmaSpec,
        now: Time,
        packet: &mut Packet,
        side: &mut Side,
    ) -> Transmit {
        if !self.turn.started || self.is_done() {
            return Transmit::Idle;
        }
        self.post(spec, now);
        let permit = self.controller.permit();
        if permit.pace == Some(Rate::ZERO) {
            return Transmit::Idle; // until the controller's next tick or ACK
        }
        let cap = self.cap(spec, permit.window);
        let (ready, look) =
            self.segments.as_ref().map_or((self.data.packets, Time::MAX), |s| (s.posted(), s.look()));
        // Searching for a hole uses up a transmission opportunity of the core but takes no time.
        loop {
            let more = self.repair.recovery.nxt() < ready;
            if !self.repair.recovery.can_send(more, cap) {
                return if look == Time::MAX { Transmit::Idle } else { Transmit::At(look) };
            }
            let from = self.allowed_from();
            if now < from {
                return Transmit::At(from);
            }
            let sent = self.repair.recovery.tx_free(more, cap);
            if !self.repair.recovery.goes_back() && self.repair.recovery.is_pending() {
                self.repair.fetched = now.saturating_add(spec.fetch_delay); // a hole was found
            }
            if let Some(sent) = sent {
                self.emit(spec, now, sent, packet);
                match self.feedback {
                    FeedbackKind::None => return Transmit::Packet,
                    FeedbackKind::Int => {
                        side.new_int();
                    }
                    FeedbackKind::Explicit(kind) => {
                        let (rtt, window) = (self.repair.rto.srtt(), self.controller.permit().window);
                        side.request_explicit(Explicit::unwritten(kind), rtt, window);
                    }
                }
                packet.side = 0;
                return Transmit::Packet;
            }
        }
    }

    #[inline(always)]
    fn timer(&self) -> Option<Time> {
        if !self.turn.started || self.is_done() {
            return None;
        }
        let tick = || self.controller.permit().wake.unwrap_or(Time::MAX);
        let wake = if self.calls.ticks() { tick() } else { Time::MAX };
        let look = self.segments.as_ref().map_or(Time::MAX, |s| s.look());
        let next = self.repair.timer.at().min(wake).min(look).min(self.repair.recovery.next_notification());
        (next != Time::MAX).then_some(next)
    }

    #[inline(always)]
    fn is_done(&self) -> bool {
        let reached =
            if self.offsets.acknowledged { self.repair.recovery.una() } else { self.repair.recovery.nxt() };
        reached >= self.data.packets
    }
}

impl SendingEnd for RdmaSender {
    fn hand_over(&self) -> Option<HandOver> {
        Some(HandOver(State {
            controller: self.controller.clone(),
            next_tx: self.limiter.next_tx,
            origin: self.offsets.in_all().1,
            finished: self.turn.done.unwrap_or(Time::ZERO),
            segments: self.segments.as_ref().map(|s| Box::new(s.successor())),
        }))
    }

    /// The controller and its pacing continue.
    fn take_over(&mut self, HandOver(before): HandOver) {
        debug_assert!(!self.turn.started);
        self.controller = before.controller;
        self.limiter.next_tx = before.next_tx;
        self.offsets.origin = before.origin;
        self.turn.done = Some(before.finished);
        if let (Some(ours), Some(theirs)) = (&mut self.segments, before.segments) {
            *ours = theirs;
        }
    }

    fn start(&mut self, spec: &RdmaSpec, now: Time) {
        if self.turn.started {
            return;
        }
        self.turn.started = true;
        let idle = self.turn.done.map_or(Span::ZERO, |finished| now.since(finished));
        if self.turn.done.is_some() {
            self.catch_up(now);
            if !idle.is_zero() {
                self.controller.on_restart(now, idle);
            }
        }
        if let Some(segments) = &mut self.segments {
            segments.start(now, self.turn.done.is_some() && idle.is_zero());
        }
        self.post(spec, now);
    }

    /// With what it has posted, too, to the end of what one acknowledgement covers.
    fn stop(&mut self, spec: &RdmaSpec, now: Time) -> u64 {
        let layout = Layout::new(spec, self.data.size);
        let posted = self.segments.as_ref().map_or(0, |segments| segments.posted());
        let whole = if self.segments.is_some() { RdmaAcks::PerSegment } else { spec.acks };
        let begun = self.repair.recovery.high().max(posted).next_multiple_of(layout.per_ack(whole));
        self.data.resize(spec, layout.offset(begun.min(self.data.packets)));
        if self.is_done() {
            self.turn.done = Some(now);
        }
        self.data.size
    }

    fn append(&mut self, spec: &RdmaSpec, now: Time, bytes: u64) -> Option<u64> {
        self.append_message(spec, now, bytes)
    }

    fn on_drop(&mut self, spec: &RdmaSpec, seq: u64, at: Time) {
        self.repair.recovery.announce(Layout::new(spec, self.data.size).index(seq), at);
    }

    #[inline]
    fn progress(&self) -> Progress {
        Progress { sent: self.offsets.sent_to, acked: self.offsets.done_to() }
    }

    fn report(&self, report: &mut Report) {
        self.controller.report(report);
    }

    fn take_log(&mut self) -> Option<Log> {
        self.controller.take_log()
    }

    fn interval(&self) -> Option<&Interval> {
        self.controller.interval()
    }

    fn on_decision(&mut self, now: Time, decided: Permit) {
        self.controller.on_decision(now, decided);
    }

    fn stats(&self) -> SenderStats {
        let permit = self.controller.permit();
        SenderStats {
            window: permit.window,
            threshold: self.controller.threshold(),
            srtt: self.repair.rto.srtt(),
            pace: permit.pace,
            ..self.counts.stats(self.offsets.done_to(), self.offsets.in_flight())
        }
    }

    fn next_departure(&self) -> Option<Time> {
        let any =
            self.turn.started && self.segments.is_none() && self.repair.recovery.nxt() < self.data.packets;
        any.then_some(self.limiter.next_tx)
    }

    #[inline]
    fn predict_idle(&self, spec: &RdmaSpec, at: Time) -> Option<Transmit> {
        if !self.turn.started || self.segments.is_some() || self.is_done() {
            return None;
        }
        let permit = self.controller.permit();
        let more = self.repair.recovery.nxt() < self.data.packets;
        if permit.pace == Some(Rate::ZERO)
            || !self.repair.recovery.can_send(more, self.cap(spec, permit.window))
        {
            return Some(Transmit::Idle);
        }
        let from = self.allowed_from();
        (at < from).then_some(Transmit::At(from))
    }

    fn remaining(&self) -> u64 {
        if self.data.size == u64::MAX {
            u64::MAX
        } else {
            self.data.size.saturating_sub(self.offsets.next_to)
        }
    }

    fn take_rescheduled(&mut self) -> Option<Time> {
        std::mem::take(&mut self.limiter.moved).then_some(self.limiter.next_tx)
    }
}
