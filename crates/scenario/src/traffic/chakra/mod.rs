//! A job from Chakra traces ([`crate::parse::chakra`]): what each rank of a program does, one file per rank (Sridharan
//! et al., Chakra: advancing performance benchmarking and co-design using standardized execution traces, 2023).
//!
//! A node starts when all nodes that it depends on, by control or by data, are complete. Computations of a rank run one
//! after the other; messages and memory accesses overlap with them. Collective operations are expanded to messages
//! ([`collectives`]); the k-th calls of a process group at all its ranks are the same operation.
//!
//! ```text
//! CHOICE Chakra: `hosts`, `overhead`, `rendezvous` as for GOAL traces.
//! CHOICE Chakra: the operations of a process group run one after the other at each rank (`collectives`). In ASTRA-sim,
//! one operation of all groups runs at a time.
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

/// A job from Chakra traces, one file per rank: messages, computations and collective operations that depend on each
/// other (Sridharan et al., 2023).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chakra {
    /// The traces, relative to the scenario: `step` means the files `step.0.et`, `step.1.et` and so on, as many as
    /// exist.
    #[schemars(extend("examples" = ["step"]))]
    pub file: String,
    /// The host of each rank, in the order of ranks. If not given, rank 0 is host 0, and so on.
    #[serde(default)]
    #[schemars(extend("x-node" = "host"))]
    pub hosts: Vec<u32>,
    /// A JSON file, relative to the scenario, with the ranks of every process group (`pg_name`): `{"0": [0, 1]}`.
    /// Operations without a group are among all ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["groups.json"]))]
    pub groups: Option<String>,
    /// When the collective operations of a process group begin at each rank.
    #[serde(default)]
    pub collectives: Collectives,
    /// Messages larger than this start only when their receive has been posted, which is when all that it depends on is
    /// complete. If not given, no message waits for its receive.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["64KB"]))]
    pub rendezvous: Option<Q<Bytes>>,
    /// Time of the rank's processor for each message: before it sends one, and after the last byte of one has arrived.
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

    /// Number of ranks that have a file.
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
