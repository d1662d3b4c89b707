//! Connection matrices of csg-htsim (`.cm`): a header, `Nodes` and `Connections` (and `Triggers`), then a line for
//! each connection, `0->3 id 1 start 0 size 2000000`, and for each trigger, `trigger id 1 oneshot`.
//!
//! Sizes are in bytes, starts in picoseconds, hosts are numbers. A connection with `trigger 1` instead of a start
//! begins when trigger 1 fires: a `oneshot`, when the connection with `recv_done_trigger 1` has arrived, or the sender
//! of the connection with `send_done_trigger 1` has its last ACK; a `barrier`, when all such connections have. Other
//! features of csg-htsim are refused: `multishot` triggers, which start one connection at a time, `prio`, failures.

use super::flows::{FlowRow, size, time};
use super::{ParseError, field, lines, quoted};
use std::collections::BTreeMap;
use thalweg_net::spec::End;
use thalweg_units::Time;

const HEADER: &str =
    "a file begins with `Nodes 16` and `Connections 8`; lines `0->1 start 0 size 2000000` follow";

/// The kind of a trigger.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Oneshot,
    Barrier(u64),
}

/// A connection, with its triggers.
struct Connection {
    row: FlowRow,
    id: Option<u64>,
    begins_with: Option<u64>,
    /// The triggers fired when it has arrived, and when its sender has the last ACK.
    fires: [Option<u64>; 2],
}

type Triggers = BTreeMap<u64, (usize, Kind)>;

/// The flows of a matrix in the order of the file. Host numbers may exceed those of the graph.
///
/// # Errors
/// The first line that is not a connection or a trigger, or counts other than those of the header.
pub fn parse(text: &str, hosts: u32) -> Result<Vec<FlowRow>, ParseError> {
    let mut counts: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    let (mut connections, mut triggers) = (Vec::new(), Triggers::new());
    for (line, row) in lines(text) {
        let cells: Vec<&str> = row.split_whitespace().collect();
        match cells[0] {
            key @ ("Nodes" | "Connections" | "Triggers") => {
                let count = field(line, "a number", cells.get(1).copied())?;
                let key = ["Nodes", "Connections", "Triggers"].into_iter().find(|k| *k == key).unwrap_or("");
                if counts.insert(key, (line, count)).is_some() {
                    return Err(ParseError::new(line, format!("`{key}` is given twice"), ""));
                }
            }
            "trigger" => {
                let (id, kind) = trigger(line, &cells[1..])?;
                if triggers.insert(id, (line, kind)).is_some() {
                    return Err(ParseError::new(line, format!("trigger {id} is defined twice"), ""));
                }
            }
            "failure" | "Failures" => {
                let hint = "remove the lines, and write a section [[incident]] in the scenario";
                return Err(ParseError::new(line, "failures are not supported in this file", hint));
            }
            ends if ends.contains("->") => connections.push(connection(line, ends, &cells[1..])?),
            other => {
                return Err(ParseError::new(
                    line,
                    format!("`{}` is not supported here", quoted(other)),
                    HEADER,
                ));
            }
        }
    }
    let count = |key: &str| counts.get(key).copied();
    let need =
        |key: &str| count(key).ok_or_else(|| ParseError::new(0, format!("`{key}` is missing"), HEADER));
    let (line, nodes) = need("Nodes")?;
    if nodes > u64::from(hosts) {
        let reason = format!("the matrix has {nodes} hosts, and the topology {hosts}");
        return Err(ParseError::new(line, reason, "use the topology that it was made for"));
    }
    for c in &connections {
        if let Some(host) = [c.row.src, c.row.dst].into_iter().find(|host| u64::from(*host) >= nodes) {
            let reason = format!("there is no host {host}: the matrix has {nodes} hosts");
            return Err(ParseError::new(c.row.line as usize, reason, "hosts are numbered from 0"));
        }
    }
    for (key, (line, announced), found) in [
        ("connections", need("Connections")?, connections.len()),
        ("triggers", count("Triggers").unwrap_or((0, 0)), triggers.len()),
    ] {
        if announced != found as u64 {
            return Err(ParseError::new(
                line,
                format!("the file has {found} {key} instead of the {announced} that it announces"),
                "",
            ));
        }
    }
    follow(connections, &triggers)
}

