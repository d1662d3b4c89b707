//! Ring all-gather: every host of a ring has a chunk, and in the end all have all (Thakur, Rabenseifner, Gropp,
//! Optimization of collective communication operations in MPICH, Int. J. High Performance Computing Applications 19(1),
//! 2005: the ring algorithm).
//!
//! In each of N − 1 steps ([`Rounds`]) every host sends one chunk to the next host: its own first, then the chunk that
//! it received last. A reduce-scatter around a ring has the same flows, with partial sums instead of chunks, so it is
//! this family, too. Fully sharded training consists of both.

use super::Family;
use super::collective::collective;
use super::course::{Course, Fluid};
use super::declare::default;
use super::drafts::Drafts;
use super::rounds::Rounds;
use super::section::{Expected, Section};
use crate::Diagnostic;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

collective! {
    /// Hosts in a ring pass on their chunks until every host has all chunks, repeatedly (Thakur et al., IJHPCA 2005). A
    /// ring reduce-scatter has the same flows.
    pub struct RingAllGather {
        /// The hosts in the order of the ring. If not given, all hosts in the order of their numbers.
        #[serde(default)]
        #[schemars(extend("x-node" = "host"))]
        pub hosts: Vec<u32>,
        /// Payload bytes of all chunks together, which every host has at the end. Every flow carries one chunk.
        #[schemars(extend("examples" = ["1MB"]))]
        pub size: Q<Bytes>,
    }
}

impl RingAllGather {
    fn rounds(&self, hosts: usize) -> Rounds {
        Rounds { steps: hosts - 1, iterations: self.iterations, compute: self.compute.0 }
    }
}

impl Family for RingAllGather {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        s.start("start", self.start.0)?;
        let hosts = s.members("hosts", &self.hosts)?.len();
        s.chunks(self.size.0.get(), hosts)?;
        s.computes(self.iterations, self.compute.0)?;
        Ok(self.rounds(hosts).passes(hosts, self.size.0.get()))
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let ring = s.members("hosts", &self.hosts)?;
        let start = s.start("start", self.start.0)?;
        self.rounds(ring.len()).pass_on((s, &ring), start, self.size.0.get(), out)
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

    #[test]
    fn every_chunk_but_its_own_comes_to_a_host() {
        let text = "kind = \"ring-all-gather\"\nhosts = [2, 0, 1]\nsize = \"10B\"\niterations = 2\ncompute = \"1us\"";
        let net = network(4, text);
        // Chunks of 3, 3 and 4 bytes: of the hosts 2, 0 and 1.
        let sizes: Vec<u64> = net.flows.iter().map(|f| f.size).collect();
        assert_eq!(sizes, [3, 3, 4, 4, 3, 3, 3, 3, 4, 4, 3, 3]);
        assert_eq!(ends(&net.flows[3..6]), [(2, 0), (0, 1), (1, 2)]);
        assert_eq!(
            after(&net)[3..9],
            [vec![0, 2], vec![0, 1], vec![1, 2], vec![3, 5], vec![3, 4], vec![4, 5]]
        );
    }
}
