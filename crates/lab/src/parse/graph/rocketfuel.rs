//! Rocketfuel's maps of Internet providers (Spring, Mahajan, Wetherall, SIGCOMM 2002): routers only, no hosts.
//!
//! `.cch`: `uid @loc [+] [bb] (num_neigh) [&ext] -> <nuid> .. {-euid} .. =name[!] rn`. Negative uids are routers of other
//! networks; they and the links to them (`{-euid}`) are left out. Weights and latencies: `a b number`, a line for each
//! direction of a link.

use super::{RawGraph, RawLink};
use crate::parse::{ParseError, field, lines, quoted};
use crate::topology::names::fit;
use std::collections::BTreeMap;
use thalweg_units::Span;

/// A `.cch` map. Of a map in several parts the largest stays, the one with the smallest uid among equals; routers are
/// numbered in the order of their uids.
///
/// # Errors
/// The first line that is not a router, a neighbour without a line of its own, a router named twice.
pub fn cch(text: &str) -> Result<RawGraph, ParseError> {
    let mut routers: BTreeMap<i64, (usize, Vec<i64>)> = BTreeMap::new();
    for (line, row) in lines(text) {
        let Some((uid, neighbours)) = router(line, row)? else { continue };
        if routers.insert(uid, (line, neighbours)).is_some() {
            return Err(ParseError::new(line, format!("router {uid} is named twice"), ""));
        }
    }
    if routers.is_empty() {
        return Err(ParseError::new(
            0,
            "there is no router",
            "expected lines `uid @loc (n) -> <nuid> =name r0`",
        ));
    }
    let number: BTreeMap<i64, u32> = routers.keys().zip(0..).map(|(uid, i)| (*uid, i)).collect();
    let mut links: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for (uid, (line, neighbours)) in &routers {
        for n in neighbours {
            let Some(other) = number.get(n) else {
                return Err(ParseError::new(*line, format!("the neighbour {n} has no line of its own"), ""));
            };
            if n == uid {
                return Err(ParseError::new(*line, format!("a link from router {uid} to itself"), ""));
            }
            let (a, b) = (number[uid].min(*other), number[uid].max(*other));
            links.entry((a, b)).or_insert(*line);
        }
    }
    let link = |((a, b), line): (&(u32, u32), &usize)| RawLink {
        a: *a,
        b: *b,
        rate: None,
        delay: None,
        line: *line as u32,
    };
    let whole = RawGraph::new(0, number.len() as u32, links.iter().map(link).collect())?;
    let names = number.keys().map(|uid| format!("r{uid}")).collect();
    Ok(largest_part(&RawGraph { names, ..whole }))
}

/// One line: the router's uid and its neighbours inside; `None`: a router of another network.
fn router(line: usize, row: &str) -> Result<Option<(i64, Vec<i64>)>, ParseError> {
    let wrong = |what: &str| {
        ParseError::new(
            line,
            what.to_owned(),
            "expected `uid @loc [+] [bb] (n) [&ext] -> <nuid> {-euid} =name rn`",
        )
    };
    let mut cells = row.split_whitespace().peekable();
    let uid: i64 = field(line, "a router's uid", cells.next())?;
    if uid < 0 {
        let named = cells.next().is_some_and(|c| c.starts_with('='));
        return if named { Ok(None) } else { Err(wrong("a router of another network needs `=address`")) };
    }
    if !cells.next().is_some_and(|c| c.starts_with('@')) {
        return Err(wrong("the location `@..` is missing"));
    }
    for flag in ["+", "bb"] {
        cells.next_if_eq(&flag);
    }
    let inside = |c: &'static str, open: char, close: char| {
        move |cell: &str| -> Result<Option<i64>, ParseError> {
            match cell.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)) {
                Some(number) => field(line, c, Some(number)).map(Some),
                None => Ok(None),
            }
        }
    };
    let count = inside("the number of neighbours", '(', ')')(cells.next().unwrap_or_default())?;
    let Some(count) = count else { return Err(wrong("the number of neighbours `(n)` is missing")) };
    if let Some(external) = cells.next_if(|c| c.starts_with('&')) {
        field::<u32>(line, "a number of external links", external.strip_prefix('&'))?;
    }
    if cells.next() != Some("->") {
        return Err(wrong("`->` is missing"));
    }
    let mut neighbours = Vec::new();
    while let Some(cell) = cells.next_if(|c| c.starts_with('<') || c.starts_with('{')) {
        if let Some(uid) = inside("a neighbour's uid", '<', '>')(cell)? {
            neighbours.push(uid);
        } else if inside("an external uid", '{', '}')(cell)?.is_none() {
            return Err(wrong(&format!("`{}` is not a neighbour", quoted(cell))));
        }
    }
    if i64::try_from(neighbours.len()) != Ok(count) {
        let reason = format!("{} neighbours instead of {count}", neighbours.len());
        return Err(ParseError::new(line, reason, ""));
    }
    if !cells.next().is_some_and(|c| c.starts_with('=')) {
        return Err(wrong("the name `=..` is missing"));
    }
    let radius = cells.next().and_then(|c| c.strip_prefix('r'));
    field::<u8>(line, "a radius `rn`", radius)?;
    match cells.next() {
        None => Ok(Some((uid, neighbours))),
        Some(more) => Err(wrong(&format!("`{}` follows the radius", quoted(more)))),
    }
}

