//! A queue pair's responder side: data in; ACKs, NACKs and congestion notifications out (IRN §4.2, §4.1.1; DCQCN's
//! notification point, Zhu et al., SIGCOMM 2015, §3.1).

use super::super::{
    CnpRule, Endpoint, Expiry, Notification, RdmaAcks, RdmaSpec, ReceivingEnd, Reception, Recovery, Transmit,
};
use super::Psn;
use super::go_back_n::{GbnReply, GoBackNReceiver};
use super::irn::{IrnReceiver, ReplyKind};
use super::layout::Layout;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Span, Time};
use thalweg_wire::{Ecn, Flags, Kind, Message, Packet, Side};

/// What has arrived.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Arrived {
    /// RoCE: a prefix.
    GoBackN(GoBackNReceiver),
    /// IRN: a prefix, counted here from the flow's first packet, and what lies above it.
    Selective { irn: IrnReceiver, e: u64 },
}

/// An answer to be sent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Answer {
    nack: bool,
    seq: u64,
    payload: u32,
    stamp: Time,
    flags: Flags,
}

/// What answers carry back from data packets.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Echo {
    /// Telemetry of the data that came last, or what routers have written since the last answer.
    side: Side,
    /// The data's path value.
    route: u32,
}

/// A queue pair's responder side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RdmaReceiver {
    flow: FlowId,
    /// Payload bytes of the flow; `u64::MAX`: without end.
    size: u64,
    /// All before this byte has arrived.
    received: u64,
    /// Bytes that arrived above a gap.
    above: u64,
    pub(super) arrived: Arrived,
    answer: Option<Answer>,
    /// Allocated with the first data packet of which something is carried back.
    echo: Option<Box<Echo>>,
    /// A notification is to be sent.
    notify: bool,
    /// A notification is owed for a mark since the last one, and leaves when it may.
    owed: bool,
    /// When the next may leave.
    next_at: Time,
}

impl RdmaReceiver {
    fn notify_at(&mut self, now: Time, interval: Span) {
        (self.notify, self.owed, self.next_at) = (true, false, now.saturating_add(interval));
    }

    /// A receiver of `size` payload bytes (`u64::MAX`: without end).
    pub fn new(spec: &RdmaSpec, flow: FlowId, size: u64) -> Self {
        let arrived = match spec.recovery {
            Recovery::GoBackN { .. } => Arrived::GoBackN(GoBackNReceiver::default()),
            Recovery::DropNotified | Recovery::Irn { .. } => {
                Arrived::Selective { irn: IrnReceiver::new(Psn::new(0)), e: 0 }
            }
        };
        Self {
            flow,
            size,
            received: 0,
            above: 0,
            arrived,
            answer: None,
            echo: None,
            notify: false,
            owed: false,
            next_at: Time::ZERO,
        }
    }

    /// Takes in a data packet. Returns whether to answer, and if so, whether with a NACK.
    #[inline]
    fn arrive(&mut self, spec: &RdmaSpec, now: Time, packet: &Packet, layout: &Layout) -> Option<bool> {
        let index = layout.index(packet.seq);
        let again = packet.flags.has(Flags::RETRANSMISSION);
        let (before, expected, nack, answer) = match (&mut self.arrived, spec.recovery) {
            (Arrived::GoBackN(gbn), Recovery::GoBackN { repeat_nack }) => {
                let before = gbn.expected();
                let reply = gbn.on_data(now, index, repeat_nack);
                let answer = reply == GbnReply::Nack || reply == GbnReply::Duplicate;
                (before, gbn.expected(), reply == GbnReply::Nack, answer)
            }
            (Arrived::Selective { irn, e }, _) => {
                let before = *e;
                let reply = irn.on_data(irn.expected().plus(index.wrapping_sub(before) as u32));
                *e += u64::from(reply.advanced);
                if reply.kind == ReplyKind::Nack && reply.new {
                    self.above += u64::from(packet.payload);
                }
                // A sender may be waiting for the answer to this retransmission.
                (before, *e, reply.kind == ReplyKind::Nack, again || reply.kind != ReplyKind::Ack)
            }
            (Arrived::GoBackN(_), Recovery::DropNotified | Recovery::Irn { .. }) => {
                debug_assert!(false, "a receiver was called with another one's spec");
                return None;
            }
        };
        if expected > before {
            let to = layout.offset(expected);
            // The packet that filled the gap was not counted as above it.
            let filled = (to - self.received).saturating_sub(u64::from(packet.payload));
            self.above -= filled.min(self.above);
            self.received = to;
        }
        let due = match spec.acks {
            RdmaAcks::PerPacket => expected > before,
            RdmaAcks::PerSegment => layout.group_ends_in(before, expected),
            RdmaAcks::Never => return nack.then_some(true),
        };
        (due || answer).then_some(nack)
    }
}

