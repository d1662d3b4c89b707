//! GraphML, as much of it as topology collections use: nodes, edges, `<data>` with keys and their defaults.
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
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use thalweg_units::{Rate, Span};

/// What a `<data>` belongs to.
enum Inside {
    Graph,
    Node,
    Edge,
    /// A `<key>`, whose `<default>` it is.
    Key,
}

/// Attributes that are read, by name in lower case, with the lines of their values.
type Attributes = BTreeMap<&'static str, (usize, String)>;

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

fn known(name: &str) -> Option<&'static str> {
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

struct Document {
    /// Key id → attribute name, in lower case.
    keys: BTreeMap<String, String>,
    /// Of edges: values of attributes that an edge does not give.
    defaults: Attributes,
    /// The key being read, if it is one of edges.
    key: Option<&'static str>,
    nodes: Vec<Node>,
    /// Node id → number.
    numbers: BTreeMap<String, u32>,
    edges: Vec<Edge>,
    /// Edges that do not say otherwise are directed.
    directed: bool,
    inside: Inside,
    /// The `<data>` being read: its attribute name and its text so far.
    data: Option<(String, String)>,
    graph: bool,
}

impl Document {
    fn open(&mut self, line: usize, tag: &BytesStart<'_>, empty: bool) -> Result<(), ParseError> {
        let name = tag.name().0;
        let get = |wanted: &str| -> Result<Option<String>, ParseError> {
            let broken = |_| {
                let reason = format!("the attributes of <{}> are broken", quoted(name));
                ParseError::new(line, reason, "write name=\"value\"")
            };
            match tag.try_get_attribute(wanted).map_err(broken)? {
                None => Ok(None),
                Some(a) => {
                    let value = a.normalized_value(XmlVersion::Implicit1_0);
                    value.map(|v| Some(v.into_owned())).map_err(|e| xml(line, &e))
                }
            }
        };
        let need = |wanted: &str| {
            let missing = || ParseError::new(line, format!("<{name}> has no `{wanted}`"), "");
            get(wanted)?.ok_or_else(missing)
        };
        match name {
            "graph" => {
                self.graph = true;
                self.directed = get("edgedefault")?.as_deref() == Some("directed");
            }
            "key" => {
                let id = need("id")?;
                let name = get("attr.name")?.unwrap_or_else(|| id.clone()).to_ascii_lowercase();
                let of_edges = get("for")?.is_none_or(|of| of == "edge" || of == "all");
                self.key = known(&name).filter(|_| of_edges);
                self.inside = if empty { Inside::Graph } else { Inside::Key };
                self.keys.insert(id, name);
            }
            "default" if !empty && matches!(self.inside, Inside::Key) => {
                self.data = Some((String::new(), String::new()));
            }
            "node" => {
                let next = self.nodes.len() as u32;
                let id = need("id")?;
                if self.numbers.insert(id.clone(), next).is_some() {
                    return Err(ParseError::new(
                        line,
                        format!("node `{}` is defined twice", quoted(&id)),
                        "",
                    ));
                }
                self.nodes.push(Node { id, attributes: Attributes::new() });
                self.inside = if empty { Inside::Graph } else { Inside::Node };
            }
            "edge" => {
                let ends = [need("source")?, need("target")?];
                let directed = get("directed")?.map_or(self.directed, |d| d == "true");
                self.edges.push(Edge { line, ends, directed, attributes: Attributes::new() });
                self.inside = if empty { Inside::Graph } else { Inside::Edge };
            }
            "hyperedge" => {
                let hint = "write a node in its place, with an edge to each";
                return Err(ParseError::new(line, "hyperedges are not supported", hint));
            }
            "data" if !empty => {
                let id = need("key")?;
                let known = self.keys.get(&id).cloned();
                self.data = Some((known.unwrap_or_else(|| id.to_ascii_lowercase()), String::new()));
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, line: usize, name: &str) {
        match name {
            "node" | "edge" | "key" => self.inside = Inside::Graph,
            "data" | "default" => {
                if let Some((key, text)) = self.data.take() {
                    let value = (line, text.trim().to_owned());
                    let of = match self.inside {
                        Inside::Graph => None,
                        Inside::Node => self.nodes.last_mut().map(|n| (known(&key), &mut n.attributes)),
                        Inside::Edge => self.edges.last_mut().map(|e| (known(&key), &mut e.attributes)),
                        Inside::Key => Some((self.key, &mut self.defaults)),
                    };
                    if let Some((Some(key), attributes)) = of {
                        attributes.insert(key, value);
                    }
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, more: &str) {
        if let Some((_, text)) = &mut self.data {
            text.push_str(more);
        }
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
                        return Err(ParseError::new(edge.line, reason, "links are alike in both directions"));
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

/// What the XML reader says, without the line that it does not know.
fn xml(line: usize, e: &quick_xml::Error) -> ParseError {
    ParseError::new(line, format!("this is not XML: {}", quoted(&e.to_string())), "")
}

/// Nodes with one link are hosts; they get the first numbers, in their order.
///
/// # Errors
/// The first tag that is not what it should be.
pub fn parse(text: &str) -> Result<RawGraph, ParseError> {
    map(text)?.with_leaves_as_hosts()
}

/// Every node is a router, leaves too.
///
/// # Errors
/// The first tag that is not what it should be.
pub fn map(text: &str) -> Result<RawGraph, ParseError> {
    let doc = read(text)?;
    let graph = RawGraph::new(0, doc.nodes.len() as u32, doc.links()?)?;
    Ok(RawGraph { names: doc.names(), ..graph })
}

fn read(text: &str) -> Result<Document, ParseError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut doc = Document {
        keys: BTreeMap::new(),
        defaults: Attributes::new(),
        key: None,
        nodes: Vec::new(),
        numbers: BTreeMap::new(),
        edges: Vec::new(),
        directed: false,
        inside: Inside::Graph,
        data: None,
        graph: false,
    };
    let mut reader = Reader::from_str(text);
    let (mut line, mut counted, mut open) = (1usize, 0usize, Vec::new());
    // Lines are counted once, from event to event.
    let mut line_at = |at: u64| {
        let at = (at as usize).clamp(counted, text.len());
        line += text.as_bytes()[counted..at].iter().filter(|b| **b == b'\n').count();
        counted = at;
        line
    };
    loop {
        let began = line_at(reader.buffer_position());
        match reader.read_event() {
            Err(e) => return Err(xml(line_at(reader.error_position()), &e)),
            Ok(Event::Eof) => break,
            Ok(Event::Start(tag)) => {
                open.push(began);
                doc.open(began, &tag, false)?;
            }
            Ok(Event::Empty(tag)) => doc.open(began, &tag, true)?,
            Ok(Event::End(tag)) => {
                open.pop();
                doc.close(began, tag.name().0);
            }
            Ok(Event::Text(text)) => doc.text(&text),
            Ok(Event::CData(text)) => doc.text(&text),
            Ok(Event::GeneralRef(name)) => {
                let char = name.resolve_char_ref().map_err(|e| xml(began, &e))?;
                match (char, quick_xml::escape::resolve_xml_entity(&name)) {
                    (Some(c), _) => doc.text(c.encode_utf8(&mut [0; 4])),
                    (None, Some(text)) => doc.text(text),
                    (None, None) => {
                        let reason = format!("there is no entity `&{};`", quoted(&name));
                        return Err(ParseError::new(began, reason, "known: amp, lt, gt, quot, apos"));
                    }
                }
            }
            Ok(_) => {}
        }
    }
    if let Some(line) = open.pop() {
        return Err(ParseError::new(line, "a tag is not closed", "is the file complete?"));
    }
    if !doc.graph {
        return Err(ParseError::new(0, "there is no <graph>", "is this GraphML?"));
    }
    Ok(doc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_of_two_hosts_reads_with_hosts_first() {
        let g = parse(
            "<?xml version=\"1.0\"?>\n<graphml><key id=\"d0\" attr.name=\"LinkSpeedRaw\"/>\n<!-- a > b -->\n<graph>\n\
             <node id=\"s\"/><node id=\"h0\"/><node id=\"h1\"/>\n\
             <edge source=\"s\" target=\"h0\"><data key=\"d0\">1.0E10</data><data key=\"delay\">1us</data></edge>\n\
             <edge source='h1' target='s'/></graph></graphml>",
        )
        .expect("reads");
        assert_eq!((g.hosts, g.nodes), (2, 3));
        assert_eq!((g.links[0].a, g.links[0].b), (2, 0));
        assert_eq!(g.links[0].rate, Some(Rate::from_gbps(10)));
        assert_eq!(g.links[0].delay, Some(Span::from_us(1)));
        assert_eq!((g.links[1].a, g.links[1].rate, g.links[1].line), (1, None, 7));
        assert_eq!(g.names, ["h0", "h1", "s"]);
    }

    #[test]
    fn nodes_are_called_by_their_labels_or_by_their_ids() {
        let node = |id: &str, label: &str| format!("<node id='{id}'><data key='d'>{label}</data></node>");
        let nodes = [
            node("0", "Caf&#233; &amp; <![CDATA[Bar]]>"),
            node("1", "Oslo"),
            node("2", "Oslo"),
            node("3", "7"),
        ];
        let text = format!(
            "<graphml><key id='d' attr.name='label'/><graph>{}<edge source='0' target='1'/><edge source='0' target='2'/>\
             <edge source='0' target='3'/></graph></graphml>",
            nodes.concat()
        );
        assert_eq!(parse(&text).expect("reads").names, ["n1", "n2", "n7", "Café & Bar"]);
        // Node 7 has the label of node 1: what is left for it is what node 3 is called.
        let nodes = [node("1", "Oslo"), node("7", "Oslo"), node("3", "7"), "<node id='x y'/>".into()];
        let text =
            format!("<graphml><key id='d' attr.name='label'/><graph>{}</graph></graphml>", nodes.concat());
        assert_eq!(map(&text).expect("reads").names, ["n1", "n7 (node 1)", "n7", "x y"]);
    }

    /// Of each edge between x and y its rate, in the order of the file.
    fn rates(keys: &str, edges: &[&str]) -> Vec<Option<u64>> {
        let text =
            format!("<graphml>{keys}<graph><node id='x'/><node id='y'/>{}</graph></graphml>", edges.concat());
        map(&text).expect("reads").links.iter().map(|l| l.rate.map(|r| r.bps())).collect()
    }

    /// The Topology Zoo's three ways to say a rate, and none; keys have defaults.
    #[test]
    fn rates_are_read_as_collections_write_them() {
        let edge = |data: &[(&str, &str)]| {
            let data: Vec<String> = data.iter().map(|(k, v)| format!("<data key='{k}'>{v}</data>")).collect();
            format!("<edge source='x' target='y'>{}</edge>", data.concat())
        };
        let edges = [
            edge(&[("LinkSpeedRaw", "155000000.0"), ("LinkLabel", "STM-1")]),
            edge(&[("LinkSpeed", "2.5"), ("LinkSpeedUnits", "G")]),
            edge(&[("LinkLabel", "622 Mbit/s")]),
            edge(&[("LinkLabel", "OC-192c"), ("LinkSpeed", "&lt;45"), ("LinkSpeedUnits", "M")]),
            edge(&[]),
            edge(&[("capacity", "")]),
        ];
        let edges: Vec<&str> = edges.iter().map(String::as_str).collect();
        let known = [Some(155_000_000), Some(2_500_000_000), Some(622_000_000)];
        assert_eq!(rates("", &edges), [&known[..], &[None; 3]].concat());
        let key = "<key id='c' for='edge' attr.name='capacity'><default>1Gbps</default></key>";
        assert_eq!(rates(key, &edges)[4], Some(1_000_000_000));
        let of_nodes = "<key id='c' for='node' attr.name='capacity'><default>1Gbps</default></key>";
        assert_eq!(rates(of_nodes, &edges)[4], None);
    }

    /// Two parallel edges there and one back are two links; a loop is none; edges may come before their nodes.
    #[test]
    fn loops_are_left_out_and_two_directions_are_one_link() {
        let text = "<graphml><graph edgedefault='directed'><edge source='x' target='y'/><edge source='x' target='y'/>\
                    <edge source='y' target='x'/><edge source='x' target='x'/><edge source='y' target='z'/>\
                    <edge source='z' target='y' directed='false'/>\
                    <node id='x'/><node id='y'/><node id='z'/></graph></graphml>";
        let g = map(text).expect("reads");
        assert_eq!(g.links.iter().map(|l| (l.a, l.b)).collect::<Vec<_>>(), [(0, 1), (0, 1), (1, 2), (2, 1)]);
        let differing = text.replace(
            "<edge source='y' target='x'/>",
            "<edge source='y' target='x'><data key='rate'>1Gbps</data></edge>",
        );
        let e = map(&differing).expect_err("two rates");
        assert_eq!(e.reason, "the link has another rate or delay in line 1");
        let e = map(&text.replace("<node id='z'/>", "<hyperedge/>")).expect_err("a hyperedge");
        assert_eq!(e.reason, "hyperedges are not supported");
    }

    /// A quarter of the equator: 6371 km · π / 2 / 200 000 km/s = 50.038 ms.
    #[test]
    fn distances_follow_from_places() {
        let node = |id: &str, lat: &str, long: &str| {
            format!(
                "<node id='{id}'><data key='Latitude'>{lat}</data><data key='Longitude'>{long}</data></node>"
            )
        };
        let text = format!(
            "<graphml><graph>{}{}<node id='c'/><edge source='a' target='b'/><edge source='b' target='c'/></graph></graphml>",
            node("a", "0", "0"),
            node("b", "0.0", "-90")
        );
        let g = map(&text).expect("reads");
        assert_eq!(g.links[0].geographic, Some(Span::from_ns(50_037_717)));
        assert_eq!(g.links[1].geographic, None);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let says = |text: &str| {
            let e = parse(text).expect_err("wrong");
            format!("{}: {}", e.line, e.reason)
        };
        assert_eq!(says("<graphml>\n<graph>\n<node/></graph></graphml>"), "3: <node> has no `id`");
        assert_eq!(says("<graph>\n<node id='a'/>\n\n<node id='a'/></graph>"), "4: node `a` is defined twice");
        assert_eq!(says("<graph>\n<edge source='a' target='b'/></graph>"), "2: there is no node `a`");
        assert_eq!(
            says("<graph>\n<node id='a"),
            "2: this is not XML: syntax error: attribute value not closed: `'` not found before end of input"
        );
        assert_eq!(says("<graph>\n<node id='a'>\n"), "2: a tag is not closed");
        assert_eq!(says("<graph>\n<node id=a b/></graph>"), "2: the attributes of <node> are broken");
        assert_eq!(says("<a>\n<graph></a>").split(':').next(), Some("2"));
        assert_eq!(says("<a>\n&x;</a>"), "2: there is no entity `&x;`");
        assert_eq!(says("plain text"), "0: there is no <graph>");
    }

    /// The reader works without recursion.
    #[test]
    fn depth_costs_no_stack() {
        let e = parse(&"<a>".repeat(200_000)).expect_err("open");
        assert_eq!(e.reason, "a tag is not closed");
    }
}
