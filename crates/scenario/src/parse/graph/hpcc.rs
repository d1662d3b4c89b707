//! The topology file of the HPCC ns-3 simulator and of its derivatives: a header, the switches' ids, then one link per
//! line: `src dst rate delay error_rate`. Lines after the announced links are ignored: in the simulator's own files
//! these are links of larger networks and an explanation of the format.
//!
//! | header | simulator |
//! |---|---|
//! | `nodes switches links` | HPCC (`third.cc`), ConWeave |
//! | `nodes switches tors links` | PowerTCP, ABM, Reverie |
//! | `nodes gpus_per_server nvswitches switches links gpu` | SimAI; the ids of NVSwitches come before the switches' |

use super::{RawGraph, RawLink};
use crate::parse::{ParseError, decimal, field, lines, quoted};
use thalweg_units::{Rate, Span};

/// The numbers in the first line.
struct Header {
    nodes: u32,
    switches: u32,
    links: usize,
}

const HEADERS: &str = "expected `nodes switches links` (HPCC), `nodes switches tors links` (PowerTCP) or \
                       `nodes gpus_per_server nvswitches switches links gpu` (SimAI)";

fn header(line: usize, row: &str) -> Result<Header, ParseError> {
    let cells: Vec<&str> = row.split_whitespace().collect();
    let number = |what: &str, at: usize| -> Result<u32, ParseError> {
        field(line, what, cells.get(at).copied()).map_err(|e| ParseError { hint: HEADERS.into(), ..e })
    };
    let nodes = number("the number of nodes", 0)?;
    let (switches, links) = match cells.len() {
        0..=3 => (number("the number of switches", 1)?, number("the number of links", 2)?),
        4 => {
            let switches = number("the number of switches", 1)?;
            let tors = number("the number of ToR switches", 2)?;
            if tors > switches {
                let reason = format!("the header has {tors} ToRs, more than its {switches} switches");
                return Err(ParseError::new(line, reason, HEADERS));
            }
            (switches, number("the number of links", 3)?)
        }
        6 => {
            number("the number of GPUs per server", 1)?;
            let nvswitches = number("the number of NVSwitches", 2)?;
            let switches = number("the number of switches", 3)?;
            (nvswitches.saturating_add(switches), number("the number of links", 4)?)
        }
        n => return Err(ParseError::new(line, format!("the header has {n} values"), HEADERS)),
    };
    if switches > nodes || nodes > super::MOST_NODES {
        let reason = format!("the header has {switches} switches among {nodes} nodes");
        return Err(ParseError::new(line, reason, HEADERS));
    }
    Ok(Header { nodes, switches, links: links as usize })
}

/// Reads a graph. Hosts get the first numbers; otherwise nodes keep their order.
///
/// # Errors
/// The first invalid line; links that lose packets at random.
pub fn parse(text: &str) -> Result<RawGraph, ParseError> {
    let mut rows = lines(text);
    let Some((line, first)) = rows.next() else {
        return Err(ParseError::new(0, "the file is empty", HEADERS));
    };
    let Header { nodes, switches, links: count } = header(line, first)?;
    let mut is_switch = vec![false; nodes as usize];
    let mut named = 0;
    let mut last = line;
    while named < switches {
        let Some((line, row)) = rows.next() else {
            return Err(ParseError::new(
                0,
                format!("the file lists {named} switch ids instead of {switches}"),
                "",
            ));
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
        last = line;
    }
    if named > switches {
        let reason = format!("the file lists {named} switch ids instead of {switches}");
        return Err(ParseError::new(last, reason, HEADERS));
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
    for (line, row) in rows.take(count) {
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
            let hint = "write 0 there, and `loss` in a section [[link]] of the scenario";
            return Err(ParseError::new(line, format!("the error rate {loss} is not supported"), hint));
        }
        links.push(RawLink { rate: Some(rate), delay: Some(delay), ..RawLink::bare(a, b, line) });
        last = line;
    }
    if links.len() != count {
        return Err(ParseError::new(
            last,
            format!("the file has {} links instead of {count}", links.len()),
            HEADERS,
        ));
    }
    let graph = RawGraph::new(nodes - switches, nodes, links)?;
    // If the file does not number its hosts first, its numbers are kept as names.
    let kept = number.iter().copied().eq(0..nodes);
    let ids = (0..nodes).map(|id| format!("n{id}")).collect();
    Ok(RawGraph { names: if kept { Vec::new() } else { super::in_order(ids, &number) }, ..graph })
}

/// A `DataRate` of ns-3: without a unit, bits per second; `b` is bits and `B` bytes, `Ki` 1024.
fn rate(line: usize, text: &str) -> Result<Rate, ParseError> {
    let wrong = || {
        let reason = format!("`{}` is not a rate", quoted(text));
        ParseError::new(line, reason, "write it as ns-3 does: 100Gbps, 25000000000")
    };
    let (value, unit) =
        text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()));
    let unit = match unit {
        "" => "b",
        _ => unit.strip_suffix("ps").or_else(|| unit.strip_suffix("/s")).ok_or_else(wrong)?,
    };
    let bits = match unit.as_bytes() {
        [.., b'b'] => 1,
        [.., b'B'] => 8,
        _ => return Err(wrong()),
    };
    let times = match unit.get(..unit.len().saturating_sub(1)).unwrap_or_default() {
        "" => 1,
        "k" | "K" => 1_000,
        "Ki" => 1 << 10,
        "M" => 1_000_000,
        "Mi" => 1 << 20,
        "G" => 1_000_000_000,
        "Gi" => 1 << 30,
        "T" => 1_000_000_000_000,
        _ => return Err(wrong()),
    };
    let bps = decimal(value).and_then(|d| d.scaled(times * bits)).and_then(|bps| u64::try_from(bps).ok());
    bps.filter(|bps| *bps > 0).map(Rate::from_bps).ok_or_else(wrong)
}

