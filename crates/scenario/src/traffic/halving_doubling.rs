//! All-reduce by halving and doubling: every host has a vector, and in the end all have their sum (Rabenseifner,
//! Optimization of collective reduction operations, ICCS 2004, LNCS 3036: vector halving and distance doubling, then
//! vector doubling and distance halving).
//!
//! Among N hosts, a power of two, it takes 2 log₂ N steps ([`Rounds`]) instead of a ring's 2(N − 1), for as many bytes.
//! In step k the hosts at places i and i xor 2ᵏ exchange halves of the part that they still sum up; the host with bit k
//! of its place set keeps the upper half. After log₂ N steps each host has the sum of one part of N. Then the same
//! pairs, in reverse order, exchange the sums that they have.

use super::Family;
use super::collective::collective;
use super::course::{Course, Fluid};
use super::declare::default;
use super::drafts::Drafts;
use super::rounds::{Rounds, WAITS, upto};
use super::section::{Expected, Section};
use crate::Diagnostic;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use thalweg_units::{Bytes, Span};

collective! {
    /// Hosts in pairs sum up a vector, half by half, repeatedly: as many bytes as around a ring, in fewer and larger
    /// steps (Rabenseifner, ICCS 2004).
    pub struct HalvingDoubling {
        /// The hosts in the order of their places, a power of two of them. If not given, all hosts in the order of
        /// their numbers.
        #[serde(default)]
        #[schemars(extend("x-node" = "host"))]
        pub hosts: Vec<u32>,
        /// Payload bytes of each host's vector. Flows carry a half of it, a quarter and so on, down to one part per
        /// host.
        #[schemars(extend("examples" = ["1MB"]))]
        pub size: Q<Bytes>,
    }
}

impl HalvingDoubling {
    fn rounds(&self, hosts: usize) -> Rounds {
        let steps = 2 * hosts.ilog2() as usize;
        Rounds { steps, iterations: self.iterations, compute: self.compute.0 }
    }
}

/// The parts that the host at a place still sums up after this many halvings.
fn kept(place: usize, halvings: usize, hosts: usize) -> Range<usize> {
    (0..halvings).fold(0..hosts, |parts, bit| {
        let middle = usize::midpoint(parts.start, parts.end);
        if (place >> bit) & 1 == 1 { middle..parts.end } else { parts.start..middle }
    })
}

/// To which place a host sends in a step, and which parts: those that the other host keeps, in the second half of the
/// steps its own sums.
fn exchange(step: usize, place: usize, hosts: usize) -> (usize, Range<usize>) {
    let halvings = hosts.ilog2() as usize;
    let halves = step < halvings;
    let bit = if halves { step } else { 2 * halvings - 1 - step };
    let other = place ^ (1 << bit);
    (other, kept(if halves { other } else { place }, bit + 1, hosts))
}

impl Family for HalvingDoubling {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        s.start("start", self.start.0)?;
        let hosts = s.members("hosts", &self.hosts)?.len();
        if !hosts.is_power_of_two() {
            let below = 1 << hosts.ilog2();
            let reason = format!(
                "{hosts} hosts are not a power of two, and each step halves the vector between pairs"
            );
            let hint = format!("use {below} or {} hosts, or `kind = \"ring-all-reduce\"`", 2 * below);
            return Err(s.cx.error(&s.key("hosts"), reason, hint));
        }
        s.chunks(self.size.0.get(), hosts)?;
        s.computes(self.iterations, self.compute.0)?;
        let (iterations, n) = (f64::from(self.iterations), hosts as f64);
        let flows = iterations * self.rounds(hosts).steps as f64 * n;
        // Each host sends all but one of N parts, twice.
        let bytes = iterations * 2.0 * (n - 1.0) * self.size.0.get() as f64;
        Ok(Expected { flows, bytes, waits: WAITS * flows, ..Expected::default() })
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let hosts = s.members("hosts", &self.hosts)?;
        let (all, size, start) = (hosts.len(), self.size.0.get(), s.start("start", self.start.0)?);
        let send = |step: usize, place: usize| {
            let (to, parts) = exchange(step, place, all);
            (to, upto(size, parts.end, all) - upto(size, parts.start, all))
        };
        self.rounds(all).lay((s, &hosts), |_| start, send, out)
    }

    fn is_job(&self) -> bool {
        true
    }

    fn course(&self, f: &Fluid) -> Course {
        let hosts = f.members(&self.hosts);
        self.rounds(hosts).course(f, self.start.0, hosts as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{after, ends, network};
    use super::*;

    #[test]
    fn pairs_exchange_a_half_then_a_quarter_and_the_same_backwards() {
        let net = network(5, "kind = \"halving-doubling-all-reduce\"\nhosts = [4, 2, 3, 1]\nsize = \"10B\"");
        let near = [(4, 2), (2, 4), (3, 1), (1, 3)];
        let far = [(4, 3), (2, 1), (3, 4), (1, 2)];
        assert_eq!(ends(&net.flows), [near, far, far, near].concat());
        // Parts of 2, 3, 2 and 3 bytes. After the first step the places 0 and 2 keep the lower half, after the second
        // 0 keeps part 0, 1 part 2, 2 part 1 and 3 part 3.
        let sizes: Vec<u64> = net.flows.iter().map(|f| f.size).collect();
        assert_eq!(sizes, [5, 5, 5, 5, 3, 3, 2, 2, 2, 2, 3, 3, 5, 5, 5, 5]);
        let after = after(&net);
        assert_eq!(after[4..8], [vec![0, 1], vec![0, 1], vec![2, 3], vec![2, 3]]);
        assert_eq!(after[12..14], [vec![8, 10], vec![9, 11]]);
    }

    /// Played through: partial sums as sets of hosts, per host and part.
    #[test]
    fn in_the_end_every_host_has_every_hosts_share_of_every_part() {
        for hosts in [2, 4, 8, 32] {
            let steps = 2 * usize::ilog2(hosts) as usize;
            let mut sums: Vec<Vec<u64>> = (0..hosts).map(|host| vec![1 << host; hosts]).collect();
            for step in 0..steps {
                let before = sums.clone();
                for place in 0..hosts {
                    let (to, parts) = exchange(step, place, hosts);
                    for part in parts {
                        let halves = step < steps / 2;
                        assert!(!halves || before[place][part] & before[to][part] == 0, "no share twice");
                        sums[to][part] |= before[place][part];
                    }
                }
            }
            let all = u64::MAX >> (64 - hosts);
            assert!(sums.iter().flatten().all(|sum| *sum == all), "{hosts} hosts");
        }
    }
}
