//! Translates the nodes of all ranks into the operations of one trace ([`crate::parse::goal`]).

use super::collectives::{expand, messages};
use crate::parse::chakra::{Collective, Node, What};
use crate::parse::goal::{self, Op, Trace, Wait};
use crate::traffic::MOST_FLOWS;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thalweg_units::Span;

/// When the collective operations of a process group begin at each rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Collectives {
    /// In the order of the trace, each when the one before is complete at the rank, as in an NCCL communicator.
    #[default]
    InOrder,
    /// When all that they depend on is complete.
    AtOnce,
}

/// Why a trace cannot be run: the reason, and a hint.
pub(in crate::traffic) type Wrong = (String, String);

/// Members of process groups, by their names.
pub(in crate::traffic) type Groups = BTreeMap<String, Vec<u32>>;

/// Operations under construction.
#[derive(Default)]
pub(super) struct Operations {
    ops: Vec<Op>,
    partners: Vec<Option<u32>>,
}

impl Operations {
    fn push(&mut self, rank: u32, id: u64, cpu: Option<u32>, what: goal::What) -> u32 {
        let line = u32::try_from(id).unwrap_or(u32::MAX);
        self.ops.push(Op { line, rank, cpu, what, after: Vec::new() });
        self.partners.push(None);
        (self.ops.len() - 1) as u32
    }

    /// Adds a delay, which needs no processor.
    fn pass(&mut self, rank: u32, id: u64, lasts: Span) -> u32 {
        self.push(rank, id, None, goal::What::Calc { lasts })
    }

    fn follow(&mut self, op: u32, others: &[u32]) {
        self.ops[op as usize].after.extend(others.iter().map(|other| (*other, Wait::Done)));
    }

    /// Adds a message from a rank, after these operations, to a rank that has begun. Returns the receive.
    pub fn message(&mut self, from: u32, (to, begin): (u32, u32), size: u64, after: &[u32]) -> u32 {
        let id = u64::from(self.ops[begin as usize].line);
        let send = self.push(from, id, Some(0), goal::What::Send { size, to, tag: 0 });
        let recv = self.push(to, id, Some(0), goal::What::Recv { size, from, tag: 0 });
        self.follow(send, after);
        self.follow(recv, &[begin]);
        self.partners[send as usize] = Some(recv);
        self.partners[recv as usize] = Some(send);
        recv
    }
}

/// A rank's part in a collective operation.
struct Call<'a> {
    rank: u32,
    begin: u32,
    end: u32,
    node: &'a Node,
}

/// The operations of all ranks.
///
/// # Errors
/// If something named does not exist, or the calls of ranks do not match.
pub(in crate::traffic) fn translate(
    ranks: &[Vec<Node>],
    groups: &Groups,
    order: Collectives,
) -> Result<Trace, Wrong> {
    let mut out = Operations::default();
    let mut calls: BTreeMap<(Option<&str>, u32), Vec<Call<'_>>> = BTreeMap::new();
    for (rank, nodes) in (0..).zip(ranks) {
        let mut places: BTreeMap<u64, (u32, u32)> = BTreeMap::new();
        // For each group the number of calls so far, and the end of the last one.
        let mut called: BTreeMap<Option<&str>, (u32, u32)> = BTreeMap::new();
        for node in nodes {
            let (begin, end) = lay(rank, ranks.len() as u32, node, &mut out)?;
            if places.insert(node.id, (begin, end)).is_some() {
                return wrong(
                    rank,
                    node.id,
                    "has the same number as an earlier node",
                    "give every node of a rank a number of its own",
                );
            }
            if let What::Collective { group, .. } = &node.what {
                let group = group.as_deref();
                let before = called.get(&group).copied();
                if let (Some((_, last)), Collectives::InOrder) = (before, order) {
                    out.follow(begin, &[last]);
                }
                let number = before.map_or(0, |(number, _)| number + 1);
                calls.entry((group, number)).or_default().push(Call { rank, begin, end, node });
                called.insert(group, (number, end));
            }
        }
        for node in nodes {
            for before in &node.after {
                let Some((_, end)) = places.get(before) else {
                    let reason = format!("waits for node {before}, which is not in the file");
                    return wrong(rank, node.id, &reason, "a rank can wait only for its own nodes");
                };
                out.follow(places[&node.id].0, &[*end]);
            }
        }
    }
    out.partners = goal::partners(&out.ops, "node").map_err(|e| (e.reason, e.hint))?;
    let mut sum = out.ops.len() as u64;
    for ((group, number), calls) in calls {
        let members = members(group, groups, ranks.len() as u32, &calls[0])?;
        collective(&calls, &members, number, (&mut out, &mut sum))?;
    }
    Ok(Trace { ranks: ranks.len() as u32, ops: out.ops, partners: out.partners })
}