impl Endpoint for RdmaReceiver {
    type Spec = RdmaSpec;

    fn on_packet(&mut self, spec: &RdmaSpec, now: Time, packet: &Packet, side: Option<&Side>) -> Reception {
        if packet.kind != Kind::Data || packet.seq >= self.size {
            return Reception::Taken;
        }
        let layout = Layout::new(spec, self.size);
        let marked = packet.ecn == Ecn::Ce;
        if let Notification::Packet { interval, rule, .. } = spec.notification
            && marked
        {
            // CHOICE DCQCN §3.1: packets out of order count, also where they are discarded.
            if now >= self.next_at {
                self.notify_at(now, interval);
            } else {
                self.owed = rule == CnpRule::Windows;
            }
        }
        if let Some(nack) = self.arrive(spec, now, packet, &layout) {
            let mut flags = Flags::default();
            if nack {
                flags.set(Flags::NACK);
            }
            if packet.flags.has(Flags::RETRANSMISSION) {
                flags.set(Flags::RETRANSMISSION);
            }
            if marked && spec.notification == Notification::Echo {
                flags.set(Flags::ECE);
            }
            let Packet { seq, payload, stamp, route, .. } = *packet;
            self.answer = Some(Answer { nack, seq, payload, stamp, flags });
            match side {
                Some(Side::Int(stack)) => {
                    self.echo.get_or_insert_default().side.new_int().copy_from(stack);
                }
                Some(Side::Explicit(header)) => {
                    let kept = &mut self.echo.get_or_insert_default().side;
                    let what = kept.explicit().map_or(header.what, |before| before.what.and(header.what));
                    kept.new_explicit(what);
                }
                _ => {}
            }
            if spec.path_values.is_some() {
                self.echo.get_or_insert_default().route = route;
            }
        }
        Reception::Taken
    }

    fn on_timer(&mut self, spec: &RdmaSpec, now: Time) -> Expiry {
        if let Notification::Packet { interval, .. } = spec.notification
            && self.owed
            && now >= self.next_at
        {
            self.notify_at(now, interval);
        }
        Expiry::Other
    }

    /// The acknowledgement first, then the notification.
    #[inline(always)]
    fn poll_transmit(
        &mut self,
        spec: &RdmaSpec,
        now: Time,
        packet: &mut Packet,
        side: &mut Side,
    ) -> Transmit {
        if let Some(Answer { nack, seq, payload, stamp, flags }) = self.answer.take() {
            *packet = Packet {
                stamp,
                seq: self.received,
                trigger: seq,
                flow: self.flow,
                wire: if nack { spec.answers.nack } else { spec.answers.ack },
                payload,
                kind: Kind::Ack,
                flags,
                ..Packet::default()
            };
            if let Some(Echo { side: kept, route }) = self.echo.as_deref_mut() {
                packet.route = *route;
                match kept {
                    Side::Int(stack) => side.new_int().copy_from(stack),
                    Side::Explicit(header) => {
                        side.new_explicit(header.what);
                        *kept = Side::Empty;
                    }
                    Side::Empty | Side::Sack(_) | Side::Message(_) => return Transmit::Packet,
                }
                packet.side = 0;
            }
            return Transmit::Packet;
        }
        if let Notification::Packet { wire, .. } = spec.notification
            && std::mem::take(&mut self.notify)
        {
            *packet = side.packet_of(Message::Cnp, now, self.flow, wire);
            return Transmit::Packet;
        }
        Transmit::Idle
    }

    fn timer(&self) -> Option<Time> {
        self.owed.then_some(self.next_at)
    }

    fn is_done(&self) -> bool {
        self.received >= self.size
    }
}

impl ReceivingEnd for RdmaReceiver {
    fn resize(&mut self, size: u64) {
        self.size = size;
    }

    fn received(&self) -> u64 {
        self.received
    }

    fn unique_bytes(&self) -> u64 {
        self.received + self.above
    }
}
