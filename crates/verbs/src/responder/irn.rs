//! IRN's responder (§4.4.2 to §4.4.4): what arrives out of order is placed at once; its effects wait, as
//! bits, for everything before it.

use super::accept::{self, INVALID};
use super::reads::{ReadBuffer, Slot};
use super::responses::Responses;
use super::{Context, Host};
use crate::arriving::Ignored;
use crate::bitmap2::{Bitmap2, Class};
use crate::memory::Memory;
use crate::setup::Setup;
use crate::wire::{Aeth, Opcode, Packet, Place, Refusal, Serial, Syndrome};
use std::collections::VecDeque;
use thalweg_machines::transport::rdma::Psn;
use thalweg_units::Time;

/// The responder's half of both spaces of numbers.
#[derive(Clone, Debug)]
pub struct Engine {
    /// The next request packet expected.
    e: Psn,
    arrived: Bitmap2,
    reads: ReadBuffer,
    responses: Responses,
    /// Acknowledgements to be sent.
    answers: VecDeque<Acknowledgement>,
}

/// An ACK or a NACK of requests.
#[derive(Clone, Copy, Debug)]
struct Acknowledgement {
    expected: Psn,
    aeth: Aeth,
    sack: Option<Psn>,
}

impl Engine {
    pub fn new(setup: &Setup) -> Self {
        Self {
            e: setup.first_request,
            arrived: Bitmap2::new(setup.cap),
            reads: ReadBuffer::new(setup.read_slots),
            responses: Responses::new(setup),
            answers: VecDeque::new(),
        }
    }

    pub fn expected(&self) -> Psn {
        self.e
    }

    pub fn reorder_bits(&self) -> u32 {
        2 * self.arrived.capacity()
    }

    pub fn is_idle(&self) -> bool {
        self.answers.is_empty() && self.responses.is_idle()
    }

    pub fn on_packet(
        &mut self,
        context: &mut Context<'_>,
        host: &mut Host,
        packet: &Packet<'_>,
    ) -> Result<(), Ignored> {
        if packet.opcode == Opcode::ReadAcknowledge {
            return self.responses.on_ack(context, packet.psn, packet.sack);
        }
        if !packet.opcode.is_request() {
            return Err(Ignored::Direction);
        }
        self.on_request(context, host, packet)
    }

    /// The steps of §4.4 for one request packet.
    fn on_request(
        &mut self,
        context: &mut Context<'_>,
        host: &mut Host,
        packet: &Packet<'_>,
    ) -> Result<(), Ignored> {
        // 1. What arrived before is never executed again.
        let distance = packet.psn.minus(self.e);
        let Ok(d) = u32::try_from(distance) else {
            self.answer(context, context.ledger.ack(), None);
            return Ok(());
        };
        if d >= self.arrived.capacity() {
            return Err(Ignored::Number);
        }
        context.counters.most_ahead = context.counters.most_ahead.max(d);
        // CHOICE IRN §4.4 (not stated): nor is a second copy of what waits. It is answered (every packet out of
        // order is).
        if self.arrived.get(d).is_none() {
            // 2. and 3.
            let class = match self.accept(context, host, packet) {
                Ok(class) => class,
                // Out of order, an error may only seem to be one: as if lost.
                Err(_) if d > 0 => return Ok(()),
                Err(error) => {
                    self.refuse(context, error);
                    return Ok(());
                }
            };
            // 4.
            self.arrived.set(d, class);
        }
        // 5.
        if d > 0 {
            context.counters.nacks += 1;
            self.answer(context, Syndrome::Nak(Refusal::Sequence), Some(packet.psn));
        } else if let Err(error) = self.advance(context, host) {
            self.refuse(context, error);
        } else {
            self.answer(context, context.ledger.ack(), None);
        }
        Ok(())
    }

    /// Checks the packet and places it; nothing has changed if it is refused.
    fn accept(
        &mut self,
        context: &mut Context<'_>,
        host: &mut Host,
        packet: &Packet<'_>,
    ) -> Result<Class, Syndrome> {
        let bytes = match packet.opcode {
            Opcode::Write(_) | Opcode::WriteImmediate(_) => self.accept_write(context, host, packet)?,
            Opcode::Send(_) | Opcode::SendImmediate(_) | Opcode::SendInvalidate(_) => {
                self.accept_send(context, host, packet)?
            }
            _ => self.keep_read(context, host, packet).map(|()| 0)?,
        };
        // A premature CQE, in host memory until its turn comes.
        if let (Some(cqe), Some(sn)) = (accept::completion(packet, bytes), packet.recv_wqe) {
            context.ledger.receives.keep(sn, cqe);
        }
        Ok(match (packet.opcode.is_last(), packet.opcode.is_completion()) {
            (_, true) => Class::Completion,
            (true, false) => Class::Last,
            (false, false) => Class::Part,
        })
    }

    /// Part of a Write: the message's bytes.
    fn accept_write(
        &self,
        context: &mut Context<'_>,
        host: &mut Host,
        packet: &Packet<'_>,
    ) -> Result<u32, Syndrome> {
        let (place, here) = (packet.opcode.place(), packet.payload.len());
        accept::check_length(place, here, context.setup.mtu)?;
        let reth = packet.reth.ok_or(INVALID)?;
        let whole = reth.length as usize;
        if (place == Place::Only) != (here == whole) || here > whole {
            return Err(INVALID);
        }
        if let Some(sn) = packet.recv_wqe {
            self.check_number(context, sn, packet)?;
            // Its own Receive WQE must be there; of the shared ones it takes one when its turn comes.
            if !context.setup.shared_receives {
                accept::receive(context, host, sn)?;
            }
        }
        accept::write(&mut host.memory, place, reth, packet.payload)?;
        Ok(reth.length)
    }

