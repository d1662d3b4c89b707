//! TCP's sender: RFC 5681 (duplicate ACKs, timer), 6582 (partial ACKs without SACK), 6675 (SACK), 8985 (RACK-TLP), 3042
//! (limited transmit), 6298 (timer), 3168 and 8257 (ECN); pFabric §4.2 (timer-only repair, probes).
//!
//! Every segment but a flow's last is full, so segments begin at multiples of the MSS. The window is the controller's.
//! The sender's state is in parts: the connection and its sequence space (`state`), loss recovery (`episode`), the
//! timer (`timer`), pacing and ECN (`departures`). `emit` chooses and writes the next segment, `acks` processes ACKs,
//! `predicted` is the fast path for those that were expected, `repair` finds and repairs losses, by time in `times`;
//! `limits` says what limits the flow, and `check` checks parameters.

mod acks;
mod check;
mod departures;
mod emit;
mod episode;
mod extras;
mod limits;
mod pacing;
mod predicted;
mod repair;
mod state;
mod timer;
mod times;

use super::super::delivery::SendLog;
use super::super::{
    Drained, Endpoint, Expiry, LossDetection, Reception, Sack, SenderStats, SendingEnd, SynLoss, TcpSpec,
    Transmit,
};
use super::Scoreboard;
use super::rack::Rack;
use crate::congestion::decisions::Log;
use crate::congestion::{
    CongestionControl, Controller, Feedback, FeedbackKind, Interval, Permit, Report, Start,
};
use crate::plugin::{self, Failed};
use crate::problems::Invalid;
use departures::Departures;
use episode::Repair;
use extras::Extras;
use serde::{Deserialize, Serialize};
use state::{Connection, Counts, Probing, Space, State};
use thalweg_units::{Bytes, FlowId, Rate, Time};
use thalweg_wire::{Flags, Kind, Packet, Side};
use timer::Timer;

/// Bound of an unlimited window: 32-bit sequence numbers cannot tell more bytes apart (RFC 9293 §3.4), and without it a
/// flow would send all of its data at one instant.
const LARGEST_WINDOW: u64 = 1 << 32;

/// TCP's sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TcpSender {
    flow: FlowId,
    class: u8,
    state: State,
    space: Space,
    repair: Repair,
    timer: Timer,
    departures: Departures,
    counts: Counts,
    /// State that only few flows need: an application that writes at its own pace, a second loop over the same buffer.
    extras: Option<Box<Extras>>,
    /// For controllers that need delivery rates.
    log: Option<Box<SendLog>>,
    controller: Controller,
}

impl TcpSender {
    /// A sender that has not started.
    ///
    /// # Errors
    /// If a parameter is out of range; the message names it.
    pub fn new(spec: &TcpSpec, flow: FlowId, size: u64, start: &Start) -> Result<Self, Invalid> {
        check::check(spec, size, start)?;
        let needs = spec.controller.needs();
        let by_time = matches!(spec.loss, LossDetection::Rack { .. });
        Ok(Self {
            flow,
            class: start.class,
            state: State::CLOSED,
            space: Space { una: 0, sent_to: 0, size },
            repair: Repair::new(by_time.then(|| Box::new(Scoreboard::by_time(spec.mss)))),
            timer: Timer::new(),
            departures: Departures::new(start.time_quantum, &needs, start.records),
            counts: Counts::default(),
            extras: Extras::new(spec, start),
            log: needs.delivery.then(Box::default),
            controller: spec.controller.make(start)?,
        })
    }

    /// The controller, for tests and tools.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// RFC 6675's pipe, or its equivalent without SACK.
    #[inline]
    fn in_flight(&self) -> u64 {
        self.repair.board.as_ref().map_or(self.space.outstanding(), |b| b.pipe)
    }

    /// The controller's pace, or one from its window.
    fn own_pace(&self, spec: &TcpSpec, permit: &Permit) -> Option<Rate> {
        let threshold = self.controller.threshold();
        permit.pace.or_else(|| pacing::pace(spec, permit.window, threshold, self.timer.rto.srtt()))
    }

    // ---- The SYN-ACK ------------------------------------------------------------------------------