/// The largest connected part, renumbered in order.
fn largest_part(g: &RawGraph) -> RawGraph {
    let mut neighbours = vec![Vec::new(); g.nodes as usize];
    for l in &g.links {
        neighbours[l.a as usize].push(l.b as usize);
        neighbours[l.b as usize].push(l.a as usize);
    }
    let mut part = vec![usize::MAX; g.nodes as usize];
    let mut sizes = Vec::new();
    for first in 0..g.nodes as usize {
        if part[first] != usize::MAX {
            continue;
        }
        let mine = sizes.len();
        part[first] = mine;
        let (mut stack, mut size) = (vec![first], 0u32);
        while let Some(node) = stack.pop() {
            size += 1;
            for next in &neighbours[node] {
                if part[*next] == usize::MAX {
                    part[*next] = mine;
                    stack.push(*next);
                }
            }
        }
        sizes.push(size);
    }
    let most = sizes.iter().copied().max().unwrap_or(0);
    let kept = sizes.iter().position(|s| *s == most).unwrap_or(0);
    let mut number = vec![0u32; g.nodes as usize];
    let mut nodes = 0;
    for (node, _) in part.iter().enumerate().filter(|(_, p)| **p == kept) {
        number[node] = nodes;
        nodes += 1;
    }
    let inside = g.links.iter().filter(|l| part[l.a as usize] == kept);
    let links = inside.map(|l| RawLink { a: number[l.a as usize], b: number[l.b as usize], ..*l }).collect();
    let names =
        g.names.iter().zip(&part).filter(|(_, p)| **p == kept).map(|(name, _)| name.clone()).collect();
    RawGraph { hosts: 0, nodes, links, names }
}

/// `a b weight`: weights are checked only.
///
/// # Errors
/// The first line that is not a link.
pub fn weights(text: &str) -> Result<RawGraph, ParseError> {
    pairs(text, "a weight", |_| None)
}

/// `a b milliseconds`.
///
/// # Errors
/// The first line that is not a link; a link whose two directions differ.
pub fn latencies(text: &str) -> Result<RawGraph, ParseError> {
    pairs(text, "a latency in milliseconds", |ms| Some(Span::from_secs_f64(ms * 1e-3)))
}

