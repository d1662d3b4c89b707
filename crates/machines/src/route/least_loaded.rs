//! DRILL: every packet to the least loaded of a few ports.
//!
//! Ghorbani, Yang, Godfrey, Ganjali, Firoozshahian, "DRILL: Micro Load Balancing for Low-latency Data Center Networks",
//! SIGCOMM 2017, §3.2. DRILL(d, m): for every packet a switch draws d of the candidates at random, compares what waits
//! there and at the m that it remembers as the least loaded, and sends the packet to the one with least; then it
//! remembers the m least loaded of those compared.
//!
//! ```text
//! CHOICE DRILL §3.2: the d are drawn independently, so that one may come twice. Other reading: d different ones.
//! CHOICE DRILL §3.2: among equals those drawn come first, in the order of the draws; so an idle switch spreads its
//! packets. Other reading: those remembered first.
//! CHOICE DRILL §3.2: a switch remembers m ports, whatever the destination; those that are no candidates of the packet
//! are passed over, and forgotten. Other reading: m for every set of candidates.
//! CHOICE DRILL §3.2: a switch has one engine. Switches with several, each with a memory of its own, decide at the same
//! time on the same queues.
//! ```
//!
//! d, m and what is compared agree with a published summary; the numbers of sections are from memory.
//!
//! Left out: §3.4, which groups the paths of an asymmetric network and gives the groups weights; and the shim that puts
//! packets in order at the receiving host.

use super::{Around, Candidates, Needs, Parameters, Passing, Problems, RouteRule, Site};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{PortId, Stream, Time};

/// The most ports that a switch remembers.
const MOST: usize = 8;

/// DRILL: every packet to the port with the shortest queue, among some drawn at random and those remembered as the
/// least loaded (Ghorbani et al., SIGCOMM 2017).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// d: number of ports drawn at random for every packet.
    #[schemars(extend("minimum" = 1, "maximum" = 64))]
    pub samples: u32,
    /// m: number of ports remembered as the least loaded of those compared.
    #[schemars(extend("minimum" = 0, "maximum" = 8))]
    pub memory: u32,
}

impl Default for Params {
    /// DRILL(2, 1), which the paper finds to be enough.
    fn default() -> Self {
        Self { samples: 2, memory: 1 }
    }
}

impl Parameters for Params {
    type Machine = Drill;

    fn needs(&self) -> Needs {
        Needs { waiting: true, draws: true, remembers: self.memory > 0, ..Needs::PACKET }
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        let Self { samples, memory } = *self;
        if !(1..=64).contains(&samples) {
            problems.wrong("samples", format!("{samples} ports are drawn"), "allowed: 1 to 64");
        }
        if memory as usize > MOST {
            problems.wrong("memory", format!("{memory} ports are remembered"), "allowed: 0 to 8");
        } else if samples == 1 && memory == 0 {
            problems.wrong("samples", "one port drawn is compared with none", "write 2, or `memory = 1`");
        }
        if samples > at.links {
            let why = format!("no switch has more than {} links", at.links);
            problems.useless("samples", &why, format!("at most {}", at.links));
        }
        if memory > at.links {
            let why = format!("no switch has more than {} links", at.links);
            problems.useless("memory", &why, format!("at most {}", at.links));
        }
    }

    fn make(&self, at: &Site) -> Drill {
        Drill { p: self.clone(), stream: at.stream("least loaded"), least: [PortId::NONE; MOST] }
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        [(2, 1), (1, 8), (3, 0)].map(|(samples, memory)| Self { samples, memory }).into()
    }
}

/// The engine of one switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drill {
    p: Params,
    stream: Stream,
    /// What it remembers, the least loaded first; [`PortId::NONE`]: nothing.
    least: [PortId; MOST],
}

/// The m least loaded of those compared, the first of equals first, each once.
struct Compared {
    best: [(u64, usize); MOST],
    known: usize,
    most: usize,
}