    #[cold]
    fn on_syn_ack(&mut self, spec: &TcpSpec, now: Time, packet: &Packet, written: Feedback<'_>) -> Reception {
        if !matches!(self.state.connection, Connection::SynSent | Connection::SynDue { .. }) {
            return Reception::Taken;
        }
        self.state.connection = Connection::Open;
        let resent = std::mem::take(&mut self.repair.timeouts_in_row);
        self.timer.stop();
        self.departures.next = now;
        let rtt = now.since(packet.stamp);
        self.counts.round_trip(rtt);
        // RFC 6298 §3: only time stamps show which of two SYNs is answered.
        let sample = spec.timestamps || resent == 0;
        if sample {
            self.timer.rto.sample(rtt);
            self.repair.measures();
        }
        let opening = self.take_opening();
        if resent > 0 {
            // With time stamps the answer to the first SYN shows that nothing was lost.
            let lost = !spec.timestamps || packet.flags.has(Flags::RETRANSMISSION);
            self.reopen(spec, now, if lost { resent } else { 0 }, sample, opening);
        }
        self.controller.on_open(now, sample.then_some(rtt), written);
        Reception::RoundTrip(rtt)
    }

    /// The timer expired on the SYN, `lost` times because it or its answer was lost. RFC 5681 §3.1: the initial window
    /// is one segment. RFC 6298 (5.7): the timeout is 3 s again if it was less.
    // CHOICE RFC 5681 §3.1: the controller is made anew with an initial window of one segment, and one segment is out
    // until the first ACK, so that controllers begin so, too, which have a first window or pace of their own. Other
    // reading (Linux, tcp_init_metrics; `syn_loss = "linux"`): the first lost SYN is forgiven.
    // CHOICE RFC 6928 §2: its advice to forgive that one is Linux's; nor does a loss in an initial window make the
    // windows after pauses (RFC 5681 §4.1) smaller. Other reading: they are those of RFC 3390 then.
    fn reopen(&mut self, spec: &TcpSpec, now: Time, lost: u16, sampled: bool, opening: Option<Box<Start>>) {
        let forgiven = match spec.options.syn_loss {
            SynLoss::Rfc => 0,
            SynLoss::Linux => 1,
            SynLoss::Ignored => return,
        };
        // CHOICE RFC 6298 §5.7: the RTO that is less than 3 s, or not, is the one to which the SYN has backed off.
        // Other reading (Linux): 3 s after any number of lost SYNs, and none if the SYN-ACK gives a sample, as with
        // time stamps it may.
        let linux = spec.options.syn_loss == SynLoss::Linux;
        if !(linux && sampled) {
            self.timer.rto.reopen(&spec.rto, linux);
        }
        let Some(start) = opening.filter(|_| lost > forgiven) else { return };
        let one = Start { initial_window: Bytes::new(u64::from(spec.mss)), ..*start };
        // Only a user's factory can refuse: everything but the initial window was accepted when the flow began.
        match spec.controller.make(&one) {
            Ok(controller) => self.controller = controller,
            Err(refusal) => {
                let why = format!(
                    "after a lost SYN the initial window is one segment, which it refuses: {refusal}"
                );
                let refusal = Invalid::new(why).of(spec.controller.key()).at("initial_window");
                plugin::fail(Failed { at: Some(now), what: Box::new(refusal) });
            }
        }
        self.state.connection = Connection::Reopened;
    }

    // ---- Segments -------------------------------------------------------------------------------

    /// The next packet under `permit`.
    #[inline(always)]
    fn poll(
        &mut self,
        spec: &TcpSpec,
        now: Time,
        permit: &Permit,
        (packet, side): (&mut Packet, &mut Side),
    ) -> Transmit {
        let mut window = permit.window.get().min(LARGEST_WINDOW);
        if self.state.connection != Connection::Open {
            if self.state.connection != Connection::Reopened {
                return self.poll_syn(spec, now, packet, side);
            }
            window = window.min(u64::from(spec.mss));
        }
        if self.is_done() {
            return Transmit::Idle;
        }
        if self.state.probing != Probing::No {
            return self.poll_probe(spec, now, packet);
        }
        let Some(segment) = self.next_segment(spec, window) else {
            if limits::is_used_up(self, spec, window) {
                self.departures.limited_to = self.space.sent_to;
            }
            return Transmit::Idle;
        };
        let pace = if spec.options.pacing { self.own_pace(spec, permit) } else { permit.pace };
        if pace.is_some() {
            if pace == Some(Rate::ZERO) {
                return Transmit::Idle; // until the controller's next tick or ACK
            }
            if now < self.departures.next {
                return Transmit::At(self.departures.next);
            }
        }
        self.emit(spec, now, segment, pace, packet);
        match self.departures.feedback {
            FeedbackKind::None => return Transmit::Packet,
            FeedbackKind::Int => {
                side.new_int();
            }
            FeedbackKind::Explicit(kind) => {
                side.request_explicit(self.header(spec, kind), self.timer.rto.srtt(), permit.window);
            }
        }
        packet.side = 0;
        Transmit::Packet
    }
}

