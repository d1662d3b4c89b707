//! Nodes and edges with attributes, as in GraphML and GML, and the meaning of their attributes.
//!
//! Rates are read from the attributes `rate`, `bandwidth`, `capacity`, `LinkSpeedRaw`, or, in the Topology Zoo, from
//! `LinkSpeed` with `LinkSpeedUnits`, or a `LinkLabel` that is a rate (`10 Gbps`); delays from `delay`, `latency`, and,
//! with `geographic` in the scenario, from the nodes' `Latitude` and `Longitude`. Rates have units or are plain numbers
//! of bits per second. An edge without a rate gets that of the scenario. The name of a node is its `label`, or its id
//! if two nodes have the same label.
// CHOICE Topology Zoo §III: nodes of other networks (`Internal` 0), and nodes that stand for a shared medium
// (`hyperedge` 1), are routers like the others, as in FNSS. Other reading: to omit them, which disconnects many maps.

use super::{RawGraph, RawLink, delay, rate};
use crate::parse::{ParseError, decimal, quoted};
use crate::topology::names::fit;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use thalweg_units::{Rate, Span};

/// Attributes that are read, by name in lower case, with the lines of their values.
pub(super) type Attributes = BTreeMap<&'static str, (usize, String)>;

/// The attributes of nodes and edges that are used.
const KNOWN: [&str; 12] = [
    "label",
    "latitude",
    "longitude",
    "rate",
    "bandwidth",
    "capacity",
    "linkspeedraw",
    "linkspeed",
    "linkspeedunits",
    "linklabel",
    "delay",
    "latency",
];

pub(super) fn known(name: &str) -> Option<&'static str> {
    KNOWN.into_iter().find(|known| *known == name)
}

struct Node {
    id: String,
    attributes: Attributes,
}

struct Edge {
    line: usize,
    ends: [String; 2],
    directed: bool,
    attributes: Attributes,
}

/// The nodes and edges of a file, in order.
#[derive(Default)]
pub(super) struct Attributed {
    nodes: Vec<Node>,
    /// Node id → number.
    numbers: BTreeMap<String, u32>,
    edges: Vec<Edge>,
    /// Default values of edge attributes.
    pub(super) defaults: Attributes,
}

impl Attributed {
    /// Adds a node.
    pub(super) fn node(&mut self, line: usize, id: String, attributes: Attributes) -> Result<(), ParseError> {
        let next = self.nodes.len() as u32;
        if self.numbers.insert(id.clone(), next).is_some() {
            return Err(ParseError::new(line, format!("node `{}` is defined twice", quoted(&id)), ""));
        }
        self.nodes.push(Node { id, attributes });
        Ok(())
    }

    /// Adds an edge, whose nodes may follow later in the file.
    pub(super) fn edge(&mut self, line: usize, ends: [String; 2], directed: bool, attributes: Attributes) {
        self.edges.push(Edge { line, ends, directed, attributes });
    }

    /// Checks that either all edges are directed or none.
    pub(super) fn direct(&mut self, directed: bool) {
        self.edges.iter_mut().for_each(|edge| edge.directed = directed);
    }

    pub(super) fn last_node(&mut self) -> Option<&mut Attributes> {
        self.nodes.last_mut().map(|node| &mut node.attributes)
    }
    pub(super) fn last_edge(&mut self) -> Option<&mut Attributes> {
        self.edges.last_mut().map(|edge| &mut edge.attributes)
    }

    /// The graph with every node as a router.
    pub(super) fn graph(&self) -> Result<RawGraph, ParseError> {
        let graph = RawGraph::new(0, self.nodes.len() as u32, self.links()?)?;
        Ok(RawGraph { names: self.names(), ..graph })
    }

    /// The edges as links, in order. An edge from a node to itself is left out. If edges are directed, one in each
    /// direction makes one link, because links are duplex.
    fn links(&self) -> Result<Vec<RawLink>, ParseError> {
        let places: Vec<Option<Place>> = self.nodes.iter().map(|n| Place::of(&n.attributes)).collect();
        let mut links: Vec<RawLink> = Vec::new();
        // Directed edges whose reverse has not been found yet, by their ends.
        let mut single: BTreeMap<(u32, u32), VecDeque<usize>> = BTreeMap::new();
        for edge in &self.edges {
            let node = |id: &String| {
                let reason = || format!("there is no node `{}`", quoted(id));
                self.numbers.get(id).copied().ok_or_else(|| ParseError::new(edge.line, reason(), ""))
            };
            let (a, b) = (node(&edge.ends[0])?, node(&edge.ends[1])?);
            if a == b {
                continue;
            }
            let value = |name| edge.attributes.get(name).or_else(|| self.defaults.get(name));
            let geographic = places[a as usize].zip(places[b as usize]).map(|(a, b)| a.delay_to(b));
            let link = RawLink {
                rate: link_rate(value)?,
                delay: link_delay(value)?,
                geographic,
                ..RawLink::bare(a, b, edge.line)
            };
            if edge.directed {
                if let Some(other) = single.get_mut(&(b, a)).and_then(VecDeque::pop_front) {
                    let other = &links[other];
                    if (other.rate, other.delay) != (link.rate, link.delay) {
                        let reason = format!("the link has another rate or delay in line {}", other.line);
                        return Err(ParseError::new(
                            edge.line,
                            reason,
                            "both directions of a link have the same rate and delay",
                        ));
                    }
                    continue;
                }
                single.entry((a, b)).or_default().push_back(links.len());
            }
            links.push(link);
        }
        Ok(links)
    }

