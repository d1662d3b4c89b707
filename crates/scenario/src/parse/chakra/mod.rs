//! Chakra execution traces, one file per rank (Sridharan et al., Chakra, 2023; `et_def.proto` of MLCommons): protocol
//! buffers, each preceded by its length, first the metadata of the file, then one message per node.
//!
//! ```text
//! CHOICE Chakra: both kinds of dependencies of a node are read, `ctrl_deps` and `data_deps`: it starts when all are
//! complete. The recorded starts (`start_time_micros`) are ignored, because the simulation determines them.
//! CHOICE Chakra: a computation lasts `duration_micros`; `num_ops`, which would need a rate, is refused without it.
//! ```

mod wire;

use super::ParseError;
use thalweg_units::Span;
use wire::{Fields, Value, delimited};

/// A node of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its number in the rank's file.
    pub id: u64,
    /// The numbers of nodes that must be complete before it starts.
    pub after: Vec<u64>,
    /// Its activity.
    pub what: What,
}

/// The activity of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Nothing: `METADATA_NODE`.
    Nothing,
    /// A computation: `COMP_NODE`.
    Compute(Span),
    /// A memory access, without the processor: `MEM_LOAD_NODE`, `MEM_STORE_NODE`.
    Memory(Span),
    /// A message to another rank: `COMM_SEND_NODE`.
    Send {
        /// Bytes.
        size: u64,
        /// The rank.
        to: u32,
        /// Its tag.
        tag: u32,
    },
    /// A message from another rank: `COMM_RECV_NODE`.
    Recv {
        /// Bytes.
        size: u64,
        /// The rank.
        from: u32,
        /// Its tag.
        tag: u32,
    },
    /// A collective operation: `COMM_COLL_NODE`.
    Collective {
        /// Its kind.
        kind: Collective,
        /// Bytes of the whole vector.
        size: u64,
        /// The process group; `None`: all ranks.
        group: Option<String>,
        /// For a broadcast, the rank that has the vector, if given.
        root: Option<u32>,
    },
}

/// The supported collective operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// All ranks get the sum of all vectors.
    AllReduce,
    /// All ranks get all pieces.
    AllGather,
    /// One rank has a vector, and all get it.
    Broadcast,
    /// Every rank has a piece for every other rank.
    AllToAll,
    /// Every rank gets a piece of the sum.
    ReduceScatter,
}

/// The named attributes of a node.
#[derive(Default)]
struct Attributes {
    kind: Option<u64>,
    size: Option<u64>,
    src: Option<u64>,
    dst: Option<u64>,
    /// Present if the node has this attribute; the inner value, if that is a number.
    tag: Option<Option<u64>>,
    /// The node has a number of operations, or something else under that name.
    ops: bool,
    group: Option<String>,
    /// Only some dimensions of the network take part.
    partly: bool,
}

const KINDS: [&str; 10] = [
    "ALL_REDUCE",
    "REDUCE",
    "ALL_GATHER",
    "GATHER",
    "SCATTER",
    "BROADCAST",
    "ALL_TO_ALL",
    "REDUCE_SCATTER",
    "REDUCE_SCATTER_BLOCK",
    "BARRIER",
];

/// The nodes of a rank's file, in order.
///
/// # Errors
/// If the file is not of that format, or a node has something unsupported; with the node.
pub fn parse(bytes: &[u8]) -> Result<Vec<Node>, ParseError> {
    let broken = || {
        let hint =
            "Chakra traces are protocol buffers, one file `name.0.et` for each rank; JSON is not supported";
        ParseError::new(0, "this is not a Chakra trace", hint)
    };
    let mut rest = bytes;
    let head = delimited(&mut rest).ok_or_else(broken)?;
    if Fields(head).any(|field| field.is_none()) {
        return Err(broken());
    }
    let mut nodes = Vec::new();
    while !rest.is_empty() {
        nodes.push(node(delimited(&mut rest).ok_or_else(broken)?, &broken)?);
    }
    Ok(nodes)
}

