//! A job from a GOAL trace ([`crate::parse::goal`]): messages and computations of ranks, each of which is a host
//! (Hoefler, Schneider, Lumsdaine, LogGOPSim, LSAP 2010; Shen et al., ATLAHS, 2025).
//!
//! An operation starts when all operations that it requires (`requires`) have finished, and all that it requires to
//! have started (`irequires`) have started. A message is a flow that starts with its send. A send finishes when the
//! message is handed over; a receive, when the last byte has arrived and all that it requires has finished; a
//! computation, when its processor has completed it. A processor runs one computation at a time, in the order in which
//! they become ready.
//!
//! ```text
//! CHOICE LogGOPSim §2: the key `overhead` is o, the time of a processor per message. O, its time per byte, is 0. L, g
//! and G are properties of the network, which is simulated.
//! CHOICE LogGOPSim §3: the sender knows immediately that a receive is posted; the alternative is half a round trip for
//! the request and half for the answer.
//! CHOICE GOAL: a message of 0 bytes is a flow of 1.
//! CHOICE GOAL: a receive posts its buffer even if its processor is busy; `overhead` is charged when the last byte has
//! arrived.
//! ```

use super::declare::default;
use super::job::{Job, Moment, Task, Traced, When};
use super::section::Section;
use crate::Diagnostic;
use crate::parse::goal::{self, Trace, Wait, What};
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use thalweg_units::{Bytes, Span};

/// A job from a GOAL trace: messages and computations that depend on each other (LogGOPSim, LSAP 2010; ATLAHS, 2025).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The trace, relative to the scenario: GOAL in its text form. `num_ranks 2`, then a block for every rank,
    /// `rank 0 { a: calc 100  b: send 1000b to 1 tag 0  b requires a }`; times are nanoseconds.
    #[schemars(extend("examples" = ["ring.goal"]))]
    pub file: String,
    /// The host of each rank, in the order of ranks. If not given, rank 0 is host 0, and so on.
    #[serde(default)]
    #[schemars(extend("x-node" = "host"))]
    pub hosts: Vec<u32>,
    /// Messages larger than this start only when their receive has been posted, which is when all that it requires has
    /// finished. If not given, no message waits for its receive.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["64KB"]))]
    pub rendezvous: Option<Q<Bytes>>,
    /// o: time of a processor for each message, before it sends one, and after the last byte of one has arrived.
    #[serde(default = "default::zero")]
    pub overhead: Q<Span>,
    /// When the job starts.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
}

impl Traced for Goal {
    fn job(&self, s: &Section<'_>) -> Result<Job, Diagnostic> {
        let text = s.cx.read(&s.key("file"), &self.file)?;
        let trace = goal::parse(&text).map_err(|e| e.in_file(&self.file))?;
        if trace.messages() == 0 {
            return Err(Diagnostic::in_file(&self.file, 1, "the trace contains no messages")
                .hint("remove the section"));
        }
        let hosts = s.ranks("hosts", &self.hosts, trace.ranks)?;
        let eager = s.eager(self.rendezvous.map(|limit| limit.0), trace.largest())?;
        assemble(&trace, &hosts, self.overhead.0, eager).map_err(|circle| {
            let mut lines: Vec<String> = circle.iter().map(|op| trace.ops[*op].line.to_string()).collect();
            lines.dedup();
            let more = if lines.len() > 8 { ", .." } else { "" };
            lines.truncate(8);
            let reason =
                format!("operations wait for each other in a cycle: lines {}{more}", lines.join(", "));
            let first = trace.ops[circle[0]].line;
            Diagnostic::in_file(&self.file, first, reason).hint("one of them must not wait for the others")
        })
    }

    fn start(&self) -> Span {
        self.start.0
    }

    fn files(&self, _: &Path) -> Vec<String> {
        vec![self.file.clone()]
    }
}

/// The tasks of a trace whose ranks are these hosts. Messages of more than `eager` bytes wait for their receive.
///
/// # Errors
/// Operations that wait for each other in a cycle, by their positions.
pub(crate) fn assemble(trace: &Trace, hosts: &[u32], overhead: Span, eager: u64) -> Result<Job, Vec<usize>> {
    let mut waits = Waits::of(trace, eager);
    let mut assembly = Assembly {
        trace,
        hosts,
        overhead,
        eager,
        job: Job::default(),
        started: vec![Vec::new(); trace.ops.len()],
        handed: vec![Vec::new(); trace.ops.len()],
        done: vec![Vec::new(); trace.ops.len()],
        flows: vec![0; trace.ops.len()],
    };
    while let Some(node) = waits.next() {
        let op = node / 2;
        if node.is_multiple_of(2) { assembly.start(op) } else { assembly.finish(op) }
    }
    match waits.circle() {
        None => Ok(assembly.job),
        Some(circle) => Err(circle),
    }
}