/// A `Time` of ns-3: without a unit, seconds.
fn delay(line: usize, text: &str) -> Result<Span, ParseError> {
    let wrong = || {
        let reason = format!("`{}` is not a delay", quoted(text));
        ParseError::new(line, reason, "write it as ns-3 does: 1us, 0.001ms, 0.000001")
    };
    let (value, unit) =
        text.split_at(text.find(|c: char| !"+-.0123456789eE".contains(c)).unwrap_or(text.len()));
    let ps = match unit {
        "" | "s" => 1_000_000_000_000,
        "ms" => 1_000_000_000,
        "us" => 1_000_000,
        "ns" => 1_000,
        "ps" => 1,
        _ => return Err(wrong()),
    };
    let ps = decimal(value).and_then(|d| d.scaled(ps)).and_then(|ps| u64::try_from(ps).ok());
    ps.map(Span::from_ps).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file as the simulator comes with it, made up: links of a larger network and prose after those that are
    /// announced.
    #[test]
    fn what_follows_the_links_that_the_header_announces_is_not_read() {
        let text = "3 1 2\r\n0\r\n0 1 100Gbps\t0.001ms 0\r\n0 2 100Gbps 0.001ms 0 \r\n0 3 25Gbps 0.001ms 0\r\n\r\n\
                    First line: nodes, switches, links\r\n";
        let g = parse(text).expect("reads");
        assert_eq!((g.hosts, g.nodes, g.links.len()), (2, 3, 2));
        assert_eq!(g.names, ["n1", "n2", "n0"]);
        assert_eq!((g.links[1].rate, g.links[1].delay), (Some(Rate::from_gbps(100)), Some(Span::from_us(1))));
        let e = parse("3 1 3\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n").expect_err("a link is missing");
        assert_eq!((e.line, e.reason.as_str()), (4, "the file has 2 links instead of 3"));
    }

    #[test]
    fn headers_of_three_four_and_six_values_are_read() {
        let links = "0 2 25000000000.0 1us 0\n1 2 25000000000.0 1us 0\n";
        for header in ["3 1 2\n2\n", "3 1 1 2\n2\n", "3 2 0 1 2 H20\n2 \n"] {
            let g = parse(&format!("\u{feff}{header}{links}")).expect(header);
            assert_eq!((g.hosts, g.nodes, g.links.len()), (2, 3, 2), "{header}");
            assert_eq!(g.links[0].rate, Some(Rate::from_gbps(25)));
        }
        // Two NVSwitches and a switch: their ids stand in one row.
        let g = parse(
            "5 1 2 1 4 A100\n2 3 4\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 4 1Gbps 1us 0\n3 4 1Gbps 1us 0\n",
        );
        assert_eq!(g.map(|g| (g.hosts, g.nodes)), Ok((2, 5)));
        let message = |header: &str, reason: &str| {
            let e = parse(&format!("{header}\n2\n{links}")).expect_err(header);
            assert_eq!(e.reason, reason);
            assert!(e.hint.contains("nodes switches tors links"), "{}", e.hint);
        };
        message("3 1 1 1 2", "the header has 5 values");
        message("3 1 2 2", "the header has 2 ToRs, more than its 1 switches");
        message("3 1", "the number of links is missing");
        message("3 9 2", "the header has 9 switches among 3 nodes");
    }

    #[test]
    fn rates_and_delays_are_those_of_ns_3() {
        let bps = |text: &str| rate(1, text).map(|r| r.bps()).map_err(|e| e.reason);
        for (text, is) in [
            ("100Gbps", 100_000_000_000),
            ("25000000000.0", 25_000_000_000),
            ("10Gb/s", 10_000_000_000),
            ("1.5MBps", 12_000_000),
            ("8Kibps", 8192),
            ("9600", 9600),
        ] {
            assert_eq!(bps(text), Ok(is), "{text}");
        }
        assert_eq!(bps("1e9"), Err("`1e9` is not a rate".into()));
        assert_eq!(bps("10Gbit"), Err("`10Gbit` is not a rate".into()));
        let ps = |text: &str| delay(1, text).map(Span::ps).map_err(|e| e.reason);
        for (text, is) in [
            ("0.001ms", 1_000_000),
            ("0.000025ms", 25_000),
            ("1e-6", 1_000_000),
            ("0.5", 500_000_000_000),
            ("0", 0),
        ] {
            assert_eq!(ps(text), Ok(is), "{text}");
        }
        assert_eq!(ps("-1us"), Err("`-1us` is not a delay".into()));
        assert_eq!(ps("1min"), Err("`1min` is not a delay".into()));
    }
}
