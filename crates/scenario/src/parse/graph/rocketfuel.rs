//! Rocketfuel's maps of Internet providers (Spring, Mahajan, Wetherall, SIGCOMM 2002): routers only, no hosts.
//!
//! `.cch`: `uid @loc [+] [bb] (num_neigh) [&ext] -> <nuid> .. {-euid} .. =name[!] rn`. Negative uids are routers of
//! other networks; they and the links to them (`{-euid}`) are left out. Weights and latencies: `a b number`, one line
//! for each direction of a link.
//!
//! The published files are often incomplete: maps trimmed to radius 0 or 1 (`.r0.cch`, `.r1.cch`) keep each router's
//! number of neighbours in the whole map but only a few of the neighbours, some routers name themselves as neighbours,
//! and parts are not connected.
// CHOICE Rocketfuel: the number of neighbours is not compared with the list, links from a router to itself are left
// out, and a neighbour without a line of its own is a router, too, as for the readers of ns-3 and FNSS. Other reading:
// a file that contradicts itself is refused, which refuses every published map.

use super::{RawGraph, RawLink};
use crate::parse::{ParseError, field, lines, quoted};
use crate::topology::names::fit;
use std::collections::{BTreeMap, BTreeSet};
use thalweg_units::Span;

/// A `.cch` map; routers are numbered in the order of their uids.
///
/// # Errors
/// The first line that is not a router, or a router named twice.
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
            "the file has no router",
            "expected lines `uid @loc (n) -> <nuid> =name r0`",
        ));
    }
    let named = routers.iter().flat_map(|(uid, (_, neighbours))| neighbours.iter().chain([uid]));
    let uids: BTreeSet<i64> = named.copied().collect();
    let number: BTreeMap<i64, u32> = uids.iter().copied().zip(0..).collect();
    let mut links: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for (uid, (line, neighbours)) in &routers {
        for n in neighbours.iter().filter(|n| *n != uid) {
            let (a, b) = (number[uid].min(number[n]), number[uid].max(number[n]));
            links.entry((a, b)).or_insert(*line);
        }
    }
    let links = links.into_iter().map(|((a, b), line)| RawLink::bare(a, b, line)).collect();
    let names = uids.iter().map(|uid| format!("r{uid}")).collect();
    Ok(RawGraph { names, ..RawGraph::new(0, number.len() as u32, links)? })
}

/// One line: the router's uid and its neighbours in the same network; `None`: a router of another network.
fn router(line: usize, row: &str) -> Result<Option<(i64, Vec<i64>)>, ParseError> {
    let wrong = |what: &str| {
        ParseError::new(
            line,
            what.to_owned(),
            "expected `uid @loc [+] [bb] (n) [&ext] -> <nuid> {-euid} =name rn`",
        )
    };
    let mut cells = row.split_whitespace();
    let uid: i64 = field(line, "a router's uid", cells.next())?;
    if uid < 0 {
        let named = cells.next().is_some_and(|c| c.starts_with('='));
        return if named { Ok(None) } else { Err(wrong("a router of another network needs `=address`")) };
    }
    if !cells.next().is_some_and(|c| c.starts_with('@')) {
        return Err(wrong("the location `@..` is missing"));
    }
    let (mut neighbours, mut arrow) = (Vec::new(), false);
    for cell in cells {
        let between = |open, close| cell.strip_prefix(open).and_then(|rest: &str| rest.strip_suffix(close));
        if let Some(number) = between('<', '>') {
            neighbours.push(field(line, "a neighbour's uid", Some(number))?);
        } else if let Some(number) = between('{', '}') {
            field::<i64>(line, "an external uid", Some(number))?;
        } else if let Some(number) = between('(', ')') {
            field::<u32>(line, "the number of neighbours", Some(number))?;
        } else if let Some(number) = cell.strip_prefix('&') {
            field::<u32>(line, "a number of external links", Some(number))?;
        } else if let Some(number) = cell.strip_prefix('r') {
            field::<u8>(line, "a radius `rn`", Some(number))?;
        } else if cell == "->" {
            arrow = true;
        } else if cell != "+" && cell != "bb" && !cell.starts_with('=') {
            return Err(wrong(&format!("`{}` is not part of the line of a router", quoted(cell))));
        }
    }
    if !arrow {
        return Err(wrong("`->` is missing"));
    }
    neighbours.retain(|n| *n >= 0);
    Ok(Some((uid, neighbours)))
}

/// `a b weight`. Weights are only checked.
///
/// # Errors
/// The first line that is not a link.
pub fn weights(text: &str) -> Result<RawGraph, ParseError> {
    pairs(text, "a weight", |_| None)
}

