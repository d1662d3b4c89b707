//! The syndrome byte of an acknowledgement (InfiniBand: AETH).

use thalweg_units::Span;

/// What an acknowledgement states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Syndrome {
    /// All is well. Free Receive WQEs as a code ([`Credits`]); `None`: the receiver does not count them.
    Ack(Option<Credits>),
    /// Receiver not ready: no Receive WQE. The requester waits at least so long before it sends the packet again.
    NotReady(RnrTimer),
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

/// A pause that a "not ready" NAK can require: one of 32, in five bits (InfiniBand volume 1, §9.7.5.2.8, table 45).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RnrTimer(u8);

impl RnrTimer {
    /// Table 45 by code, in units of 10 us.
    const UNITS: [u32; 32] = [
        65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048,
        3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
    ];

    /// The pause with this code, of which five bits count.
    pub const fn from_code(code: u8) -> Self {
        Self(code & 31)
    }
    /// Its code: 1 to 31 in the order of their lengths, 0 for the longest.
    pub const fn code(self) -> u8 {
        self.0
    }
    /// How long it is: 10 us to 655.36 ms.
    pub fn delay(self) -> Span {
        Span::from_us(10) * u64::from(Self::UNITS[usize::from(self.0)])
    }
    /// All of them, from the shortest on.
    pub fn all() -> impl Iterator<Item = Self> {
        (1..=32).map(Self::from_code)
    }
    /// The pause of exactly this length.
    ///
    /// # Errors
    /// If there is none: the longest that is shorter, and the shortest that is longer, as far as there are such.
    pub fn exactly(delay: Span) -> Result<Self, [Option<Self>; 2]> {
        let below = Self::all().take_while(|timer| timer.delay() < delay).last();
        match Self::all().find(|timer| timer.delay() >= delay) {
            Some(timer) if timer.delay() == delay => Ok(timer),
            above => Err([below, above]),
        }
    }
}

impl Syndrome {
    /// As a byte. Its highest bit is 0.
    pub fn byte(self) -> u8 {
        match self {
            Self::Ack(credits) => credits.map_or(UNCOUNTED, |c| c.0),
            Self::NotReady(timer) => 0b01 << 5 | timer.code(),
            Self::Nak(refusal) => 0b11 << 5 | refusal as u8,
        }
    }
    /// The inverse; `None` if it is reserved.
    pub fn from_byte(byte: u8) -> Option<Self> {
        let low = byte & 31;
        Some(match byte >> 5 {
            0b00 => Self::Ack((low != UNCOUNTED).then_some(Credits(low))),
            0b01 => Self::NotReady(RnrTimer::from_code(low)),
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

    /// Some rows of table 45, and the rule behind it: each pause but the first few is twice the last but one.
    #[test]
    fn rnr_timers_are_those_of_infiniband() {
        let delay = |code| RnrTimer::from_code(code).delay();
        let rows =
            [(1, 10), (2, 20), (3, 30), (4, 40), (5, 60), (7, 120), (16, 2_560), (31, 491_520), (0, 655_360)];
        for (code, us) in rows {
            assert_eq!(delay(code), Span::from_us(us), "code {code}");
        }
        let all: Vec<Span> = RnrTimer::all().map(RnrTimer::delay).collect();
        assert_eq!(all.len(), 32);
        assert!((4..32).all(|n| all[n] == all[n - 2] * 2), "{all:?}");
    }

    #[test]
    fn a_pause_that_no_code_stands_for_lies_between_two() {
        let exactly = |us| RnrTimer::exactly(Span::from_us(us));
        let code = |code| Some(RnrTimer::from_code(code));
        assert_eq!([exactly(120).ok(), exactly(655_360).ok()], [code(7), code(0)]);
        assert_eq!(exactly(100), Err([code(6), code(7)]));
        assert_eq!(exactly(0), Err([None, code(1)]));
        assert_eq!(exactly(700_000), Err([code(0), None]));
    }

    #[test]
    fn every_byte_is_one_syndrome_or_none() {
        for byte in 0..=255 {
            assert!(Syndrome::from_byte(byte).is_none_or(|s| s.byte() == byte));
        }
    }
}
