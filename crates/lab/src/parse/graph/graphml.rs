//! GraphML, as much of it as topology collections use: nodes, edges, `<data>` with keys. Hosts are the
//! nodes with one link; they get the first numbers, in their order.
//!
//! Rates are read from the attributes `rate`, `bandwidth`, `LinkSpeedRaw`, `capacity`, delays from
//! `delay`, `latency`: with units, or a plain number of bits per second. Nodes are called by their `label`, or by their id
//! where two have the same.

use super::{RawGraph, RawLink, delay, rate};
use crate::parse::{ParseError, quoted};
use crate::topology::names::fit;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use std::collections::BTreeMap;

/// What a `<data>` belongs to.
enum Inside {
    Graph,
    Node,
    Edge,
}

struct Document {
    /// Key id → attribute name, in lower case.
    keys: BTreeMap<String, String>,
    /// Node id → number.
    nodes: BTreeMap<String, u32>,
    /// Of each node.
    labels: Vec<String>,
    links: Vec<RawLink>,
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
            "graph" => self.graph = true,
            "key" => {
                let id = need("id")?;
                let name = get("attr.name")?.unwrap_or_else(|| id.clone()).to_ascii_lowercase();
                self.keys.insert(id, name);
            }
            "node" => {
                let next = self.nodes.len() as u32;
                let id = need("id")?;
                if self.nodes.insert(id.clone(), next).is_some() {
                    return Err(ParseError::new(
                        line,
                        format!("node `{}` is defined twice", quoted(&id)),
                        "",
                    ));
                }
                self.labels.push(String::new());
                self.inside = if empty { Inside::Graph } else { Inside::Node };
            }
            "edge" => {
                let node = |end: &str| {
                    let id = need(end)?;
                    let known = self.nodes.get(&id).copied();
                    known.ok_or_else(|| {
                        let reason = format!("there is no node `{}`", quoted(&id));
                        ParseError::new(line, reason, "define nodes before edges")
                    })
                };
                let (a, b) = (node("source")?, node("target")?);
                self.links.push(RawLink { a, b, rate: None, delay: None, line: line as u32 });
                self.inside = if empty { Inside::Graph } else { Inside::Edge };
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

    fn close(&mut self, line: usize, name: &str) -> Result<(), ParseError> {
        match name {
            "node" | "edge" => self.inside = Inside::Graph,
            "data" => {
                if let Some((key, text)) = self.data.take() {
                    self.datum(line, &key, text.trim())?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn datum(&mut self, line: usize, key: &str, text: &str) -> Result<(), ParseError> {
        match (&self.inside, key) {
            (Inside::Node, "label") => {
                if let Some(label) = self.labels.last_mut() {
                    text.clone_into(label);
                }
            }
            (Inside::Edge, "rate" | "bandwidth" | "capacity" | "linkspeedraw") => {
                // Topology collections write 1.0E10.
                let number = text.parse::<f64>().ok().filter(|x| *x >= 1.0 && *x < 1e18);
                let plain = number.map(|x| (x as u64).to_string());
                let rate = rate(line, plain.as_deref().unwrap_or(text))?;
                self.links.last_mut().map(|link| link.rate.insert(rate));
            }
            (Inside::Edge, "delay" | "latency") => {
                let delay = delay(line, text)?;
                self.links.last_mut().map(|link| link.delay.insert(delay));
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, more: &str) {
        if let Some((_, text)) = &mut self.data {
            text.push_str(more);
        }
    }

    /// The label where it is fit and no other node has it, else the id.
    fn names(&self) -> Vec<String> {
        let labels: Vec<Option<String>> = self.labels.iter().map(|l| fit(l)).collect();
        let mut uses: BTreeMap<&str, u32> = BTreeMap::new();
        labels.iter().flatten().for_each(|l| *uses.entry(l).or_default() += 1);
        let mut names = vec![String::new(); labels.len()];
        for (id, node) in &self.nodes {
            let own = fit(id).unwrap_or_else(|| format!("n{node}"));
            let label = labels[*node as usize].clone();
            names[*node as usize] = label.filter(|l| uses[l.as_str()] == 1).unwrap_or(own);
        }
        names
    }
}

/// What the XML reader says, without the line that it does not know.
fn xml(line: usize, e: &quick_xml::Error) -> ParseError {
    ParseError::new(line, format!("this is not XML: {}", quoted(&e.to_string())), "")
}

/// # Errors
/// The first tag that is not what it should be.
pub fn parse(text: &str) -> Result<RawGraph, ParseError> {
    let (keys, nodes) = (BTreeMap::new(), BTreeMap::new());
    let (labels, links) = (Vec::new(), Vec::new());
    let mut doc = Document { keys, nodes, labels, links, inside: Inside::Graph, data: None, graph: false };
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
                doc.close(began, tag.name().0)?;
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
    let names = doc.names();
    RawGraph::hosts_by_degree(doc.nodes.len() as u32, doc.links, Some(names))
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