impl Endpoint for TcpSender {
    type Spec = TcpSpec;

    #[inline(always)]
    fn on_packet(&mut self, spec: &TcpSpec, now: Time, packet: &Packet, side: Option<&Side>) -> Reception {
        let written = || match side {
            Some(Side::Int(stack)) => Feedback::Int(stack),
            Some(Side::Explicit(header)) => Feedback::Explicit(header.what),
            _ => Feedback::None,
        };
        match packet.kind {
            Kind::Ack if side.is_none() && predicted::expects(self, packet) => {
                predicted::on_expected_ack(self, spec, now, packet)
            }
            Kind::Ack => {
                let blocks = side.filter(|_| spec.sack != Sack::Off).map_or(&[][..], Side::sack);
                self.on_ack(spec, now, packet, blocks, written())
            }
            Kind::SynAck => self.on_syn_ack(spec, now, packet, written()),
            Kind::Data | Kind::Syn | Kind::Control => Reception::Ignored,
        }
    }

    fn on_timer(&mut self, spec: &TcpSpec, now: Time) -> Expiry {
        if self.is_done() {
            return Expiry::Other;
        }
        if self.log.is_some() {
            limits::check_app_limited(self, spec);
        }
        if let Some((idle, unsent)) = self.write(spec, now) {
            limits::resume(self, spec, now, idle, unsent);
        }
        if self.repair.rack().is_some() {
            self.on_times(spec, now);
        }
        let expired = self.timer.deadline <= now && !limits::is_released(self);
        if expired {
            self.on_timeout(spec, now);
        }
        if self.controller.permit().wake.is_some_and(|wake| wake <= now) {
            self.controller.on_tick(now);
            if self.controller.interval().is_some_and(|interval| interval.due) {
                return Expiry::Decision;
            }
        }
        if expired { Expiry::Retransmission } else { Expiry::Other }
    }

    #[inline(always)]
    fn poll_transmit(&mut self, spec: &TcpSpec, now: Time, packet: &mut Packet, side: &mut Side) -> Transmit {
        let permit = self.controller.permit();
        self.poll(spec, now, &permit, (packet, side))
    }

    /// Reads the permit once: it cannot change while the sender drains, unless the controller is notified of what is
    /// sent.
    #[inline(always)]
    fn drain(
        &mut self,
        spec: &TcpSpec,
        now: Time,
        (packet, side): (&mut Packet, &mut Side),
        mut out: impl FnMut(&mut Packet, &mut Side),
    ) -> Drained {
        let mut permit = self.controller.permit();
        loop {
            match self.poll(spec, now, &permit, (packet, side)) {
                Transmit::Packet => out(packet, side),
                Transmit::Idle => return self.after_drain(Time::MAX),
                Transmit::At(at) => return self.after_drain(at),
            }
            if self.departures.calls.sent() {
                permit = self.controller.permit();
            }
        }
    }

    #[inline(always)]
    fn timer(&self) -> Option<Time> {
        if self.is_done() || self.state.connection == Connection::Closed {
            return None;
        }
        let tick = || self.controller.permit().wake.unwrap_or(Time::MAX);
        let wake = if self.departures.calls.ticks() { tick() } else { Time::MAX };
        let times = self.repair.rack().map_or(Time::MAX, Rack::timer);
        let next = self.timer.deadline.min(wake).min(self.next_write()).min(times);
        (next != Time::MAX).then_some(next)
    }

    #[inline]
    fn is_done(&self) -> bool {
        self.space.una >= self.space.size
    }
}

impl SendingEnd for TcpSender {
    fn start(&mut self, spec: &TcpSpec, now: Time) {
        if self.state.connection == Connection::Closed {
            self.state.connection =
                if spec.handshake { Connection::SynDue { again: false } } else { Connection::Open };
            self.departures.next = now;
            self.begin_writing(spec, now);
        }
    }

    fn remaining(&self) -> u64 {
        if self.space.size == u64::MAX {
            u64::MAX
        } else {
            self.space.size.saturating_sub(self.space.sent_to)
        }
    }

    fn stop(&mut self, _: &TcpSpec, _: Time) -> u64 {
        self.space.size = self.space.size.min(self.space.sent_to);
        self.space.size
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
            acked_bytes: self.space.una,
            window: permit.window,
            threshold: self.controller.threshold(),
            in_flight: Bytes::new(self.in_flight()),
            srtt: self.timer.rto.srtt(),
            pace: permit.pace,
            ..self.counts.stats()
        }
    }
}
