//! Flow lists: thalweg's CSV and the HPCC ns-3 simulator's text, both ways.

use super::{Decimal, ParseError, csv, decimal, field, lines, quoted};
use crate::nearest;
use crate::topology::Graph;
use std::fmt::Write;
use thalweg_net::spec::End;
use thalweg_units::Time;

/// A flow of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowRow {
    /// Line in the file.
    pub line: u32,
    /// Its number in the file.
    pub id: u64,
    /// The host that sends.
    pub src: u32,
    /// The host that receives.
    pub dst: u32,
    /// Payload bytes.
    pub size: u64,
    /// Its start; for a flow that follows others, the pause after them.
    pub start: Time,
    /// The numbers of its predecessors in the file, and the ends of these that it waits for.
    pub after: Vec<(u64, End)>,
}

/// The header of the CSV format that is written.
const HEADER: &str = "id,src,dst,size_bytes,start_ns";

/// The columns of predecessors.
const AFTER: [(&str, End); 2] = [("after", End::Received), ("after_acked", End::Acked)];

/// The possible columns of starts, and the picoseconds in their units.
const STARTS: [(&str, u128); 5] = [
    ("start_ns", 1_000),
    ("start_ps", 1),
    ("start_us", 1_000_000),
    ("start_ms", 1_000_000_000),
    ("start_s", 1_000_000_000_000),
];

/// A time in units of this many picoseconds, rounded down to picoseconds.
pub(super) fn time(line: usize, text: &str, unit: u128) -> Result<Time, ParseError> {
    let ps = decimal(text).and_then(|d| d.scaled(unit)).and_then(|ps| u64::try_from(ps).ok());
    ps.map(Time::from_ps).ok_or_else(|| {
        let reason = format!("`{}` is not a time", quoted(text));
        ParseError::new(line, reason, "write a number without a unit, from 0 on")
    })
}

/// The positions of the columns.
struct Columns {
    id: Option<usize>,
    src: usize,
    dst: usize,
    size: usize,
    start: usize,
    after: [Option<usize>; 2],
    /// Picoseconds in a unit of the starts.
    unit: u128,
}

impl Columns {
    fn find(line: usize, header: &csv::Cells<'_>) -> Result<Self, ParseError> {
        let wrong = |reason: String| {
            let hint = format!("expected the header `{HEADER}`, in any order; other columns are not read");
            ParseError::new(line, reason, hint)
        };
        let find = |name: &str| header.iter().position(|c| c.eq_ignore_ascii_case(name));
        let twice = header.iter().find(|c| header.iter().filter(|o| o.eq_ignore_ascii_case(c)).count() > 1);
        let need = |name: &str| {
            find(name).ok_or_else(|| wrong(format!("{} has no column `{name}`", csv::header(header))))
        };
        if let Some(twice) = twice
            .filter(|c| HEADER.split(',').chain(AFTER.map(|(h, _)| h)).any(|h| h.eq_ignore_ascii_case(c)))
        {
            return Err(wrong(format!("there are two columns `{}`", quoted(twice))));
        }
        // Other columns are ignored, unless their name looks like a misspelt one.
        let absent = AFTER.into_iter().map(|(name, _)| name).filter(|name| find(name).is_none());
        for meant in absent {
            let others =
                header.iter().filter(|c| !AFTER.iter().any(|(name, _)| name.eq_ignore_ascii_case(c)));
            if let Some(slip) = others.into_iter().find(|c| nearest(c, [meant]).is_some()) {
                let hint = format!("did you mean `{meant}`? (columns that are not read have other names)");
                return Err(ParseError::new(line, format!("there is no column `{}`", quoted(slip)), hint));
            }
        }
        let starts: Vec<(usize, u128)> =
            STARTS.iter().filter_map(|(name, ps)| find(name).map(|at| (at, *ps))).collect();
        let (start, unit) = match starts[..] {
            [one] => one,
            [] => (need("start_ns")?, 1_000),
            _ => return Err(wrong("there are two columns of starts".into())),
        };
        let (src, dst, size) = (need("src")?, need("dst")?, need("size_bytes")?);
        Ok(Self { id: find("id"), src, dst, size, start, after: AFTER.map(|(name, _)| find(name)), unit })
    }
}