/// The translation of operations into tasks.
struct Assembly<'a> {
    trace: &'a Trace,
    hosts: &'a [u32],
    overhead: Span,
    eager: u64,
    job: Job,
    /// By operation, once it is known: the moments after the last of which it has started.
    started: Vec<Vec<Moment>>,
    /// The same for when the processor has handed over a message.
    handed: Vec<Vec<Moment>>,
    /// The same for when the operation has finished.
    done: Vec<Vec<Moment>>,
    /// The flow of each send.
    flows: Vec<u32>,
}

impl Assembly<'_> {
    fn start(&mut self, at: usize) {
        let op = &self.trace.ops[at];
        let host = self.hosts[op.rank as usize];
        let mut after = Vec::new();
        for (before, wait) in &op.after {
            let before = *before as usize;
            let moments = if *wait == Wait::Done { &self.done[before] } else { &self.started[before] };
            after.extend_from_slice(moments);
        }
        let after = self.job.last_of(host, after);
        let lasts = match op.what {
            What::Calc { lasts } => Some(lasts),
            What::Send { .. } => (!self.overhead.is_zero()).then_some(self.overhead),
            What::Recv { .. } => None,
        };
        let Some(lasts) = lasts else {
            self.handed[at].clone_from(&after);
            self.started[at] = after;
            return;
        };
        let work = self.job.push(Task::Work { host, cpu: op.cpu, lasts }, after);
        self.started[at] = vec![(work, When::Started)];
        self.handed[at] = vec![(work, When::Over)];
    }

    fn finish(&mut self, at: usize) {
        let op = &self.trace.ops[at];
        let host = |rank: u32| self.hosts[rank as usize];
        let partner = self.trace.partners[at].map_or(0, |partner| partner as usize);
        let mut after = self.handed[at].clone();
        self.done[at] = match op.what {
            What::Calc { .. } => after,
            What::Send { size, to, .. } => {
                let waits = size > self.eager;
                if waits {
                    after.extend_from_slice(&self.started[partner]);
                    after.sort_unstable();
                    after.dedup();
                }
                let task = Task::Send { src: host(op.rank), dst: host(to), size: size.max(1) };
                self.flows[at] = self.job.push(task, after);
                if waits { vec![(self.flows[at], When::Started)] } else { self.handed[at].clone() }
            }
            What::Recv { .. } => {
                after.push((self.flows[partner], When::Over));
                let host = host(op.rank);
                if self.overhead.is_zero() {
                    self.job.last_of(host, after)
                } else {
                    let task = Task::Work { host, cpu: op.cpu, lasts: self.overhead };
                    vec![(self.job.push(task, after), When::Over)]
                }
            }
        };
    }
}

/// The starts and ends of operations, each after those that it waits for (Kahn's algorithm; among those without open
/// predecessors, the first in the file). Operation i starts at node 2i and ends at 2i + 1.
struct Waits {
    before: Vec<Vec<usize>>,
    after: Vec<Vec<usize>>,
    open: Vec<usize>,
    free: BinaryHeap<Reverse<usize>>,
}

impl Waits {
    fn of(trace: &Trace, eager: u64) -> Self {
        let mut before = vec![Vec::new(); 2 * trace.ops.len()];
        for (at, op) in trace.ops.iter().enumerate() {
            let node = |(op, wait): &(u32, Wait)| 2 * *op as usize + usize::from(*wait == Wait::Done);
            before[2 * at].extend(op.after.iter().map(node));
            before[2 * at + 1].push(2 * at);
            let Some(partner) = trace.partners[at] else { continue };
            match op.what {
                What::Recv { .. } => before[2 * at + 1].push(2 * partner as usize + 1),
                What::Send { size, .. } if size > eager => before[2 * at + 1].push(2 * partner as usize),
                _ => {}
            }
        }
        let mut after = vec![Vec::new(); before.len()];
        for (node, of) in before.iter().enumerate() {
            of.iter().for_each(|other| after[*other].push(node));
        }
        let open: Vec<usize> = before.iter().map(Vec::len).collect();
        let free = (0..open.len()).filter(|node| open[*node] == 0).map(Reverse).collect();
        Self { before, after, open, free }
    }

    fn next(&mut self) -> Option<usize> {
        let Reverse(node) = self.free.pop()?;
        for follower in &self.after[node] {
            self.open[*follower] -= 1;
            if self.open[*follower] == 0 {
                self.free.push(Reverse(*follower));
            }
        }
        Some(node)
    }

    /// A cycle of operations, if some remain. Each of them has an open predecessor, so following predecessors leads
    /// into a cycle.
    fn circle(&self) -> Option<Vec<usize>> {
        let mut walk = vec![self.open.iter().position(|open| *open > 0)?];
        loop {
            let last = walk[walk.len() - 1];
            let next = self.before[last].iter().copied().find(|before| self.open[*before] > 0)?;
            if let Some(begin) = walk.iter().position(|node| *node == next) {
                let mut ops: Vec<usize> = walk[begin..].iter().map(|node| node / 2).collect();
                ops.dedup();
                return Some(ops);
            }
            walk.push(next);
        }
    }
}

#[cfg(test)]
mod tests;
