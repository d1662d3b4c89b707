//! Flow lists: thalweg's CSV and the HPCC ns-3 simulator's text, both ways.

use super::{ParseError, csv, field, lines, quoted};
use crate::topology::Graph;
use std::fmt::Write;
use thalweg_units::{Span, Time};

/// A flow as a file gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRow {
    /// Line in the file.
    pub line: u32,
    /// What the file calls it.
    pub id: u64,
    /// The host that sends.
    pub src: u32,
    /// The host that receives.
    pub dst: u32,
    /// Payload bytes.
    pub size: u64,
    /// When it starts.
    pub start: Time,
}

/// The header of the CSV format.
const HEADER: &str = "id,src,dst,size_bytes,start_ns";

fn time(line: usize, text: &str, unit: &str) -> Result<Time, ParseError> {
    let wrong = || {
        ParseError::new(line, format!("`{}` is not a time", quoted(text)), "write a number without a unit")
    };
    if text.is_empty() || !text.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return Err(wrong());
    }
    let span: Span = format!("{text}{unit}").parse().map_err(|_| wrong())?;
    Ok(Time::from_ps(span.ps()))
}

/// `id,src,dst,size_bytes,start_ns` (decimals of a nanosecond allowed), hosts by number or by name. Numbers may exceed those of
/// the graph's hosts.
///
/// # Errors
/// The first line that is not a flow.
pub fn csv(text: &str, graph: &Graph) -> Result<Vec<FlowRow>, ParseError> {
    let (_, rows) = csv::headed(text, &[HEADER])?;
    rows.map(|row| {
        let (line, cells) = row?;
        Ok(FlowRow {
            line: line as u32,
            id: field(line, "a flow's number", Some(&cells[0]))?,
            src: host(line, &cells[1], graph)?,
            dst: host(line, &cells[2], graph)?,
            size: size(line, Some(&cells[3]))?,
            start: time(line, &cells[4], "ns")?,
        })
    })
    .collect()
}

pub(super) fn host(line: usize, text: &str, graph: &Graph) -> Result<u32, ParseError> {
    if text.is_empty() {
        return Err(ParseError::new(line, "a host is missing", ""));
    }
    graph.names.host(text, graph.hosts).map_err(|(reason, hint)| ParseError::new(line, reason, hint))
}

/// The largest flow: 9 EB. The clock ends long before it would.
const LARGEST: u64 = i64::MAX as u64;

/// A size. The largest number of 64 bits would mean a flow without end.
fn size(line: usize, text: Option<&str>) -> Result<u64, ParseError> {
    let size = field(line, "a size in bytes", text)?;
    if size > LARGEST {
        let hint = format!("at most {LARGEST}; flows without end are traffic of kind \"backlogged\"");
        return Err(ParseError::new(line, format!("a flow of {size} bytes is too large"), hint));
    }
    Ok(size)
}

/// The number of flows, then `src dst class port size start` with the start in seconds.
///
/// # Errors
/// The first line that is not a flow, or a wrong number of flows.
pub fn hpcc(text: &str) -> Result<Vec<FlowRow>, ParseError> {
    let mut rows = lines(text);
    let Some((first, count)) = rows.next() else {
        return Err(ParseError::new(0, "the file is empty", "expected the number of flows"));
    };
    let count: usize = field(first, "the number of flows", Some(count))?;
    let mut out = Vec::new();
    for (line, row) in rows {
        let mut cells = row.split_whitespace();
        let (src, dst) = (field(line, "a host", cells.next())?, field(line, "a host", cells.next())?);
        let _class: u32 = field(line, "a class", cells.next())?;
        let _port: u32 = field(line, "a port", cells.next())?;
        let size = size(line, cells.next())?;
        let start = time(line, cells.next().unwrap_or_default(), "s")?;
        out.push(FlowRow { line: line as u32, id: out.len() as u64, src, dst, size, start });
    }
    if out.len() != count {
        return Err(ParseError::new(first, format!("{} flows instead of {count}", out.len()), ""));
    }
    Ok(out)
}

/// Writes the CSV format; reading it back gives the same flows.
pub fn to_csv(flows: &[FlowRow]) -> String {
    let mut out = format!("{HEADER}\n");
    for f in flows {
        let (whole, part) = (f.start.ps() / 1000, f.start.ps() % 1000);
        let _ = write!(out, "{},{},{},{},{whole}", f.id, f.src, f.dst, f.size);
        let _ = if part == 0 { writeln!(out) } else { writeln!(out, ".{part:03}") };
    }
    out
}

/// Writes the HPCC format: class 3 and port 100, as its own generator does; starts to the picosecond.
pub fn to_hpcc(flows: &[FlowRow]) -> String {
    let mut out = format!("{}\n", flows.len());
    for f in flows {
        let (s, ps) = (f.start.ps() / 1_000_000_000_000, f.start.ps() % 1_000_000_000_000);
        let decimals = if ps % 1000 == 0 { format!("{:09}", ps / 1000) } else { format!("{ps:012}") };
        let _ = writeln!(out, "{} {} 3 100 {} {s}.{decimals}", f.src, f.dst, f.size);
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

    #[test]
    fn what_is_written_reads_back() {
        let flows = [
            FlowRow { line: 2, id: 0, src: 92, dst: 13, size: 1460, start: Time::from_ps(2_633_000) },
            FlowRow { line: 3, id: 1, src: 1, dst: 10, size: 7, start: Time::from_ps(2_000_000_000_000_125) },
        ];
        assert_eq!(
            to_csv(&flows),
            "id,src,dst,size_bytes,start_ns\n0,92,13,1460,2633\n1,1,10,7,2000000000000.125\n"
        );
        assert_eq!(read(&to_csv(&flows)), Ok(flows.to_vec()));
        assert_eq!(to_hpcc(&flows), "2\n92 13 3 100 1460 0.000002633\n1 10 3 100 7 2000.000000000125\n");
        assert_eq!(hpcc(&to_hpcc(&flows)).expect("reads")[1].start, flows[1].start);
    }

    #[test]
    fn wrong_lines_are_named() {
        let e = read("id,src,dst,size_bytes,start_ns\n0,1,2,x,5\n").expect_err("wrong");
        assert_eq!((e.line, e.reason.as_str()), (2, "`x` is not a size in bytes"));
        let e = read("id,src,dst,size_bytes,start_ns\n0,1,2,18446744073709551615,5\n").expect_err("endless");
        assert_eq!((e.line, e.reason.as_str()), (2, "a flow of 18446744073709551615 bytes is too large"));
        let e = hpcc("1\n0 1 3 100 9223372036854775808 2.0\n").expect_err("endless");
        assert_eq!((e.line, e.reason.as_str()), (2, "a flow of 9223372036854775808 bytes is too large"));
        let e = read("a,b\n").expect_err("wrong");
        assert_eq!(e.hint, "expected the header `id,src,dst,size_bytes,start_ns`");
        let e = hpcc("2\n0 1 3 100 5 2.0\n").expect_err("wrong");
        assert_eq!(e.reason, "1 flows instead of 2");
    }
}
