//! Matches sends and receives: the first with the first among those between the same ranks with the same tag.

use super::{Op, What};
use crate::parse::ParseError;
use std::collections::{BTreeMap, VecDeque};

/// The unmatched sends and receives of a pair of ranks and a tag. At least one of the two queues is empty.
#[derive(Default)]
struct Open {
    sends: VecDeque<u32>,
    recvs: VecDeque<u32>,
}

/// For each operation its partner: for a send its receive, for a receive its send. `place`: what the numbers of
/// operations are, for messages.
///
/// # Errors
/// The first operation without a partner, or with a partner of another size.
pub(crate) fn partners(ops: &[Op], place: &str) -> Result<Vec<Option<u32>>, ParseError> {
    let mut partners = vec![None; ops.len()];
    let mut open: BTreeMap<(u32, u32, u32), Open> = BTreeMap::new();
    for (at, op) in (0..).zip(ops) {
        let partner = match op.what {
            What::Calc { .. } => continue,
            What::Send { to, tag, .. } => {
                let open = open.entry((op.rank, to, tag)).or_default();
                let partner = open.recvs.pop_front();
                if partner.is_none() {
                    open.sends.push_back(at);
                }
                partner
            }
            What::Recv { from, tag, .. } => {
                let open = open.entry((from, op.rank, tag)).or_default();
                let partner = open.sends.pop_front();
                if partner.is_none() {
                    open.recvs.push_back(at);
                }
                partner
            }
        };
        let Some(partner) = partner else { continue };
        alike(op, &ops[partner as usize], place)?;
        partners[at as usize] = Some(partner);
        partners[partner as usize] = Some(at);
    }
    // The first in the file.
    let left = open.into_iter().flat_map(|(ends, open)| {
        let Open { sends, recvs } = open;
        sends.into_iter().chain(recvs).map(move |op| (op, ends))
    });
    let Some((op, (from, to, tag))) = left.min() else { return Ok(partners) };
    let op = &ops[op as usize];
    let (is, lacks) = match op.what {
        What::Send { .. } => ("sends", "receive"),
        _ => ("receives", "send"),
    };
    let reason =
        format!("rank {} {is} from {from} to {to} with tag {tag}, and there is no {lacks} for it", op.rank);
    let hint = "the k-th send of a pair of ranks and a tag matches the k-th receive";
    Err(ParseError::new(op.line as usize, reason, hint))
}

/// Checks that a send and its receive have the same size.
fn alike(op: &Op, partner: &Op, place: &str) -> Result<(), ParseError> {
    let size = |op: &Op| match op.what {
        What::Send { size, .. } | What::Recv { size, .. } => size,
        What::Calc { .. } => 0,
    };
    if size(op) == size(partner) {
        return Ok(());
    }
    let (line, other) = (op.line.max(partner.line), op.line.min(partner.line));
    let (own, its) = if op.line == line { (size(op), size(partner)) } else { (size(partner), size(op)) };
    let reason = format!("it has {own} bytes, and the other end in {place} {other} has {its}");
    Err(ParseError::new(line as usize, reason, "a send and its receive have the same size"))
}