fn trigger(line: usize, cells: &[&str]) -> Result<(u64, Kind), ParseError> {
    let (mut id, mut count, mut kind) = (None, None, None);
    let mut cells = cells.iter().copied();
    while let Some(word) = cells.next() {
        match word {
            "id" => id = Some(field(line, "a trigger's number", cells.next())?),
            "count" => count = Some(field(line, "a count", cells.next())?),
            "oneshot" | "barrier" => kind = Some(word),
            "multishot" => {
                let hint = "write a `oneshot` trigger for every connection that it starts";
                return Err(ParseError::new(line, "`multishot` triggers are not supported", hint));
            }
            _ => return Err(ParseError::new(line, format!("a trigger has no `{}`", quoted(word)), "")),
        }
    }
    let id = id.ok_or_else(|| ParseError::new(line, "the trigger has no `id`", ""))?;
    match (kind, count) {
        (Some("barrier"), Some(0)) => {
            Err(ParseError::new(line, "a `barrier` of 0 waits for nothing", "write a `count` of at least 1"))
        }
        (Some("barrier"), Some(count)) => Ok((id, Kind::Barrier(count))),
        (Some("oneshot"), None) => Ok((id, Kind::Oneshot)),
        (Some("oneshot"), Some(_)) => Err(ParseError::new(line, "a `oneshot` trigger has no `count`", "")),
        (Some(_), None) => Err(ParseError::new(line, "a `barrier` needs a `count`", "")),
        _ => Err(ParseError::new(line, "the trigger has no type", "write `oneshot` or `barrier`")),
    }
}

fn connection(line: usize, ends: &str, cells: &[&str]) -> Result<Connection, ParseError> {
    let (src, dst) = ends.split_once("->").unwrap_or((ends, ""));
    let (src, dst) = (field(line, "a host", Some(src))?, field(line, "a host", Some(dst))?);
    let (mut id, mut start, mut bytes, mut begins_with, mut fires) = (None, None, None, None, [None; 2]);
    let mut cells = cells.iter().copied();
    while let Some(word) = cells.next() {
        let mut number = |what: &str| -> Result<u64, ParseError> { field(line, what, cells.next()) };
        let twice = match word {
            "id" => id.replace(number("a flow's number")?).is_some(),
            "trigger" => begins_with.replace(number("a trigger's number")?).is_some(),
            "recv_done_trigger" => fires[0].replace(number("a trigger's number")?).is_some(),
            "send_done_trigger" => fires[1].replace(number("a trigger's number")?).is_some(),
            "start" => start.replace(time(line, cells.next().unwrap_or_default(), 1)?).is_some(),
            "size" => bytes.replace(size(line, cells.next())?).is_some(),
            "prio" => {
                let hint = "remove it; priorities are `rank` of the scenario's transport";
                return Err(ParseError::new(line, "`prio` is not supported", hint));
            }
            _ => {
                return Err(ParseError::new(line, format!("a connection has no `{}`", quoted(word)), HEADER));
            }
        };
        if twice {
            return Err(ParseError::new(line, format!("`{word}` is given twice"), ""));
        }
    }
    let size = bytes.ok_or_else(|| ParseError::new(line, "the connection has no `size`", HEADER))?;
    let start = match (start, begins_with) {
        (Some(start), None) => start,
        (None, Some(_)) => Time::ZERO,
        (Some(_), Some(_)) => {
            return Err(ParseError::new(
                line,
                "the connection has both a `start` and a `trigger`",
                "remove one",
            ));
        }
        (None, None) => {
            return Err(ParseError::new(line, "the connection has no `start` and no `trigger`", ""));
        }
    };
    let row = FlowRow { line: line as u32, id: 0, src, dst, size, start, after: Vec::new() };
    Ok(Connection { row, id, begins_with, fires })
}

