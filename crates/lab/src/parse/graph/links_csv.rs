//! `a,b[,rate,delay]` with a header; hosts are the nodes with one link and come first.

use super::{RawGraph, RawLink, delay, rate};
use crate::parse::{ParseError, field, lines};

/// # Errors
/// The first line that is not a link, or nodes that are not numbered hosts first.
pub fn parse(text: &str) -> Result<RawGraph, ParseError> {
    let mut rows = lines(text);
    let Some((line, header)) = rows.next() else {
        return Err(ParseError::new(0, "the file is empty", "expected the header `a,b` or `a,b,rate,delay`"));
    };
    let columns: Vec<&str> = header.split(',').map(str::trim).collect();
    let known = |c: &&str| ["a", "b", "rate", "delay"].contains(c);
    if columns.len() < 2 || columns[..2] != ["a", "b"] || !columns.iter().all(known) {
        let hint = "expected `a,b` or `a,b,rate,delay`";
        return Err(ParseError::new(line, format!("`{header}` is not the header"), hint));
    }
    let (mut links, mut nodes) = (Vec::new(), 0u32);
    for (line, row) in rows {
        let cells: Vec<&str> = row.split(',').map(str::trim).collect();
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
                "a" => l.a = field(line, "a node", Some(cell))?,
                "b" => l.b = field(line, "a node", Some(cell))?,
                "rate" => l.rate = Some(rate(line, cell)?),
                _ => l.delay = Some(delay(line, cell)?),
            }
        }
        nodes = nodes.max(l.a.saturating_add(1)).max(l.b.saturating_add(1));
        links.push(l);
    }
    RawGraph::hosts_by_degree(nodes, links, false)
}
