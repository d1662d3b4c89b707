//! The syndrome byte of an acknowledgement (InfiniBand: AETH).

use thalweg_units::Span;

/// What an acknowledgement states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Syndrome {
    /// All is well. Free Receive WQEs as a code ([`Credits`]); `None`: the receiver does not count them.
    Ack(Option<Credits>),
    /// Receiver not ready: no Receive WQE. Five bits of delay ([`rnr_code`]).
    NotReady(u8),
    /// The packet was refused.
    Nak(Refusal),
}

/// Why a packet was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Out of order. IRN's carries the PSN that came (SACK), and is not an error.
    Sequence,
    /// The request makes no sense: its length, its numbers, its alignment.
    InvalidRequest,
    /// No region with this key, or not so long, or without this right.
    RemoteAccess,
    /// The responder failed.
    RemoteOperational,
}

/// InfiniBand's five-bit code for a count of Receive WQEs: 0, 1, 2, 3, 4, 6, 8, 12, ... 32768.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Credits(u8);

impl Credits {
    /// The largest code whose count is not above `free`.
    pub fn at_most(free: u32) -> Self {
        Self((0..=30).rev().find(|&code| Self(code).count() <= free).unwrap_or(0))
    }
    /// The count that the code stands for.
    pub fn count(self) -> u32 {
        match u32::from(self.0) {
            small @ 0..=3 => small,
            // 4, 6, 8, 12, 16, 24, ...: powers of two and their one and a halves.
            code if code.is_multiple_of(2) => 1 << (code / 2),
            code => 3 << (code / 2 - 1),
        }
    }
}

/// No credits are counted.
const UNCOUNTED: u8 = 31;

/// InfiniBand's table of RNR delays, in units of 10 us, from code 1 on; code 0 is 655.36 ms.
const RNR: [u32; 31] = [
    1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
    6144, 8192, 12288, 16384, 24576, 32768, 49152,
];

/// The code of the shortest delay in InfiniBand's table that is not below `delay` (at most 655.36 ms).
pub fn rnr_code(delay: Span) -> u8 {
    let fits = |&units: &u32| Span::from_us(10) * u64::from(units) >= delay;
    RNR.iter().position(fits).map_or(0, |at| at as u8 + 1)
}

impl Syndrome {
    /// As a byte. Its highest bit is 0.
    pub fn byte(self) -> u8 {
        match self {
            Self::Ack(credits) => credits.map_or(UNCOUNTED, |c| c.0),
            Self::NotReady(delay) => 0b01 << 5 | delay & 31,
            Self::Nak(refusal) => 0b11 << 5 | refusal as u8,
        }
    }
    /// The inverse; `None` if it is reserved.
    pub fn from_byte(byte: u8) -> Option<Self> {
        let low = byte & 31;
        Some(match byte >> 5 {
            0b00 => Self::Ack((low != UNCOUNTED).then_some(Credits(low))),
            0b01 => Self::NotReady(low),
            0b11 => Self::Nak(match low {
                0 => Refusal::Sequence,
                1 => Refusal::InvalidRequest,
                2 => Refusal::RemoteAccess,
                3 => Refusal::RemoteOperational,
                _ => return None,
            }),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credit_codes_are_those_of_infiniband() {
        let counts: Vec<u32> = (0..=30).map(|code| Credits(code).count()).collect();
        assert_eq!(counts[..12], [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48]);
        assert_eq!(counts[28..], [16384, 24576, 32768]);
        assert_eq!(Credits::at_most(7).count(), 6);
        assert_eq!(Credits::at_most(1_000_000).count(), 32768);
    }

    #[test]
    fn the_delay_is_never_shorter_than_requested() {
        assert_eq!(rnr_code(Span::from_us(100)), 7); // 120 us
        assert_eq!(rnr_code(Span::from_us(120)), 7);
        assert_eq!(rnr_code(Span::from_ms(655)), 0);
    }

    #[test]
    fn every_byte_is_one_syndrome_or_none() {
        for byte in 0..=255 {
            assert!(Syndrome::from_byte(byte).is_none_or(|s| s.byte() == byte));
        }
    }
}
