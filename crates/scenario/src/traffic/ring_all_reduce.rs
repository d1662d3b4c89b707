//! Ring all-reduce: every host of a ring has a vector, and in the end all have their sum (Patarasuk & Yuan,
//! Bandwidth optimal all-reduce algorithms for clusters of workstations, J. Parallel and Distributed Computing
//! 69(2), 2009, §4).
//!
//! The vector is divided into N chunks, one per host. In each of 2(N − 1) steps ([`Rounds`]) every host sends one chunk
//! to the next host: in the first N − 1 steps its partial sum of the chunk (reduce-scatter), in the others the complete
//! sum (all-gather). In step k host i sends chunk i − k, modulo N.

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
    /// Hosts in a ring sum up a vector, chunk by chunk, repeatedly (Patarasuk & Yuan, JPDC 2009).
    pub struct RingAllReduce {
        /// The hosts in the order of the ring. If not given, all hosts in the order of their numbers.
        #[serde(default)]
        #[schemars(extend("x-node" = "host"))]
        pub hosts: Vec<u32>,
        /// Payload bytes of each host's vector. It is divided into as many chunks as there are hosts, and every flow
        /// carries one.
        #[schemars(extend("examples" = ["1MB"]))]
        pub size: Q<Bytes>,
    }
}

impl RingAllReduce {
    fn rounds(&self, hosts: usize) -> Rounds {
        Rounds { steps: 2 * (hosts - 1), iterations: self.iterations, compute: self.compute.0 }
    }
}

impl Family for RingAllReduce {
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
