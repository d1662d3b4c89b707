//! Nodes and edges with attributes, as GraphML and GML have them, and what the attributes mean here.
//!
//! Rates are read from the attributes `rate`, `bandwidth`, `capacity`, `LinkSpeedRaw`, or, of the Topology Zoo,
//! `LinkSpeed` with `LinkSpeedUnits`, or a `LinkLabel` that is a rate (`10 Gbps`); delays from `delay`, `latency`,
//! and, if the scenario wants, from the nodes' `Latitude` and `Longitude`. Rates have units or are a plain number of
//! bits per second. An edge without a rate leaves it to the scenario. Nodes are called by their `label`, or by their
//! id where two have the same.
// CHOICE Topology Zoo §III: nodes of other networks (`Internal` 0) and those that stand for a medium that many share
// (`hyperedge` 1) are routers like the others, as FNSS has them. Other reading: to leave them out, which takes many
// maps apart.

use super::{RawGraph, RawLink, delay, rate};
use crate::parse::{ParseError, decimal, quoted};
use crate::topology::names::fit;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use thalweg_units::{Rate, Span};

/// Attributes that are read, by name in lower case, with the lines of their values.
pub(super) type Attributes = BTreeMap<&'static str, (usize, String)>;

/// The attributes of nodes and edges that say something here.
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

/// What a file has of them, in its order.
#[derive(Default)]
pub(super) struct Attributed {
    nodes: Vec<Node>,
    /// Node id → number.
    numbers: BTreeMap<String, u32>,
    edges: Vec<Edge>,
    /// Of edges: values of attributes that an edge does not give.
    pub(super) defaults: Attributes,
}

impl Attributed {
    /// A further node.
    pub(super) fn node(&mut self, line: usize, id: String, attributes: Attributes) -> Result<(), ParseError> {
        let next = self.nodes.len() as u32;
        if self.numbers.insert(id.clone(), next).is_some() {
            return Err(ParseError::new(line, format!("node `{}` is defined twice", quoted(&id)), ""));
        }
        self.nodes.push(Node { id, attributes });
        Ok(())
    }

    /// A further edge; its nodes may follow.
    pub(super) fn edge(&mut self, line: usize, ends: [String; 2], directed: bool, attributes: Attributes) {
        self.edges.push(Edge { line, ends, directed, attributes });
    }

    /// Every edge has a direction, or none has.
    pub(super) fn direct(&mut self, directed: bool) {
        self.edges.iter_mut().for_each(|edge| edge.directed = directed);
    }

    pub(super) fn last_node(&mut self) -> Option<&mut Attributes> {
        self.nodes.last_mut().map(|node| &mut node.attributes)
    }
    pub(super) fn last_edge(&mut self) -> Option<&mut Attributes> {
        self.edges.last_mut().map(|edge| &mut edge.attributes)
    }

    /// Every node is a router.
    pub(super) fn graph(&self) -> Result<RawGraph, ParseError> {
        let graph = RawGraph::new(0, self.nodes.len() as u32, self.links()?)?;
        Ok(RawGraph { names: self.names(), ..graph })
    }

    /// The edges as links, in their order. An edge from a node to itself is none. Where edges have a direction, one
    /// each way makes one link, for links go both ways.
    fn links(&self) -> Result<Vec<RawLink>, ParseError> {
        let places: Vec<Option<Place>> = self.nodes.iter().map(|n| Place::of(&n.attributes)).collect();
        let mut links: Vec<RawLink> = Vec::new();
        // Directed edges without their other direction yet, by their ends.
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

    /// The label where it is fit and no other node has it, else the id; what two would still be called gets its id
    /// behind it.
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

/// Where a node is, in degrees.
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

    /// Light in fibre along the great circle.
    // CHOICE: of a map without fibres. 200 000 km/s on a sphere of 6371 km, rounded to a nanosecond. Other reading:
    // longer by a factor, for fibres follow roads and coasts; there is no such factor in the maps.
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

/// The rate of an edge whose attributes are these.
fn link_rate<'a>(
    value: impl Fn(&'static str) -> Option<&'a (usize, String)>,
) -> Result<Option<Rate>, ParseError> {
    for name in ["rate", "bandwidth", "capacity", "linkspeedraw"] {
        if let Some((line, text)) = value(name).filter(|(_, text)| !text.is_empty()) {
            // Topology collections write 1.0E10.
            let plain = decimal(text).and_then(|d| d.scaled(1)).filter(|bps| (1..1 << 60).contains(bps));
            return rate(*line, plain.map(|bps| bps.to_string()).as_deref().unwrap_or(text)).map(Some);
        }
    }
    // What people wrote on pictures: where it is no rate, there is none.
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
