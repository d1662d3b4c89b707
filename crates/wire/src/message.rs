//! What transports, host agents and switches send to each other, one variant for each kind of message.
//!
//! Most are packets of their own ([`Side::packet_of`](crate::Side::packet_of)); some go along with data or ACKs
//! ([`Message::is_alongside`]). A receiver matches on the variant and leaves those of others alone.

use crate::flags::Flags;
use crate::notice::{Notice, NoticeBody};
use crate::packet::Kind;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// A message. Offsets and sizes are payload bytes of the flow; levels are priorities, 0 the highest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Message {
    /// pHost, source to destination: RTS, the flow announces itself (CoNEXT 2015).
    Request {
        /// Bytes of the flow.
        size: u64,
    },
    /// pHost, destination to source: one packet may be sent.
    Token {
        /// Offset of that packet's first byte.
        offset: u64,
        /// The token's number among those of the flow, from 1.
        number: u64,
        /// Bytes of the flow that have not arrived, whole packets.
        missing: u64,
    },
    /// pHost, along with data: the token that was spent on it.
    TokenSpent {
        /// The token's number; free tokens have the first ones.
        number: u64,
    },
    /// ExpressPass, source to destination: CREDIT_REQUEST (SIGCOMM 2017, §3.1).
    CreditRequest {
        /// Bytes of the flow.
        size: u64,
    },
    /// ExpressPass, source to destination: CREDIT_STOP, everything has been sent once.
    CreditStop {
        /// Bytes of the flow.
        size: u64,
    },
    /// ExpressPass, destination to source: one packet may be sent.
    Credit {
        /// The credit's number among those of the flow, from 1.
        number: u64,
        /// Offset of the first byte of the packet that it is for, if that was lost; `None`: the next one.
        offset: Option<u64>,
    },
    /// ExpressPass, along with data: the credit that was spent on it, so that its receiver measures loss and round
    /// trip of credits.
    CreditSpent {
        /// The credit's number.
        number: u64,
        /// When the credit had left, the stamp of its packet.
        sent_at: Time,
    },
    /// Homa, along with data: how long the message is that the packet belongs to (SIGCOMM 2018).
    Length {
        /// Bytes of it.
        size: u64,
    },
    /// Homa, destination to source: GRANT, what may be sent (§3.3).
    Grant {
        /// Everything before this offset.
        offset: u64,
        /// Bytes that have arrived.
        received: u64,
        /// Priority level of the packets that answer (§3.4).
        level: u8,
    },
    /// Homa, destination to source: RESEND, what is missing (§3.7).
    Resend {
        /// Offset of the first byte.
        from: u64,
        /// Offset behind the last one.
        to: u64,
    },
    /// NDP, destination to source: PULL, so many packets may have been sent beyond the first window
    /// (SIGCOMM 2017, §3.2).
    Pull {
        /// How many pulls the flow has had with this one.
        number: u64,
    },
    /// Ultra Ethernet, along with data, or source to destination in a packet of its own (RTS): up to where the
    /// receiver's pulls are to go (RCCC, Ultra Ethernet specification 1.0, §3.6.14).
    PullTarget {
        /// In quanta of 256 B since the flow began, below 0 while credit is left over.
        quanta: i64,
        /// Number of the packet that this is, if it is one of its own: it takes one among those of the data.
        probe: Option<u64>,
    },
    /// Ultra Ethernet, in an ACK or NACK: what has come, by packet numbers.
    PacketAck(PacketAck),
    /// DCQCN, receiver to sender: a congestion notification packet (SIGCOMM 2015, §3.1). A switch may send it, too.
    Cnp,
    /// From a congestion point.
    Notice(Notice),
}

/// What a receiver has of a flow whose packets are numbered (Ultra Ethernet specification 1.0, §3.5: PDS ACKs).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PacketAck {
    /// Number of the packet that this answers.
    pub number: u64,
    /// All packets before this number have come.
    pub expected: u64,
    /// Bytes on the wire of the distinct packets that have come.
    pub received: u64,
    /// Number of the packet of the lowest bit of `above`.
    pub base: u64,
    /// A bit for each packet from `base` on that has come.
    pub above: u64,
    /// The packets whose path values it brings back besides that of `number`, where ACKs list them.
    pub unmarked: Numbers64,
}

/// Some of 64 packet numbers in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Numbers64 {
    /// The lowest of them, unless there is none.
    first: u64,
    bits: u64,
}

impl Numbers64 {
    /// Adds one, if it is near enough to the others.
    pub fn insert(&mut self, number: u64) {
        let Self { first, bits } = *self;
        if bits == 0 {
            *self = Self { first: number, bits: 1 };
        } else if number >= first {
            self.bits |= u32::try_from(number - first).ok().and_then(|at| 1_u64.checked_shl(at)).unwrap_or(0);
        } else if first - number <= u64::from(bits.leading_zeros()) {
            *self = Self { first: number, bits: bits << (first - number) | 1 };
        }
    }

