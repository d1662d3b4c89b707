//! A job from a workload of SimAI ([`crate::parse::simai`]): every rank computes, layer by layer, and calls collective
//! operations of its groups (Wang et al., SimAI: unifying architecture design and performance tuning for large-scale
//! large language model training with scalability and precision, NSDI 2025).
//!
//! Consecutive ranks form a tensor-parallel group; the ranks at the same place of all these groups form a data-parallel
//! group. `ep` consecutive tensor-parallel groups share experts: the ranks at the same place of these form an
//! expert-parallel group, and those at the same place of all groups with the same experts form the group of `_DP_EP`.
//!
//! ```text
//! CHOICE SimAI: only one stage of the pipeline is run, of `all_gpus` / `pp` ranks, because a workload has no messages
//! between stages. SimAI's packet simulation runs all stages at once, with groups that overlap if there are experts.
//! CHOICE SimAI: operations are expanded as those of Chakra traces: one ring in the order of ranks, an all-to-all in
//! N − 1 steps. SimAI imitates NCCL: several rings or NVLS within servers, an all-to-all with all flows at once.
//! CHOICE SimAI: the operations of a group run one after the other at each rank, as in an NCCL communicator.
//! CHOICE ASTRA-sim: the nanosecond between two steps of its state machine does not pass.
//! ```

use super::chakra::{Collectives, Groups, Wrong, translate};
use super::declare::default;
use super::drafts::MOST_FLOWS;
use super::goal::assemble;
use super::job::{Job, Traced};
use super::section::Section;
use crate::Diagnostic;
use crate::parse::chakra::{Collective, Node, What};
use crate::parse::goal::Trace;
use crate::parse::simai::{self, Group, Layer, Operation, Policy, Step, Workload};
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;
use thalweg_units::Span;

/// A job from a workload of SimAI, as AICB writes it: layers with computations and collective operations
/// (Wang et al., SimAI, NSDI 2025).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimAi {
    /// The workload, relative to the scenario.
    #[schemars(extend("examples" = ["gpt13b.txt"]))]
    pub file: String,
    /// The host of each rank, in the order of ranks. If not given, rank 0 is host 0, and so on. A workload without a
    /// number of ranks (`all_gpus`) has as many as hosts are named here, or else as the network has.
    #[serde(default)]
    #[schemars(extend("x-node" = "host"))]
    pub hosts: Vec<u32>,
    /// Number of times that the whole workload is run. In each pass a layer begins when the operation of its weights in
    /// the pass before is complete.
    #[serde(default = "default::one")]
    #[schemars(range(min = 1, max = 1000))]
    pub passes: u32,
    /// Factor of the durations of computations in the file.
    #[serde(default = "default::weight")]
    #[schemars(extend("minimum" = 0.0, "maximum" = 1_000_000.0))]
    pub compute_scale: f64,
    /// Factor of the sizes of operations in the file.
    #[serde(default = "default::weight")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1_000_000.0))]
    pub comm_scale: f64,
    /// When the job starts.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
}

/// Sizes of the groups.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    ranks: u32,
    tensor: u32,
    expert: u32,
}

impl Sizes {
    /// The group sizes of a workload on this many ranks, if these can be divided into such groups.
    fn new(workload: &Workload, ranks: u32) -> Result<Self, String> {
        let whole = match workload.policy {
            Policy::Inference => ranks,
            Policy::Transformer | Policy::Data => 1,
        };
        let (tensor, expert) = (workload.tensor.unwrap_or(whole), workload.expert);
        if !ranks.is_multiple_of(tensor) {
            return Err(format!("{ranks} ranks cannot be divided into groups of {tensor}"));
        }
        if !(ranks / tensor).is_multiple_of(expert) {
            let groups = ranks / tensor;
            return Err(format!(
                "{groups} tensor-parallel groups cannot be divided into {expert} that share experts"
            ));
        }
        Ok(Self { ranks, tensor, expert })
    }

