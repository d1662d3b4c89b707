//! Sorts the rows of a list so that each row comes after those that it follows.

use crate::parse::flows::FlowRow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use thalweg_net::spec::End;

/// An invalid predecessor: the line of its row, the reason, and a hint.
pub(super) type Wrong = (u32, String, String);

/// The position of a row in the file, and the positions of its predecessors with the ends that it waits for.
pub(super) type Place = (usize, Vec<(usize, End)>);

/// Rows in the order of the file, except that each comes after all its predecessors.
pub(super) fn in_order(rows: &[FlowRow]) -> Result<Vec<Place>, Wrong> {
    let named = numbers(rows)?;
    if rows.iter().all(|row| row.after.is_empty()) {
        return Ok((0..rows.len()).map(|row| (row, Vec::new())).collect());
    }
    let follow = positions(rows, &named)?;
    let mut followers = vec![Vec::new(); rows.len()];
    let mut open: Vec<usize> = follow.iter().map(Vec::len).collect();
    for (row, others) in follow.iter().enumerate() {
        others.iter().for_each(|(other, _)| followers[*other].push(row));
    }
    // Kahn's algorithm; among rows without open predecessors, the first in the file.
    let mut free: BinaryHeap<_> = (0..rows.len()).filter(|row| open[*row] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(rows.len());
    while let Some(Reverse(row)) = free.pop() {
        for follower in &followers[row] {
            open[*follower] -= 1;
            if open[*follower] == 0 {
                free.push(Reverse(*follower));
            }
        }
        order.push((row, follow[row].clone()));
    }
    match open.iter().position(|left| *left > 0) {
        Some(stuck) => Err(circle(rows, &follow, &open, stuck)),
        None => Ok(order),
    }
}

/// The row of each number. Numbers must be unique.
fn numbers(rows: &[FlowRow]) -> Result<BTreeMap<u64, usize>, Wrong> {
    let mut named = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        if named.insert(row.id, at).is_some() {
            let reason = format!("an earlier flow has the id {}, too", row.id);
            let hint = "give every flow an `id` of its own, or remove the column";
            return Err((row.line, reason, hint.to_owned()));
        }
    }
    Ok(named)
}

/// The predecessors of each row, without duplicates.
fn positions(rows: &[FlowRow], named: &BTreeMap<u64, usize>) -> Result<Vec<Vec<(usize, End)>>, Wrong> {
    let of = |row: &FlowRow| {
        let wrong = |reason: String, hint: &str| (row.line, reason, hint.to_owned());
        let place = |(id, end): &(u64, End)| match named.get(id) {
            _ if *id == row.id => Err(wrong(format!("flow {id} follows itself"), "remove the number")),
            None => {
                let reason = format!("flow {} follows flow {id}, which is not in the list", row.id);
                Err(wrong(reason, "`after` and `after_acked` refer to numbers of the column `id`"))
            }
            Some(at) => Ok((*at, *end)),
        };
        let mut all = row.after.iter().map(place).collect::<Result<Vec<_>, _>>()?;
        all.sort_unstable();
        all.dedup();
        Ok(all)
    };
    rows.iter().map(of).collect()
}

/// A cycle among the rows that remain. Each of them has an open predecessor, so following predecessors leads into a
/// cycle.
fn circle(rows: &[FlowRow], follow: &[Vec<(usize, End)>], open: &[usize], stuck: usize) -> Wrong {
    let mut walk = vec![stuck];
    let begin = loop {
        let last = walk[walk.len() - 1];
        let next =
            follow[last].iter().map(|(other, _)| *other).find(|other| open[*other] > 0).unwrap_or(stuck);
        match walk.iter().position(|row| *row == next) {
            Some(begin) => break begin,
            None => walk.push(next),
        }
    };
    let circle = &walk[begin..];
    let names: Vec<String> = circle.iter().take(8).map(|row| rows[*row].id.to_string()).collect();
    let more = if circle.len() > names.len() { ", .." } else { "" };
    let reason = format!("flows follow each other in a cycle: {}{more}", names.join(", "));
    (rows[circle[0]].line, reason, "let one of them start at a time of its own".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Time;

    /// Rows called 10, 11, .. that follow these.
    fn rows(after: &[&[u64]]) -> Vec<FlowRow> {
        let row = |(n, after): (u32, &&[u64])| FlowRow {
            line: n + 2,
            id: u64::from(n) + 10,
            src: 0,
            dst: 1,
            size: 1,
            start: Time::ZERO,
            after: after.iter().map(|id| (*id, End::Received)).collect(),
        };
        (0..).zip(after).map(row).collect()
    }

    #[test]
    fn rows_stay_as_they_are_unless_they_follow_a_later_one() {
        let order = in_order(&rows(&[&[], &[10], &[13, 10, 13], &[], &[12]])).expect("no circle");
        let plain =
            |(row, follow): Place| (row, follow.into_iter().map(|(other, _)| other).collect::<Vec<_>>());
        let order: Vec<_> = order.into_iter().map(plain).collect();
        assert_eq!(order, [(0, vec![]), (1, vec![0]), (3, vec![]), (2, vec![0, 3]), (4, vec![2])]);
    }

    #[test]
    fn what_cannot_be_followed_is_named() {
        let wrong = |after: &[&[u64]]| in_order(&rows(after)).expect_err("wrong");
        let (line, reason, _) = wrong(&[&[], &[12, 77], &[]]);
        assert_eq!((line, reason.as_str()), (3, "flow 11 follows flow 77, which is not in the list"));
        assert_eq!(wrong(&[&[10]]).1, "flow 10 follows itself");
        let (line, reason, _) = wrong(&[&[12], &[], &[13, 11], &[12]]);
        assert_eq!((line, reason.as_str()), (4, "flows follow each other in a cycle: 12, 13"));
        let mut twice = rows(&[&[], &[], &[11]]);
        twice[0].id = 11;
        assert_eq!(in_order(&twice).expect_err("two").1, "an earlier flow has the id 11, too");
    }
}
