//! Hierarchical all-reduce: every host has a vector, and in the end all have their sum, which is computed within groups
//! first (Jia et al., Highly scalable deep learning training system with mixed-precision: training ImageNet in four
//! minutes, arXiv 1807.11205, 2018, §3.3: a reduce-scatter in each group, an all-reduce among the hosts at the same
//! place of all groups, an all-gather in each group).
//!
//! Among m groups of g hosts it takes 2(g − 1) + 2(m − 1) steps ([`Rounds`]), all of them around rings. In the first g
//! − 1 steps the hosts of a group sum up the vector, so that each ends with one of g chunks. In the next 2(m − 1) steps
//! the hosts at the same place of all groups sum up that chunk, in m parts. In the last g − 1 steps the hosts of a
//! group exchange their chunks. Only the steps in the middle leave the groups: with g GPUs per server, each on a rail
//! of its own, no flow goes from one rail to another.

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
    /// Hosts sum up a vector around rings, first within groups and then among groups, repeatedly (Jia et al., 2018).
    pub struct Hierarchical {
        /// The hosts, group by group. If not given, all hosts in the order of their numbers.
        #[serde(default)]
        #[schemars(extend("x-node" = "host"))]
        pub hosts: Vec<u32>,
        /// Number of hosts in a group: consecutive ones, such as the GPUs of a server.
        #[schemars(range(min = 2, max = 1_000_000), extend("examples" = [8]))]
        pub group: u32,
        /// Payload bytes of each host's vector. Flows within groups carry one of as many chunks as a group has hosts,
        /// flows between groups one of as many parts of a chunk as there are groups.
        #[schemars(extend("examples" = ["1MB"]))]
        pub size: Q<Bytes>,
    }
}

/// The groups. The vector has as many parts as there are hosts; a chunk consists of as many parts as there are groups.
#[derive(Clone, Copy)]
struct Groups {
    /// Number of hosts of each group.
    each: usize,
    count: usize,
}

impl Groups {
    fn parts(self) -> usize {
        self.each * self.count
    }

    fn steps(self) -> usize {
        2 * (self.each - 1) + 2 * (self.count - 1)
    }

    /// To which place a host sends in a step, and which parts of the vector.
    fn exchange(self, step: usize, place: usize) -> (usize, Range<usize>) {
        let Self { each, count } = self;
        let (group, own) = (place / each, place % each);
        let next = group * each + (own + 1) % each;
        let chunk = |number: usize| number % each * count..(number % each + 1) * count;
        let (inside, across) = (each - 1, 2 * (count - 1));
        if step < inside {
            return (next, chunk(own + each - step));
        }
        // The chunk that a host has summed up in its group is the one after that of its own place.
        if let Some(gathered) = step.checked_sub(inside + across) {
            return (next, chunk(own + 1 + each - gathered));
        }
        let part = chunk(own + 1).start + (group + 2 * count - (step - inside)) % count;
        ((group + 1) % count * each + own, part..part + 1)
    }
}

impl Hierarchical {
    fn groups(&self, hosts: usize) -> Groups {
        let each = self.group as usize;
        Groups { each, count: hosts / each }
    }

    fn rounds(&self, groups: Groups) -> Rounds {
        Rounds { steps: groups.steps(), iterations: self.iterations, compute: self.compute.0 }
    }
}

impl Family for Hierarchical {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        s.start("start", self.start.0)?;
        let hosts = s.members("hosts", &self.hosts)?.len();
        let each = self.group as usize;
        if hosts % each > 0 || hosts == each {
            let reason = format!("{hosts} hosts cannot be divided into several groups of {each}");
            let divisor = |n: &usize| hosts.is_multiple_of(*n);
            let hint = match (2..hosts).filter(divisor).min_by_key(|n| n.abs_diff(each)) {
                Some(near) => format!(
                    "write {near}, which divides {hosts}; for a single group `kind = \"ring-all-reduce\"`"
                ),
                None => "`kind = \"ring-all-reduce\"` needs no groups".to_owned(),
            };
            return Err(s.cx.error(&s.key("group"), reason, hint));
        }
        s.chunks(self.size.0.get(), hosts)?;
        s.computes(self.iterations, self.compute.0)?;
        let groups = self.groups(hosts);
        let (iterations, n) = (f64::from(self.iterations), hosts as f64);
        // Each host sends all chunks but one twice, and all parts of its own chunk but one twice.
        let (each, count) = (groups.each as f64, groups.count as f64);
        let vectors = 2.0 * n * ((each - 1.0) / each + (count - 1.0) / n);
        let flows = iterations * groups.steps() as f64 * n;
        let bytes = iterations * vectors * self.size.0.get() as f64;
        Ok(Expected { flows, bytes, waits: WAITS * flows, ..Expected::default() })
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let hosts = s.members("hosts", &self.hosts)?;
        let (groups, start) = (self.groups(hosts.len()), s.start("start", self.start.0)?);
        let size = self.size.0.get();
        let send = |step: usize, place: usize| {
            let (to, parts) = groups.exchange(step, place);
            (to, upto(size, parts.end, groups.parts()) - upto(size, parts.start, groups.parts()))
        };
        self.rounds(groups).lay((s, &hosts), |_| start, send, out)
    }

    fn is_job(&self) -> bool {
        true
    }

    fn course(&self, f: &Fluid) -> Course {
        let hosts = f.members(&self.hosts);
        self.rounds(self.groups(hosts)).course(f, self.start.0, hosts as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{after, ends, network};
    use super::*;

    #[test]
    fn rings_within_groups_come_before_and_after_those_across() {
        let net = network(4, "kind = \"hierarchical-all-reduce\"\ngroup = 2\nsize = \"10B\"");
        let inside = [(0, 1), (1, 0), (2, 3), (3, 2)];
        let across = [(0, 2), (1, 3), (2, 0), (3, 1)];
        assert_eq!(ends(&net.flows), [inside, across, across, inside].concat());
        // Chunks of 5 bytes, in parts of 2 and 3: the first group begins with part 0.
        let sizes: Vec<u64> = net.flows.iter().map(|f| f.size).collect();
        assert_eq!(sizes, [5, 5, 5, 5, 2, 2, 3, 3, 3, 3, 2, 2, 5, 5, 5, 5]);
        let after = after(&net);
        assert_eq!(after[4..8], [vec![0, 1], vec![0, 1], vec![2, 3], vec![2, 3]]);
    }

    /// Played through: of every host and part the hosts whose values it has summed up.
    #[test]
    fn in_the_end_every_host_has_the_sum_of_all() {
        for (each, count) in [(2, 2), (3, 2), (2, 5), (4, 3), (8, 4)] {
            let groups = Groups { each, count };
            let hosts = groups.parts();
            let sums_up = [0..each - 1, each - 1..each - 1 + count - 1];
            let mut sums: Vec<Vec<u64>> = (0..hosts).map(|host| vec![1 << host; hosts]).collect();
            for step in 0..groups.steps() {
                for (place, has) in sums.clone().into_iter().enumerate() {
                    let (to, parts) = groups.exchange(step, place);
                    for part in parts {
                        let sum = &mut sums[to][part];
                        if sums_up.iter().any(|steps| steps.contains(&step)) {
                            assert_eq!(*sum & has[part], 0, "no value is added twice");
                            *sum |= has[part];
                        } else {
                            *sum = has[part];
                        }
                    }
                }
            }
            assert!(sums.iter().flatten().all(|sum| *sum == (1 << hosts) - 1), "{each} × {count}");
        }
    }
}
