//! Graph files. Every reader returns a [`RawGraph`]: hosts first, with the rates and delays that the file gives.

mod attributed;
pub mod gml;
pub mod graphml;
pub mod hpcc;
pub mod htsim;
pub mod links_csv;
pub mod native;
pub mod rocketfuel;

use super::{Decimal, ParseError, decimal, quoted};
use thalweg_units::{Rate, Span};

/// A link of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawLink {
    /// One end.
    pub a: u32,
    /// The other end.
    pub b: u32,
    /// Rate of each direction.
    pub rate: Option<Rate>,
    /// One-way propagation delay.
    pub delay: Option<Span>,
    /// Delay by the distance between its ends, if both have coordinates.
    pub geographic: Option<Span>,
    /// Its line in the file.
    pub line: u32,
}

impl RawLink {
    /// A link for which the file gives its ends only.
    pub(crate) fn bare(a: u32, b: u32, line: usize) -> Self {
        Self { a, b, rate: None, delay: None, geographic: None, line: line as u32 }
    }
}

/// The graph of a file, hosts first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawGraph {
    /// Nodes `0 .. hosts` are hosts.
    pub hosts: u32,
    /// Number of nodes.
    pub nodes: u32,
    /// Links between existing, different nodes.
    pub links: Vec<RawLink>,
    /// Names of the last nodes; empty if the file has none.
    pub names: Vec<String>,
}

/// Largest number of nodes of a graph.
const MOST_NODES: u32 = 4_000_000;

impl RawGraph {
    /// Checks the numbers of nodes.
    fn new(hosts: u32, nodes: u32, links: Vec<RawLink>) -> Result<Self, ParseError> {
        if nodes > MOST_NODES {
            return Err(ParseError::new(
                0,
                format!("the graph has {nodes} nodes"),
                format!("at most {MOST_NODES} are possible"),
            ));
        }
        if hosts > nodes {
            return Err(ParseError::new(0, format!("the graph has {hosts} hosts among {nodes} nodes"), ""));
        }
        for l in &links {
            for node in [l.a, l.b] {
                if node >= nodes {
                    let hint = format!("nodes are 0 to {}", i64::from(nodes) - 1);
                    return Err(ParseError::new(l.line as usize, format!("there is no node {node}"), hint));
                }
            }
            if l.a == l.b {
                let reason = format!("the link goes from node {} to itself", l.a);
                return Err(ParseError::new(l.line as usize, reason, ""));
            }
        }
        Ok(Self { hosts, nodes, links, names: Vec::new() })
    }

    /// Adds `each` hosts to every node of a map of routers; `None` if these are too many.
    pub(crate) fn with_hosts(self, each: u32, rate: Option<Rate>, delay: Option<Span>) -> Option<Self> {
        let hosts = self.nodes.checked_mul(each)?;
        let nodes = hosts.checked_add(self.nodes).filter(|n| *n <= MOST_NODES)?;
        let host = |h| RawLink { rate, delay, ..RawLink::bare(h, hosts + h / each, 0) };
        let routers = self.links.into_iter().map(|l| RawLink { a: hosts + l.a, b: hosts + l.b, ..l });
        let links = (0..hosts).map(host).chain(routers).collect();
        Some(Self { hosts, nodes, links, names: self.names })
    }

    /// Makes the nodes with one link hosts, which get the first numbers in the order of the file. Without names the
    /// file must have numbered its nodes this way itself.
    fn with_leaves_as_hosts(self) -> Result<Self, ParseError> {
        let mut degree = vec![0u32; self.nodes as usize];
        for l in &self.links {
            degree[l.a as usize] += 1;
            degree[l.b as usize] += 1;
        }
        let hosts = degree.iter().filter(|d| **d == 1).count() as u32;
        let mut number = vec![0u32; self.nodes as usize];
        let (mut host, mut switch) = (0, hosts);
        for (node, d) in degree.iter().enumerate() {
            let next = if *d == 1 { &mut host } else { &mut switch };
            number[node] = *next;
            if self.names.is_empty() && *next != node as u32 {
                let reason = format!(
                    "node {node} has {d} links but is numbered among {hosts} hosts with one link each"
                );
                let hint = "number the hosts first: 0, 1, ..; if all nodes are routers, write `hosts_per_router = 1` \
                            under [topology]";
                return Err(ParseError::new(0, reason, hint));
            }
            *next += 1;
        }
        let renumbered = |l: RawLink| RawLink { a: number[l.a as usize], b: number[l.b as usize], ..l };
        let names = if self.names.is_empty() { Vec::new() } else { in_order(self.names, &number) };
        Ok(Self { hosts, nodes: self.nodes, links: self.links.into_iter().map(renumbered).collect(), names })
    }

