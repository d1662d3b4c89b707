//! Ring all-reduce: every host of a ring has a vector, and in the end all have their sum (Patarasuk & Yuan,
//! Bandwidth optimal all-reduce algorithms for clusters of workstations, J. Parallel and Distributed Computing
//! 69(2), 2009, §4).
//!
//! The vector has as many chunks as there are N hosts. In each of 2(N − 1) steps every host sends one chunk to the
//! next one: in the first N − 1 steps what it has summed up of it (reduce-scatter), in the others the sum
//! (all-gather). The chunk that host i sends in step k is number i − k, modulo N.
//!
//! What waits for what: the flow of host i in step k follows that of the host before it in step k − 1, which has
//! brought the chunk that is passed on, and its own in step k − 1, as a host sends one chunk at a time. The first
//! step of an iteration follows the last one of the iteration before in the same way, after the time to compute:
//! hosts wait for their neighbours, not for all. That adding up takes no time and that a host knows at once that
//! its chunk has arrived are simplifications.

use super::Family;
use super::course::{Course, Fluid};
use super::declare::default;
use super::drafts::Drafts;
use super::section::{Expected, Section};
use crate::Diagnostic;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// Hosts in a ring sum up a vector, chunk by chunk, again and again (Patarasuk & Yuan, JPDC 2009).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RingAllReduce {
    /// The hosts in the order of the ring; all, in the order of their numbers, if not given.
    #[serde(default)]
    #[schemars(extend("x-node" = "host"))]
    pub hosts: Vec<u32>,
    /// Of each host's vector, payload: a flow carries one of as many chunks as there are hosts.
    #[schemars(extend("examples" = ["1MB"]))]
    pub size: Q<Bytes>,
    /// How often.
    #[serde(default = "default::one")]
    #[schemars(range(min = 1, max = 10_000_000))]
    pub iterations: u32,
    /// Between the last chunk of an iteration at a host and the first that it sends in the next.
    #[serde(default = "default::zero")]
    pub compute: Q<Span>,
    /// When the first chunks are sent.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
}

impl RingAllReduce {
    /// Bytes of a chunk: all together are the vector, and no two differ by more than one.
    fn chunk(&self, number: usize, chunks: usize) -> u64 {
        let upto = |n: usize| (u128::from(self.size.0.get()) * n as u128 / chunks as u128) as u64;
        upto(number + 1) - upto(number)
    }
}

/// Steps of an iteration among so many hosts.
fn steps(hosts: usize) -> usize {
    2 * (hosts - 1)
}

impl Family for RingAllReduce {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        s.start("start", self.start.0)?;
        let ring = s.members("hosts", &self.hosts)?;
        if self.size.0.get() < ring.len() as u64 {
            let reason = format!("{} are no {} chunks of at least 1 byte", self.size.0, ring.len());
            return Err(s.cx.error(&s.key("size"), reason, format!("write \"{}B\" or more", ring.len())));
        }
        if self.iterations == 1 && !self.compute.0.is_zero() {
            return Err(s.useless("compute", "iterations", "iteration"));
        }
        let rounds = f64::from(self.iterations) * steps(ring.len()) as f64;
        let bytes = rounds * self.size.0.get() as f64;
        Ok(Expected { flows: rounds * ring.len() as f64, bytes, ..Expected::default() })
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let ring = s.members("hosts", &self.hosts)?;
        let all = ring.len();
        let start = s.start("start", self.start.0)?;
        // Each host's flow of the step before, by its place in the ring.
        let mut before: Vec<usize> = Vec::new();
        for step in 0..self.iterations as usize * steps(all) {
            s.cx.proceed()?;
            let in_iteration = step % steps(all);
            let pause = if in_iteration == 0 { self.compute.0 } else { Span::ZERO };
            let send = |i: usize| {
                let (src, dst) = (ring[i], ring[(i + 1) % all]);
                let size = self.chunk((i + 2 * all - in_iteration) % all, all);
                match before[..] {
                    [] => out.push(s.flow(src, dst, size, start)),
                    _ => out
                        .follow(s.follower(src, dst, size, pause), &[before[(i + all - 1) % all], before[i]]),
                }
            };
            before = (0..all).map(send).collect();
        }
        Ok(())
    }

    fn course(&self, f: &Fluid) -> Course {
        let (begin, iterations) = (self.start.0.secs(), f64::from(self.iterations));
        let hosts = if self.hosts.is_empty() { f.hosts } else { self.hosts.len() as f64 };
        let steps = 2.0 * (hosts - 1.0) * (f.wire / f.line + f.rtt / 2.0);
        Course::new(begin, begin + iterations * steps + (iterations - 1.0) * self.compute.0.secs(), hosts)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{after, ends, network};

    #[test]
    fn a_chunk_waits_for_the_one_from_the_host_before_and_for_its_own_sender() {
        let net = network(4, "kind = \"ring-all-reduce\"\nhosts = [2, 0, 1]\nsize = \"10B\"");
        assert_eq!(ends(&net.flows[..6]), [(2, 0), (0, 1), (1, 2), (2, 0), (0, 1), (1, 2)]);
        // Chunks of 3, 3 and 4 bytes. In step 0 the host at place i sends chunk i, in step 1 the one before.
        let sizes: Vec<u64> = net.flows.iter().map(|f| f.size).collect();
        assert_eq!(sizes, [3, 3, 4, 4, 3, 3, 3, 4, 3, 3, 3, 4]);
        let after = after(&net);
        assert_eq!(after[..6], [vec![], vec![], vec![], vec![0, 2], vec![0, 1], vec![1, 2]]);
        assert_eq!(after[9..], [vec![6, 8], vec![6, 7], vec![7, 8]]);
    }
}
