//! Workloads of SimAI, as AICB and ASTRA-sim 1.0 write them (Wang et al., SimAI, NSDI 2025; Rashidi et al., ASTRA-SIM,
//! ISPASS 2020): a line about the parallelism of a training job, the number of layers, then a line for each layer:
//!
//! ```text
//! HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 8 ga: 1 all_gpus: 32 ..
//! 1
//! mlp_row  -1  1125000 REDUCESCATTER 20971520  1125000 ALLGATHER 20971520  1125000 NONE 0  100
//! ```
//!
//! After a layer's name and a reserved number come its forward pass, its input gradients and its weight gradients: for
//! each the time of the computation in nanoseconds, the operation after it, and the bytes of that operation. The last
//! number is a time that passes after each operation of the layer (`update`).
//!
//! ```text
//! CHOICE SimAI: operations without a suffix are those of the tensor-parallel group in the forward pass and for input
//! gradients, and of the data-parallel group for weight gradients; `_EP` and `_DP_EP` name a group.
//! CHOICE SimAI: `vpp`, `ga` and `pp_comm` are used by its analytical mode only; here, too, they have no effect.
//! CHOICE SimAI: an operation of 0 bytes is none.
//! CHOICE SimAI: it silently omits operations that it does not know. Here they are refused, except BROADCAST, which
//! AICB writes: it is carried out, from the first rank of the group.
//! ```

use super::chakra::Collective;
use super::{ParseError, quoted};
use std::collections::BTreeSet;
use thalweg_units::Span;

/// A workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// The parallelism, which gives the order of computations and operations.
    pub policy: Policy,
    /// Ranks of a tensor-parallel group (`model_parallel_NPU_group`), if it is given.
    pub tensor: Option<u32>,
    /// Ranks of an expert-parallel group (`ep`).
    pub expert: u32,
    /// Stages of the pipeline (`pp`).
    pub pipeline: u32,
    /// Ranks of all stages (`all_gpus`), if they are given.
    pub ranks: Option<u32>,
    /// Layers whose activations are kept (`checkpoints`).
    pub checkpoints: BTreeSet<u32>,
    /// Layers before whose backward pass those since the last checkpoint are computed again
    /// (`checkpoint_initiates`).
    pub recomputing: BTreeSet<u32>,
    /// The layers.
    pub layers: Vec<Layer>,
}

/// The order of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// `HYBRID_TRANSFORMER`, `HYBRID_TRANSFORMER_FWD_IN_BCKWD`: a forward pass, then for each layer backwards its input
    /// gradients and its weight gradients. Only for the operations of weight gradients nothing waits within the pass.
    Transformer,
    /// `DATA`: only weight gradients have operations, and are computed before input gradients.
    Data,
    /// `DISTRIBUTED_INFERENCE`: forward passes only.
    Inference,
}

/// A layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Its line in the file.
    pub line: u32,
    /// The forward pass.
    pub forward: Step,
    /// The gradients of its input.
    pub input: Step,
    /// The gradients of its weights.
    pub weights: Step,
    /// Time that passes after each operation.
    pub update: Span,
}

/// A computation, and the operation after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// How long the computation takes.
    pub lasts: Span,
    /// The operation.
    pub operation: Option<Operation>,
}

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its kind.
    pub kind: Collective,
    /// Its group.
    pub group: Group,
    /// Bytes of the whole vector; for an all-gather, what each rank has at the end.
    pub size: u64,
}

/// The ranks that take part in an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Ranks that share a layer.
    Tensor,
    /// Ranks that have the same part of the model.
    Data,
    /// Ranks that share the experts of a layer.
    Expert,
    /// Ranks that have the same experts.
    DataOfExpert,
}

const POLICIES: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD, HYBRID_TRANSFORMER, DATA, DISTRIBUTED_INFERENCE";
const OPERATIONS: &str =
    "ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, BROADCAST or NONE, and _EP or _DP_EP behind it";
const FIELDS: usize = 12;

/// Reads a workload.
///
/// # Errors
/// If the text is not of that format, or has something unsupported; with its line.
pub fn parse(text: &str) -> Result<Workload, ParseError> {
    let mut lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().zip(1usize..);
    let (first, _) = lines.next().unwrap_or_default();
    let mut workload = header(first)?;
    let (count, line) = lines.next().unwrap_or(("", 2));
    let count: usize = super::field(line, "the number of layers", Some(count))?;
    for (text, line) in lines {
        if !text.trim().is_empty() {
            workload.layers.push(layer(text, line)?);
        }
    }
    if workload.layers.len() != count || count == 0 {
        let found = workload.layers.len();
        let reason = format!("the second line announces {count} layers, and {found} follow");
        return Err(ParseError::new(2, reason, "one line for each layer"));
    }
    check_recomputing(&workload)?;
    Ok(workload)
}

