//! A switch's flowlet table: the port that a flow's packets take as long as they follow each other closely.
//!
//! Kandula, Katabi, Sinha, Berger, "Dynamic Load Balancing Without Packet Reordering", ACM CCR 37(2), 2007: a gap
//! longer than the difference of the paths' delays lets the next packet take another path without being reordered.

use super::{Candidates, spread};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{PortId, Span, Time};

/// How the end of a flowlet is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Aging {
    /// After a gap longer than the timeout.
    #[default]
    Exact,
    /// When the second multiple of the timeout passes without a packet.
    AgeBit,
}

impl Aging {
    /// The packet at `now` belongs to the flowlet of that at `last`.
    #[inline]
    pub(super) fn goes_on(self, timeout: Span, last: Time, now: Time) -> bool {
        match self {
            Self::Exact => now - last <= timeout,
            Self::AgeBit => now.ps() / timeout.ps() - last.ps() / timeout.ps() < 2,
        }
    }
}

/// The table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Flowlets {
    salt: u64,
    entries: u32,
    /// Empty until the first packet that has a choice: the switches in the middle of most networks never have one.
    table: Vec<Entry>,
}

/// A flowlet, or what is left of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Where it leaves; [`PortId::NONE`]: there has been none.
    port: PortId,
    /// Which candidate that was: a hint.
    candidate: u32,
    /// Its last packet.
    pub last: Time,
}

impl Flowlets {
    /// An empty one of so many entries.
    pub fn new(salt: u64, entries: u32) -> Self {
        Self { salt, entries, table: Vec::new() }
    }

    /// The entry of the flows of this hash.
    #[inline]
    pub fn entry(&mut self, hash: u64) -> &mut Entry {
        if self.table.is_empty() {
            let free = Entry { port: PortId::NONE, candidate: 0, last: Time::ZERO };
            self.table = vec![free; self.entries as usize];
        }
        &mut self.table[spread(hash, self.salt, self.entries as usize)]
    }
}

impl Entry {
    /// The candidate that it names, if it does.
    #[inline]
    pub fn named(&self, ports: &impl Candidates) -> Option<usize> {
        let hint = self.candidate as usize;
        if hint < ports.count() && ports.port(hint) == self.port {
            return Some(hint);
        }
        (0..ports.count()).find(|candidate| ports.port(*candidate) == self.port)
    }

    /// A packet at `now` takes this candidate.
    #[inline]
    pub fn take(&mut self, candidate: usize, ports: &impl Candidates, now: Time) {
        *self = Self { port: ports.port(candidate), candidate: candidate as u32, last: now };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_bit_sees_gaps_that_two_multiples_of_the_timeout_lie_in() {
        // 9 and 21: the multiples 10 and 20 lie between them. 11 and 29: only 20 does.
        let goes_on =
            |last, now| Aging::AgeBit.goes_on(Span::from_us(10), Time::from_us(last), Time::from_us(now));
        assert!(!goes_on(9, 21) && goes_on(11, 29));
        assert!(!goes_on(11, 30), "the process has been there by 30");
    }
}
