//! What few packets carry, kept out of the cache line of the rest.

use crate::explicit::{Explicit, ExplicitHeader};
use crate::message::Message;
use crate::packet::Packet;
use crate::sack::SackBlocks;
use crate::telemetry::IntStack;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, FlowId, Span, Time};

/// Cold headers, which few packets carry, kept out of the hot cache line: one record, a variant per use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Side {
    /// Nothing.
    #[default]
    Empty,
    /// Selective acknowledgements, in an ACK.
    Sack(SackBlocks),
    /// Telemetry: written by the ports that a data packet passes, echoed in its ACK.
    Int(IntStack),
    /// What routers write for the sender as a data packet passes, echoed in its ACK.
    Explicit(ExplicitHeader),
    /// What a transport, an agent or a switch sends, along with data or in a packet of its own.
    Message(Message),
}

impl Side {
    /// A packet of the message's own, whose cold header this becomes; destination and route are left at their
    /// defaults.
    #[inline]
    pub fn packet_of(&mut self, message: Message, now: Time, flow: FlowId, wire: u32) -> Packet {
        debug_assert!(!message.is_alongside(), "{message:?} goes along with data");
        *self = Self::Message(message);
        let (seq, kind, flags) = (message.number(), message.kind(), message.flags());
        Packet { stamp: now, seq, flow, wire, kind, flags, side: 0, ..Packet::default() }
    }
    /// The message, if it is one.
    #[inline]
    pub fn message(&self) -> Option<&Message> {
        if let Self::Message(message) = self { Some(message) } else { None }
    }
    /// The selectively acknowledged ranges; none if this is something else.
    #[inline]
    pub fn sack(&self) -> &[(u64, u64)] {
        match self {
            Self::Sack(blocks) => blocks.as_slice(),
            Self::Explicit(header) => header.sack(),
            Self::Empty | Self::Int(_) | Self::Message(_) => &[],
        }
    }
    /// Room for selective acknowledgements, emptied. Costs nothing where the record held such before.
    #[inline]
    pub fn new_sack(&mut self) -> &mut SackBlocks {
        if !matches!(self, Self::Sack(_)) {
            *self = Self::Sack(SackBlocks::default());
        }
        let Self::Sack(blocks) = self else { unreachable!("made above") };
        blocks.clear();
        blocks
    }
    /// Room for telemetry, emptied, likewise.
    #[inline]
    pub fn new_int(&mut self) -> &mut IntStack {
        if !matches!(self, Self::Int(_)) {
            *self = Self::Int(IntStack::default());
        }
        let Self::Int(stack) = self else { unreachable!("made above") };
        stack.clear();
        stack
    }
    /// Explicit feedback as it is echoed, or requested by what states neither round trip nor window.
    #[inline]
    pub fn new_explicit(&mut self, what: Explicit) {
        self.request_explicit(what, Span::ZERO, Bytes::ZERO);
    }
    /// Room for explicit feedback to a sender with this round trip and window.
    #[inline]
    pub fn request_explicit(&mut self, what: Explicit, rtt: Span, window: Bytes) {
        *self = Self::Explicit(ExplicitHeader::new(what, rtt, window));
    }
    /// The explicit feedback, if there is room for it.
    #[inline]
    pub fn explicit(&self) -> Option<&ExplicitHeader> {
        if let Self::Explicit(header) = self { Some(header) } else { None }
    }
    /// Likewise, to write.
    #[inline]
    pub fn explicit_mut(&mut self) -> Option<&mut ExplicitHeader> {
        if let Self::Explicit(header) = self { Some(header) } else { None }
    }
    /// As `other`; of telemetry only the hops that it holds are copied, and of a message no more than itself.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        match other {
            Self::Int(stack) => self.new_int().copy_from(stack),
            Self::Message(message) => *self = Self::Message(*message),
            _ => *self = *other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Kind;
    use crate::telemetry::IntHop;

    #[test]
    fn a_record_that_is_used_again_begins_empty() {
        let mut side = Side::default();
        assert!(side.new_sack().push(1, 2));
        assert_eq!(side.sack(), [(1, 2)]);
        assert!(side.new_sack().as_slice().is_empty());
        side.new_int().push(5, IntHop { queue: 7, ..IntHop::default() });
        assert!(side.sack().is_empty());
        assert_eq!(*side.new_int(), IntStack::default());
    }

    #[test]
    fn a_copy_of_fewer_hops_over_more_has_only_those() {
        let (mut two, mut one, mut copy) = (Side::default(), Side::default(), Side::default());
        let hop = |queue| IntHop { queue, ..IntHop::default() };
        *two.new_int() = IntStack::of(3, &[hop(1), hop(2)]);
        one.new_int().push(7, hop(3));
        copy.copy_from(&two);
        assert_eq!(copy, two);
        copy.copy_from(&one);
        assert_eq!(copy, one);
        one.new_sack().push(1, 2);
        copy.copy_from(&one);
        assert_eq!(copy.sack(), [(1, 2)]);
        copy.copy_from(&Side::Message(Message::Cnp));
        assert_eq!((copy.message(), copy.sack().len()), (Some(&Message::Cnp), 0));
    }

    #[test]
    fn a_message_s_packet_has_it_in_the_cold_header_and_its_number_in_the_hot_one() {
        let (now, mut side) = (Time::from_us(3), Side::default());
        let grant = Message::Grant { offset: 5000, received: 1000, level: 4 };
        let packet = side.packet_of(grant, now, FlowId(7), 40);
        assert_eq!((packet.kind, packet.seq, packet.wire, packet.side), (Kind::Control, 5000, 40, 0));
        assert_eq!((packet.stamp, packet.flow, packet.rank, packet.trigger), (now, FlowId(7), 0, 0));
        assert_eq!(side.message(), Some(&grant));
    }

    #[test]
    fn cold_headers_are_no_larger_than_sixteen_ranges_and_messages_than_two_cache_lines() {
        assert!(size_of::<Side>() <= size_of::<SackBlocks>() + 8);
        assert!(size_of::<Message>() <= 128);
    }
}
