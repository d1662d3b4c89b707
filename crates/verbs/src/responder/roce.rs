//! RoCE's responder: takes packets in order only, reports once per gap that one is missing, answers Reads in the
//! requests' own space of numbers, executes repeated Reads again and remembers the results of Atomics
//! (InfiniBand §9).

use super::accept::{self, Answer, INVALID};
use super::responses;
use super::{Context, Host};
use crate::arriving::Ignored;
use crate::memory::Memory;
use crate::setup::Setup;
use crate::wire::{Aeth, Opcode, Packet, Refusal, Reth, Serial, Syndrome};
use std::collections::VecDeque;
use thalweg_machines::transport::rdma::Psn;

/// One space of numbers.
#[derive(Clone, Debug)]
pub struct Engine {
    /// The next packet expected.
    e: Psn,
    /// A NACK has reported this one as missing, or refused it.
    nak_open: bool,
    /// The message of which a part has arrived.
    open: Option<Open>,
    /// How many Receive WQEs have expired.
    recv_sn: Serial,
    /// Results of the last Atomics: as many as may be outstanding.
    atomics: VecDeque<(Psn, u64)>,
    /// Acknowledgements and answers, which leave in the order of their numbers.
    out: VecDeque<Out>,
}

/// A message that is not complete.
#[derive(Clone, Copy, Debug)]
enum Open {
    /// A Write: the rest goes here; and the whole message's length.
    Write(Reth, u32),
    /// A Send: so many bytes have arrived.
    Send(u64),
}

#[derive(Clone, Copy, Debug)]
enum Out {
    Acknowledge(Psn, Aeth),
    Answer { first: Psn, sent: u32, answer: Answer },
}

impl Engine {
    pub fn new(setup: &Setup) -> Self {
        Self {
            e: setup.first_request,
            nak_open: false,
            open: None,
            recv_sn: Serial::new(0),
            atomics: VecDeque::new(),
            out: VecDeque::new(),
        }
    }

    pub fn expected(&self) -> Psn {
        self.e
    }

    pub fn is_idle(&self) -> bool {
        self.out.is_empty()
    }

    pub fn on_packet(
        &mut self,
        context: &mut Context<'_>,
        host: &mut Host,
        packet: &Packet<'_>,
    ) -> Result<(), Ignored> {
        if !packet.opcode.is_request() {
            return Err(Ignored::Direction);
        }
        match packet.psn.minus(self.e) {
            0 => match self.accept(context, host, packet) {
                Ok(packets) => {
                    self.nak_open = false;
                    self.e = self.e.plus(packets);
                    context.ledger.msn = context.ledger.msn.plus(u32::from(packet.opcode.is_last()));
                    // An answer acknowledges its request by itself.
                    if !matches!(self.out.back(), Some(Out::Answer { first, .. }) if *first == packet.psn) {
                        self.acknowledge(context, context.ledger.ack());
                    }
                }
                Err(error) => {
                    context.counters.refusals += 1;
                    // What follows the refused packet is not missing anything: no NAK until this one is sent again.
                    self.nak_open = true;
                    self.acknowledge(context, error);
                }
            },
            1.. => {
                if !self.nak_open {
                    context.counters.nacks += 1;
                    self.acknowledge(context, Syndrome::Nak(Refusal::Sequence));
                }
                self.nak_open = true;
            }
            _ => self.repeat(context, host, packet),
        }
        Ok(())
    }

    /// The next packet: how many numbers it takes. It counts as not arrived if it is refused.
    fn accept(
        &mut self,
        context: &mut Context<'_>,
        host: &mut Host,
        packet: &Packet<'_>,
    ) -> Result<u32, Syndrome> {
        let place = packet.opcode.place();
        if place.begins() != self.open.is_none() {
            return Err(INVALID);
        }
        accept::check_length(place, packet.payload.len(), context.setup.mtu)?;
        let open = match packet.opcode {
            Opcode::Write(_) | Opcode::WriteImmediate(_) => self.accept_write(context, host, packet)?,
            Opcode::Send(_) | Opcode::SendImmediate(_) | Opcode::SendInvalidate(_) => {
                self.accept_send(context, host, packet)?
            }
            _ => return self.accept_read(context, host, packet),
        };
        self.open = (!place.ends()).then_some(open);
        Ok(1)
    }