    /// Part of a Send: the message's bytes up to its end.
    fn accept_send(
        &self,
        context: &mut Context<'_>,
        host: &mut Host,
        packet: &Packet<'_>,
    ) -> Result<u32, Syndrome> {
        let place = packet.opcode.place();
        accept::check_length(place, packet.payload.len(), context.setup.mtu)?;
        let (Some(sn), Some(offset)) = (packet.recv_wqe, packet.offset) else { return Err(INVALID) };
        self.check_number(context, sn, packet)?;
        if place.begins() != (offset == 0) {
            return Err(INVALID);
        }
        let wqe = accept::receive(context, host, sn)?;
        let before = u64::from(offset) * u64::from(context.setup.mtu);
        accept::send(&mut host.memory, wqe, before, packet.payload)?;
        Ok(before as u32 + packet.payload.len() as u32)
    }

    /// A Receive WQE's number must be one that a packet of the window can have, and its CQE the only one.
    fn check_number(&self, context: &Context<'_>, sn: Serial, packet: &Packet<'_>) -> Result<(), Syndrome> {
        let receives = &context.ledger.receives;
        let near = receives.ahead(sn).is_some_and(|ahead| ahead < self.arrived.capacity() as usize);
        let double = packet.opcode.is_completion() && receives.keeps(sn);
        if near && !double { Ok(()) } else { Err(INVALID) }
    }

    /// A Read or an Atomic goes to its slot and is not executed.
    fn keep_read(
        &mut self,
        context: &mut Context<'_>,
        host: &Host,
        packet: &Packet<'_>,
    ) -> Result<(), Syndrome> {
        let wanted = accept::wanted(&host.memory, packet)?;
        let sn = packet.read_wqe.ok_or(INVALID)?;
        if !self.reads.keep(sn, Slot { psn: packet.psn, wanted }) {
            return Err(INVALID);
        }
        self.responses.complete(context, sn.plus(context.setup.read_slots.wrapping_neg()));
        Ok(())
    }

    /// Passes over everything that has arrived without a gap, in order: MSN by counting bits; a stop at each
    /// Receive WQE that expires and at each Read and Atomic, which are executed now.
    ///
    /// # Errors
    /// If one of them cannot be after all (its key was invalidated meanwhile; no shared Receive WQE is left for a Write
    /// with immediate data). It then counts as not arrived, and is the next expected.
    fn advance(&mut self, context: &mut Context<'_>, host: &mut Host) -> Result<(), Syndrome> {
        loop {
            let run = self.arrived.run();
            let completion = self.arrived.completion().unwrap_or(run);
            let ahead = self.reads.next().and_then(|(_, slot)| u32::try_from(slot.psn.minus(self.e)).ok());
            let read = ahead.unwrap_or(run);
            let stop = run.min(completion).min(read);
            self.pass(context, stop);
            if stop == run {
                return Ok(());
            }
            let over = match stop == completion {
                true => context.expire(host),
                false => self.execute(context, host),
            };
            if let Err(error) = over {
                match stop == completion {
                    true => context.ledger.receives.forget(),
                    false => self.reads.forget(),
                }
                self.arrived.unset(0);
                return Err(error);
            }
            self.pass(context, 1);
        }
    }

    fn pass(&mut self, context: &mut Context<'_>, n: u32) {
        let passed = self.arrived.advance(n);
        self.e = self.e.plus(n);
        context.ledger.msn = context.ledger.msn.plus(passed.messages);
    }

    fn execute(&mut self, context: &Context<'_>, host: &mut Host) -> Result<(), Syndrome> {
        let Some((sn, slot)) = self.reads.next() else { return Err(INVALID) };
        let answer = accept::execute(&mut host.memory, slot.wanted)?;
        self.responses.push(sn, answer, context.setup.mtu);
        self.reads.executed();
        Ok(())
    }

    fn refuse(&mut self, context: &mut Context<'_>, error: Syndrome) {
        context.counters.refusals += 1;
        self.answer(context, error, None);
    }

    fn answer(&mut self, context: &Context<'_>, syndrome: Syndrome, sack: Option<Psn>) {
        let aeth = Aeth { syndrome, msn: context.ledger.msn };
        self.answers.push_back(Acknowledgement { expected: self.e, aeth, sack });
    }

    pub fn poll_transmit(&mut self, context: &mut Context<'_>, memory: &Memory, out: &mut Vec<u8>) -> bool {
        let Some(Acknowledgement { expected, aeth, sack }) = self.answers.pop_front() else {
            return self.responses.poll_transmit(context, memory, out);
        };
        let mut packet = Packet::new(Opcode::Acknowledge, context.setup.requester_qp, expected);
        (packet.aeth, packet.sack) = (Some(aeth), sack);
        packet.put(context.setup.dialect, out);
        true
    }

    pub fn timer(&self, setup: &Setup) -> Option<Time> {
        self.responses.timer(setup)
    }

    pub fn on_timer(&mut self, context: &mut Context<'_>) {
        self.responses.on_timer(context);
    }
}
