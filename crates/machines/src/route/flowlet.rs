//! LetFlow: every flowlet takes a random port.
//!
//! Vanini, Pan, Alizadeh, Taheri, Edsall, "Let It Flow: Resilient Asymmetric Load Balancing with Flowlet Switching",
//! NSDI 2017, §3. A switch has a flowlet table. A packet's flow is hashed to an entry; as long as packets come within
//! the flowlet timeout Δ, the entry's port is kept, otherwise a new one is drawn, each candidate with the same
//! probability. Nothing is measured: a flow on a congested path is held up, so that gaps open between its packets, and
//! each gap lets it move; on a path that is free flowlets are long. So more bytes go where there is more bandwidth.
//!
//! ```text
//! CHOICE LetFlow §3: an entry keeps the instant of its last packet, and a gap longer than Δ ends the flowlet
//! (`aging = "exact"`). The paper's switches have an age bit instead, which a process sets in every entry at every
//! multiple of Δ and packets clear; an entry that it finds set is invalid: gaps between Δ and 2Δ end a flowlet or not
//! (`aging = "age-bit"`; the entry here counts those multiples as it is next looked at).
//! CHOICE LetFlow §3: an entry that two flows share is kept alive by both, and moves them together, as in the paper.
//! One whose port is no candidate of the packet (another destination, or a link that has failed) is drawn anew. Other
//! reading: a table for every set of candidates.
//! CHOICE LetFlow §3: the paper hashes the five-tuple (`hash = "flow"`), and what comes back is a flow of its own.
//! ```
//!
//! The paper is cited from memory: its section could not be checked.
//!
//! Left out: weights of ports, which the paper has none of either.

pub use super::flowlets::Aging;

use super::flowlets::Flowlets;
use super::{Candidates, Needs, Parameters, Passing, Problems, RouteRule, Site};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Stream, Time, mix64};

/// LetFlow: a flow keeps its port until a gap between its packets is longer than a timeout; then a new port is drawn
/// (Vanini et al., NSDI 2017).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Δ: the flowlet timeout.
    pub timeout: Span,
    /// Size of the flowlet table of each switch, in entries.
    #[schemars(extend("minimum" = 1, "maximum" = 16_777_216))]
    pub entries: u32,
    /// What is hashed to an entry of the table.
    pub hash: Hash,
    /// How the end of a flowlet is detected.
    pub aging: Aging,
}

impl Default for Params {
    /// CONGA's 500 us (SIGCOMM 2014). That LetFlow's testbed has them, too, and the 64 K entries are from memory.
    fn default() -> Self {
        Self { timeout: Span::from_us(500), entries: 1 << 16, hash: Hash::Flow, aging: Aging::Exact }
    }
}

/// What is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Hash {
    /// The flow and its direction: the five-tuple.
    #[default]
    Flow,
    /// The destination alone.
    Destination,
}

impl Parameters for Params {
    type Machine = LetFlow;

    fn needs(&self) -> Needs {
        Needs { draws: true, remembers: true, ..Needs::PACKET }
    }

    fn check(&self, _: &super::Around, problems: &mut Problems) {
        problems.positive("timeout", self.timeout, "500us");
        problems.table("entries", self.entries);
        if self.hash == Hash::Destination && self.entries == 1 {
            problems.useless("hash", "there is one entry for all", "remove the key, or raise `entries`");
        }
    }

    fn make(&self, at: &Site) -> LetFlow {
        LetFlow {
            p: self.clone(),
            flowlets: Flowlets::new(at.salt(), self.entries),
            stream: at.stream("flowlet"),
        }
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let few = Self { timeout: Span::from_us(3), entries: 5, ..Self::default() };
        vec![
            Self { aging: Aging::AgeBit, ..few.clone() },
            Self { hash: Hash::Destination, ..few.clone() },
            few,
        ]
    }
}

/// One switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LetFlow {
    p: Params,
    flowlets: Flowlets,
    stream: Stream,
}

impl RouteRule for LetFlow {
    #[inline]
    fn choose(&mut self, now: Time, packet: &mut Passing, ports: &mut impl Candidates) -> usize {
        let hash = match self.p.hash {
            Hash::Flow => packet.hash(),
            Hash::Destination => mix64(u64::from(packet.dst.0)),
        };
        let entry = self.flowlets.entry(hash);
        let goes_on = self.p.aging.goes_on(self.p.timeout, entry.last, now);
        let kept = if goes_on { entry.named(&*ports) } else { None };
        let candidate = kept.unwrap_or_else(|| self.stream.below(ports.count() as u64) as usize);
        entry.take(candidate, &*ports, now);
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Ports, at_switch, passing};
    use super::*;

    fn machine(aging: Aging) -> LetFlow {
        Params { timeout: Span::from_us(10), aging, ..Params::default() }.make(&at_switch(0))
    }

    /// Of 200 packets that come so far apart from each other: how often the port changes.
    fn moves(aging: Aging, gap_ns: u64) -> usize {
        let (mut here, mut ports) = (machine(aging), Ports::idle(2));
        let port = |n| here.choose(Time::from_ns(n * gap_ns), &mut passing(1), &mut ports);
        let taken: Vec<usize> = (0..200).map(port).collect();
        taken.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    #[test]
    fn gaps_up_to_the_timeout_keep_the_port_and_longer_ones_draw() {
        assert_eq!(moves(Aging::Exact, 10_000), 0, "a gap of 10 us does not exceed it");
        // 199 draws of two ports: every second one moves, give or take 3 standard deviations of 7.
        assert!(moves(Aging::Exact, 10_001).abs_diff(100) < 22);
    }

    #[test]
    fn an_age_bit_sees_gaps_that_two_multiples_of_the_timeout_lie_in() {
        assert_eq!(moves(Aging::AgeBit, 10_000), 0, "a gap never spans two");
        assert!(moves(Aging::AgeBit, 20_000).abs_diff(100) < 22, "and one of 2 timeouts always does");
    }

    #[test]
    fn a_port_that_is_no_candidate_any_more_is_drawn_anew_and_a_moved_one_found() {
        let mut here = machine(Aging::Exact);
        let first = here.choose(Time::ZERO, &mut passing(1), &mut Ports::of(&[4, 6, 8]));
        let port = [4, 6, 8][first];
        // One below it is gone: its number has changed, it has not.
        let kept = here.choose(Time::from_us(1), &mut passing(1), &mut Ports::of(&[2, 3, port]));
        assert_eq!(kept, 2);
        let other = here.choose(Time::from_us(2), &mut passing(1), &mut Ports::of(&[10, 12]));
        assert!(other < 2);
        assert_eq!(here.choose(Time::from_us(3), &mut passing(1), &mut Ports::of(&[10, 12])), other);
    }

    #[test]
    fn two_flows_in_one_entry_keep_each_other_alive() {
        let mut here =
            Params { timeout: Span::from_us(10), entries: 1, ..Params::default() }.make(&at_switch(0));
        let mut ports = Ports::idle(16);
        let port = here.choose(Time::ZERO, &mut passing(1), &mut ports);
        for n in 1..50 {
            assert_eq!(here.choose(Time::from_us(6 * n), &mut passing(n as u32 % 2), &mut ports), port);
        }
    }
}
