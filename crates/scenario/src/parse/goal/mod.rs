//! GOAL traces in their text form, as LogGOPSim and ATLAHS read them (Hoefler, Siebert, Lumsdaine, Group operation
//! assembly language, ICPP 2009; Hoefler, Schneider, Lumsdaine, LogGOPSim, LSAP 2010): `num_ranks 2`, then for every
//! rank a block `rank 0 { .. }` of operations, one after the other:
//!
//! - `send 1000b to 1 tag 5`, `recv 1000b from 1 tag 5`, `calc 200` (nanoseconds), each with or without a label before
//!   it, `a: calc 200`, and with `cpu 1` or `nic 0` behind it;
//! - `b requires a`: b starts once a has finished; `b irequires a`: once a has started.
//!
//! ```text
//! CHOICE LogGOPSim §3: only the text form is read; the binary form is internal to one program.
//! CHOICE LogGOPSim §3: the k-th send from one rank to another with some tag matches the k-th such receive, in file
//! order. A receive from any source or of any tag takes the message that arrives first, which a file does not
//! determine: it is refused.
//! CHOICE ATLAHS §3: numbers after `nic` are read and have no effect: a host has one link.
//! CHOICE GOAL: `tag` and `cpu` are 0 by default.
//! ```

mod matching;
mod tokens;

pub(crate) use matching::partners;

use super::{ParseError, quoted};
use std::collections::BTreeMap;
use thalweg_units::Span;
use tokens::{Token, Tokens};

/// A trace, with every send matched to its receive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Number of ranks.
    pub ranks: u32,
    /// The operations of all ranks, in the order of the file.
    pub ops: Vec<Op>,
    /// For each send its receive, for each receive its send.
    pub partners: Vec<Option<u32>>,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    /// Its line, or its number in the file.
    pub line: u32,
    /// The rank that it belongs to.
    pub rank: u32,
    /// The processor of the rank that it needs; `None`: a computation without a processor. Messages need one for their
    /// overhead.
    pub cpu: Option<u32>,
    /// Its activity.
    pub what: What,
    /// Positions of its predecessors, and whether it waits for their starts or ends.
    pub after: Vec<(u32, Wait)>,
}

/// The activity of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A message to another rank.
    Send {
        /// Bytes.
        size: u64,
        /// The rank.
        to: u32,
        /// Its tag.
        tag: u32,
    },
    /// A message from another rank.
    Recv {
        /// Bytes.
        size: u64,
        /// The rank.
        from: u32,
        /// Its tag.
        tag: u32,
    },
    /// A computation.
    Calc {
        /// Its duration.
        lasts: Span,
    },
}

/// Whether an operation waits for the start or the end of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    /// `requires`: the other one has finished.
    Done,
    /// `irequires`: the other one has started.
    Started,
}

impl Trace {
    /// Number of messages.
    pub fn messages(&self) -> usize {
        self.sizes().count()
    }

    /// Bytes of the largest message.
    pub fn largest(&self) -> u64 {
        self.sizes().max().unwrap_or(0)
    }

    fn sizes(&self) -> impl Iterator<Item = u64> {
        self.ops.iter().filter_map(|op| match op.what {
            What::Send { size, .. } => Some(size),
            _ => None,
        })
    }
}

/// Largest message in bytes, and longest computation in ns: an hour.
const LARGEST: u64 = super::flows::LARGEST_FLOW;
const LONGEST: u64 = 3_600_000_000_000;

const OPERATIONS: &str = "operations are `send 8b to 1 tag 0`, `recv 8b from 1 tag 0` and `calc 100`";

/// Reads a trace.
///
/// # Errors
/// The first line that is not GOAL, refers to something that does not exist, or has an unmatched send or receive.
pub fn parse(text: &str) -> Result<Trace, ParseError> {
    let mut tokens = Tokens::new(text)?;
    let first = tokens.next("`num_ranks`")?;
    if first.text != "num_ranks" {
        let hint = "a trace begins with `num_ranks 4`; blocks `rank 0 { .. }` follow. Binary files are not supported";
        return Err(first.wrong("is not `num_ranks`", hint));
    }
    let token = tokens.next("the number of ranks")?;
    let ranks: u32 = token.number("the number of ranks")?;
    if ranks == 0 {
        return Err(token.wrong("is not a number of ranks", "write at least 1"));
    }
    let mut ops = Vec::new();
    let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
    while let Some(token) = tokens.peek() {
        tokens.expect("rank")?;
        let number = tokens.next("a rank")?;
        let rank = number.rank(ranks)?;
        if let Some(before) = seen.insert(rank, token.line) {
            let reason = format!("rank {rank} has a block already, in line {before}");
            return Err(ParseError::new(token.line, reason, "write all of its operations in one"));
        }
        tokens.expect("{")?;
        block(&mut tokens, (rank, ranks), &mut ops)?;
    }
    let partners = partners(&ops, "line")?;
    Ok(Trace { ranks, ops, partners })
}

