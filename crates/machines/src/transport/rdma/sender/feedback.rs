//! How the sender processes acknowledgements and messages.

use super::super::super::{Notification, RdmaSpec};
use super::super::layout::Layout;
use super::super::recovery::AckOutcome;
use super::RdmaSender;
use crate::congestion::{AckSample, CongestionControl, Feedback};
use crate::transport::Endpoint;
use thalweg_units::{Bytes, Span, Time};
use thalweg_wire::{Flags, Message, Packet, Side};

/// What an ACK has brought, for the controller.
#[derive(Clone, Copy)]
struct News {
    rtt: Option<Span>,
    /// Payload bytes acknowledged for the first time.
    acked: u64,
    sacked: u64,
    /// The packet that is acknowledged selectively, if it was not before.
    selective: Option<u64>,
    marked: bool,
    /// Recovery had begun before the ACK.
    in_recovery: bool,
    cwnd_limited: bool,
}

impl RdmaSender {
    /// An ACK or a NACK has come. Returns the round trip that it measured.
    pub(super) fn on_ack(
        &mut self,
        spec: &RdmaSpec,
        now: Time,
        packet: &Packet,
        side: Option<&Side>,
    ) -> Option<Span> {
        let layout = Layout::new(spec, self.data.size);
        let (cum, named) = (layout.index(packet.seq), layout.index(packet.trigger));
        if !self.turn.started || cum > self.repair.recovery.high() || named >= self.repair.recovery.high() {
            return None; // nothing that was never sent can be acknowledged
        }
        let nack = packet.flags.has(Flags::NACK);
        let marked = spec.notification == Notification::Echo && packet.flags.has(Flags::ECE);
        self.path_acked(spec, packet.route, marked);
        let in_recovery = self.repair.recovery.in_recovery() && !self.repair.timer.fired;
        let loss = self.offsets.loss(now); // as it is when a loss is found
        let cwnd_limited = self.is_used_up(spec);
        self.check_app_limited(cwnd_limited);

        let outcome = self.repair.recovery.on_ack(cum, named, nack);
        let (acked, sacked) = self.count_delivered(spec, &layout, named, &outcome);
        if outcome.lost {
            self.found_lost(spec, now);
            self.repair.timer.fired &=
                self.repair.recovery.in_recovery() && !self.repair.recovery.goes_back();
        }

        let rtt = self.round_trip(spec, now, packet, cum, named);
        if marked {
            self.controller.on_notification(now);
        }
        if acked + sacked > 0 || rtt.is_some() {
            let selective = (outcome.sacked > 0).then_some(named);
            let news = News { rtt, acked, sacked, selective, marked, in_recovery, cwnd_limited };
            self.report_ack(now, side, news);
        }
        self.limiter.replan(|| self.controller.permit().pace);
        if outcome.lost && self.repair.recovery.goes_back() {
            self.controller.on_loss(&loss); // IRN's recovery begins when the retransmission leaves
        }

        if self.is_done() && outcome.advanced > 0 {
            self.turn.done = Some(now);
        }
        if outcome.advanced > 0 {
            self.data.forget(self.repair.recovery.una());
        }
        self.repair.restart_timer(spec, now, outcome.advanced > 0);
        rtt
    }

    /// Payload bytes that this ACK acknowledges for the first time: cumulatively, and selectively.
    #[inline(always)]
    fn count_delivered(
        &mut self,
        spec: &RdmaSpec,
        layout: &Layout,
        named: u64,
        outcome: &AckOutcome,
    ) -> (u64, u64) {
        let (mut acked, sacked) = (0, outcome.sacked * u64::from(layout.len(named)));
        if outcome.advanced > 0 {
            let to = layout.offset(self.repair.recovery.una());
            acked = self.offsets.advance(to);
            // What was SACKed before has been counted. The flow's last packet, the only one that may not be full, is
            // absorbed only together with all others.
            let absorbed = match self.repair.recovery.sacked() - outcome.sacked {
                0 => self.offsets.sacked,
                _ => outcome.absorbed * u64::from(spec.payload),
            };
            acked -= absorbed;
            self.offsets.sacked -= absorbed;
        }
        self.offsets.sacked += sacked;
        (acked, sacked)
    }

