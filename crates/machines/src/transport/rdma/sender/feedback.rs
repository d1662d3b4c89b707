//! What the sender makes of an acknowledgement.

use super::super::super::{Notification, RdmaSpec, TimerRestart};
use super::super::layout::Layout;
use super::RdmaSender;
use crate::congestion::{AckSample, CongestionControl, Feedback};
use crate::packet::{Flags, Packet, Side};
use crate::transport::Endpoint;
use thalweg_units::{Bytes, Serializer, Span, Time};

impl RdmaSender {
    /// An ACK or a NACK: the round trip that it measured.
    pub(super) fn on_ack(
        &mut self,
        spec: &RdmaSpec,
        now: Time,
        packet: &Packet,
        side: Option<&Side>,
    ) -> Option<Span> {
        let layout = Layout::new(spec, self.size);
        let (cum, named) = (layout.index(packet.seq), layout.index(packet.echo));
        if !self.started || cum > self.recovery.high() || named >= self.recovery.high() {
            return None; // nothing that was never sent can be acknowledged
        }
        let nack = packet.flags.has(Flags::NACK);
        let marked = spec.notification == Notification::Echo && packet.flags.has(Flags::ECE);
        let in_recovery = self.recovery.in_recovery() && !self.by_timer;
        let loss = self.loss(now); // as it is when a loss is found

        let heard = self.recovery.on_ack(cum, named, nack);
        let (mut acked, sacked) = (0, heard.sacked * u64::from(layout.len(named)));
        if heard.advanced > 0 {
            let to = layout.offset(self.recovery.una());
            acked = to - self.acked_to;
            self.acked_to = to;
            self.next_to = self.next_to.max(to);
            // The flow's last packet, alone not full, is absorbed only with all others.
            let absorbed = match self.recovery.sacked() - heard.sacked {
                0 => self.sacked,
                _ => heard.absorbed * u64::from(spec.payload),
            };
            acked -= absorbed;
            self.sacked -= absorbed;
        }
        self.sacked += sacked;
        if heard.lost {
            self.found_lost(spec, now);
            self.by_timer &= self.recovery.in_recovery() && !self.recovery.goes_back();
        }

        let rtt = self.round_trip(spec, now, packet, cum, named);
        if marked {
            self.controller.on_notification(now);
        }
        if acked + sacked > 0 || rtt.is_some() {
            let delivery = self.log.as_mut().and_then(|log| {
                log.on_arrived(now, 0, self.recovery.una());
                if heard.sacked > 0 {
                    log.on_arrived(now, named, named + 1);
                }
                log.sample()
            });
            let feedback = match side {
                Some(Side::Int(stack)) => Feedback::Int(stack.as_slice()),
                Some(Side::Explicit(header)) => Feedback::Explicit(header.what),
                _ if marked => Feedback::Mark,
                _ => Feedback::None,
            };
            self.controller.on_ack(&AckSample {
                delivery,
                feedback,
                now,
                rtt,
                acked: Bytes::new(acked),
                sacked: Bytes::new(sacked),
                in_flight: Bytes::new(self.in_flight()),
                acked_to: self.origin + self.acked_to,
                sent_to: self.origin + self.sent_to,
                marked: Bytes::new(if marked { acked + sacked } else { 0 }),
                braked: Bytes::ZERO,
                in_recovery,
                app_limited: match &self.segments {
                    // While the tail is repaired there is something to send: what was lost.
                    None => self.recovery.nxt() >= self.packets && !self.recovery.in_recovery(),
                    Some(segments) => segments.app_limited(),
                },
            });
        }
        self.move_departure();
        if heard.lost && self.recovery.goes_back() {
            self.controller.on_loss(&loss); // IRN's recovery begins when the retransmission leaves
        }

        if self.is_done() && heard.advanced > 0 {
            self.finished = now;
        }
        if heard.advanced > 0 {
            self.forget_tails();
        }
        // CHOICE IRN §4.2: the paper says when the timer fires, not when it starts: whenever una moves, as TCP's, or with
        // every answer. The statistics of the authors' trace (§4.5.2) are those of the latter: see papers/irn/traces.py.
        if self.recovery.in_flight() == 0 {
            self.timer.stop();
        } else if heard.advanced > 0 || spec.timer_restart == TimerRestart::Answer {
            self.timer.start(&spec.timer, now, &self.rto);
        }
        rtt
    }

    /// The round trip that the controller is to be told, if this is an ACK that measures one.
    // CHOICE IRN §4.3.1 (TIMELY): none from a NACK, whose packet met a path with losses, and none from what was sent again,
    // unless `rtt` says so.
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
            self.rto.sample(path);
        }
        let told = (!nack || spec.rtt.nacks) && (!again || spec.rtt.resent);
        let net = match &mut self.segments {
            Some(segments) => segments.complete(spec, cum, named, now, self.line_rate),
            None => {
                let layout = Layout::new(spec, self.size);
                let wire = if spec.rtt.less_serialization {
                    Serializer::new(self.line_rate, self.quantum).span(layout.wire(named, named + 1))
                } else {
                    Span::ZERO
                };
                (told && layout.ends_group(named)).then(|| path.saturating_sub(wire))
            }
        }?;
        let noise = spec.rtt.noise.ps();
        let noise = if noise == 0 { 0 } else { self.stream.below(noise.saturating_add(1)) };
        let rtt = net + Span::from_ps(noise);
        self.rtt_sum = Span::from_ps(self.rtt_sum.ps().saturating_add(rtt.ps()));
        self.rtt_samples = self.rtt_samples.saturating_add(1);
        self.last_rtt = rtt;
        Some(rtt)
    }
}