fn wrong<T>(rank: u32, node: u64, reason: &str, hint: &str) -> Result<T, Wrong> {
    Err((format!("node {node} of rank {rank} {reason}"), hint.to_owned()))
}

/// The first and the last operation of a node.
fn lay(rank: u32, ranks: u32, node: &Node, out: &mut Operations) -> Result<(u32, u32), Wrong> {
    if let What::Send { to: other, .. } | What::Recv { from: other, .. } = node.what {
        if other >= ranks {
            let hint = format!("ranks are 0 to {}, a file for each", ranks - 1);
            return wrong(rank, node.id, &format!("names rank {other}, which does not exist"), &hint);
        }
        if other == rank {
            return wrong(rank, node.id, "names its own rank", "a rank sends to others");
        }
    }
    let op = match node.what {
        What::Nothing => out.pass(rank, node.id, Span::ZERO),
        What::Memory(lasts) => out.pass(rank, node.id, lasts),
        What::Compute(lasts) => out.push(rank, node.id, Some(0), goal::What::Calc { lasts }),
        What::Send { size, to, tag } => out.push(rank, node.id, Some(0), goal::What::Send { size, to, tag }),
        What::Recv { size, from, tag } => {
            out.push(rank, node.id, Some(0), goal::What::Recv { size, from, tag })
        }
        What::Collective { .. } => {
            let begin = out.pass(rank, node.id, Span::ZERO);
            let end = out.pass(rank, node.id, Span::ZERO);
            out.follow(end, &[begin]);
            return Ok((begin, end));
        }
    };
    Ok((op, op))
}

/// The ranks of a process group; without a group, all.
fn members(group: Option<&str>, groups: &Groups, ranks: u32, call: &Call<'_>) -> Result<Vec<u32>, Wrong> {
    let Some(name) = group else { return Ok((0..ranks).collect()) };
    match groups.get(name) {
        Some(members) => Ok(members.clone()),
        None => {
            let reason = format!("belongs to the process group `{name}`, whose ranks are not known");
            let hint = "name a file with the ranks of every group as `groups`: {\"0\": [0, 1]}";
            wrong(call.rank, call.node.id, &reason, hint)
        }
    }
}

/// Adds the messages of one collective operation, which all members must call.
fn collective(
    calls: &[Call<'_>],
    members: &[u32],
    number: u32,
    (out, sum): (&mut Operations, &mut u64),
) -> Result<(), Wrong> {
    let first = &calls[0];
    let What::Collective { kind, size, .. } = first.node.what else { return Ok(()) };
    let mut root: Option<u32> = None;
    let mut by_place = Vec::with_capacity(members.len());
    for rank in members {
        let Some(call) = calls.iter().find(|call| call.rank == *rank) else {
            let reason = format!("is call {number} in its group, and rank {rank} makes fewer calls");
            return wrong(
                first.rank,
                first.node.id,
                &reason,
                "every rank of a group calls all of its operations",
            );
        };
        let What::Collective { kind: its, size: of, root: from, .. } = call.node.what else { continue };
        if (its, of) != (kind, size) {
            let reason = format!(
                "differs in kind or size from node {} of rank {}, the same call of the group",
                first.node.id, first.rank
            );
            let hint = "all ranks of a group call the same operations in the same order";
            return wrong(call.rank, call.node.id, &reason, hint);
        }
        if let (Some(root), Some(from)) = (root, from)
            && root != from
            && kind == Collective::Broadcast
        {
            let reason = format!("broadcasts from rank {from}, and another rank of its group from {root}");
            return wrong(
                call.rank,
                call.node.id,
                &reason,
                "all ranks of a group name the same `comm_src`, or none",
            );
        }
        root = root.or(from);
        by_place.push(call);
    }
    if let Some(call) = calls.iter().find(|call| !members.contains(&call.rank)) {
        return wrong(
            call.rank,
            call.node.id,
            "belongs to a process group that does not contain its rank",
            "correct `groups`",
        );
    }
    let root = match root.filter(|_| kind == Collective::Broadcast) {
        None => 0,
        Some(root) => match members.iter().position(|rank| *rank == root) {
            Some(place) => place,
            None => return wrong(first.rank, first.node.id, "has a root that is not in its group", ""),
        },
    };
    *sum += messages(kind, members.len() as u64);
    if *sum > MOST_FLOWS {
        let hint = format!("at most {MOST_FLOWS} of a trace");
        return wrong(
            first.rank,
            first.node.id,
            "exceeds the number of messages that a trace may have",
            &hint,
        );
    }
    if members.len() < 2 {
        return Ok(());
    }
    let begins: Vec<(u32, u32)> = by_place.iter().map(|call| (call.rank, call.begin)).collect();
    let over = expand(kind, &begins, (size, root), out);
    for (call, over) in by_place.iter().zip(over) {
        out.follow(call.end, &over);
    }
    Ok(())
}
