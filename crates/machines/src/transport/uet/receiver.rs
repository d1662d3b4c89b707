//! The receiver: which packets have arrived, in any order, and when an ACK is due (UET §3.5).

use super::super::collector::Collector;
use super::super::{Endpoint, Expiry, ReceivingEnd, Reception, Transmit};
use super::UetSpec;
use super::numbers::Numbers;
use super::spec::AckValues;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Time};
use thalweg_wire::{Ecn, Flags, Kind, Message, Numbers64, Packet, PacketAck, Side};

/// The destination's end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UetReceiver {
    all: Collector,
    numbers: Numbers,
    /// Bytes on the wire of distinct packets.
    received: u64,
    /// Bytes on the wire since the last ACK.
    unanswered: u64,
    /// An ACK was requested while a packet was missing: it is due when none is.
    requested: bool,
    /// Packets that came unmarked since the last ACK, where ACKs list their values.
    unmarked: Numbers64,
    answer: Option<Answer>,
}

/// What is to be sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Answer {
    to: Packet,
    ack: PacketAck,
    flags: Flags,
}

/// What is said of a packet that draws an ACK.
#[derive(Clone, Copy, Default)]
struct Drawn {
    marked: bool,
    /// It asked for an ACK.
    requested: bool,
}

impl UetReceiver {
    /// Expects `size` bytes.
    pub(super) fn new(spec: &UetSpec, flow: FlowId, size: u64) -> Self {
        Self {
            all: Collector::new(flow, size, spec.payload),
            numbers: Numbers::default(),
            received: 0,
            unanswered: 0,
            requested: false,
            unmarked: Numbers64::default(),
            answer: None,
        }
    }

    fn on_header(&mut self, packet: &Packet, number: u64) {
        if self.numbers.has(number) {
            // The trimmed packet has arrived before, on another path.
            return self.acknowledge(packet, number, Drawn::default());
        }
        let last_hop = packet.flags.has(Flags::LAST_HOP);
        let flags = if last_hop { Flags::NACK.with(Flags::LAST_HOP) } else { Flags::NACK };
        let flags = if packet.ecn == Ecn::Ce { flags.with(Flags::ECE) } else { flags };
        self.answer = Some(Answer { to: *packet, ack: PacketAck { number, ..self.state() }, flags });
    }

    /// Data, or a request to send.
    fn on_whole(&mut self, spec: &UetSpec, packet: &Packet, number: u64, probe: bool) {
        self.unanswered += u64::from(packet.wire);
        let first = !probe && self.received == 0;
        let marked = packet.ecn == Ecn::Ce;
        let before = self.numbers.expected();
        if !self.numbers.insert(number) {
            return self.acknowledge(packet, number, Drawn { marked, requested: false });
        }
        if !probe {
            self.received += u64::from(packet.wire);
            self.all.take(packet);
            if spec.ack_values == AckValues::All && !marked {
                self.unmarked.insert(number);
            }
        }
        let requested = probe || packet.flags.has(Flags::ACK_REQUEST);
        self.requested |= requested;
        let closed = self.numbers.expected() > before && !self.numbers.has_gap() && self.requested;
        self.requested &= !closed;
        let due = self.unanswered >= u64::from(spec.ack_every);
        if marked || requested || first || closed || due {
            self.acknowledge(packet, number, Drawn { marked, requested });
        }
    }

    fn state(&self) -> PacketAck {
        PacketAck { expected: self.numbers.expected(), received: self.received, ..PacketAck::default() }
    }

    /// The bits begin at the packet itself where that matters most, else as far below it as they reach.
    fn acknowledge(&mut self, packet: &Packet, number: u64, drawn: Drawn) {
        self.unanswered = 0;
        let state = self.state();
        let below = number.saturating_sub(63).max(state.expected + 1);
        let base = if drawn.marked || drawn.requested { number } else { below };
        let mut flags = Flags(packet.flags.0 & Flags::RETRANSMISSION.0);
        if drawn.marked {
            flags.set(Flags::ECE);
        }
        let unmarked = std::mem::take(&mut self.unmarked);
        let ack = PacketAck { number, base, above: self.numbers.bits(base), unmarked, ..state };
        self.answer = Some(Answer { to: *packet, ack, flags });
    }
}

impl Endpoint for UetReceiver {
    type Spec = UetSpec;

    fn on_packet(&mut self, spec: &UetSpec, _: Time, packet: &Packet, side: Option<&Side>) -> Reception {
        let probe = match side.and_then(Side::message) {
            Some(Message::PullTarget { probe, .. }) => *probe,
            _ => None,
        };
        match (packet.kind, probe) {
            (Kind::Data, _) if packet.is_trimmed() => self.on_header(packet, packet.trigger),
            (Kind::Data, _) => self.on_whole(spec, packet, packet.trigger, false),
            (Kind::Syn, Some(number)) => self.on_whole(spec, packet, number, true),
            _ => return Reception::Ignored,
        }
        Reception::Taken
    }

    fn on_timer(&mut self, _: &UetSpec, _: Time) -> Expiry {
        Expiry::Other
    }

    fn poll_transmit(&mut self, spec: &UetSpec, _: Time, packet: &mut Packet, side: &mut Side) -> Transmit {
        let Some(Answer { to, ack, flags }) = self.answer.take() else { return Transmit::Idle };
        *side = Side::Message(Message::PacketAck(ack));
        *packet = Packet {
            stamp: to.stamp,
            seq: self.all.in_order(),
            trigger: to.seq,
            flow: to.flow,
            wire: spec.control,
            payload: to.payload,
            kind: Kind::Ack,
            route: to.route,
            side: 0,
            flags,
            ..Packet::default()
        };
        Transmit::Packet
    }

    fn timer(&self) -> Option<Time> {
        None
    }

    fn is_done(&self) -> bool {
        self.all.has_all()
    }
}

impl ReceivingEnd for UetReceiver {
    fn resize(&mut self, size: u64) {
        self.all.resize(size);
    }
    fn received(&self) -> u64 {
        self.all.in_order()
    }
    fn unique_bytes(&self) -> u64 {
        self.all.bytes()
    }
}
