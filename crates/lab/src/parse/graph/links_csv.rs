//! `a,b[,rate,delay]` with a header, nodes by number or by name; hosts are the nodes with one link and come first. If all nodes
//! are numbers, these are kept; names get numbers in the order in which they appear.

use super::{RawGraph, RawLink, delay, rate};
use crate::parse::{ParseError, csv, field, quoted};
use crate::topology::names::fit;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// # Errors
/// The first line that is not a link, or nodes that are not numbered hosts first.
pub fn parse(text: &str) -> Result<RawGraph, ParseError> {
    let mut rows = csv::rows(text);
    let hint = "expected the header `a,b` or `a,b,rate,delay`";
    let Some(header) = rows.next() else { return Err(ParseError::new(0, "the file is empty", hint)) };
    let (line, header) = header?;
    let columns: Vec<&str> = header.iter().map(AsRef::as_ref).collect();
    let known = |c: &&str| ["a", "b", "rate", "delay"].contains(c);
    if columns.len() < 2 || columns[..2] != ["a", "b"] || !columns.iter().all(known) {
        return Err(ParseError::new(line, format!("{} is not the header", csv::header(&header)), hint));
    }
    let (mut links, mut ends) = (Vec::new(), Vec::new());
    for row in rows {
        let (line, cells) = row?;
        if cells.len() != columns.len() {
            return Err(ParseError::new(
                line,
                format!("{} columns instead of {}", cells.len(), columns.len()),
                "",
            ));
        }
        let mut l = RawLink { a: 0, b: 0, rate: None, delay: None, line: line as u32 };
        for (column, cell) in columns.iter().zip(&cells) {
            match *column {
                "a" | "b" => {}
                "rate" => l.rate = Some(rate(line, cell)?),
                _ => l.delay = Some(delay(line, cell)?),
            }
        }
        links.push(l);
        let mut cells = cells.into_iter();
        ends.push((cells.next().unwrap_or_default(), cells.next().unwrap_or_default()));
    }
    let is_number = |cell: &str| cell.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    if ends.iter().all(|(a, b)| is_number(a) && is_number(b)) {
        numbered(links, &ends)
    } else {
        named(links, &ends)
    }
}

/// The two cells of each link.
type Ends<'a> = [(Cow<'a, str>, Cow<'a, str>)];

fn numbered(mut links: Vec<RawLink>, ends: &Ends<'_>) -> Result<RawGraph, ParseError> {
    let mut nodes = 0u32;
    for (l, (a, b)) in links.iter_mut().zip(ends) {
        l.a = field(l.line as usize, "a node", Some(a))?;
        l.b = field(l.line as usize, "a node", Some(b))?;
        nodes = nodes.max(l.a.saturating_add(1)).max(l.b.saturating_add(1));
    }
    RawGraph::hosts_by_degree(nodes, links, None)
}

fn named(mut links: Vec<RawLink>, ends: &Ends<'_>) -> Result<RawGraph, ParseError> {
    let (mut number, mut names) = (BTreeMap::new(), Vec::new());
    for (l, (a, b)) in links.iter_mut().zip(ends) {
        let mut node = |cell: &str| {
            let Some(name) = fit(cell) else {
                let hint = "1 to 80 printable characters";
                let reason = format!("`{}` is not a name for a node", quoted(cell));
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
            let reason = format!("a link from `{}` to itself", quoted(a));
            return Err(ParseError::new(l.line as usize, reason, ""));
        }
    }
    RawGraph::hosts_by_degree(names.len() as u32, links, Some(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_numbers_with_hosts_first() {
        let g =
            parse("\u{feff}a,b,rate,delay\r\nweb,\"tor, left\",10Gbps,1us\r\n7,\"tor, left\",10Gbps,1us\r\n")
                .expect("reads");
        assert_eq!((g.hosts, g.nodes), (2, 3));
        assert_eq!(g.names, ["web", "n7", "tor, left"]);
        assert_eq!(g.links.iter().map(|l| (l.a, l.b)).collect::<Vec<_>>(), [(0, 2), (1, 2)]);
        assert!(parse("a,b\n0,2\n1,2\n").expect("reads").names.is_empty());
        let says = |text: &str| parse(text).expect_err("wrong").reason;
        assert_eq!(says("a,b\nx,x\n"), "a link from `x` to itself");
        assert_eq!(says("a,b\nx,\u{7}\n"), "`\\u{7}` is not a name for a node");
        assert_eq!(says("a,b\n0,-1\n"), "`-1` is not a node");
    }
}