    /// The ranks of the group of a rank, in ascending order and at equal distances.
    fn members(self, group: Group, rank: u32) -> Vec<u32> {
        let Self { ranks, tensor, expert } = self;
        // The number of ranks of the block in which the group lies, and the distance between its ranks.
        let (whole, distance) = match group {
            Group::Tensor => (tensor, 1),
            Group::Data => (ranks, tensor),
            Group::Expert => (tensor * expert, tensor),
            Group::DataOfExpert => (ranks, tensor * expert),
        };
        let first = rank - rank % whole;
        (0..whole / distance).map(|at| first + rank % distance + at * distance).collect()
    }
}

/// The nodes of one rank under construction.
struct Program {
    nodes: Vec<Node>,
    /// The predecessor of the next node.
    last: Option<u64>,
    rank: u32,
    sizes: Sizes,
    scales: (f64, f64),
}

/// The name of a group: groups of one kind differ by their first rank.
fn name(group: Group, members: &[u32]) -> String {
    format!("{group:?} {}", members[0])
}

impl Program {
    fn push(&mut self, after: impl IntoIterator<Item = u64>, what: What) -> u64 {
        let id = self.nodes.len() as u64;
        self.nodes.push(Node { id, after: after.into_iter().collect(), what });
        id
    }

    fn compute(&mut self, step: &Step) {
        let lasts = Span::from_ps((step.lasts.ps() as f64 * self.scales.0).round() as u64);
        if !lasts.is_zero() {
            self.last = Some(self.push(self.last, What::Compute(lasts)));
        }
    }

    /// Begins an operation and returns the node of its end; `None` if the step has no operation, or the group one rank.
    fn begin(&mut self, layer: &Layer, operation: Option<Operation>) -> Option<u64> {
        let Operation { kind, group, size } = operation?;
        let members = self.sizes.members(group, self.rank);
        if members.len() < 2 {
            return None;
        }
        let size = ((size as f64 * self.scales.1).round() as u64).max(1);
        let size = match kind {
            // The size of an all-gather node is that of a rank's own piece.
            Collective::AllGather => size.div_ceil(members.len() as u64),
            _ => size,
        };
        let group = Some(name(group, &members));
        let over = self.push(self.last, What::Collective { kind, size, group, root: None });
        Some(match layer.update {
            Span::ZERO => over,
            update => self.push([over], What::Memory(update)),
        })
    }

    /// Begins an operation that the next node waits for.
    fn call(&mut self, layer: &Layer, operation: Option<Operation>) {
        self.last = self.begin(layer, operation).or(self.last);
    }

    fn forward(&mut self, layer: &Layer) {
        self.compute(&layer.forward);
        self.call(layer, layer.forward.operation);
    }

    /// Makes the next node wait for another node, too.
    fn wait(&mut self, other: u64) {
        let after: Vec<u64> = self.last.into_iter().chain([other]).collect();
        self.last = Some(self.push(after, What::Nothing));
    }

    fn run(&mut self, workload: &Workload, passes: u32) {
        let layers = &workload.layers;
        // For each layer, the end of the operation of its weights.
        let mut weights: Vec<Option<u64>> = vec![None; layers.len()];
        for _ in 0..passes {
            for (layer, pending) in layers.iter().zip(&mut weights) {
                if let Some(pending) = pending.take() {
                    self.wait(pending);
                }
                self.forward(layer);
            }
            for (at, layer) in layers.iter().enumerate().rev() {
                match workload.policy {
                    Policy::Inference => break,
                    Policy::Data => {
                        self.compute(&layer.weights);
                        weights[at] = self.begin(layer, layer.weights.operation);
                        if at > 0 {
                            self.compute(&layer.input);
                        }
                    }
                    Policy::Transformer => {
                        if workload.recomputing.contains(&(at as u32)) {
                            let kept = workload.checkpoints.range(..at as u32).next_back();
                            let kept = kept.map_or(0, |kept| *kept as usize);
                            layers[kept..at].iter().for_each(|layer| self.forward(layer));
                        }
                        self.compute(&layer.input);
                        self.call(layer, layer.input.operation);
                        self.compute(&layer.weights);
                        weights[at] = self.begin(layer, layer.weights.operation);
                    }
                }
            }
        }
    }
}

