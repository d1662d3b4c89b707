//! Answers to Reads and Atomics as an IRN sender of their own, over rPSN (§4.4.2): selective retransmission,
//! BDP-FC, timers.

use super::Context;
use super::accept::Answer;
use crate::arriving::Ignored;
use crate::memory::Memory;
use crate::setup::Setup;
use crate::timer::Rto;
use crate::wire::{Aeth, Opcode, Packet, Place, Serial};
use std::collections::VecDeque;
use thalweg_machines::transport::rdma::Psn;
use thalweg_machines::transport::rdma::irn::IrnSender;
use thalweg_units::Time;

/// The answer to one request.
#[derive(Clone, Copy, Debug)]
struct Stream {
    read_sn: Serial,
    first: Psn,
    packets: u32,
    answer: Answer,
}

impl Stream {
    fn end(&self) -> Psn {
        self.first.plus(self.packets)
    }
}

/// All answers not acknowledged yet.
#[derive(Clone, Debug)]
pub struct Responses {
    sender: IrnSender,
    timer: Rto,
    streams: VecDeque<Stream>,
    /// The number after the last answer's last packet.
    end: Psn,
}

impl Responses {
    pub fn new(setup: &Setup) -> Self {
        Self {
            sender: IrnSender::new(setup.options, setup.first_response),
            timer: Rto::default(),
            streams: VecDeque::new(),
            end: setup.first_response,
        }
    }

    /// One more answer. Both sides know its numbers: they follow from the order of read_WQE_SN.
    pub fn push(&mut self, read_sn: Serial, answer: Answer, mtu: u32) {
        let stream = Stream { read_sn, first: self.end, packets: answer.packets(mtu), answer };
        self.end = stream.end();
        self.streams.push_back(stream);
    }

    /// The requester has all answers up to that of `read_sn`: it would not have used the slot again
    /// otherwise. So a slot's state is free when its next user comes, although the read ACK may be lost or
    /// late.
    pub fn complete(&mut self, context: &mut Context<'_>, read_sn: Serial) {
        let over = |stream: &&Stream| stream.read_sn.minus(read_sn) <= 0;
        if let Some(end) = self.streams.iter().take_while(over).last().map(Stream::end) {
            self.acknowledge(context, end, None);
        }
    }

    /// A read ACK, or a NACK that names `sack`.
    pub fn on_ack(&mut self, context: &mut Context<'_>, cum: Psn, sack: Option<Psn>) -> Result<(), Ignored> {
        let sent = self.sender.state().nxt;
        if cum.minus(sent) > 0 || sack.is_some_and(|sack| sack.minus(sent) >= 0) {
            return Err(Ignored::Number);
        }
        self.acknowledge(context, cum, sack);
        Ok(())
    }

    fn acknowledge(&mut self, context: &mut Context<'_>, cum: Psn, sack: Option<Psn>) {
        if self.sender.on_ack(cum, sack.unwrap_or(cum), sack.is_some()).advanced > 0 {
            self.timer.on_advance(context.setup, context.now, self.sender.in_flight());
            while self.streams.front().is_some_and(|stream| cum.minus(stream.end()) >= 0) {
                self.streams.pop_front();
            }
        }
    }

    pub fn poll_transmit(&mut self, context: &mut Context<'_>, memory: &Memory, out: &mut Vec<u8>) -> bool {
        loop {
            let more = self.sender.state().nxt != self.end;
            if !self.sender.can_send(more, context.setup.cap) {
                return false;
            }
            let una = self.sender.state().una;
            let Some((psn, again)) = self.sender.tx_free(more, context.setup.cap) else { continue };
            if again && psn == una {
                self.timer.restart(context.setup, context.now);
            }
            self.timer.start(context.setup, context.now);
            context.counters.sent += 1;
            context.counters.retransmitted += u64::from(again);
            let most = &mut context.counters.most_in_flight;
            *most = (*most).max(self.sender.in_flight());
            let at = self.streams.partition_point(|stream| stream.end().minus(psn) <= 0);
            let Some(stream) = self.streams.get(at) else {
                debug_assert!(false, "a packet of no answer");
                return false;
            };
            let index = psn.minus(stream.first) as u32;
            encode(context, stream.answer, (index, stream.packets), psn, memory, out);
            return true;
        }
    }

    pub fn timer(&self, setup: &Setup) -> Option<Time> {
        self.timer.deadline(setup)
    }

    pub fn on_timer(&mut self, context: &mut Context<'_>) {
        if self.timer.expire(context.setup, context.now, self.sender.in_flight()) {
            self.sender.on_timeout();
            context.counters.timeouts += 1;
        }
    }

    pub fn is_idle(&self) -> bool {
        self.streams.is_empty()
    }
}

/// Writes down packet `index` of `count` of an answer.
pub fn encode(
    context: &Context<'_>,
    answer: Answer,
    (index, count): (u32, u32),
    psn: Psn,
    memory: &Memory,
    out: &mut Vec<u8>,
) {
    let place = Place::of(index, count);
    let mut packet = Packet::new(Opcode::ReadResponse(place), context.setup.requester_qp, psn);
    match answer {
        Answer::Data(buffer) => {
            // It was there when the Read was executed, and regions are never taken away.
            packet.payload = memory.fetch(buffer.part(index, context.setup.mtu)).unwrap_or_default();
        }
        Answer::Original(word) => {
            packet.opcode = Opcode::AtomicAcknowledge;
            packet.original = Some(word);
        }
    }
    if packet.opcode.layout(context.setup.dialect).aeth {
        packet.aeth = Some(Aeth { syndrome: context.ledger.ack(), msn: context.ledger.msn });
    }
    packet.put(context.setup.dialect, out);
}