/// Links between named places, numbered as they first appear.
fn pairs(text: &str, what: &str, delay: fn(f64) -> Option<Span>) -> Result<RawGraph, ParseError> {
    let mut number: BTreeMap<&str, u32> = BTreeMap::new();
    let mut links: BTreeMap<(u32, u32), RawLink> = BTreeMap::new();
    for (line, row) in lines(text) {
        let cells: Vec<&str> = row.split_whitespace().collect();
        let [from, to, value] = cells[..] else {
            let reason = format!("{} columns instead of 3", cells.len());
            return Err(ParseError::new(line, reason, format!("expected two routers and {what}")));
        };
        let value: f64 = field(line, what, Some(value))?;
        // A day is more than any latency, and the sum of a path still fits.
        if !(0.0..=86_400_000.0).contains(&value) {
            return Err(ParseError::new(line, format!("`{value}` is not {what}"), "from 0 to 86400000"));
        }
        let mut place = |name| {
            let next = number.len() as u32;
            *number.entry(name).or_insert(next)
        };
        let (a, b) = (place(from), place(to));
        if a == b {
            return Err(ParseError::new(line, format!("a link from `{}` to itself", quoted(from)), ""));
        }
        let link = RawLink { a: a.min(b), b: a.max(b), rate: None, delay: delay(value), line: line as u32 };
        let known = links.entry((link.a, link.b)).or_insert(link);
        if known.delay != link.delay {
            let reason = format!("the link has another latency in line {}", known.line);
            return Err(ParseError::new(line, reason, "links are alike in both directions"));
        }
    }
    if links.is_empty() {
        return Err(ParseError::new(
            0,
            "there is no link",
            format!("expected two routers and {what} per line"),
        ));
    }
    let graph = RawGraph::new(0, number.len() as u32, links.into_values().collect())?;
    let mut names = vec![String::new(); number.len()];
    for (name, router) in number {
        names[router as usize] = fit(name).unwrap_or_else(|| format!("n{router}"));
    }
    Ok(RawGraph { names, ..graph })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two routers of the backbone, one behind them, a lonely pair, a router of a customer.
    const MAP: &str = "\
15 @Melbourne,+Australia bb (2) &2 -> <99> <131> {-1184} {-952} =203.24.109.1 r0
99 @T + bb\t(1) -> <15> \t=a.example.net! r0
131 @Port+Pirie,+A (1) -> <15> =b.example.net r1
200 @? (1) -> <201> =c r2
201 @? (1) -> <200> =d r2
-952 =198.51.100.7 r1
";

    #[test]
    fn a_map_keeps_the_largest_part_and_each_link_once() {
        let g = cch(MAP).expect("a map");
        assert_eq!((g.hosts, g.nodes), (0, 3));
        let ends: Vec<(u32, u32)> = g.links.iter().map(|l| (l.a, l.b)).collect();
        assert_eq!(ends, [(0, 1), (0, 2)]);
        assert_eq!(g.names, ["r15", "r99", "r131"]);
    }

    #[test]
    fn what_is_wrong_with_a_map_is_said_with_its_line() {
        let says = |text: &str, line: u32, reason: &str| {
            let e = cch(text).expect_err(reason);
            assert_eq!((e.line, e.reason.as_str()), (line, reason));
        };
        says("", 0, "there is no router");
        says("1 Paris (0) -> =x r0", 1, "the location `@..` is missing");
        says("1 @Paris (2) -> <2> =x r0", 1, "1 neighbours instead of 2");
        says("1 @Paris (1) -> <2> =x r0", 1, "the neighbour 2 has no line of its own");
        says("1 @Paris (1) -> <1> =x r0", 1, "a link from router 1 to itself");
        says("1 @Paris (0) -> =x r0\n1 @Rome (0) -> =y r0", 2, "router 1 is named twice");
        says("1 @Paris (0) =x r0", 1, "`->` is missing");
        says("1 @Paris (0) -> =x", 1, "a radius `rn` is missing");
        says("1 @Paris (0) -> =x r0 r1", 1, "`r1` follows the radius");
        says("1 @Paris (x) -> =x r0", 1, "`x` is not the number of neighbours");
        says("-7 Paris", 1, "a router of another network needs `=address`");
    }

    #[test]
    fn links_come_once_with_their_latency_and_weights_are_only_checked() {
        let text = "Paris London 3.5\nLondon Paris 3.5\nLondon Oslo 10\n";
        let g = latencies(text).expect("latencies");
        assert_eq!((g.nodes, g.links.len()), (3, 2));
        assert_eq!(g.names, ["Paris", "London", "Oslo"]);
        assert_eq!(g.links[0].delay, Some(Span::from_us(3500)));
        assert!(weights(text).expect("weights").links.iter().all(|l| l.delay.is_none()));
        let e = latencies("a b 1\nb a 2\n").expect_err("two latencies");
        assert_eq!((e.line, e.reason.as_str()), (2, "the link has another latency in line 1"));
        assert_eq!(weights("a b 1\nb a 2\n").map(|g| g.links.len()), Ok(1));
        assert_eq!(weights("a b -1\n").expect_err("negative").reason, "`-1` is not a weight");
        assert_eq!(weights("a b\n").expect_err("two columns").reason, "2 columns instead of 3");
    }
}