fn node(bytes: &[u8], broken: &dyn Fn() -> ParseError) -> Result<Node, ParseError> {
    let (mut id, mut kind, mut micros) = (0, 0, 0u64);
    let (mut after, mut attributes) = (Vec::new(), Attributes::default());
    for field in Fields(bytes) {
        let (number, value) = field.ok_or_else(broken)?;
        let read = match number {
            1 => value.number().map(|number| id = number),
            3 => value.number().map(|number| kind = number),
            4 | 5 => value.numbers(&mut after),
            7 => value.number().map(|number| micros = number),
            10 => value.bytes().and_then(|bytes| attribute(bytes, &mut attributes)),
            _ => Some(()),
        };
        read.ok_or_else(broken)?;
    }
    let wrong = |reason: &str, hint: &str| Err(ParseError::new(0, format!("node {id} {reason}"), hint));
    if micros > 3_600_000_000 {
        return wrong("lasts more than an hour", "durations are microseconds");
    }
    let lasts = Span::from_us(micros);
    let what = match kind {
        1 => What::Nothing,
        2 | 3 => What::Memory(lasts),
        4 if micros == 0 && attributes.ops => {
            return wrong("has `num_ops` but no `duration_micros`", "add its duration");
        }
        4 => What::Compute(lasts),
        5..=7 if attributes.size.is_none() => return wrong("has no `comm_size`", ""),
        5 => match attributes.rank(attributes.dst) {
            Some((size, to, tag)) => What::Send { size, to, tag },
            None => return wrong("sends, and has no `comm_dst` or `comm_tag` that is a number", ""),
        },
        6 => match attributes.rank(attributes.src) {
            Some((size, from, tag)) => What::Recv { size, from, tag },
            None => return wrong("receives, and has no `comm_src` or `comm_tag` that is a number", ""),
        },
        7 if attributes.partly => {
            let hint = "name the ranks that take part as a group: `pg_name`";
            return wrong("leaves out dimensions of a network (`involved_dim`)", hint);
        }
        7 => match collective(&attributes) {
            Ok(what) => what,
            Err(reason) => {
                let hint = "supported are ALL_REDUCE, ALL_GATHER, BROADCAST, ALL_TO_ALL and REDUCE_SCATTER";
                return wrong(&reason, hint);
            }
        },
        8 => return wrong("is a STORAGE_NODE, which is not supported", "remove it"),
        9 => return wrong("is a BATCH_NODE, which is not supported", "remove it"),
        10 => return wrong("is a CHECKPOINT_NODE, which is not supported", "remove it"),
        _ => return wrong("has an unknown type", "types are those of `et_def.proto`"),
    };
    after.sort_unstable();
    after.dedup();
    Ok(Node { id, after, what })
}

fn collective(attributes: &Attributes) -> Result<What, String> {
    let kind = match attributes.kind {
        Some(0) => Collective::AllReduce,
        Some(2) => Collective::AllGather,
        Some(5) => Collective::Broadcast,
        Some(6) => Collective::AllToAll,
        Some(7) => Collective::ReduceScatter,
        None => return Err("is a collective operation without `comm_type`".to_owned()),
        Some(kind) => {
            let name = usize::try_from(kind).ok().and_then(|kind| KINDS.get(kind)).unwrap_or(&"unknown");
            return Err(format!("is a collective operation of kind {name}, which is not supported"));
        }
    };
    let size = attributes.size.unwrap_or(0);
    let root = attributes.src.and_then(|root| u32::try_from(root).ok());
    Ok(What::Collective { kind, size, group: attributes.group.clone(), root })
}

impl Attributes {
    /// Size, other rank and tag of a message.
    fn rank(&self, other: Option<u64>) -> Option<(u64, u32, u32)> {
        let tag = u32::try_from(self.tag.unwrap_or(Some(0))?).ok()?;
        Some((self.size?, u32::try_from(other?).ok()?, tag))
    }
}

/// Reads a named attribute of a node; unknown names are ignored.
fn attribute(bytes: &[u8], out: &mut Attributes) -> Option<()> {
    let (mut name, mut value) = (&[][..], None);
    for field in Fields(bytes) {
        match field? {
            (1, text) => name = text.bytes()?,
            (2, _) => {}
            (kind, of) => value = Some((kind, of)),
        }
    }
    let number = || match value? {
        // Signed numbers are zigzag-encoded.
        (15 | 17, Value::Number(number)) => Some(number >> 1 ^ (number & 1).wrapping_neg()),
        (7 | 9 | 11 | 13 | 19 | 21 | 23 | 25 | 27, Value::Number(number)) => Some(number),
        _ => None,
    };
    let text = || match value? {
        (29, Value::Bytes(text)) => Some(String::from_utf8_lossy(text).into_owned()),
        _ => number().map(|number| number.to_string()),
    };
    match name {
        b"comm_type" => out.kind = number(),
        b"comm_size" => out.size = number(),
        b"comm_src" => out.src = number(),
        b"comm_dst" => out.dst = number(),
        b"comm_tag" => out.tag = Some(number()),
        b"num_ops" => out.ops = number() != Some(0),
        b"pg_name" => out.group = text().filter(|name| !name.is_empty()),
        b"involved_dim" => {
            let Some((28, Value::Bytes(list))) = value else { return Some(()) };
            let mut flags = Vec::new();
            for field in Fields(list) {
                field?.1.numbers(&mut flags)?;
            }
            out.partly = flags.contains(&0);
        }
        _ => {}
    }
    Some(())
}

#[cfg(test)]
pub(crate) mod encode;
#[cfg(test)]
mod tests;