/// `id,src,dst,size_bytes,start_ns` in any order (with decimals of a nanosecond; or `start_ps`, `_us`, `_ms`, `_s`),
/// hosts by number or by name. A column `after` holds the numbers of flows, separated by blanks or `;`, that must have
/// arrived before; a column `after_acked`, of flows whose senders must have received the last ACK. Other columns are
/// ignored; without `id`, flows are numbered in order. Host numbers may exceed those of the graph.
///
/// # Errors
/// The first line that is not a flow.
pub fn csv(text: &str, graph: &Graph) -> Result<Vec<FlowRow>, ParseError> {
    let mut rows = csv::rows(text);
    let Some(header) = rows.next() else {
        return Err(ParseError::new(0, "the file is empty", format!("expected the header `{HEADER}`")));
    };
    let (line, header) = header?;
    let columns = Columns::find(line, &header)?;
    rows.enumerate()
        .map(|(n, row)| {
            let (line, cells) = row?;
            if cells.len() != header.len() {
                let reason = format!("the row has {} columns instead of {}", cells.len(), header.len());
                return Err(ParseError::new(line, reason, ""));
            }
            let id = columns.id.map(|id| number(line, &cells[id]));
            Ok(FlowRow {
                line: line as u32,
                id: id.unwrap_or(Ok(n as u64))?,
                src: host(line, &cells[columns.src], graph)?,
                dst: host(line, &cells[columns.dst], graph)?,
                size: size(line, Some(&cells[columns.size]))?,
                start: time(line, &cells[columns.start], columns.unit)?,
                after: predecessors(line, &cells, &columns)?,
            })
        })
        .collect()
}

/// The predecessors of a row.
fn predecessors(
    line: usize,
    cells: &csv::Cells<'_>,
    columns: &Columns,
) -> Result<Vec<(u64, End)>, ParseError> {
    let mut all = Vec::new();
    for ((_, end), at) in AFTER.iter().zip(columns.after) {
        let ids = at.map_or(Ok(Vec::new()), |at| numbers(line, &cells[at]))?;
        all.extend(ids.into_iter().map(|id| (id, *end)));
    }
    Ok(all)
}

/// Numbers of flows.
fn numbers(line: usize, text: &str) -> Result<Vec<u64>, ParseError> {
    let all = text.split(|c: char| c == ';' || c.is_whitespace()).filter(|one| !one.is_empty());
    all.map(|one| number(line, one)).collect()
}

/// A flow's number, which must fit into the signed integers of tables.
fn number(line: usize, text: &str) -> Result<u64, ParseError> {
    let number: u64 = field(line, "a flow's number", Some(text))?;
    if i64::try_from(number).is_err() {
        let hint = format!("at most {}", i64::MAX);
        return Err(ParseError::new(line, format!("the flow number {number} is too large"), hint));
    }
    Ok(number)
}

pub(super) fn host(line: usize, text: &str, graph: &Graph) -> Result<u32, ParseError> {
    if text.is_empty() {
        return Err(ParseError::new(line, "a host is missing", ""));
    }
    graph
        .names
        .host(text, graph.hosts, graph.nics())
        .map_err(|(reason, hint)| ParseError::new(line, reason, hint))
}

/// The largest flow, 9 EB: no run is long enough to send it. (The largest 64-bit number means a flow without end.)
pub(crate) const LARGEST_FLOW: u64 = i64::MAX as u64;

/// A size: a whole number in any notation (`1e6`, `1460.0`).
pub(super) fn size(line: usize, text: Option<&str>) -> Result<u64, ParseError> {
    let text: String = field(line, "a size in bytes", text)?;
    let Some(size) = decimal(&text).and_then(Decimal::whole) else {
        let reason = format!("`{}` is not a size in bytes", quoted(&text));
        return Err(ParseError::new(line, reason, "write a whole number without a unit"));
    };
    u64::try_from(size).ok().filter(|size| *size <= LARGEST_FLOW).ok_or_else(|| {
        let hint = format!("at most {LARGEST_FLOW}; flows without end are traffic of kind \"backlogged\"");
        ParseError::new(line, format!("a flow of {size} bytes is too large"), hint)
    })
}