    /// In ascending order.
    pub fn iter(self) -> impl Iterator<Item = u64> {
        (0..64).filter(move |at| self.bits >> at & 1 == 1).map(move |at| self.first + at)
    }
}

impl Message {
    /// One number that stands for it in [`Packet::seq`](crate::Packet::seq), in traces and digests: the offset, size
    /// or rate that it is about.
    pub fn number(&self) -> u64 {
        match self {
            Self::Request { size }
            | Self::CreditRequest { size }
            | Self::CreditStop { size }
            | Self::Length { size } => *size,
            Self::Token { offset, .. } | Self::Grant { offset, .. } => *offset,
            Self::Credit { offset, .. } => offset.unwrap_or(u64::MAX),
            Self::Resend { from, .. } => *from,
            Self::PullTarget { quanta, probe } => probe.unwrap_or(quanta.unsigned_abs()),
            Self::PacketAck(ack) => ack.number,
            Self::TokenSpent { number } | Self::CreditSpent { number, .. } | Self::Pull { number } => *number,
            Self::Cnp => 0,
            Self::Notice(notice) => notice.body.number(),
        }
    }

    /// It goes along with data or an ACK, and in no packet of its own.
    pub fn is_alongside(&self) -> bool {
        matches!(
            self,
            Self::TokenSpent { .. }
                | Self::CreditSpent { .. }
                | Self::Length { .. }
                | Self::PacketAck(_)
                | Self::PullTarget { probe: None, .. }
        )
    }

    /// The kind of a packet of its own: by that it is known which way it goes.
    #[inline]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Request { .. }
            | Self::CreditRequest { .. }
            | Self::CreditStop { .. }
            | Self::PullTarget { .. } => Kind::Syn,
            _ => Kind::Control,
        }
    }

    /// What switches see of it in the header of a packet of its own.
    #[inline]
    pub fn flags(&self) -> Flags {
        if matches!(self, Self::Credit { .. }) { Flags::CREDIT } else { Flags::default() }
    }
}

impl From<Notice> for Message {
    /// What a congestion point reports, as it travels: that there is congestion, and no more, is a CNP.
    fn from(notice: Notice) -> Self {
        if notice.body == NoticeBody::Congestion { Self::Cnp } else { Self::Notice(notice) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{PortId, Rate};

    #[test]
    fn requests_and_stops_go_to_the_receiver_and_everything_else_to_the_sender() {
        let forward = [
            Message::Request { size: 1 },
            Message::CreditRequest { size: 1 },
            Message::CreditStop { size: 1 },
        ];
        assert!(forward.iter().all(|message| message.kind() == Kind::Syn));
        let notice = Notice { point: PortId(1), body: NoticeBody::FairRate(Rate::from_bps(9)) };
        let token = Message::Token { offset: 960, number: 2, missing: 960 };
        let back = [token, Message::Cnp, Message::Notice(notice)];
        assert!(back.iter().all(|message| message.kind() == Kind::Control));
        assert_eq!(back.map(|message| message.number()), [960, 0, 9]);
    }

    #[test]
    fn a_notice_of_congestion_and_no_more_is_a_cnp() {
        let notice = |body| Notice { point: PortId(1), body };
        assert_eq!(Message::from(notice(NoticeBody::Congestion)), Message::Cnp);
        let severity = notice(NoticeBody::Severity(3));
        assert_eq!(Message::from(severity), Message::Notice(severity));
    }

    #[test]
    fn a_credit_for_the_next_packet_names_none() {
        let credit = |offset| Message::Credit { number: 1, offset };
        assert_eq!((credit(None).number(), credit(Some(2000)).number()), (u64::MAX, 2000));
    }

    /// From the lowest to the highest there are 63 at most; what is farther away is left out, on both sides.
    #[test]
    fn numbers_in_a_row_of_sixty_four_are_kept_in_any_order() {
        let mut some = Numbers64::default();
        assert_eq!(some.iter().count(), 0);
        for (number, kept) in [(100, vec![100]), (103, vec![100, 103]), (98, vec![98, 100, 103])] {
            some.insert(number);
            assert_eq!(some.iter().collect::<Vec<_>>(), kept);
        }
        for (number, kept) in [(162, 98), (39, 98), (u64::MAX, 98), (40, 40), (103, 40), (0, 40)] {
            some.insert(number);
            assert_eq!((some.iter().next(), some.iter().last()), (Some(kept), Some(103)), "{number}");
        }
        some.insert(104);
        assert_eq!(some.iter().collect::<Vec<_>>(), [40, 98, 100, 103], "64 away from the lowest");
    }
}