fn header(text: &str) -> Result<Workload, ParseError> {
    let mut words = text.split_whitespace();
    let policy = match words.next() {
        Some("HYBRID_TRANSFORMER" | "HYBRID_TRANSFORMER_FWD_IN_BCKWD") => Policy::Transformer,
        Some("DATA") => Policy::Data,
        Some("DISTRIBUTED_INFERENCE") => Policy::Inference,
        other => {
            let reason = match other {
                Some(name) => format!("`{}` is not a parallelism that is supported", quoted(name)),
                None => "the first line does not name a parallelism".to_owned(),
            };
            return Err(ParseError::new(1, reason, format!("supported: {POLICIES}")));
        }
    };
    let mut workload = Workload {
        policy,
        tensor: None,
        expert: 1,
        pipeline: 1,
        ranks: None,
        checkpoints: BTreeSet::new(),
        recomputing: BTreeSet::new(),
        layers: Vec::new(),
    };
    while let Some(key) = words.next() {
        let mut number = |what: &str| -> Result<u32, ParseError> {
            let value: u32 = super::field(1, what, words.next())?;
            if value == 0 && !what.contains("layer") {
                return Err(ParseError::new(1, format!("{what} is 0"), "at least 1"));
            }
            Ok(value)
        };
        match key {
            "model_parallel_NPU_group:" => workload.tensor = Some(number("the size of a group")?),
            "ep:" => workload.expert = number("the number of ranks of `ep`")?,
            "pp:" => workload.pipeline = number("the number of stages of `pp`")?,
            "all_gpus:" => workload.ranks = Some(number("the number of ranks of `all_gpus`")?),
            "checkpoints:" | "checkpoint_initiates:" => {
                let many = number("a number of layers")?;
                for _ in 0..many {
                    let layer = number("the number of a layer")?;
                    let layers = match key {
                        "checkpoints:" => &mut workload.checkpoints,
                        _ => &mut workload.recomputing,
                    };
                    layers.insert(layer);
                }
            }
            _ => {}
        }
    }
    Ok(workload)
}

/// Before each layer that recomputes there is a checkpoint.
fn check_recomputing(workload: &Workload) -> Result<(), ParseError> {
    let layers = workload.layers.len() as u32;
    for layer in workload.checkpoints.iter().chain(&workload.recomputing) {
        if *layer >= layers {
            let reason = format!("layer {layer} of `checkpoints` or `checkpoint_initiates` does not exist");
            return Err(ParseError::new(1, reason, format!("layers are 0 to {}", layers - 1)));
        }
    }
    for layer in &workload.recomputing {
        if workload.checkpoints.range(..*layer).next().is_none() {
            let reason = format!("no checkpoint precedes layer {layer}, where recomputing begins");
            return Err(ParseError::new(1, reason, "list an earlier layer under `checkpoints`"));
        }
    }
    Ok(())
}

fn layer(text: &str, line: usize) -> Result<Layer, ParseError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() != FIELDS {
        let reason = format!("a layer with {} fields", words.len());
        let hint = "a name, a number, three times a time in nanoseconds, an operation and bytes, and a time";
        return Err(ParseError::new(line, reason, hint));
    }
    Ok(Layer {
        line: u32::try_from(line).unwrap_or(u32::MAX),
        forward: step(&words[2..5], Group::Tensor, line)?,
        input: step(&words[5..8], Group::Tensor, line)?,
        weights: step(&words[8..11], Group::Data, line)?,
        update: time(words[11], line)?,
    })
}

fn step(words: &[&str], usual: Group, line: usize) -> Result<Step, ParseError> {
    let size: u64 = super::field(line, "a number of bytes", Some(words[2]))?;
    let operation = operation(words[1], usual, line)?;
    let operation = operation.filter(|_| size > 0).map(|(kind, group)| Operation { kind, group, size });
    Ok(Step { lasts: time(words[0], line)?, operation })
}

/// Nanoseconds.
fn time(text: &str, line: usize) -> Result<Span, ParseError> {
    let ns: u64 = super::field(line, "a time in nanoseconds", Some(text))?;
    let ps = ns.checked_mul(1000).filter(|ps| *ps < Span::MAX.ps());
    ps.map(Span::from_ps)
        .ok_or_else(|| ParseError::new(line, format!("{ns} ns are too long"), "at most some months"))
}

