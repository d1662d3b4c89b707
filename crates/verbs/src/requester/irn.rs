//! IRN's requester (§4.4): request packets under IRN's loss recovery and BDP-FC; responses placed as they come and
//! acknowledged by read (N)ACKs.

use super::packets;
use super::refusals::Refusals;
use super::{Context, Ignored, Verdict};
use crate::memory::Memory;
use crate::queues::Status;
use crate::setup::Setup;
use crate::timer::Rto;
use crate::wire::{Aeth, Opcode, Packet, Refusal, Serial, Syndrome};
use std::collections::VecDeque;
use thalweg_machines::transport::rdma::Psn;
use thalweg_machines::transport::rdma::irn::{IrnReceiver, IrnSender, ReplyKind};
use thalweg_units::Time;

/// The requester's half of both spaces of numbers.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Request packets: sPSN.
    sender: IrnSender,
    timer: Rto,
    /// Responses to Reads and Atomics: rPSN.
    receiver: IrnReceiver,
    /// Read ACKs and NACKs to be sent: the next response expected, and what came out of order.
    answers: VecDeque<(Psn, Option<Psn>)>,
    /// The number after the highest request packet ever sent: after an error it is above the sender's next one.
    sent_end: Psn,
    refusals: Refusals,
}

impl Engine {
    pub fn new(setup: &Setup) -> Self {
        Self {
            sender: IrnSender::new(setup.options, setup.first_request),
            timer: Rto::default(),
            receiver: IrnReceiver::new(setup.first_response),
            answers: VecDeque::new(),
            sent_end: setup.first_request,
            refusals: Refusals::default(),
        }
    }

    pub fn una(&self) -> Psn {
        self.sender.state().una
    }

    pub fn on_packet(
        &mut self,
        context: &mut Context<'_>,
        memory: &mut Memory,
        packet: &Packet<'_>,
    ) -> Result<(), Ignored> {
        match (packet.opcode, packet.aeth) {
            (Opcode::Acknowledge, Some(aeth)) => self.on_ack(context, packet, aeth),
            (Opcode::ReadResponse(_) | Opcode::AtomicAcknowledge, _) => {
                self.on_response(context, memory, packet)
            }
            _ => Err(Ignored::Direction),
        }
    }

    fn on_ack(&mut self, context: &mut Context<'_>, packet: &Packet<'_>, aeth: Aeth) -> Result<(), Ignored> {
        let cum = packet.psn;
        let sack = packet.sack.unwrap_or(cum);
        let verdict = Verdict::of(aeth.syndrome);
        // What is acknowledged, refused or named must have been sent.
        let named = packet.sack.or(verdict.as_ref().map(|_| cum));
        if cum.minus(self.sent_end) > 0 || named.is_some_and(|psn| psn.minus(self.sent_end) >= 0) {
            return Err(Ignored::Number);
        }
        if !context.queue.on_msn(aeth.msn, super::credits(aeth)) {
            return Err(Ignored::Number);
        }
        let acked = self.sender.on_ack(cum, sack, packet.sack.is_some());
        if acked.advanced > 0 {
            self.refusals.forget();
            self.timer.on_advance(context.setup, context.now, self.sender.in_flight());
        }
        if let Some(verdict) = verdict.filter(|_| cum == self.una())
            && self.refusals.heed(context, cum, verdict)
        {
            // Never because of what came out of order.
            self.sender.restart(cum);
            self.timer.stop();
        }
        context.queue.release(self.una());
        Ok(())
    }

    fn on_response(
        &mut self,
        context: &mut Context<'_>,
        memory: &mut Memory,
        packet: &Packet<'_>,
    ) -> Result<(), Ignored> {
        let ahead = packet.psn.minus(self.receiver.expected());
        if ahead >= context.setup.cap.next_multiple_of(64) as i32 {
            return Err(Ignored::Number);
        }
        if let Some(aeth) = packet.aeth {
            context.on_credits(aeth)?;
        }
        if ahead >= 0 && !self.receiver.holds(packet.psn) {
            let entry = context.queue.find_response(packet.psn).ok_or(Ignored::Number)?;
            if entry.first.minus(self.sent_end) >= 0 {
                return Err(Ignored::Number); // an answer to what was never requested
            }
            let number = entry.number;
            match packets::place(context.setup, entry, packet, memory) {
                Some(Ok(())) => {}
                Some(Err(_)) => {
                    context.queue.fail(number, Status::LocalAccess);
                    return Ok(());
                }
                None => return Err(Ignored::Mismatch),
            }
        }
        let most = &mut context.counters.most_ahead;
        *most = (*most).max(ahead.max(0) as u32);
        let reply = self.receiver.on_data(packet.psn);
        context.queue.on_responses(reply.cum);
        let sack = (reply.kind == ReplyKind::Nack).then_some(reply.sack);
        context.counters.nacks += u64::from(sack.is_some());
        self.answers.push_back((reply.cum, sack));
        Ok(())
    }

    pub fn poll_transmit(&mut self, context: &mut Context<'_>, memory: &Memory, out: &mut Vec<u8>) -> bool {
        if let Some((expected, sack)) = self.answers.pop_front() {
            let mut packet = Packet::new(Opcode::ReadAcknowledge, context.setup.responder_qp, expected);
            packet.sack = sack;
            let syndrome = sack.map_or(Syndrome::Ack(None), |_| Syndrome::Nak(Refusal::Sequence));
            // The requester of this direction counts no messages.
            packet.aeth = Some(Aeth { syndrome, msn: Serial::new(0) });
            packet.put(context.setup.dialect, out);
            return true;
        }
        if context.queue.has_failed() || self.refusals.hold(context.now) {
            return false;
        }
        loop {
            let more = context.queue.may_send(self.sender.state().nxt);
            if !self.sender.can_send(more, context.setup.cap) {
                return false;
            }
            // An opportunity may go by with the search for a hole; then the next one is taken at once.
            if let Some((psn, again)) = self.sender.tx_free(more, context.setup.cap) {
                return self.transmit(context, memory, out, psn, again);
            }
        }
    }

    fn transmit(
        &mut self,
        context: &mut Context<'_>,
        memory: &Memory,
        out: &mut Vec<u8>,
        psn: Psn,
        again: bool,
    ) -> bool {
        let Some(entry) = context.queue.find(psn) else {
            debug_assert!(false, "a packet of no request");
            return false;
        };
        let number = entry.number;
        if packets::encode(context.setup, entry, psn, memory, out).is_err() {
            context.queue.fail(number, Status::LocalAccess);
            return false;
        }
        if again && psn == self.una() {
            self.timer.restart(context.setup, context.now);
        }
        self.timer.start(context.setup, context.now);
        self.refusals.on_sent(psn);
        let counters = &mut context.counters;
        counters.sent += 1;
        counters.retransmitted += u64::from(psn.minus(self.sent_end) < 0);
        counters.most_in_flight = counters.most_in_flight.max(self.sender.in_flight());
        if psn.plus(1).minus(self.sent_end) > 0 {
            self.sent_end = psn.plus(1);
        }
        true
    }

    pub fn timer(&self, setup: &Setup) -> Option<Time> {
        self.refusals.resume().or(self.timer.deadline(setup))
    }

    pub fn on_timer(&mut self, context: &mut Context<'_>) {
        self.refusals.hold(context.now);
        if context.queue.has_failed() {
            self.timer.stop();
        } else if self.timer.expire(context.setup, context.now, self.sender.in_flight()) {
            self.sender.on_timeout();
            context.counters.timeouts += 1;
        }
    }
}
