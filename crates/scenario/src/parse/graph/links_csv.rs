//! `a,b[,rate,delay]` with a header, nodes by number or by name. Nodes with one link are hosts and come first. If all
//! nodes are numbers, these are kept; names get numbers in the order in which they appear. An empty cell for rate or
//! delay means that of the scenario.

use super::{RawGraph, RawLink, delay, rate};
use crate::parse::{ParseError, csv, field, quoted};
use crate::topology::names::fit;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Reads a graph in which nodes with one link are hosts.
///
/// # Errors
/// The first invalid line, or nodes whose numbers do not begin with the hosts.
pub fn parse(text: &str) -> Result<RawGraph, ParseError> {
    match read(text)? {
        (links, None) => {
            let nodes = links.iter().map(|l| l.a.max(l.b).saturating_add(1)).max().unwrap_or(0);
            RawGraph::new(0, nodes, links)?.with_leaves_as_hosts()
        }
        (links, Some(names)) => named(links, names)?.with_leaves_as_hosts(),
    }
}

/// Reads a graph in which every node is a router, leaves too. Numbers may have gaps: they are kept as names.
///
/// # Errors
/// The first invalid line.
pub fn map(text: &str) -> Result<RawGraph, ParseError> {
    match read(text)? {
        (links, Some(names)) => named(links, names),
        (mut links, None) => {
            let numbers: BTreeSet<u32> = links.iter().flat_map(|l| [l.a, l.b]).collect();
            let dense: BTreeMap<u32, u32> = numbers.iter().copied().zip(0..).collect();
            links.iter_mut().for_each(|l| (l.a, l.b) = (dense[&l.a], dense[&l.b]));
            named(links, numbers.iter().map(|n| format!("n{n}")).collect())
        }
    }
}

fn named(links: Vec<RawLink>, names: Vec<String>) -> Result<RawGraph, ParseError> {
    let graph = RawGraph::new(0, names.len() as u32, links)?;
    Ok(RawGraph { names, ..graph })
}

/// The links, and the names of their ends unless all are numbers.
fn read(text: &str) -> Result<(Vec<RawLink>, Option<Vec<String>>), ParseError> {
    let mut rows = csv::rows(text);
    let hint = "expected the header `a,b` or `a,b,rate,delay`";
    let Some(header) = rows.next() else { return Err(ParseError::new(0, "the file is empty", hint)) };
    let (line, header) = header?;
    let columns: Vec<&str> = header.iter().map(AsRef::as_ref).collect();
    let known = |c: &&str| ["a", "b", "rate", "delay"].contains(c);
    let once = |c: &str| columns.iter().filter(|column| **column == c).count();
    let right = once("a") == 1 && once("b") == 1 && once("rate") < 2 && once("delay") < 2;
    if !right || !columns.iter().all(known) {
        return Err(ParseError::new(
            line,
            format!("{} is not the expected header", csv::header(&header)),
            hint,
        ));
    }
    let (mut links, mut ends) = (Vec::new(), Vec::new());
    for row in rows {
        let (line, cells) = row?;
        if cells.len() != columns.len() {
            return Err(ParseError::new(
                line,
                format!("the row has {} columns instead of {}", cells.len(), columns.len()),
                "",
            ));
        }
        let mut l = RawLink::bare(0, 0, line);
        let (mut a, mut b) = (Cow::Borrowed(""), Cow::Borrowed(""));
        for (column, cell) in columns.iter().zip(cells) {
            match *column {
                "a" => a = cell,
                "b" => b = cell,
                _ if cell.is_empty() => {}
                "rate" => l.rate = Some(rate(line, &cell)?),
                _ => l.delay = Some(delay(line, &cell)?),
            }
        }
        links.push(l);
        ends.push((a, b));
    }
    let is_number = |cell: &str| cell.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let names = if ends.iter().all(|(a, b)| is_number(a) && is_number(b)) {
        by_number(&mut links, &ends)?;
        None
    } else {
        Some(by_name(&mut links, &ends)?)
    };
    Ok((links, names))
}

/// The two cells of each link.
type Ends<'a> = [(Cow<'a, str>, Cow<'a, str>)];

fn by_number(links: &mut [RawLink], ends: &Ends<'_>) -> Result<(), ParseError> {
    for (l, (a, b)) in links.iter_mut().zip(ends) {
        l.a = field(l.line as usize, "a node", Some(a))?;
        l.b = field(l.line as usize, "a node", Some(b))?;
    }
    Ok(())
}

fn by_name(links: &mut [RawLink], ends: &Ends<'_>) -> Result<Vec<String>, ParseError> {
    let (mut number, mut names) = (BTreeMap::new(), Vec::new());
    for (l, (a, b)) in links.iter_mut().zip(ends) {
        let mut node = |cell: &str| {
            let Some(name) = fit(cell) else {
                let hint = "a name has 1 to 80 printable characters";
                let reason = format!("`{}` is not a valid name of a node", quoted(cell));
                return Err(ParseError::new(l.line as usize, reason, hint));
            };
            let next = names.len() as u32;
            Ok(*number.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                next
            }))
        };
        (l.a, l.b) = (node(a)?, node(b)?);
        if l.a == l.b {
            let reason = format!("the link goes from `{}` to itself", quoted(a));
            return Err(ParseError::new(l.line as usize, reason, ""));
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Span;

    /// A triangle of routers with a router behind one of them, which is no host.
    #[test]
    fn all_nodes_of_a_map_are_routers() {
        let g = map("a,b\n5,6\n6,7\n7,5\n7,20\n").expect("reads");
        assert_eq!((g.hosts, g.nodes, g.links.len()), (0, 4, 4));
        assert_eq!(g.names, ["n5", "n6", "n7", "n20"]);
        let e = parse("a,b\n0,1\n1,2\n2,0\n2,3\n").expect_err("node 3 is a host numbered last");
        assert!(e.hint.contains("hosts_per_router"), "{}", e.hint);
    }

    #[test]
    fn names_get_numbers_with_hosts_first() {
        let g =
            parse("\u{feff}a,b,rate,delay\r\nweb,\"tor, left\",10Gbps,1us\r\n7,\"tor, left\",10Gbps,1us\r\n")
                .expect("reads");
        assert_eq!((g.hosts, g.nodes), (2, 3));
        assert_eq!(g.names, ["web", "n7", "tor, left"]);
        assert_eq!(g.links.iter().map(|l| (l.a, l.b)).collect::<Vec<_>>(), [(0, 2), (1, 2)]);
        assert!(parse("a,b\n0,2\n1,2\n").expect("reads").names.is_empty());
        let swapped = parse("delay,b,a\n,tor,web\n2us,tor,db\n").expect("columns in another order");
        assert_eq!(swapped.links.iter().map(|l| l.delay).collect::<Vec<_>>(), [None, Some(Span::from_us(2))]);
        let message = |text: &str| parse(text).expect_err("wrong").reason;
        assert_eq!(message("a,b\nx,x\n"), "the link goes from `x` to itself");
        assert_eq!(message("a,b\nx,\u{7}\n"), "`\\u{7}` is not a valid name of a node");
        assert_eq!(message("a,b\n0,-1\n"), "`-1` is not a node");
    }
}