/// `a b milliseconds`.
///
/// # Errors
/// The first line that is not a link, or a link whose two directions differ.
pub fn latencies(text: &str) -> Result<RawGraph, ParseError> {
    pairs(text, "a latency in milliseconds", |ms| Some(Span::from_secs_f64(ms * 1e-3)))
}

/// Links between named places, numbered in the order in which they appear.
fn pairs(text: &str, what: &str, delay: fn(f64) -> Option<Span>) -> Result<RawGraph, ParseError> {
    let mut number: BTreeMap<&str, u32> = BTreeMap::new();
    let mut links: BTreeMap<(u32, u32), RawLink> = BTreeMap::new();
    for (line, row) in lines(text) {
        let cells: Vec<&str> = row.split_whitespace().collect();
        let [from, to, value] = cells[..] else {
            let reason = format!("the line has {} columns instead of 3", cells.len());
            return Err(ParseError::new(line, reason, format!("expected two routers and {what}")));
        };
        let value: f64 = field(line, what, Some(value))?;
        // A day is longer than any latency, and the sum over a path does not overflow.
        if !(0.0..=86_400_000.0).contains(&value) {
            return Err(ParseError::new(line, format!("`{value}` is not {what}"), "from 0 to 86400000"));
        }
        let mut place = |name| {
            let next = number.len() as u32;
            *number.entry(name).or_insert(next)
        };
        let (a, b) = (place(from), place(to));
        if a == b {
            continue; // as of maps
        }
        let link = RawLink { delay: delay(value), ..RawLink::bare(a.min(b), a.max(b), line) };
        let known = links.entry((link.a, link.b)).or_insert(link);
        if known.delay != link.delay {
            let reason = format!("the link has another latency in line {}", known.line);
            return Err(ParseError::new(
                line,
                reason,
                "both directions of a link have the same rate and delay",
            ));
        }
    }
    if links.is_empty() {
        return Err(ParseError::new(
            0,
            "the file has no link",
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
    fn a_map_has_each_link_once_and_its_largest_part_may_stay() {
        let g = cch(MAP).expect("a map");
        assert_eq!((g.hosts, g.nodes, g.links.len()), (0, 5, 3));
        let g = g.largest_part();
        assert_eq!((g.hosts, g.nodes), (0, 3));
        let ends: Vec<(u32, u32)> = g.links.iter().map(|l| (l.a, l.b)).collect();
        assert_eq!(ends, [(0, 1), (0, 2)]);
        assert_eq!(g.names, ["r15", "r99", "r131"]);
    }

    /// Trimmed to radius 0, so that more neighbours are counted than listed; a router that names itself; one without
    /// a line.
    #[test]
    fn trimmed_maps_are_read() {
        let g = cch(
            "\u{feff}10 @N bb (5) &1 -> <11> <12> {-3} =a! r0\r\n11 @S (2) -> <10> <11> <12> =b r0\r\n\r\n\
                     12 @E + \t(14) -> <10> <11> <40>  =c r1\r\n-3 =ext r1\r\n",
        )
        .expect("a map");
        assert_eq!((g.nodes, g.links.len()), (4, 4));
        assert_eq!(g.names, ["r10", "r11", "r12", "r40"]);
        let orders =
            ["1 @A (1) bb + -> <2> {-3} =a r0 &2", "1 @A + bb -> =a <2> r0", "1 @A r2 (9) &0 -> {-1} <2>"];
        for one in orders {
            assert_eq!(cch(one).expect(one).links.len(), 1, "{one}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_map_is_reported_with_its_line() {
        let message = |text: &str, line: u32, reason: &str| {
            let e = cch(text).expect_err(reason);
            assert_eq!((e.line, e.reason.as_str()), (line, reason));
        };
        message("", 0, "the file has no router");
        message("1 Paris (0) -> =x r0", 1, "the location `@..` is missing");
        message("1 @Paris (0) -> =x r0\n1 @Rome (0) -> =y r0", 2, "router 1 is named twice");
        message("1 @Paris (0) =x r0", 1, "`->` is missing");
        message("1 @Paris (0) -> =x rx", 1, "`x` is not a radius `rn`");
        message("1 @Paris (0) -> <x> =x r0", 1, "`x` is not a neighbour's uid");
        message("1 @Paris (0) -> 2 =x r0", 1, "`2` is not part of the line of a router");
        message("1 @Paris (x) -> =x r0", 1, "`x` is not the number of neighbours");
        message("-7 Paris", 1, "a router of another network needs `=address`");
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
        assert_eq!(weights("a b 1\nb a 2\nb b 1\n").map(|g| g.links.len()), Ok(1));
        assert_eq!(weights("a b -1\n").expect_err("negative").reason, "`-1` is not a weight");
        assert_eq!(weights("a b\n").expect_err("two columns").reason, "the line has 2 columns instead of 3");
    }
}
