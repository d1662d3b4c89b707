//! The topology file of the HPCC ns-3 simulator: `nodes switches links`, the switches' ids, then one
//! link per line: `src dst rate delay error_rate`.

use super::{RawGraph, RawLink, delay, rate};
use crate::parse::{ParseError, field, lines};

/// Nodes keep their order: hosts get the first numbers.
///
/// # Errors
/// The first line that is not what it should be; links that lose packets at random.
pub fn parse(text: &str) -> Result<RawGraph, ParseError> {
    let mut rows = lines(text);
    let Some((line, first)) = rows.next() else {
        return Err(ParseError::new(0, "the file is empty", "expected `nodes switches links`"));
    };
    let mut cells = first.split_whitespace();
    let nodes: u32 = field(line, "the number of nodes", cells.next())?;
    let switches: u32 = field(line, "the number of switches", cells.next())?;
    let count: usize = field(line, "the number of links", cells.next())?;
    if switches > nodes || nodes > super::MOST_NODES {
        return Err(ParseError::new(line, format!("{switches} switches among {nodes} nodes"), ""));
    }
    let mut is_switch = vec![false; nodes as usize];
    let mut named = 0;
    let mut pending = None;
    while named < switches {
        let Some((line, row)) = rows.next() else {
            return Err(ParseError::new(0, format!("{named} switch ids instead of {switches}"), ""));
        };
        for cell in row.split_whitespace() {
            let id: u32 = field(line, "a switch's id", Some(cell))?;
            match is_switch.get_mut(id as usize) {
                Some(flag @ false) => *flag = true,
                Some(_) => return Err(ParseError::new(line, format!("switch {id} is named twice"), "")),
                None => return Err(ParseError::new(line, format!("there is no node {id}"), "")),
            }
            named += 1;
        }
        pending = Some(line);
    }
    let (mut host, mut switch) = (0, nodes - switches);
    let number: Vec<u32> = is_switch
        .iter()
        .map(|is| {
            let next = if *is { &mut switch } else { &mut host };
            *next += 1;
            *next - 1
        })
        .collect();
    let mut links = Vec::new();
    for (line, row) in rows {
        let mut cells = row.split_whitespace();
        let mut node = || -> Result<u32, ParseError> {
            let id: u32 = field(line, "a node", cells.next())?;
            let known = number.get(id as usize).copied();
            known.ok_or_else(|| ParseError::new(line, format!("there is no node {id}"), ""))
        };
        let (a, b) = (node()?, node()?);
        let rate = rate(line, &field::<String>(line, "a rate", cells.next())?)?;
        let delay = delay(line, &field::<String>(line, "a delay", cells.next())?)?;
        let loss: f64 = cells.next().map_or(Ok(0.0), |c| field(line, "an error rate", Some(c)))?;
        if loss != 0.0 {
            return Err(ParseError::new(line, format!("the error rate {loss} is not supported"), "write 0"));
        }
        links.push(RawLink { a, b, rate: Some(rate), delay: Some(delay), line: line as u32 });
    }
    if links.len() != count {
        let line = pending.unwrap_or(line);
        return Err(ParseError::new(line, format!("{} links instead of {count}", links.len()), ""));
    }
    let graph = RawGraph::new(nodes - switches, nodes, links)?;
    // Where the file does not number hosts first, its numbers live on in the names.
    let kept = number.iter().copied().eq(0..nodes);
    let ids = (0..nodes).map(|id| format!("n{id}")).collect();
    Ok(RawGraph { names: if kept { Vec::new() } else { super::in_order(ids, &number) }, ..graph })
}