/// The number of flows, then lines `src dst class port size start` with the start in seconds. Only as many flows as
/// that number are read. Hosts are numbered as in the simulator's topology file: if that does not number its hosts
/// first, node 7 is `n7`.
///
/// # Errors
/// The first line that is not a flow, or too few flows.
pub fn hpcc(text: &str, graph: &Graph) -> Result<Vec<FlowRow>, ParseError> {
    let mut rows = lines(text);
    let Some((first, count)) = rows.next() else {
        return Err(ParseError::new(0, "the file is empty", "expected the number of flows"));
    };
    let count: usize = field(first, "the number of flows", Some(count))?;
    let host = |line, cell: Option<&str>| -> Result<u32, ParseError> {
        let id: u32 = field(line, "a host", cell)?;
        match graph.names.find(&format!("n{id}")) {
            Some(node) if node >= graph.hosts => {
                Err(ParseError::new(line, format!("node {id} is a switch"), "flows run between hosts"))
            }
            known => Ok(known.unwrap_or(id)),
        }
    };
    let mut out = Vec::new();
    for (line, row) in rows.take(count) {
        let mut cells = row.split_whitespace();
        let (src, dst) = (host(line, cells.next())?, host(line, cells.next())?);
        let _class: u32 = field(line, "a class", cells.next())?;
        let _port: u32 = field(line, "a port", cells.next())?;
        let size = size(line, cells.next())?;
        let start = time(line, cells.next().unwrap_or_default(), 1_000_000_000_000)?;
        if let Some(more) = cells.next() {
            let reason = format!("`{}` follows the start", quoted(more));
            return Err(ParseError::new(line, reason, "a line is `src dst class port size start`"));
        }
        let id = out.len() as u64;
        out.push(FlowRow { line: line as u32, id, src, dst, size, start, after: Vec::new() });
    }
    if out.len() != count {
        return Err(ParseError::new(
            first,
            format!("the file has {} flows instead of the {count} that it announces", out.len()),
            "",
        ));
    }
    Ok(out)
}

/// Writes the CSV format, with columns `after` and `after_acked` if flows follow others. Reading the result gives the
/// same flows.
pub fn to_csv(flows: &[FlowRow]) -> String {
    let is_used = |end: End| flows.iter().any(|f| f.after.iter().any(|(_, of)| *of == end));
    let columns: Vec<(&str, End)> = AFTER.into_iter().filter(|(_, end)| is_used(*end)).collect();
    let mut out = HEADER.to_owned();
    columns.iter().for_each(|(name, _)| out.extend([",", name]));
    out.push('\n');
    for f in flows {
        let (whole, part) = (f.start.ps() / 1000, f.start.ps() % 1000);
        let _ = write!(out, "{},{},{},{},{whole}", f.id, f.src, f.dst, f.size);
        if part > 0 {
            let _ = write!(out, ".{part:03}");
        }
        for (_, end) in &columns {
            let others = f.after.iter().filter(|(_, of)| of == end).map(|(id, _)| id.to_string());
            let _ = write!(out, ",{}", others.collect::<Vec<_>>().join(" "));
        }
        out.push('\n');
    }
    out
}