    /// The connected part with the most nodes, or the first of equal ones; nodes keep their order. If the file has
    /// numbers only, these are kept as names.
    pub(crate) fn largest_part(self) -> Self {
        let part = self.parts();
        let mut sizes: Vec<u32> = Vec::new();
        for p in &part {
            sizes.resize(sizes.len().max(p + 1), 0);
            sizes[*p] += 1;
        }
        if sizes.len() < 2 {
            return self;
        }
        let most = sizes.iter().copied().max().unwrap_or(0);
        let kept = sizes.iter().position(|s| *s == most).unwrap_or(0);
        let names = if self.names.is_empty() {
            (0..self.nodes).map(|node| format!("n{node}")).collect()
        } else {
            self.names
        };
        let mut number = vec![0u32; self.nodes as usize];
        let (mut hosts, mut nodes) = (0, 0);
        for (node, _) in part.iter().enumerate().filter(|(_, p)| **p == kept) {
            number[node] = nodes;
            nodes += 1;
            hosts += u32::from((node as u32) < self.hosts);
        }
        let inside = self.links.into_iter().filter(|l| part[l.a as usize] == kept);
        let links =
            inside.map(|l| RawLink { a: number[l.a as usize], b: number[l.b as usize], ..l }).collect();
        let names = names.into_iter().zip(&part).filter(|(_, p)| **p == kept).map(|(name, _)| name).collect();
        Self { hosts, nodes, links, names }
    }

    /// For each node the number of its connected part; parts are numbered by their first nodes.
    fn parts(&self) -> Vec<usize> {
        let mut neighbours = vec![Vec::new(); self.nodes as usize];
        for l in &self.links {
            neighbours[l.a as usize].push(l.b as usize);
            neighbours[l.b as usize].push(l.a as usize);
        }
        let mut part = vec![usize::MAX; self.nodes as usize];
        let mut next = 0;
        for first in 0..self.nodes as usize {
            if part[first] != usize::MAX {
                continue;
            }
            part[first] = next;
            let mut stack = vec![first];
            while let Some(node) = stack.pop() {
                for other in &neighbours[node] {
                    if part[*other] == usize::MAX {
                        part[*other] = next;
                        stack.push(*other);
                    }
                }
            }
            next += 1;
        }
        part
    }
}

/// The names in the order of the new numbers.
fn in_order(names: Vec<String>, number: &[u32]) -> Vec<String> {
    let mut named: Vec<(u32, String)> = number.iter().copied().zip(names).collect();
    named.sort_unstable();
    named.into_iter().map(|(_, name)| name).collect()
}

/// A rate with a unit, or a plain number of bits per second.
fn rate(line: usize, text: &str) -> Result<Rate, ParseError> {
    let plain = decimal(text).and_then(Decimal::whole);
    if let Some(bps) = plain.and_then(|bps| u64::try_from(bps).ok()) {
        return Ok(Rate::from_bps(bps));
    }
    text.parse().map_err(|e: thalweg_units::QuantityError| ParseError::new(line, quantity(text, &e), ""))
}

/// A delay with a unit.
fn delay(line: usize, text: &str) -> Result<Span, ParseError> {
    text.parse().map_err(|e: thalweg_units::QuantityError| ParseError::new(line, quantity(text, &e), ""))
}

/// The mistake in a quantity, for files of other formats.
fn quantity(text: &str, e: &thalweg_units::QuantityError) -> String {
    if text.len() > 80 { format!("`{}` is not a quantity", quoted(text)) } else { e.to_string() }
}