fn operation(name: &str, usual: Group, line: usize) -> Result<Option<(Collective, Group)>, ParseError> {
    let (kind, group) = match name {
        _ if name.ends_with("_DP_EP") => (name.strip_suffix("_DP_EP"), Group::DataOfExpert),
        _ if name.ends_with("_EP") => (name.strip_suffix("_EP"), Group::Expert),
        _ => (Some(name), usual),
    };
    let kind = match kind {
        Some("NONE") => return Ok(None),
        Some("ALLREDUCE") => Collective::AllReduce,
        Some("ALLGATHER") => Collective::AllGather,
        Some("REDUCESCATTER") => Collective::ReduceScatter,
        Some("ALLTOALL") => Collective::AllToAll,
        Some("BROADCAST") => Collective::Broadcast,
        _ => {
            let reason = format!("`{}` is not an operation that is supported", quoted(name));
            return Err(ParseError::new(line, reason, format!("supported: {OPERATIONS}")));
        }
    };
    Ok(Some((kind, group)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 ep: 2 pp: 1 vpp: 8 ga: 1 \
         all_gpus: 16 \
         checkpoints: 2 0 1 checkpoint_initiates: 1 2 pp_comm: 2097152.0";

    fn refused(text: &str) -> (u32, String) {
        let error = parse(text).expect_err("refused");
        (error.line, error.reason)
    }

    #[test]
    fn a_workload_with_all_groups() {
        let text = format!(
            "{HEADER}\n3\n\
             norm\t-1\t0\tBROADCAST\t16384\t1\tNONE\t0\t1\tALLGATHER_DP_EP\t8192\t100\n\n\
             moe -1 7 ALLTOALL_EP 512 8 ALLTOALL 0 9 REDUCESCATTER 64 0\r\n\
             row -1 1 ALLREDUCE 12 2 REDUCESCATTER 34 3 ALLREDUCE_EP 56 78\n"
        );
        let workload = parse(&text).expect("parses");
        assert_eq!(workload.policy, Policy::Transformer);
        assert_eq!((workload.tensor, workload.expert, workload.pipeline), (Some(4), 2, 1));
        assert_eq!(workload.ranks, Some(16));
        assert_eq!(
            (workload.checkpoints, workload.recomputing),
            (BTreeSet::from([0, 1]), BTreeSet::from([2]))
        );
        let of = |step: &Step| step.operation.map(|o| (o.kind, o.group, o.size));
        let layers: Vec<_> =
            workload.layers.iter().map(|l| (of(&l.forward), of(&l.input), of(&l.weights))).collect();
        assert_eq!(
            layers,
            [
                (
                    Some((Collective::Broadcast, Group::Tensor, 16384)),
                    None,
                    Some((Collective::AllGather, Group::DataOfExpert, 8192))
                ),
                (
                    Some((Collective::AllToAll, Group::Expert, 512)),
                    None,
                    Some((Collective::ReduceScatter, Group::Data, 64))
                ),
                (
                    Some((Collective::AllReduce, Group::Tensor, 12)),
                    Some((Collective::ReduceScatter, Group::Tensor, 34)),
                    Some((Collective::AllReduce, Group::Expert, 56))
                ),
            ]
        );
        let row = &workload.layers[2];
        assert_eq!((row.line, row.update), (6, Span::from_ns(78)));
        assert_eq!((row.forward.lasts, row.weights.lasts), (Span::from_ns(1), Span::from_ns(3)));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let layer = "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1";
        assert_eq!(refused(""), (1, "the first line does not name a parallelism".into()));
        assert_eq!(refused("MICRO\n1\n"), (1, "`MICRO` is not a parallelism that is supported".into()));
        assert_eq!(refused("DATA\n"), (2, "the number of layers is missing".into()));
        let two = refused(&format!("DATA\n2\n{layer}\n"));
        assert_eq!(two, (2, "the second line announces 2 layers, and 1 follow".into()));
        assert_eq!(refused("DATA\n1\na -1 1 NONE 0\n"), (3, "a layer with 5 fields".into()));
        let unknown = layer.replacen("NONE", "ALLREDUCEALLTOALL", 1);
        let reason = "`ALLREDUCEALLTOALL` is not an operation that is supported";
        assert_eq!(refused(&format!("DATA\n1\n{unknown}")), (3, reason.into()));
        let negative = layer.replacen(" 1 ", " -5 ", 1);
        assert_eq!(refused(&format!("DATA\n1\n{negative}")), (3, "`-5` is not a time in nanoseconds".into()));
        let long = layer.replacen(" 1 ", " 18446744073709552 ", 1);
        assert_eq!(refused(&format!("DATA\n1\n{long}")).0, 3);
        assert_eq!(
            refused(&format!("DATA ep: 0\n1\n{layer}")),
            (1, "the number of ranks of `ep` is 0".into())
        );
        let recomputing = refused(&format!("DATA checkpoint_initiates: 1 0\n1\n{layer}"));
        assert_eq!(recomputing, (1, "no checkpoint precedes layer 0, where recomputing begins".into()));
        assert_eq!(refused(&format!("DATA checkpoints: 1 7\n1\n{layer}")).0, 1);
    }
}