    /// Part of a Write: what then is open.
    fn accept_write(
        &mut self,
        context: &mut Context<'_>,
        host: &mut Host,
        packet: &Packet<'_>,
    ) -> Result<Open, Syndrome> {
        let (place, length) = (packet.opcode.place(), packet.payload.len() as u32);
        let (reth, whole) = match (self.open, packet.reth) {
            (None, Some(reth)) => (reth, reth.length),
            (Some(Open::Write(rest, whole)), None) => (rest, whole),
            _ => return Err(INVALID),
        };
        if place.ends() != (reth.length == length) {
            return Err(INVALID);
        }
        let cqe = accept::completion(packet, whole);
        if cqe.is_some() {
            accept::receive(context, host, self.recv_sn)?;
        }
        accept::write(&mut host.memory, place, reth, packet.payload)?;
        self.complete(context, host, cqe)?;
        let rest = Reth {
            address: reth.address.wrapping_add(u64::from(length)),
            length: reth.length.saturating_sub(length),
            ..reth
        };
        Ok(Open::Write(rest, whole))
    }

    /// Part of a Send: what then is open.
    fn accept_send(
        &mut self,
        context: &mut Context<'_>,
        host: &mut Host,
        packet: &Packet<'_>,
    ) -> Result<Open, Syndrome> {
        let before = match self.open {
            None => 0,
            Some(Open::Send(before)) => before,
            Some(Open::Write(..)) => return Err(INVALID),
        };
        let wqe = accept::receive(context, host, self.recv_sn)?;
        accept::send(&mut host.memory, wqe, before, packet.payload)?;
        let bytes = before + packet.payload.len() as u64;
        self.complete(context, host, accept::completion(packet, bytes as u32))?;
        Ok(Open::Send(bytes))
    }

    /// A Read or an Atomic, executed at once: how many packets its answer has.
    fn accept_read(
        &mut self,
        context: &mut Context<'_>,
        host: &mut Host,
        packet: &Packet<'_>,
    ) -> Result<u32, Syndrome> {
        let wanted = accept::wanted(&host.memory, packet)?;
        let answer = accept::execute(&mut host.memory, wanted)?;
        if let Answer::Original(word) = answer {
            self.atomics.push_back((packet.psn, word));
            if self.atomics.len() > context.setup.read_slots as usize {
                self.atomics.pop_front();
            }
        }
        self.out.push_back(Out::Answer { first: packet.psn, sent: 0, answer });
        Ok(answer.packets(context.setup.mtu))
    }

    /// Expires a Receive WQE if there is a CQE for it: at once, since everything is in order.
    fn complete(
        &mut self,
        context: &mut Context<'_>,
        host: &mut Host,
        cqe: Option<crate::queues::Premature>,
    ) -> Result<(), Syndrome> {
        let Some(cqe) = cqe else { return Ok(()) };
        context.ledger.receives.keep(self.recv_sn, cqe);
        if let Err(error) = context.expire(host) {
            context.ledger.receives.forget();
            return Err(error);
        }
        self.recv_sn = self.recv_sn.plus(1);
        Ok(())
    }

    /// A packet that has arrived before: its answer may have been lost.
    fn repeat(&mut self, context: &mut Context<'_>, host: &Host, packet: &Packet<'_>) {
        let first = packet.psn;
        match packet.opcode {
            Opcode::ReadRequest => {
                let again = accept::wanted(&host.memory, packet);
                if let Ok(accept::Wanted::Data(buffer)) = again {
                    let answer = Answer::Data(buffer);
                    let packets = answer.packets(context.setup.mtu);
                    if first.plus(packets).minus(self.e) <= 0 {
                        self.out.push_back(Out::Answer { first, sent: 0, answer });
                    }
                }
            }
            Opcode::CompareSwap | Opcode::FetchAdd => {
                if let Some(&(_, word)) = self.atomics.iter().find(|(psn, _)| *psn == first) {
                    self.out.push_back(Out::Answer { first, sent: 0, answer: Answer::Original(word) });
                }
            }
            _ => self.acknowledge(context, context.ledger.ack()),
        }
    }

    fn acknowledge(&mut self, context: &Context<'_>, syndrome: Syndrome) {
        self.out.push_back(Out::Acknowledge(self.e, Aeth { syndrome, msn: context.ledger.msn }));
    }

    pub fn poll_transmit(&mut self, context: &mut Context<'_>, memory: &Memory, out: &mut Vec<u8>) -> bool {
        match self.out.front_mut() {
            None => return false,
            Some(Out::Acknowledge(expected, aeth)) => {
                let mut packet = Packet::new(Opcode::Acknowledge, context.setup.requester_qp, *expected);
                packet.aeth = Some(*aeth);
                packet.put(context.setup.dialect, out);
            }
            Some(Out::Answer { first, sent, answer }) => {
                let (psn, count) = (first.plus(*sent), answer.packets(context.setup.mtu));
                responses::encode(context, *answer, (*sent, count), psn, memory, out);
                context.counters.sent += 1;
                *sent += 1;
                if *sent < count {
                    return true;
                }
            }
        }
        self.out.pop_front();
        true
    }
}
