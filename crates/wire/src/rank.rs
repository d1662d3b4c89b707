//! What the rank header holds: one field, which sources, stages and queues use in turn.

use crate::packet::Packet;

/// What [`Packet::rank`] holds: one field of the header, which means different things in different places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// What its source wrote: bytes, a priority. May be taken for any other.
    Rank,
    /// The slack that is left, ps.
    Slack,
    /// The deadline at the exit, ps.
    Deadline,
    /// At a switch: what its queue sorts by.
    Key,
}

impl Meaning {
    const ALL: [Self; 4] = [Self::Rank, Self::Slack, Self::Deadline, Self::Key];
    /// Where debug builds note the meaning, in [`Packet::flags`].
    const SHIFT: u32 = 14;
}

impl Packet {
    /// What the header holds, which must mean this (debug builds check it).
    #[inline(always)]
    #[track_caller]
    pub fn carried(&self, meaning: Meaning) -> i64 {
        if cfg!(debug_assertions) {
            let found = Meaning::ALL[usize::from(self.flags.0 >> Meaning::SHIFT)];
            assert!(found == meaning || found == Meaning::Rank, "a {found:?} is not a {meaning:?}");
        }
        self.rank
    }
    /// Writes the header.
    #[inline(always)]
    pub fn carry(&mut self, meaning: Meaning, value: i64) {
        self.rank = value;
        if cfg!(debug_assertions) {
            self.flags.0 = self.flags.0 & !(3 << Meaning::SHIFT) | (meaning as u16) << Meaning::SHIFT;
        }
    }
}