    /// The name of each node: its label if that is valid and unique, else its id. Names that are still equal get the
    /// number of the node appended.
    fn names(&self) -> Vec<String> {
        let label = |n: &Node| n.attributes.get("label").and_then(|(_, label)| fit(label));
        let labels: Vec<Option<String>> = self.nodes.iter().map(label).collect();
        let mut uses: BTreeMap<String, u32> = BTreeMap::new();
        labels.iter().flatten().for_each(|l| *uses.entry(l.clone()).or_default() += 1);
        let mut taken: BTreeSet<String> =
            uses.iter().filter(|(_, uses)| **uses == 1).map(|(label, _)| label.clone()).collect();
        let name = |((node, n), label): ((usize, &Node), Option<String>)| {
            if let Some(label) = label.filter(|l| uses[l.as_str()] == 1) {
                return label;
            }
            let own = fit(&n.id).unwrap_or_else(|| format!("n{node}"));
            let further = (0..).map(|i| match i {
                0 => own.clone(),
                1 => format!("{own} (node {node})"),
                _ => format!("node {node}, {i}"),
            });
            let free = further.into_iter().find(|name: &String| !taken.contains(name)).unwrap_or_default();
            taken.insert(free.clone());
            free
        };
        self.nodes.iter().enumerate().zip(labels).map(name).collect()
    }
}

/// Coordinates of a node, in degrees.
#[derive(Clone, Copy)]
struct Place {
    latitude: f64,
    longitude: f64,
}

impl Place {
    fn of(attributes: &Attributes) -> Option<Self> {
        let degrees = |name, most: f64| {
            let (_, text) = attributes.get(name)?;
            text.parse::<f64>().ok().filter(|x| x.abs() <= most)
        };
        Some(Self { latitude: degrees("latitude", 90.0)?, longitude: degrees("longitude", 180.0)? })
    }

    /// Propagation delay along the great circle.
    // CHOICE: the maps do not give the lengths of fibres. 200 000 km/s on a sphere of 6371 km, rounded to a nanosecond.
    // Other reading: longer by a factor, because fibres follow roads and coasts; the maps give no such factor.
    fn delay_to(self, other: Self) -> Span {
        let [p, q] = [self.latitude, other.latitude].map(f64::to_radians);
        let half = |angle: f64| {
            let sine = libm::sin(angle / 2.0);
            sine * sine
        };
        let h =
            half(p - q) + libm::cos(p) * libm::cos(q) * half((self.longitude - other.longitude).to_radians());
        let km = 2.0 * 6371.0 * libm::asin(libm::sqrt(h.clamp(0.0, 1.0)));
        Span::from_ns(libm::round(km / 200_000.0 * 1e9) as u64)
    }
}

/// The rate of an edge with these attributes.
fn link_rate<'a>(
    value: impl Fn(&'static str) -> Option<&'a (usize, String)>,
) -> Result<Option<Rate>, ParseError> {
    for name in ["rate", "bandwidth", "capacity", "linkspeedraw"] {
        if let Some((line, text)) = value(name).filter(|(_, text)| !text.is_empty()) {
            // Topology collections write numbers such as 1.0E10.
            let plain = decimal(text).and_then(|d| d.scaled(1)).filter(|bps| (1..1 << 60).contains(bps));
            return rate(*line, plain.map(|bps| bps.to_string()).as_deref().unwrap_or(text)).map(Some);
        }
    }
    // Labels are free text: one that is not a rate gives none.
    let text = |name| value(name).map_or("", |(_, text)| text.as_str());
    Ok(written(&format!("{}{}", text("linkspeed"), text("linkspeedunits")))
        .or_else(|| written(text("linklabel"))))
}

/// A rate as people write it: `10 Gbps`, `2.5G`, `622 Mbit/s`, `155Mb/s`.
fn written(text: &str) -> Option<Rate> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.')?);
    let unit = unit.trim().to_ascii_lowercase();
    let prefix = ["", "bps", "b/s", "bit/s", "bits/s"].iter().find_map(|end| {
        let prefix = unit.strip_suffix(end)?;
        ["k", "m", "g", "t"].iter().position(|p| *p == prefix)
    })?;
    let bps = decimal(number)?.scaled(1000u128.pow(prefix as u32 + 1))?;
    u64::try_from(bps).ok().filter(|bps| *bps > 0).map(Rate::from_bps)
}

fn link_delay<'a>(
    value: impl Fn(&'static str) -> Option<&'a (usize, String)>,
) -> Result<Option<Span>, ParseError> {
    let given = value("delay").or_else(|| value("latency")).filter(|(_, text)| !text.is_empty());
    given.map(|(line, text)| delay(*line, text)).transpose()
}
