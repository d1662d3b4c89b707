//! GraphML, as far as topology collections use it: nodes, edges, `<data>` with keys and their defaults. The meaning of
//! attributes is in `attributed.rs`.

use super::RawGraph;
use super::attributed::{Attributed, Attributes, known};
use crate::parse::{ParseError, quoted};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use std::collections::BTreeMap;

/// The element that a `<data>` belongs to.
enum Inside {
    Graph,
    Node,
    Edge,
    /// A `<key>`, for its `<default>`.
    Key,
    /// A `<port>` of a node, whose data is ignored.
    Port,
}

struct Document {
    /// Key id → attribute name, in lower case.
    keys: BTreeMap<String, String>,
    /// The key being read, if it is a key of edges.
    key: Option<&'static str>,
    found: Attributed,
    /// True if edges are directed by default.
    directed: bool,
    inside: Inside,
    /// The `<data>` being read: its attribute name and its text so far.
    data: Option<(String, String)>,
    graph: bool,
}

impl Document {
    fn open(&mut self, line: usize, tag: &BytesStart<'_>, empty: bool) -> Result<(), ParseError> {
        let name = tag.local_name().into_inner();
        let get = |wanted: &str| -> Result<Option<String>, ParseError> {
            let broken = |_| {
                let reason = format!("the attributes of <{}> cannot be read", quoted(name));
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
            "graph" if self.graph => {
                let hint = "write one graph: graphs in nodes, and several in a file, are not supported";
                return Err(ParseError::new(line, "there is a second graph", hint));
            }
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
                self.found.node(line, need("id")?, Attributes::new())?;
                self.inside = if empty { Inside::Graph } else { Inside::Node };
            }
            "port" if !empty && matches!(self.inside, Inside::Node) => self.inside = Inside::Port,
            "edge" => {
                let ends = [need("source")?, need("target")?];
                let directed = get("directed")?.map_or(self.directed, |d| d == "true");
                self.found.edge(line, ends, directed, Attributes::new());
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
            "port" if matches!(self.inside, Inside::Port) => self.inside = Inside::Node,
            "data" | "default" => {
                if let Some((key, text)) = self.data.take() {
                    let value = (line, text.trim().to_owned());
                    let of = match self.inside {
                        Inside::Graph | Inside::Port => None,
                        Inside::Node => self.found.last_node().map(|of| (known(&key), of)),
                        Inside::Edge => self.found.last_edge().map(|of| (known(&key), of)),
                        Inside::Key => Some((self.key, &mut self.found.defaults)),
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
}

/// The message of the XML reader, without its line, which it does not know.
fn xml(line: usize, e: &quick_xml::Error) -> ParseError {
    ParseError::new(line, format!("this is not XML: {}", quoted(&e.to_string())), "")
}

/// Reads a graph in which nodes with one link are hosts, which get the first numbers in the order of the file.
///
/// # Errors
/// The first invalid tag.
pub fn parse(text: &str) -> Result<RawGraph, ParseError> {
    map(text)?.with_leaves_as_hosts()
}

/// Reads a graph in which every node is a router, leaves too.
///
/// # Errors
/// The first invalid tag.
pub fn map(text: &str) -> Result<RawGraph, ParseError> {
    read(text)?.graph()
}

fn read(text: &str) -> Result<Attributed, ParseError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut doc = Document {
        keys: BTreeMap::new(),
        key: None,
        found: Attributed::default(),
        directed: false,
        inside: Inside::Graph,
        data: None,
        graph: false,
    };
    let mut reader = Reader::from_str(text);
    let (mut line, mut counted, mut open) = (1usize, 0usize, Vec::new());
    // Lines are counted incrementally, from event to event.
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
                doc.close(began, tag.local_name().into_inner());
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
    Ok(doc.found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Rate, Span};

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

    /// What a port of a node has is not the node's; prefixes of namespaces (as ElementTree writes them) do not matter;
    /// a second graph is not read as if it were of the first.
    #[test]
    fn ports_and_prefixes_are_passed_over_and_a_second_graph_is_refused() {
        let node =
            "<node id='0'><data key='d'>core</data><port name='p'><data key='d'>port</data></port></node>";
        let edges = "<edge source='0' target='1'/><edge source='0' target='2'/>";
        let graph = format!("<graph>{node}<node id='1'/><node id='2'/>{edges}</graph>");
        let text = format!("<graphml><key id='d' attr.name='label'/>{graph}</graphml>");
        assert_eq!(map(&text).expect("right").names[0], "core");
        let prefixed = text.replace("</", "</ns0:").replace('<', "<ns0:").replace("<ns0:/ns0:", "</ns0:");
        assert_eq!(map(&prefixed).expect("right"), map(&text).expect("right"));
        let twice = format!("<graphml><key id='d' attr.name='label'/>{graph}\n{graph}</graphml>");
        assert!(map(&twice).expect_err("two").reason.contains("there is a second graph"));
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
        // Node 7 has the same label as node 1, and its id is the label of node 3, so it needs another name.
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
    fn what_is_wrong_is_reported_with_its_line() {
        let message = |text: &str| {
            let e = parse(text).expect_err("wrong");
            format!("{}: {}", e.line, e.reason)
        };
        assert_eq!(message("<graphml>\n<graph>\n<node/></graph></graphml>"), "3: <node> has no `id`");
        assert_eq!(
            message("<graph>\n<node id='a'/>\n\n<node id='a'/></graph>"),
            "4: node `a` is defined twice"
        );
        assert_eq!(message("<graph>\n<edge source='a' target='b'/></graph>"), "2: there is no node `a`");
        assert_eq!(
            message("<graph>\n<node id='a"),
            "2: this is not XML: syntax error: attribute value not closed: `'` not found before end of input"
        );
        assert_eq!(message("<graph>\n<node id='a'>\n"), "2: a tag is not closed");
        assert_eq!(message("<graph>\n<node id=a b/></graph>"), "2: the attributes of <node> cannot be read");
        assert_eq!(message("<a>\n<graph></a>").split(':').next(), Some("2"));
        assert_eq!(message("<a>\n&x;</a>"), "2: there is no entity `&x;`");
        assert_eq!(message("plain text"), "0: there is no <graph>");
    }

    /// The reader works without recursion.
    #[test]
    fn depth_costs_no_stack() {
        let e = parse(&"<a>".repeat(200_000)).expect_err("open");
        assert_eq!(e.reason, "a tag is not closed");
    }
}
