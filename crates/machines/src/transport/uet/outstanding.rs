//! Outstanding packets of a sender, by number, and those that it must send again.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Span, Time};

/// The state of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    /// In flight, as far as is known.
    Sent,
    /// To be sent again.
    Lost,
    /// Acknowledged.
    Done,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Packet {
    /// Offset of its first byte.
    pub offset: u64,
    /// When it was last sent.
    pub sent: Time,
    /// Bytes on the wire.
    pub wire: u32,
    /// Its payload; 0: a request to send.
    pub payload: u32,
    /// The entropy value that it was last sent on.
    pub value: u32,
    /// How many times it was sent again.
    pub resent: u16,
    state: State,
}

impl Packet {
    /// One that is sent now for the first time.
    pub fn new(offset: u64, payload: u32, wire: u32, value: u32, sent: Time) -> Self {
        Self { offset, sent, wire, payload, value, resent: 0, state: State::Sent }
    }
}

/// A packet left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Departure {
    number: u64,
    sent: Time,
    /// When it is considered lost.
    due: Time,
}

/// All packets from the lowest that is not acknowledged on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Outstanding {
    /// Number of the first one here.
    first: u64,
    packets: VecDeque<Packet>,
    /// Departures in the order of sending. Entries of packets that were sent again later, or are no longer in flight,
    /// are removed when they come to the front.
    order: VecDeque<Departure>,
    /// Every packet that counts as lost has this number or a higher one.
    lost_from: u64,
    /// Packets that count as lost, and their bytes on the wire.
    lost: u64,
    lost_bytes: u64,
}

impl Outstanding {
    /// Number of the next packet that is new.
    pub fn next(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    fn get(&self, number: u64) -> Option<&Packet> {
        number.checked_sub(self.first).and_then(|place| self.packets.get(place as usize))
    }

    fn at(&mut self, number: u64) -> &mut Packet {
        &mut self.packets[(number - self.first) as usize]
    }

    /// A packet that is in flight.
    pub fn sent(&self, number: u64) -> Option<&Packet> {
        self.get(number).filter(|packet| packet.state == State::Sent)
    }

    /// A new packet leaves; it is considered lost after `patience`.
    pub fn push(&mut self, packet: Packet, patience: Span) {
        self.note_departure(self.next(), packet.sent, patience);
        self.packets.push_back(packet);
    }

    fn note_departure(&mut self, number: u64, sent: Time, patience: Span) {
        self.order.push_back(Departure { number, sent, due: sent.saturating_add(patience) });
    }

    /// Removes entries from the front of the order of departures that are no longer valid.
    fn settle(&mut self) {
        while let Some(first) = self.order.front() {
            if self.sent(first.number).is_some_and(|packet| packet.sent == first.sent) {
                break;
            }
            self.order.pop_front();
        }
    }

    /// A packet is acknowledged. Returns its record, and whether it counted as lost; `None` if it had been acknowledged
    /// before.
    pub fn acknowledge(&mut self, number: u64) -> Option<(Packet, bool)> {
        let packet = *self.get(number)?;
        match packet.state {
            State::Done => return None,
            State::Sent => {}
            State::Lost => self.found(packet),
        }
        self.at(number).state = State::Done;
        while self.packets.front().is_some_and(|packet| packet.state == State::Done) {
            self.packets.pop_front();
            self.first += 1;
        }
        self.settle();
        Some((packet, packet.state == State::Lost))
    }

    /// The lowest number that is not acknowledged.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// A packet that was in flight counts as lost: it is to be retransmitted.
    pub fn lose(&mut self, number: u64) -> Packet {
        let packet = self.at(number);
        packet.state = State::Lost;
        let packet = *packet;
        (self.lost, self.lost_bytes) = (self.lost + 1, self.lost_bytes + u64::from(packet.wire));
        self.lost_from = self.lost_from.min(number);
        self.settle();
        packet
    }

    fn found(&mut self, packet: Packet) {
        (self.lost, self.lost_bytes) = (self.lost - 1, self.lost_bytes - u64::from(packet.wire));
    }

    /// How many are to be sent again.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Their bytes on the wire.
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// The one with the lowest number that is to be sent again.
    pub fn first_lost(&mut self) -> Option<(u64, Packet)> {
        if self.lost == 0 {
            self.lost_from = u64::MAX;
            return None;
        }
        let from = self.lost_from.max(self.first);
        let place =
            self.packets.range((from - self.first) as usize..).position(|p| p.state == State::Lost)?;
        self.lost_from = from + place as u64;
        Some((self.lost_from, *self.at(self.lost_from)))
    }

    /// It leaves again, on this entropy value, and is given up after what `patience` makes of how often that was.
    pub fn resend(&mut self, number: u64, value: u32, now: Time, patience: impl Fn(u16) -> Span) -> Packet {
        let packet = self.at(number);
        (packet.state, packet.sent, packet.value) = (State::Sent, now, value);
        packet.resent = packet.resent.saturating_add(1);
        let packet = *packet;
        self.note_departure(number, now, patience(packet.resent));
        self.found(packet);
        packet
    }

    /// The packet that was sent longest ago of those under way, and when it is given up.
    pub fn oldest(&self) -> Option<(u64, Time)> {
        self.order.front().map(|first| (first.number, first.due))
    }
}
