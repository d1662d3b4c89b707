//! Tree all-reduce: every host of a tree has a vector, and in the end all have their sum (Thakur, Rabenseifner, Gropp,
//! Optimization of collective communication operations in MPICH, Int. J. High Performance Computing Applications
//! 19(1), 2005: a reduction to the root, then a broadcast). With a few bytes it is a barrier: no host goes on before
//! all have come.
//!
//! Hosts are numbered by their places: the parent of place i is place (i − 1) / arity, rounded down, and place 0 is the
//! root. Every host but the root sends the sum of its subtree to its parent when it has the sums of its children. A
//! host that has the complete sum sends it to all its children at the same time. It begins the next iteration the
//! computation time after it had the complete sum; a host with children waits for their next sums, which come later.
//! Additions take no time, which is a simplification.

use super::Family;
use super::collective::collective;
use super::course::{Course, Fluid};
use super::declare::default;
use super::drafts::Drafts;
use super::section::{Expected, Section};
use crate::Diagnostic;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

collective! {
    /// Hosts in a tree sum up a vector: partial sums move up to the root, then the sum moves down, repeatedly (Thakur
    /// et al., IJHPCA 2005). With a `size` of a few bytes this is a barrier.
    pub struct TreeAllReduce {
        /// The hosts in the order of their places in the tree, the root first. If not given, all hosts in the order of
        /// their numbers.
        #[serde(default)]
        #[schemars(extend("x-node" = "host"))]
        pub hosts: Vec<u32>,
        /// Payload bytes of each host's vector, and of every flow.
        #[schemars(extend("examples" = ["1MB", "64B"]))]
        pub size: Q<Bytes>,
        /// Number of children of a host.
        #[serde(default = "default::two")]
        #[schemars(range(min = 1, max = 1_000_000))]
        pub arity: u32,
    }
}

impl TreeAllReduce {
    fn parent(&self, place: usize) -> usize {
        (place - 1) / self.arity as usize
    }

    /// Number of levels below the root of a tree of `hosts` hosts.
    fn height(&self, hosts: usize) -> f64 {
        let (mut levels, mut place) = (0.0, hosts - 1);
        while place > 0 {
            (levels, place) = (levels + 1.0, self.parent(place));
        }
        levels
    }
}

impl Family for TreeAllReduce {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        s.start("start", self.start.0)?;
        let hosts = s.members("hosts", &self.hosts)?.len();
        if self.size.0.get() == 0 {
            return Err(s.cx.error(
                &s.key("size"),
                "an empty vector needs no messages",
                "write at least \"1B\"",
            ));
        }
        s.size("size", self.size.0.get())?;
        if self.arity as usize >= hosts {
            let reason = format!("in a tree of {hosts} hosts none can have {} children", self.arity);
            return Err(s.cx.error(&s.key("arity"), reason, format!("write at most {}", hosts - 1)));
        }
        s.computes(self.iterations, self.compute.0)?;
        let flows = f64::from(self.iterations) * 2.0 * (hosts - 1) as f64;
        let bytes = flows * self.size.0.get() as f64;
        // Every flow but those of the first leaves is waited for, or waits, about once.
        Ok(Expected { flows, bytes, waits: flows, ..Expected::default() })
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let hosts = s.members("hosts", &self.hosts)?;
        let (start, size) = (s.start("start", self.start.0)?, self.size.0.get());
        // By place: the upward flows that a host waits for, and the flow that has brought it the complete sum.
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); hosts.len()];
        let mut sum: Vec<Option<usize>> = vec![None; hosts.len()];
        for _ in 0..self.iterations {
            s.cx.proceed()?;
            children.iter_mut().for_each(Vec::clear);
            for place in (1..hosts.len()).rev() {
                let (src, dst) = (hosts[place], hosts[self.parent(place)]);
                let flow = match (&children[place][..], sum[place]) {
                    ([], None) => out.push(s.flow(src, dst, size, start)),
                    ([], Some(sum)) => out.follow(s.follower(src, dst, size, self.compute.0), &[sum]),
                    (subtrees, _) => out.follow(s.follower(src, dst, size, Span::ZERO), subtrees),
                };
                children[self.parent(place)].push(flow);
            }
            for place in 1..hosts.len() {
                let parent = self.parent(place);
                let follower = s.follower(hosts[parent], hosts[place], size, Span::ZERO);
                sum[place] = Some(match sum[parent] {
                    None => out.follow(follower, &children[0]),
                    Some(sum) => out.follow(follower, &[sum]),
                });
            }
        }
        Ok(())
    }

    fn is_job(&self) -> bool {
        true
    }

    fn course(&self, f: &Fluid) -> Course {
        let (begin, iterations) = (self.start.0.secs(), f64::from(self.iterations));
        let hosts = f.members(&self.hosts);
        let level = f64::from(self.arity) * f.wire / f.line + f.rtt / 2.0;
        let each = 2.0 * self.height(hosts) * level;
        Course::new(
            begin,
            begin + iterations * each + (iterations - 1.0) * self.compute.0.secs(),
            hosts as f64 / 2.0,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{after, ends, network};

    #[test]
    fn sums_go_up_when_all_children_have_sent_and_down_again() {
        let net = network(
            6,
            "kind = \"tree-all-reduce\"\nhosts = [5, 4, 3, 2, 1]\nsize = \"10B\"\niterations = 2\ncompute = \"3us\"",
        );
        // Places 1 and 2 below the root, 3 and 4 below place 1.
        let up = [(1, 4), (2, 4), (3, 5), (4, 5)];
        let down = [(5, 4), (5, 3), (4, 2), (4, 1)];
        assert_eq!(ends(&net.flows[..4]), up);
        assert_eq!(ends(&net.flows[4..8]), down);
        assert_eq!(ends(&net.flows[8..12]), up);
        let after = after(&net);
        assert_eq!(after[..4], [vec![], vec![], vec![], vec![0, 1]]);
        assert_eq!(after[4..8], [vec![2, 3], vec![2, 3], vec![4], vec![4]]);
        // Leaves go on when they have computed, host 4 when its children have.
        assert_eq!(after[8..12], [vec![7], vec![6], vec![5], vec![8, 9]]);
        assert!(net.flows.iter().all(|flow| flow.size == 10));
    }
}