/// Turns triggers into predecessors of flows.
fn follow(mut connections: Vec<Connection>, triggers: &Triggers) -> Result<Vec<FlowRow>, ParseError> {
    // Connections without a number get numbers after the largest.
    let mut free = connections.iter().filter_map(|c| c.id).max().map_or(0, |id| id.saturating_add(1));
    for c in &mut connections {
        c.row.id = c.id.unwrap_or(free);
        free = free.saturating_add(u64::from(c.id.is_none()));
    }
    let mut fired: BTreeMap<u64, Vec<(u64, End)>> = BTreeMap::new();
    for c in &connections {
        for id in c.fires.iter().flatten().chain(&c.begins_with) {
            if !triggers.contains_key(id) {
                let reason = format!("there is no trigger {id}");
                return Err(ParseError::new(
                    c.row.line as usize,
                    reason,
                    "write a line `trigger id .. oneshot`",
                ));
            }
        }
        for (id, end) in c.fires.iter().zip([End::Received, End::Acked]) {
            if let Some(id) = id {
                fired.entry(*id).or_default().push((c.row.id, end));
            }
        }
    }
    for (id, (line, kind)) in triggers {
        let by = fired.get(id).map_or(0, Vec::len) as u64;
        let wanted = match kind {
            Kind::Oneshot => 1,
            Kind::Barrier(count) => *count,
        };
        if by != wanted {
            let reason = format!("{by} connections fire trigger {id}, and its `count` is {wanted}");
            return Err(ParseError::new(
                *line,
                reason,
                "a `barrier` needs as many firing connections as its `count`",
            ));
        }
    }
    let rows = connections.into_iter().map(|c| {
        let after = c.begins_with.and_then(|id| fired.get(&id).cloned()).unwrap_or_default();
        FlowRow { after, ..c.row }
    });
    Ok(rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made up: two flows with start times, one that follows the first, and one that follows both.
    const MATRIX: &str = "Nodes 4\nConnections 4\nTriggers 2\n# by the clock\n\
        0->1 id 1 start 0 size 2000000 recv_done_trigger 1\n\
        2->3 start 1500 size 1e3\ntrigger id 1 oneshot\n1->2 id 7 trigger 1 size 500 recv_done_trigger 2\n\
        trigger id 2 barrier count 1\n2->0 id 8 trigger 2 size 500\n";

    fn message(text: &str) -> String {
        let e = parse(text, 4).expect_err(text);
        format!("{}: {}", e.line, e.reason)
    }

    #[test]
    fn connections_start_by_the_clock_or_follow_what_fires_their_trigger() {
        let rows = parse(MATRIX, 4).expect("a matrix");
        let seen: Vec<_> =
            rows.iter().map(|r| (r.id, r.src, r.dst, r.size, r.start.ps(), r.after.clone())).collect();
        assert_eq!(
            seen,
            [
                (1, 0, 1, 2_000_000, 0, vec![]),
                (9, 2, 3, 1000, 1500, vec![]),
                (7, 1, 2, 500, 0, vec![(1, End::Received)]),
                (8, 2, 0, 500, 0, vec![(7, End::Received)])
            ]
        );
    }

    #[test]
    fn a_barrier_waits_for_all_that_fire_it() {
        let text = MATRIX.replace("count 1", "count 2").replace("size 1e3", "size 1e3 recv_done_trigger 2");
        assert_eq!(parse(&text, 4).expect("a matrix")[3].after, [9, 7].map(|id| (id, End::Received)));
        let sent = MATRIX.replace("recv_done_trigger 1", "send_done_trigger 1");
        assert_eq!(parse(&sent, 4).expect("a matrix")[2].after, [(1, End::Acked)]);
        assert_eq!(
            message(&MATRIX.replace("count 1", "count 2")),
            "9: 1 connections fire trigger 2, and its `count` is 2"
        );
    }

    #[test]
    fn what_is_wrong_or_not_supported_is_reported_with_its_line() {
        let with = |from: &str, to: &str| message(&MATRIX.replacen(from, to, 1));
        assert_eq!(with("Nodes 4", "Nodes 8"), "1: the matrix has 8 hosts, and the topology 4");
        assert_eq!(with("Nodes 4", "Nodes 3"), "6: there is no host 3: the matrix has 3 hosts");
        assert_eq!(with("Nodes 4\n", ""), "0: `Nodes` is missing");
        assert_eq!(
            with("Connections 4", "Connections 5"),
            "2: the file has 4 connections instead of the 5 that it announces"
        );
        assert_eq!(
            with("Triggers 2", "Triggers 1"),
            "3: the file has 2 triggers instead of the 1 that it announces"
        );
        assert_eq!(with("start 1500 ", ""), "6: the connection has no `start` and no `trigger`");
        assert_eq!(
            with("start 1500", "start 1500 trigger 1"),
            "6: the connection has both a `start` and a `trigger`"
        );
        assert_eq!(with("size 1e3", "size 1.5"), "6: `1.5` is not a size in bytes");
        assert_eq!(with(" size 1e3", ""), "6: the connection has no `size`");
        assert_eq!(with("2->3", "2->x"), "6: `x` is not a host");
        assert_eq!(with("size 1e3", "size 1e3 prio 3"), "6: `prio` is not supported");
        assert_eq!(with("oneshot", "multishot"), "7: `multishot` triggers are not supported");
        assert_eq!(with("trigger id 1 oneshot", "trigger id 3 oneshot"), "5: there is no trigger 1");
        assert_eq!(with("oneshot", ""), "7: the trigger has no type");
        assert_eq!(with("# by the clock", "Failures 1"), "4: failures are not supported in this file");
        assert_eq!(with("# by the clock", "speed 1"), "4: `speed` is not supported here");
    }
}
