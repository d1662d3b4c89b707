//! RoCE's requester: go-back-N (InfiniBand §9; IRN §4.1.1). Requests and the answers to Reads and Atomics
//! share one space of numbers: a Read request takes as many as its answer has packets, and requests again
//! what is missing.
//!
//! As in the simulator's RoCE there is no window and no BDP-FC, and one fixed timeout.
//! CHOICE: the number in an ACK is the next one expected, as in IRN; InfiniBand's is the last one received.

use super::packets;
use super::refusals::Refusals;
use super::{Context, Ignored, Verdict};
use crate::memory::Memory;
use crate::queues::Status;
use crate::setup::Setup;
use crate::timer::Rto;
use crate::wire::{Aeth, Opcode, Packet, Refusal, Syndrome};
use thalweg_machines::transport::rdma::Psn;
use thalweg_units::Time;

/// Go-back-N over one space of numbers.
#[derive(Clone, Debug)]
pub struct Engine {
    /// The next packet to send.
    nxt: Psn,
    /// The lowest one not acknowledged or answered.
    una: Psn,
    /// The number after the highest one ever sent.
    sent_end: Psn,
    /// Started again from `una` already because something was missing there: once per gap.
    went_back: bool,
    timer: Rto,
    refusals: Refusals,
}

impl Engine {
    pub fn new(setup: &Setup) -> Self {
        let first = setup.first_request;
        Self {
            nxt: first,
            una: first,
            sent_end: first,
            went_back: false,
            timer: Rto::default(),
            refusals: Refusals::default(),
        }
    }

    pub fn una(&self) -> Psn {
        self.una
    }

    fn in_flight(&self) -> u32 {
        self.sent_end.minus(self.una).max(0) as u32
    }

    /// Everything before `una` is over.
    fn advance(&mut self, context: &mut Context<'_>, una: Psn) {
        if una.minus(self.una) <= 0 {
            return;
        }
        self.una = una;
        if self.nxt.minus(una) < 0 {
            self.nxt = una;
        }
        self.went_back = false;
        self.refusals.forget();
        context.queue.on_acknowledged(una);
        context.queue.on_responses(una);
        self.timer.on_advance(context.setup, context.now, self.in_flight());
    }

    /// The responder has got every packet before `cum`. Reads and Atomics are over only when answered: what
    /// is missing of an answer then is lost.
    fn acknowledge(&mut self, context: &mut Context<'_>, cum: Psn) {
        while cum.minus(self.una) > 0 {
            let Some(entry) = context.queue.find(self.una) else { return };
            if entry.request.operation.has_response() {
                return self.go_back();
            }
            let end = entry.first.plus(entry.packets);
            self.advance(context, if end.minus(cum) > 0 { cum } else { end });
        }
    }

    fn go_back(&mut self) {
        if !self.went_back {
            self.nxt = self.una;
            self.went_back = true;
        }
    }

    pub fn on_packet(
        &mut self,
        context: &mut Context<'_>,
        memory: &mut Memory,
        packet: &Packet<'_>,
    ) -> Result<(), Ignored> {
        if packet.psn.minus(self.sent_end) > 0 {
            return Err(Ignored::Number);
        }
        match (packet.opcode, packet.aeth) {
            (Opcode::Acknowledge, Some(aeth)) => self.on_ack(context, packet.psn, aeth)?,
            (Opcode::ReadResponse(_) | Opcode::AtomicAcknowledge, _) => {
                self.on_response(context, memory, packet)?
            }
            _ => return Err(Ignored::Direction),
        }
        context.queue.release(self.una);
        Ok(())
    }

    fn on_ack(&mut self, context: &mut Context<'_>, cum: Psn, aeth: Aeth) -> Result<(), Ignored> {
        if !matches!(aeth.syndrome, Syndrome::Ack(_)) && cum.minus(self.sent_end) >= 0 {
            return Err(Ignored::Number); // a NAK of what was never sent
        }
        context.on_credits(aeth)?;
        self.acknowledge(context, cum);
        if cum != self.una {
            return Ok(());
        }
        if aeth.syndrome == Syndrome::Nak(Refusal::Sequence) {
            // The responder reports a gap once, so a second NAK is a copy.
            self.go_back();
        } else if let Some(verdict) = Verdict::of(aeth.syndrome)
            && self.refusals.heed(context, cum, verdict)
        {
            self.nxt = self.una;
            self.timer.stop();
        }
        Ok(())
    }

    fn on_response(
        &mut self,
        context: &mut Context<'_>,
        memory: &mut Memory,
        packet: &Packet<'_>,
    ) -> Result<(), Ignored> {
        if packet.psn.minus(self.sent_end) >= 0 {
            return Err(Ignored::Number);
        }
        if let Some(aeth) = packet.aeth {
            context.on_credits(aeth)?;
        }
        self.acknowledge(context, packet.psn);
        if packet.psn != self.una {
            return Ok(()); // a repetition, or the one before it is lost
        }
        let entry = context.queue.find_response(packet.psn).ok_or(Ignored::Number)?;
        let number = entry.number;
        match packets::place(context.setup, entry, packet, memory) {
            Some(Ok(())) => self.advance(context, packet.psn.plus(1)),
            Some(Err(_)) => context.queue.fail(number, Status::LocalAccess),
            None => return Err(Ignored::Mismatch),
        }
        Ok(())
    }

    pub fn poll_transmit(&mut self, context: &mut Context<'_>, memory: &Memory, out: &mut Vec<u8>) -> bool {
        if self.refusals.hold(context.now) || !context.queue.may_send(self.nxt) {
            return false;
        }
        let Some(entry) = context.queue.find(self.nxt) else { return false };
        let number = entry.number;
        // A Read requests the rest of the answer.
        let reads = entry.request.operation.has_response();
        let next = if reads { entry.first.plus(entry.packets) } else { self.nxt.plus(1) };
        if packets::encode(context.setup, entry, self.nxt, memory, out).is_err() {
            context.queue.fail(number, Status::LocalAccess);
            return false;
        }
        self.refusals.on_sent(self.nxt);
        context.counters.sent += 1;
        context.counters.retransmitted += u64::from(self.nxt.minus(self.sent_end) < 0);
        self.nxt = next;
        if next.minus(self.sent_end) > 0 {
            self.sent_end = next;
        }
        context.counters.most_in_flight = context.counters.most_in_flight.max(self.in_flight());
        self.timer.start(context.setup, context.now);
        true
    }

    pub fn timer(&self, setup: &Setup) -> Option<Time> {
        self.refusals.resume().or(self.timer.deadline(setup))
    }

    pub fn on_timer(&mut self, context: &mut Context<'_>) {
        self.refusals.hold(context.now);
        if context.queue.has_failed() {
            self.timer.stop();
        } else if self.timer.expire(context.setup, context.now, self.in_flight()) {
            self.nxt = self.una;
            context.counters.timeouts += 1;
        }
    }
}