/// The trace of all ranks. `scales`: factors of the durations of computations and of the sizes of operations.
fn trace(workload: &Workload, sizes: Sizes, passes: u32, scales: (f64, f64)) -> Result<Trace, Wrong> {
    let program = |rank| {
        let mut program = Program { nodes: Vec::new(), last: None, rank, sizes, scales };
        program.run(workload, passes);
        program.nodes
    };
    let nodes: Vec<Vec<Node>> = (0..sizes.ranks).map(program).collect();
    let mut groups = Groups::new();
    for group in [Group::Tensor, Group::Data, Group::Expert, Group::DataOfExpert] {
        for rank in 0..sizes.ranks {
            let members = sizes.members(group, rank);
            groups.insert(name(group, &members), members);
        }
    }
    translate(&nodes, &groups, Collectives::InOrder)
}

/// Two passes of a workload on this many ranks, if these can be divided into its groups and the operations match.
pub(crate) fn translate_twice(workload: &Workload, ranks: u32) -> Option<Trace> {
    let sizes = Sizes::new(workload, ranks).ok()?;
    trace(workload, sizes, 2, (1.0, 1.0)).ok()
}

/// An operation that the workload's policy never runs: the line of the first, and the pass that it belongs to.
fn idle_operation(workload: &Workload) -> Option<(u32, &'static str)> {
    let of = |layer: &Layer| {
        let (forward, input, weights) = (&layer.forward, &layer.input, &layer.weights);
        let idle: &[(&Step, &'static str)] = match workload.policy {
            Policy::Transformer => &[],
            Policy::Data => &[(forward, "the forward pass"), (input, "input gradients")],
            Policy::Inference => &[(input, "input gradients"), (weights, "weight gradients")],
        };
        idle.iter().find(|(step, _)| step.operation.is_some()).map(|(_, whose)| (layer.line, *whose))
    };
    workload.layers.iter().find_map(of)
}

impl Traced for SimAi {
    fn job(&self, s: &Section<'_>) -> Result<Job, Diagnostic> {
        let text = s.cx.read(&s.key("file"), &self.file)?;
        let workload = simai::parse(&text).map_err(|e| e.in_file(&self.file))?;
        if let Some((line, whose)) = idle_operation(&workload) {
            let reason = format!("an operation of {whose}, which this kind of parallelism does not have");
            return Err(Diagnostic::in_file(&self.file, line, reason).hint("write NONE 0"));
        }
        let all = match workload.ranks {
            Some(all) if !all.is_multiple_of(workload.pipeline) => {
                let stages = workload.pipeline;
                let reason = format!("{all} ranks cannot be divided into {stages} stages of a pipeline");
                return Err(Diagnostic::in_file(&self.file, 1, reason));
            }
            Some(all) => all / workload.pipeline,
            None if self.hosts.is_empty() => s.graph.hosts,
            None => self.hosts.len() as u32,
        };
        let hosts = s.ranks("hosts", &self.hosts, all)?;
        let sizes = Sizes::new(&workload, all).map_err(|e| Diagnostic::in_file(&self.file, 1, e))?;
        // Each layer calls at most four operations per pass, each of which sends at least one message.
        let steps = 4 * workload.layers.len() as u64 * u64::from(sizes.ranks) * u64::from(self.passes);
        if steps > MOST_FLOWS {
            let reason =
                format!("{} layers on {all} ranks are too many to be run so often", workload.layers.len());
            return Err(s.cx.error(&s.key("passes"), reason, "fewer passes, layers or ranks"));
        }
        let trace = trace(&workload, sizes, self.passes, (self.compute_scale, self.comm_scale))
            .map_err(|(reason, hint)| s.cx.error(&s.key("file"), reason, hint))?;
        s.size("file", trace.largest().max(1))?;
        if trace.messages() == 0 {
            let reason = "no operation of the workload has a group of two ranks or more: nothing is sent";
            return Err(s.cx.error(&s.key("file"), reason, "remove the section"));
        }
        assemble(&trace, &hosts, Span::ZERO, u64::MAX)
            .map_err(|_| s.cx.error(&s.key("file"), "layers wait for each other in a cycle", ""))
    }

    fn start(&self) -> Span {
        self.start.0
    }

    fn files(&self, _: &Path) -> Vec<String> {
        vec![self.file.clone()]
    }
}

#[cfg(test)]
mod tests;