/// Writes the HPCC format: class 3 and port 100, as the simulator's own generator; starts to the picosecond; hosts as
/// in the topology file.
pub fn to_hpcc(flows: &[FlowRow], graph: &Graph) -> String {
    let node = |host: u32| {
        let name = graph.names.of(host);
        let id = name.strip_prefix('n').and_then(|id| id.parse::<u32>().ok());
        id.filter(|id| name == format!("n{id}")).unwrap_or(host)
    };
    let mut out = format!("{}\n", flows.len());
    for f in flows {
        let (s, ps) = (f.start.ps() / 1_000_000_000_000, f.start.ps() % 1_000_000_000_000);
        let decimals = if ps % 1000 == 0 { format!("{:09}", ps / 1000) } else { format!("{ps:012}") };
        let _ = writeln!(out, "{} {} 3 100 {} {s}.{decimals}", node(f.src), node(f.dst), f.size);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<FlowRow>, ParseError> {
        csv(text, &Graph::new(4, 1))
    }

    #[test]
    fn hosts_have_numbers_or_names() {
        let rows = read("id,src,dst,size_bytes,start_ns\n0,h3,\"1\",10,0\n").expect("reads");
        assert_eq!((rows[0].src, rows[0].dst), (3, 1));
        let e = read("id,src,dst,size_bytes,start_ns\n0,h4,1,10,0\n").expect_err("four hosts");
        assert_eq!(e.reason, "there is no host `h4`");
        assert_eq!(e.hint, "hosts are `h0` to `h3`, or by number 0 to 3");
        let e = read("id,src,dst,size_bytes,start_ns\n0,1,switch0,10,0\n").expect_err("a switch");
        assert_eq!((e.line, e.reason.as_str()), (2, "`switch0` is a switch"));
    }

    /// As a table of data frames is written: another order, further columns, floating-point numbers, blanks.
    #[test]
    fn columns_come_in_any_order_with_others_between() {
        let text =
            "Start_us, size_bytes ,group,\"src\",dst\r\n2.5e-1,1e6,web, h3 ,1\r\n\r\n10,1460.0,,0,2\r\n";
        let rows = read(text).expect("reads");
        let seen: Vec<_> = rows.iter().map(|r| (r.id, r.src, r.dst, r.size, r.start.ps())).collect();
        assert_eq!(seen, [(0, 3, 1, 1_000_000, 250_000), (1, 0, 2, 1460, 10_000_000)]);
    }

    #[test]
    fn what_a_flow_follows_reads_back() {
        let text = "id,src,dst,size_bytes,start_ns,after\n5,0,1,10,0,\n6,1,2,10,1.500,5\n7,2,0,10,3,5 6\n";
        let rows = read(text).expect("reads");
        let received = [5, 6].map(|id| (id, End::Received));
        let after = |rows: &[FlowRow]| rows.iter().map(|r| r.after.clone()).collect::<Vec<_>>();
        assert_eq!(after(&rows), [vec![], received[..1].to_vec(), received.to_vec()]);
        assert_eq!(to_csv(&rows), text);
        assert_eq!(read(&text.replace("5 6", "5; 6")).expect("reads")[2].after, received);
        let acked = text.replace("after", "after_acked");
        let rows = read(&acked).expect("reads");
        assert_eq!(rows[1].after, [(5, End::Acked)]);
        assert_eq!(to_csv(&rows), acked);
        let both = "id,src,dst,size_bytes,start_ns,after,after_acked\n5,0,1,10,0,,\n6,1,2,10,1,,5\n7,2,0,10,3,5,6 5\n";
        let rows = read(both).expect("reads");
        assert_eq!(rows[2].after, [(5, End::Received), (6, End::Acked), (5, End::Acked)]);
        assert_eq!(to_csv(&rows), both);
        let e = read(&text.replace("5 6", "5 x")).expect_err("no number");
        assert_eq!((e.line, e.reason.as_str()), (4, "`x` is not a flow's number"));
    }

    /// Made up after a file of the simulator: more flows than announced, and prose.
    #[test]
    fn as_many_flows_are_read_as_the_first_line_names() {
        let text = "2\r\n1 2 3 100 100000 2\r\n2\t1 3 100 1e5 2.5e-05 \r\n9 9 3 100 1 2\r\n\r\nFirst line: flows\r\n";
        let mut graph = Graph::new(2, 1);
        let names = ["n1", "n2", "n0"].map(str::to_owned).to_vec();
        graph.names = crate::topology::Names::listed(0, names).expect("names");
        let rows = hpcc(text, &graph).expect("reads");
        let seen: Vec<_> = rows.iter().map(|r| (r.src, r.dst, r.size, r.start.ps())).collect();
        assert_eq!(seen, [(0, 1, 100_000, 2_000_000_000_000), (1, 0, 100_000, 25_000_000)]);
        assert!(to_hpcc(&rows, &graph).starts_with("2\n1 2 3 100 100000 2.000000000\n"));
        let e = hpcc("1\n0 1 3 100 5 2.0\n", &graph).expect_err("node 0 is the switch");
        assert_eq!((e.line, e.reason.as_str()), (2, "node 0 is a switch"));
    }

    #[test]
    fn what_is_written_reads_back() {
        let flows = [
            FlowRow {
                line: 2,
                id: 0,
                src: 92,
                dst: 13,
                size: 1460,
                start: Time::from_ps(2_633_000),
                after: vec![],
            },
            FlowRow {
                line: 3,
                id: 1,
                src: 1,
                dst: 10,
                size: 7,
                start: Time::from_ps(2_000_000_000_000_125),
                after: vec![],
            },
        ];
        assert_eq!(
            to_csv(&flows),
            "id,src,dst,size_bytes,start_ns\n0,92,13,1460,2633\n1,1,10,7,2000000000000.125\n"
        );
        assert_eq!(read(&to_csv(&flows)), Ok(flows.to_vec()));
        let graph = Graph::new(100, 1);
        assert_eq!(
            to_hpcc(&flows, &graph),
            "2\n92 13 3 100 1460 0.000002633\n1 10 3 100 7 2000.000000000125\n"
        );
        assert_eq!(hpcc(&to_hpcc(&flows, &graph), &graph).expect("reads")[1].start, flows[1].start);
    }

    #[test]
    fn wrong_lines_are_named() {
        let e = read("id,src,dst,size_bytes,start_ns\n0,1,2,x,5\n").expect_err("wrong");
        assert_eq!((e.line, e.reason.as_str()), (2, "`x` is not a size in bytes"));
        let e = read("id,src,dst,size_bytes,start_ns\n0,1,2,18446744073709551615,5\n").expect_err("endless");
        assert_eq!((e.line, e.reason.as_str()), (2, "a flow of 18446744073709551615 bytes is too large"));
        let hpcc = |text: &str| hpcc(text, &Graph::new(4, 1));
        let e = hpcc("1\n0 1 3 100 9223372036854775808 2.0\n").expect_err("endless");
        assert_eq!((e.line, e.reason.as_str()), (2, "a flow of 9223372036854775808 bytes is too large"));
        let e = read("a,b\n").expect_err("wrong");
        assert_eq!(e.reason, "`a,b` has no column `start_ns`");
        assert_eq!(
            e.hint,
            "expected the header `id,src,dst,size_bytes,start_ns`, in any order; other columns are not read"
        );
        let e = read("src,dst,size_bytes,start_ns\n0,1,10.5,5\n").expect_err("half a byte");
        assert_eq!((e.line, e.reason.as_str()), (2, "`10.5` is not a size in bytes"));
        let e = read("src,dst,size_bytes,start_ns\n0,1,10,-5\n").expect_err("before the start");
        assert_eq!(e.reason, "`-5` is not a time");
        let e = read("src,dst,size_bytes,size_bytes,start_ns\n").expect_err("twice");
        assert_eq!(e.reason, "there are two columns `size_bytes`");
        let e = read("src,dst,size_bytes,start_ns,afer\n0,1,10,0,\n").expect_err("a slip");
        assert_eq!(e.reason, "there is no column `afer`");
        assert!(read("src,dst,size_bytes,start_ns,note,tag\n0,1,10,0,a,b\n").is_ok());
        let e = read("src,dst,size_bytes,start_ns,start_s\n").expect_err("twice");
        assert_eq!(e.reason, "there are two columns of starts");
        let e = hpcc("2\n0 1 3 100 5 2.0\n").expect_err("wrong");
        assert_eq!(e.reason, "the file has 1 flows instead of the 2 that it announces");
        let e = hpcc("1\n0 1 3 100 5 2.0 7\n").expect_err("more than there is");
        assert_eq!((e.line, e.reason.as_str()), (2, "`7` follows the start"));
    }
}