impl Compared {
    fn add(&mut self, waiting: u64, candidate: usize) {
        if self.best[..self.known].iter().any(|(_, known)| *known == candidate) {
            return;
        }
        let behind = self.best[..self.known].iter().filter(|(known, _)| *known <= waiting).count();
        if behind == self.most {
            return;
        }
        self.known = self.most.min(self.known + 1);
        self.best[behind..self.known].rotate_right(1);
        self.best[behind] = (waiting, candidate);
    }
}

impl RouteRule for Drill {
    #[inline]
    fn choose(&mut self, _: Time, _: &mut Passing, ports: &mut impl Candidates) -> usize {
        let (count, memory) = (ports.count(), self.p.memory as usize);
        let mut compared = Compared { best: [(0, 0); MOST], known: 0, most: memory.max(1) };
        for _ in 0..self.p.samples {
            let drawn = self.stream.below(count as u64) as usize;
            compared.add(ports.waiting(drawn), drawn);
        }
        for remembered in &self.least[..memory] {
            let known = (0..count).find(|candidate| ports.port(*candidate) == *remembered);
            if let Some(candidate) = known {
                compared.add(ports.waiting(candidate), candidate);
            }
        }
        let best = &compared.best[..compared.known];
        for (at, remembered) in self.least[..memory].iter_mut().enumerate() {
            *remembered = best.get(at).map_or(PortId::NONE, |(_, candidate)| ports.port(*candidate));
        }
        compared.best[0].1
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Ports, at_switch, passing};
    use super::*;

    fn machine(samples: u32, memory: u32) -> Drill {
        Params { samples, memory }.make(&at_switch(0))
    }

    #[test]
    fn once_the_emptier_of_two_ports_is_known_every_packet_takes_it() {
        let (mut here, mut ports) = (machine(2, 1), Ports::waiting(&[3000, 1500]));
        let taken: Vec<usize> =
            (0..64).map(|_| here.choose(Time::ZERO, &mut passing(1), &mut ports)).collect();
        let first = taken.iter().position(|port| *port == 1).expect("both draws miss it once in four");
        assert!(first < 8 && taken[first..].iter().all(|port| *port == 1), "{taken:?}");
    }

    #[test]
    fn without_memory_two_draws_of_two_ports_miss_the_emptier_one_once_in_four() {
        let (mut here, mut ports) = (machine(2, 0), Ports::waiting(&[3000, 1500]));
        let missed = (0..4000).filter(|_| here.choose(Time::ZERO, &mut passing(1), &mut ports) == 0).count();
        assert!(missed.abs_diff(1000) < 82, "{missed}");
    }

    #[test]
    fn idle_ports_share_and_a_busy_one_is_passed_over() {
        let (mut here, mut ports) = (machine(2, 1), Ports::idle(4));
        let mut taken = [0u32; 4];
        (0..4000).for_each(|_| taken[here.choose(Time::ZERO, &mut passing(1), &mut ports)] += 1);
        assert!(taken.iter().all(|n| n.abs_diff(1000) < 82), "{taken:?}");
        let mut ports = Ports::waiting(&[1, 0]);
        let last = (0..16).map(|_| here.choose(Time::ZERO, &mut passing(1), &mut ports)).last();
        assert_eq!(last, Some(1));
    }

    #[test]
    fn what_is_remembered_are_the_least_loaded_of_those_compared_in_order() {
        let mut compared = Compared { best: [(0, 0); MOST], known: 0, most: 2 };
        for (waiting, candidate) in [(9, 0), (5, 1), (5, 2), (9, 0), (2, 3), (5, 4)] {
            compared.add(waiting, candidate);
        }
        assert_eq!(compared.best[..compared.known], [(2, 3), (5, 1)]);
    }

    #[test]
    fn remembered_ports_that_are_no_candidates_are_forgotten() {
        let mut here = machine(1, 1);
        here.least[0] = PortId(8);
        let port = here.choose(Time::ZERO, &mut passing(1), &mut Ports::of(&[4, 6]));
        assert_eq!(here.least[0], PortId([4, 6][port]));
    }
}
