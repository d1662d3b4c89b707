//! A job from Chakra traces ([`crate::parse::chakra`]): what the ranks of a program do, a file for each (Sridharan et
//! al., Chakra: advancing performance benchmarking and co-design using standardized execution traces, 2023).
//!
//! A node starts when all that it depends on is done, by control and by data. Computations of a rank come one after the
//! other; messages, and what reads or writes memory, go on while it computes. Collective operations are messages
//! ([`collectives`]); the k-th call of a process group at each of its ranks is the same operation.
//!
//! ```text
//! CHOICE Chakra: `hosts`, `overhead`, `rendezvous` as for GOAL traces.
//! CHOICE Chakra: the operations of a process group come one after the other at each rank (`collectives`). ASTRA-sim
//! has one under way of all groups.
//! CHOICE Chakra: computations of processors and of accelerators (`is_cpu_op`) share one queue.
//! ```

mod collectives;
mod operations;

use super::declare::default;
use super::goal::assemble;
use super::job::{Job, Traced};
use super::section::Section;
use crate::Diagnostic;
use crate::parse::chakra::{self, Node};
use crate::parse::goal::{Op, Trace};
use crate::quantity::Q;
pub use operations::Collectives;
pub(super) use operations::{Groups, Wrong, translate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;
use thalweg_units::{Bytes, Span};

/// A job from Chakra traces, a file for each rank: messages, computations and collective operations that wait for each
/// other (Sridharan et al., 2023).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chakra {
    /// The traces, relative to the scenario: `step` stands for `step.0.et`, `step.1.et` and so on, as many as there
    /// are.
    #[schemars(extend("examples" = ["step"]))]
    pub file: String,
    /// The host of every rank, in the order of the ranks; if not given, rank 0 is host 0, and so on.
    #[serde(default)]
    #[schemars(extend("x-node" = "host"))]
    pub hosts: Vec<u32>,
    /// The ranks of every process group (`pg_name`), JSON: `{"0": [0, 1]}`. Operations without a group are of all
    /// ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["groups.json"]))]
    pub groups: Option<String>,
    /// Whether the collective operations of a process group come one after the other at each rank.
    #[serde(default)]
    pub collectives: Collectives,
    /// Larger messages than this start only when their receive has been posted: all that it depends on is done. If not
    /// given, none wait for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["64KB"]))]
    pub rendezvous: Option<Q<Bytes>>,
    /// Time of the rank's processor for every message that it sends, before it is handed over, and that it receives,
    /// after its last byte.
    #[serde(default = "default::zero")]
    pub overhead: Q<Span>,
    /// When the job starts.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
}

/// The operations of ranks without process groups, if they match.
pub(crate) fn translate_alone(ranks: &[Vec<Node>]) -> Result<Trace, (String, String)> {
    translate(ranks, &Groups::default(), Collectives::default())
}

impl Chakra {
    fn of_rank(&self, rank: u32) -> String {
        format!("{}.{rank}.et", self.file)
    }

    /// How many ranks have a file.
    fn ranks(&self, dir: &Path) -> u32 {
        (0..).take_while(|rank| dir.join(self.of_rank(*rank)).exists()).count() as u32
    }

    fn groups(&self, s: &Section<'_>) -> Result<Groups, Diagnostic> {
        let Some(file) = &self.groups else { return Ok(Groups::new()) };
        let text = s.cx.read(&s.key("groups"), file)?;
        let wrong = |reason: String| {
            s.cx.error(&s.key("groups"), reason, "write the ranks of every group: {\"0\": [0, 1]}")
        };
        let groups: Groups = serde_json::from_str(&text).map_err(|e| wrong(format!("`{file}`: {e}")))?;
        for (name, ranks) in &groups {
            let mut sorted = ranks.clone();
            sorted.sort_unstable();
            sorted.dedup();
            if sorted.len() < ranks.len() || ranks.is_empty() {
                return Err(wrong(format!("group `{name}` has no ranks, or one twice")));
            }
        }
        Ok(groups)
    }
}

impl Traced for Chakra {
    fn job(&self, s: &Section<'_>) -> Result<Job, Diagnostic> {
        let ranks = self.ranks(s.cx.dir).max(1);
        let mut nodes: Vec<Vec<Node>> = Vec::new();
        for rank in 0..ranks {
            let name = self.of_rank(rank);
            let bytes = s.cx.read_bytes(&s.key("file"), &name)?;
            nodes.push(chakra::parse(&bytes).map_err(|e| e.in_file(&name))?);
        }
        let hosts = s.ranks("hosts", &self.hosts, ranks)?;
        let trace = translate(&nodes, &self.groups(s)?, self.collectives)
            .map_err(|(reason, hint)| s.cx.error(&s.key("file"), reason, hint))?;
        if trace.messages() == 0 {
            return Err(s.cx.error(&s.key("file"), "the traces contain no messages", "remove the section"));
        }
        let eager = s.eager(self.rendezvous.map(|limit| limit.0), trace.largest())?;
        assemble(&trace, &hosts, self.overhead.0, eager).map_err(|circle| {
            let name = |op: &Op| format!("{} of rank {}", op.line, op.rank);
            let mut names: Vec<String> = circle.iter().map(|op| name(&trace.ops[*op])).collect();
            names.dedup();
            let more = if names.len() > 8 { ", .." } else { "" };
            names.truncate(8);
            let reason = format!("nodes wait for each other in a cycle: {}{more}", names.join(", "));
            s.cx.error(&s.key("file"), reason, "one of them must not wait for the others")
        })
    }

    fn start(&self) -> Span {
        self.start.0
    }

    fn files(&self, dir: &Path) -> Vec<String> {
        (0..self.ranks(dir).max(1)).map(|rank| self.of_rank(rank)).chain(self.groups.clone()).collect()
    }
}

#[cfg(test)]
mod tests;
