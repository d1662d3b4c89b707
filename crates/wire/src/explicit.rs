//! Explicit feedback: what routers on the way, or the receiver, write for the sender (XCP, RCP, VCP, Sprout).

use crate::forecast::{Forecast, Reading};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span};

/// Which feedback routers on the way, or the receiver, write in numbers, rather than by marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ExplicitKind {
    /// By how much a window is to change (XCP).
    Change,
    /// A rate (RCP).
    Rate,
    /// How loaded the way is (VCP).
    Load,
    /// What the link will deliver: the receiver reports it (Sprout).
    Forecast(Reading),
}

/// How loaded a link is, in two bits (VCP).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Load {
    /// Far from full.
    Low,
    /// Nearly full.
    High,
    /// More comes than can leave.
    Overload,
}

/// Explicit feedback: each hop takes the minimum of it and its own; of loads the maximum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Explicit {
    /// Thousandths of a byte by which the window is to change; `None`: no router has stated one.
    Change(Option<i64>),
    /// The least rate on the way, on the wire; `None`: no router has stated one.
    Rate(Option<Rate>),
    /// The highest load on the way.
    Load(Load),
    /// What the link will deliver.
    Forecast(Forecast),
}

impl Explicit {
    /// As it leaves its source.
    pub const fn unwritten(kind: ExplicitKind) -> Self {
        match kind {
            ExplicitKind::Change => Self::Change(None),
            ExplicitKind::Rate => Self::Rate(None),
            ExplicitKind::Load => Self::Load(Load::Low),
            ExplicitKind::Forecast(reading) => {
                Self::Forecast(Forecast { tick: 0, delivers: [0; Forecast::TICKS], pauses: false, reading })
            }
        }
    }

    /// What an ACK states that answers another packet besides, which came later: changes add up, of the rest
    /// the later counts.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        match (self, later) {
            (Self::Change(Some(a)), Self::Change(Some(b))) => Self::Change(Some(a.saturating_add(b))),
            (Self::Change(Some(_)), Self::Change(None)) => self,
            _ => later,
        }
    }
}

/// The header of [`Explicit`] feedback. In an ACK there is room for as many ranges besides as a TCP option holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ExplicitHeader {
    /// What routers have stated.
    pub what: Explicit,
    /// Data: its sender's round trip; zero: not known.
    pub rtt: Span,
    /// Data: its sender's window.
    pub window: Bytes,
    count: u8,
    blocks: [(u64, u64); ExplicitHeader::BLOCKS],
}

impl ExplicitHeader {
    /// As many ranges as fit (RFC 2018 §3).
    pub const BLOCKS: usize = 4;

    /// As it leaves a sender with this round trip and window, without ranges.
    pub const fn new(what: Explicit, rtt: Span, window: Bytes) -> Self {
        Self { what, rtt, window, count: 0, blocks: [(0, 0); Self::BLOCKS] }
    }

    /// Appends a selectively acknowledged range; false (and nothing done) if full.
    pub fn push(&mut self, start: u64, end: u64) -> bool {
        let room = usize::from(self.count) < Self::BLOCKS;
        if room {
            self.blocks[usize::from(self.count)] = (start, end);
            self.count += 1;
        }
        room
    }
    /// The selectively acknowledged ranges, most recent first.
    pub fn sack(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.count)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_several_packets_add_up_and_of_rates_and_loads_the_later_counts() {
        let change = |b| Explicit::Change(b);
        assert_eq!(change(Some(5)).and(change(Some(-7))), change(Some(-2)));
        assert_eq!(change(None).and(change(Some(-7))), change(Some(-7)));
        assert_eq!(change(Some(5)).and(change(None)), change(Some(5)));
        let load = Explicit::Load;
        assert_eq!(load(Load::Overload).and(load(Load::Low)), load(Load::Low));
    }

    #[test]
    fn next_to_explicit_feedback_there_is_room_for_four_ranges() {
        let mut header =
            ExplicitHeader::new(Explicit::unwritten(ExplicitKind::Rate), Span::from_ms(3), Bytes::ZERO);
        let pushed: Vec<bool> = (0..5).map(|n| header.push(n, n + 1)).collect();
        assert_eq!(pushed, [true, true, true, true, false]);
        assert_eq!(header.sack(), [(0, 1), (1, 2), (2, 3), (3, 4)]);
        assert_eq!(header.rtt, Span::from_ms(3));
    }
}