/// The operations of a rank, up to the end of its block.
fn block<'a>(
    tokens: &mut Tokens<'a>,
    (rank, ranks): (u32, u32),
    ops: &mut Vec<Op>,
) -> Result<(), ParseError> {
    let mut labels: BTreeMap<&'a str, u32> = BTreeMap::new();
    let mut waits: Vec<(Token<'a>, Token<'a>, Wait)> = Vec::new();
    loop {
        let first = tokens.next("`}`")?;
        if first.text == "}" {
            break;
        }
        let op = ops.len() as u32;
        if matches!(first.text, "send" | "recv" | "calc") {
            ops.push(operation(tokens, &first, (rank, ranks))?);
            continue;
        }
        let second = tokens.next("an operation")?;
        match second.text {
            ":" => {
                if labels.insert(first.text, op).is_some() {
                    return Err(first.wrong("is the label of an earlier operation", "choose another"));
                }
                let word = tokens.next("an operation")?;
                ops.push(operation(tokens, &word, (rank, ranks))?);
            }
            "requires" => waits.push((first, tokens.next("a label")?, Wait::Done)),
            "irequires" => waits.push((first, tokens.next("a label")?, Wait::Started)),
            _ => return Err(first.wrong("is not an operation", OPERATIONS)),
        }
    }
    for (label, of, wait) in waits {
        let place = |token: &Token<'_>| {
            let known = labels.get(token.text).copied();
            known.ok_or_else(|| {
                token.wrong(
                    &format!("is not a label of rank {rank}"),
                    "labels are known within their rank only",
                )
            })
        };
        let (op, before) = (place(&label)?, place(&of)?);
        if op == before {
            return Err(label.wrong("waits for itself", "remove the line"));
        }
        ops[op as usize].after.push((before, wait));
    }
    Ok(())
}

fn operation(tokens: &mut Tokens<'_>, word: &Token<'_>, (rank, ranks): (u32, u32)) -> Result<Op, ParseError> {
    let mut what = match word.text {
        "send" => {
            let size = size(tokens)?;
            tokens.expect("to")?;
            What::Send { size, to: other(tokens, (rank, ranks))?, tag: 0 }
        }
        "recv" => {
            let size = size(tokens)?;
            tokens.expect("from")?;
            What::Recv { size, from: other(tokens, (rank, ranks))?, tag: 0 }
        }
        "calc" => {
            let token = tokens.next("a time in nanoseconds")?;
            let ns: u64 = token.number("a time in nanoseconds")?;
            if ns > LONGEST {
                return Err(token.wrong("is too long", &format!("at most {LONGEST} ns, an hour")));
            }
            What::Calc { lasts: Span::from_ns(ns) }
        }
        _ => return Err(word.wrong("is not an operation", OPERATIONS)),
    };
    let mut cpu = 0;
    let mut given: Vec<&str> = Vec::new();
    while let Some(key) = tokens.peek().filter(|token| matches!(token.text, "tag" | "cpu" | "nic")) {
        tokens.next("a key")?;
        if given.contains(&key.text) {
            return Err(key.wrong("is given twice", ""));
        }
        given.push(key.text);
        let value = tokens.next("a number")?;
        match (key.text, &mut what) {
            ("cpu", _) => cpu = value.number("a processor")?,
            ("nic", _) => drop(value.number::<u32>("a link")?),
            (_, What::Send { tag, .. } | What::Recv { tag, .. }) => *tag = label(&value)?,
            _ => return Err(key.wrong("does not apply to a computation", "remove it")),
        }
    }
    Ok(Op { line: word.line as u32, rank, cpu: Some(cpu), what, after: Vec::new() })
}

/// Bytes: digits and a `b`.
fn size(tokens: &mut Tokens<'_>) -> Result<u64, ParseError> {
    let token = tokens.next("a size")?;
    let size = token.text.strip_suffix('b').and_then(|digits| digits.parse().ok());
    match size {
        Some(size) if size <= LARGEST => Ok(size),
        Some(_) => Err(token.wrong("is too large", &format!("at most {LARGEST}b"))),
        None => Err(token.wrong("is not a size", "write bytes as `1000b`")),
    }
}

/// A rank other than this one.
fn other(tokens: &mut Tokens<'_>, (rank, ranks): (u32, u32)) -> Result<u32, ParseError> {
    let token = tokens.next("a rank")?;
    if token.text == "-1" {
        let hint = "name the rank: which send such a receive matches would depend on the order of arrival";
        return Err(token.wrong("means any source, which is not supported", hint));
    }
    let other = token.rank(ranks)?;
    if other == rank {
        return Err(token.wrong("is the rank itself", "a rank sends to others"));
    }
    Ok(other)
}

fn label(token: &Token<'_>) -> Result<u32, ParseError> {
    if token.text == "-1" {
        let hint = "name the tag: which send such a receive matches would depend on the order of arrival";
        return Err(token.wrong("means any tag, which is not supported", hint));
    }
    token.number("a tag")
}

impl Token<'_> {
    fn wrong(&self, what: &str, hint: &str) -> ParseError {
        ParseError::new(self.line, format!("`{}` {what}", quoted(self.text)), hint)
    }

    fn number<T: std::str::FromStr>(&self, what: &str) -> Result<T, ParseError> {
        self.text.parse().map_err(|_| self.wrong(&format!("is not {what}"), "write a whole number"))
    }

    fn rank(&self, ranks: u32) -> Result<u32, ParseError> {
        let rank = self.number("a rank")?;
        if rank >= ranks {
            return Err(self.wrong("is not a rank", &format!("ranks are 0 to {}", ranks - 1)));
        }
        Ok(rank)
    }
}

#[cfg(test)]
mod tests;
