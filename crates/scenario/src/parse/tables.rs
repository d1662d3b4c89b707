//! Small CSV files: pinned paths, spray offsets, priority histograms, matrices of bytes.

use super::{ParseError, csv, field, flows};
use crate::topology::{Graph, Names};
use std::collections::BTreeMap;
use thalweg_units::NodeId;

/// The path of a flow in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRow {
    /// Line in the file.
    pub line: u32,
    /// The flow.
    pub id: u64,
    /// Switches from source to destination.
    pub data: Vec<NodeId>,
    /// Switches from destination to source.
    pub ack: Vec<NodeId>,
}

/// `id,data_path,ack_path`: switches, by number or by name, separated by `-`.
///
/// # Errors
/// The first invalid line.
pub fn paths(text: &str, names: &Names) -> Result<Vec<PathRow>, ParseError> {
    let (_, rows) = csv::headed(text, &["id,data_path,ack_path"])?;
    let path = |line, text: &str| -> Result<Vec<NodeId>, ParseError> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let node = |n: &str| match n.trim() {
            "" => Err(ParseError::new(line, "a node is missing", "")),
            n => names.node(n).map_err(|(reason, hint)| ParseError::new(line, reason, hint)),
        };
        // The name of a node may contain a `-`.
        match names.find(text) {
            Some(only) => Ok(vec![NodeId(only)]),
            None => text.split('-').map(|n| node(n).map(NodeId)).collect(),
        }
    };
    rows.map(|row| {
        let (line, cells) = row?;
        let id = field(line, "a flow's number", Some(&cells[0]))?;
        Ok(PathRow { line: line as u32, id, data: path(line, &cells[1])?, ack: path(line, &cells[2])? })
    })
    .collect()
}

/// `host,first` (or `host,first_core`): the initial value of each host's spraying counter.
///
/// # Errors
/// The first invalid line, or a host that is unknown or named twice.
pub fn offsets(text: &str, graph: &Graph) -> Result<Vec<u32>, ParseError> {
    let (_, rows) = csv::headed(text, &["host,first", "host,first_core"])?;
    let hosts = graph.hosts;
    let mut out = vec![None; hosts as usize];
    for row in rows {
        let (line, cells) = row?;
        let host = flows::host(line, &cells[0], graph)?;
        let first = field(line, "a number", Some(&cells[1]))?;
        match out.get_mut(host as usize) {
            None => {
                let hint = format!("hosts are 0 to {}", hosts - 1);
                return Err(ParseError::new(line, format!("there is no host {host}"), hint));
            }
            Some(Some(_)) => return Err(ParseError::new(line, format!("host {host} is named twice"), "")),
            Some(slot) => *slot = Some(first),
        }
    }
    out.resize(graph.nics() as usize, None);
    Ok(out.into_iter().map(|o| o.unwrap_or(0)).collect())
}

/// A square matrix of sizes in bytes, with a row and a column for each host.
///
/// # Errors
/// The first invalid row, or too few rows.
pub(crate) fn matrix(text: &str, hosts: usize) -> Result<Vec<Vec<u64>>, ParseError> {
    let expected = || format!("expected {hosts} rows of {hosts} sizes, without a header");
    let mut out: Vec<Vec<u64>> = Vec::with_capacity(hosts);
    for row in csv::rows(text) {
        let (line, cells) = row?;
        if cells.len() != hosts || out.len() == hosts {
            let reason = match out.len() == hosts {
                true => format!("there is a row {}, for {hosts} hosts", hosts + 1),
                false => format!("the row has {} sizes, for {hosts} hosts", cells.len()),
            };
            return Err(ParseError::new(line, reason, expected()));
        }
        out.push(cells.iter().map(|cell| flows::size(line, Some(cell))).collect::<Result<_, _>>()?);
    }
    if out.len() < hosts {
        return Err(ParseError::new(
            0,
            format!("the file has {} rows, for {hosts} hosts", out.len()),
            expected(),
        ));
    }
    Ok(out)
}

/// The largest priority of the 12-bit header field.
pub(crate) const MOST_PRIORITIES: usize = 4096;

/// Histograms of packet priorities, by port; `None`: for all ports.
pub type Histograms = BTreeMap<Option<u32>, Vec<u64>>;

/// `priority,packets` or `port,priority,packets`.
///
/// # Errors
/// The first invalid line, or a priority out of range.
pub fn histograms(text: &str) -> Result<Histograms, ParseError> {
    let (which, rows) = csv::headed(text, &["priority,packets", "port,priority,packets"])?;
    let mut out = Histograms::new();
    for row in rows {
        let (line, cells) = row?;
        let port = if which == 1 { Some(field(line, "a port", Some(&cells[0]))?) } else { None };
        let priority: usize = field(line, "a priority", Some(&cells[which]))?;
        let packets: u64 = field(line, "a number of packets", Some(&cells[which + 1]))?;
        if priority >= MOST_PRIORITIES {
            let hint = format!("priorities are 0 to {}", MOST_PRIORITIES - 1);
            return Err(ParseError::new(line, format!("the priority {priority} is out of range"), hint));
        }
        let counts = out.entry(port).or_default();
        if counts.len() <= priority {
            counts.resize(priority + 1, 0);
        }
        counts[priority] = counts[priority].saturating_add(packets);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_offsets_and_histograms_read_what_the_references_write() {
        let graph = Graph::new(3, 2);
        let named = paths("id,data_path,ack_path\n0,switch1-switch0,3\n", &graph.names).expect("paths");
        assert_eq!(
            (named[0].data.as_slice(), named[0].ack.as_slice()),
            (&[NodeId(4), NodeId(3)][..], &[NodeId(3)][..])
        );
        let p = paths("id,data_path,ack_path\n0,23-30-33,33-30-23\n1,,\n", &graph.names).expect("paths");
        assert_eq!(p[0].data, vec![NodeId(23), NodeId(30), NodeId(33)]);
        assert!(p[1].ack.is_empty());
        assert_eq!(offsets("host,first_core\n0,3\nh1,2\n", &graph), Ok(vec![3, 2, 0]));
        let h = histograms("port,priority,packets\n4,2,10\n4,0,1\n").expect("histogram");
        assert_eq!(h[&Some(4)], vec![1, 0, 10]);
        let e = offsets("host,first\n7,0\n", &graph).expect_err("no such host");
        assert_eq!((e.line, e.reason.as_str()), (2, "there is no host 7"));
    }
}