    /// Passes what an ACK has brought to the controller.
    #[inline(always)]
    fn report_ack(&mut self, now: Time, side: Option<&Side>, news: News) {
        let News { rtt, acked, sacked, selective, marked, in_recovery, cwnd_limited } = news;
        let delivery = self.kept.as_mut().and_then(|kept| kept.log.as_mut()).and_then(|log| {
            log.on_arrived(now, 0, self.repair.recovery.una());
            if let Some(named) = selective {
                log.on_arrived(now, named, named + 1);
            }
            log.sample()
        });
        let feedback = match side {
            Some(Side::Int(stack)) => Feedback::Int(stack),
            Some(Side::Explicit(header)) => Feedback::Explicit(header.what),
            _ if marked => Feedback::Mark,
            _ => Feedback::None,
        };
        let (acked_to, sent_to) = self.offsets.in_all();
        self.controller.on_ack(&AckSample {
            delivery,
            feedback,
            now,
            rtt,
            acked: Bytes::new(acked),
            sacked: Bytes::new(sacked),
            in_flight: Bytes::new(self.offsets.in_flight()),
            acked_to,
            sent_to,
            marked: Bytes::new(if marked { acked + sacked } else { 0 }),
            braked: Bytes::ZERO,
            in_recovery,
            app_limited: match &self.segments {
                // While the tail is repaired there is something to send: what was lost.
                None => {
                    self.repair.recovery.nxt() >= self.data.packets && !self.repair.recovery.in_recovery()
                }
                Some(segments) => segments.app_limited(),
            },
            cwnd_limited,
        });
    }

    /// A message is for this sender: a CNP, or a notice if its controller takes any.
    #[inline]
    pub(super) fn takes(&self, message: &Message) -> bool {
        match message {
            Message::Cnp => true,
            Message::Notice(_) => self.limiter.notices,
            _ => false,
        }
    }

    /// Such a message has come.
    pub(super) fn on_message(&mut self, now: Time, message: &Message) {
        if !self.turn.started {
            return;
        }
        if self.is_done() {
            self.catch_up(now);
        }
        if let Message::Notice(notice) = message {
            let before = self.controller.permit().pace;
            self.controller.on_notice(now, notice);
            self.limiter.rescale(now, before, self.controller.permit().pace);
        } else {
            self.controller.on_notification(now);
        }
    }

    /// The permit, not the application, limits the flow: there is more to send, or the window has no room for it.
    // (Looked at as ACKs come, not as packets leave: a NIC need not poll a sender that is known to wait.)
    #[inline]
    pub(super) fn is_used_up(&self, spec: &RdmaSpec) -> bool {
        let recovery = &self.repair.recovery;
        recovery.nxt() < self.data.packets
            || recovery.in_flight() >= u64::from(self.cap(spec, self.controller.permit().window))
    }

    /// CheckIfApplicationLimited (draft-ietf-ccwg-bbr §4.1.2.4): before an answer is taken in, before a
    /// message is appended, when the timer expires.
    #[inline]
    pub(super) fn check_app_limited(&mut self, used_up: bool) {
        if self.kept.is_some() && !used_up && !self.repair.recovery.in_recovery() {
            let in_flight = self.offsets.in_flight();
            if let Some(log) = self.log() {
                log.limited(in_flight);
            }
        }
    }

    /// The round trip for the controller, if this is an ACK that measures one.
    // CHOICE IRN §4.3.1 (TIMELY): none from a NACK, whose packet met a path with losses, and none from what
    // was sent again, unless `rtt` says so.
    fn round_trip(
        &mut self,
        spec: &RdmaSpec,
        now: Time,
        packet: &Packet,
        cum: u64,
        named: u64,
    ) -> Option<Span> {
        let (nack, again) = (packet.flags.has(Flags::NACK), packet.flags.has(Flags::RETRANSMISSION));
        let path = now.since(packet.stamp);
        if !nack && !again {
            self.repair.rto.sample(path);
        }
        let reported = (!nack || spec.rtt.nacks) && (!again || spec.rtt.resent);
        let net = match &mut self.segments {
            Some(segments) => segments.complete(spec, cum, named, now, self.limiter.line_rate()),
            None => {
                let layout = Layout::new(spec, self.data.size);
                let wire = if spec.rtt.less_serialization {
                    self.limiter.serialization(layout.wire(named, named + 1))
                } else {
                    Span::ZERO
                };
                (reported && layout.ends_group(named)).then(|| path.saturating_sub(wire))
            }
        }?;
        let noise = spec.rtt.noise.ps();
        let noise = if noise == 0 { 0 } else { self.stream.below(noise.saturating_add(1)) };
        let rtt = net + Span::from_ps(noise);
        // Of a flow the whole round trip of the packet is reported, as of every transport; what its controller is given
        // may be without time on the wire, with noise, or that of a segment.
        self.counts.round_trip(path);
        Some(rtt)
    }
}
