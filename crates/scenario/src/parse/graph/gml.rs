//! GML (Himsolt, "GML: A portable Graph File Format", Universität Passau, 1997), as topology collections use it: a
//! `graph` of `node`s with an `id` and `edge`s from `source` to `target`; the meaning of their other keys is in
//! `attributed.rs`. Lists within nodes and edges (`graphics`) and unknown keys are ignored.
// CHOICE GML §3: texts are UTF-8, and an `&` that begins no entity stands for itself; keys may have `_-.:`; a `#`
// before a key or value begins a comment. Other reading: ASCII with entities only, which refuses half of the Topology
// Zoo.

use super::RawGraph;
use super::attributed::{Attributed, Attributes, known};
use crate::parse::{ParseError, quoted};
use std::borrow::Cow;

/// Reads a graph in which nodes with one link are hosts, which get the first numbers in the order of the file.
///
/// # Errors
/// The first invalid key.
pub fn parse(text: &str) -> Result<RawGraph, ParseError> {
    map(text)?.with_leaves_as_hosts()
}

/// Reads a graph in which every node is a router, leaves too.
///
/// # Errors
/// The first invalid key.
pub fn map(text: &str) -> Result<RawGraph, ParseError> {
    read(text)?.graph()
}

enum Token<'a> {
    Open,
    Close,
    /// Without its quotation marks.
    Text(&'a str),
    /// A key, or a number.
    Word(&'a str),
}

struct Tokens<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Tokens<'a> {
    /// The next `length` bytes.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.bytes().filter(|b| *b == b'\n').count();
        self.rest = rest;
        taken
    }

    fn skip_blanks(&mut self) {
        loop {
            self.take(self.rest.len() - self.rest.trim_start().len());
            if !self.rest.starts_with('#') {
                return;
            }
            self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
        }
    }

    /// The next token, with the line on which it begins.
    fn next(&mut self) -> Result<Option<(usize, Token<'a>)>, ParseError> {
        self.skip_blanks();
        let line = self.line;
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        let token = match first {
            '[' | ']' => {
                self.take(1);
                if first == '[' { Token::Open } else { Token::Close }
            }
            '"' => {
                let end = self.rest[1..].find('"').ok_or_else(|| {
                    ParseError::new(
                        line,
                        "a string is not closed",
                        "write `\"` at its end, `&quot;` within it",
                    )
                })?;
                Token::Text(&self.take(end + 2)[1..=end])
            }
            _ => {
                let ends = |c: char| c.is_whitespace() || ['[', ']', '"'].contains(&c);
                Token::Word(self.take(self.rest.find(ends).unwrap_or(self.rest.len())))
            }
        };
        Ok(Some((line, token)))
    }
}

/// An open list.
enum List {
    Graph,
    Node { id: Option<String>, attributes: Attributes },
    Edge { ends: [Option<String>; 2], attributes: Attributes },
    Other,
}

impl List {
    /// The list that `key` opens within another list (`None`: at the top of the file).
    fn within(outer: Option<&Self>, key: &str) -> Self {
        match (outer, key) {
            (None, "graph") => Self::Graph,
            (Some(Self::Graph), "node") => Self::Node { id: None, attributes: Attributes::new() },
            (Some(Self::Graph), "edge") => Self::Edge { ends: [None, None], attributes: Attributes::new() },
            _ => Self::Other,
        }
    }

    fn set(&mut self, line: usize, key: &str, value: String) {
        let (own, attributes) = match self {
            Self::Node { id, attributes } => ((key == "id").then_some(id), attributes),
            Self::Edge { ends: [source, target], attributes } => {
                let own = match key {
                    "source" => Some(source),
                    "target" => Some(target),
                    _ => None,
                };
                (own, attributes)
            }
            Self::Graph | Self::Other => return,
        };
        if let Some(own) = own {
            *own = Some(value);
        } else if let Some(known) = known(&key.to_ascii_lowercase()) {
            attributes.insert(known, (line, value.trim().to_owned()));
        }
    }
}

/// Adds the node or edge of a list that ends here.
fn close(found: &mut Attributed, line: usize, list: List) -> Result<(), ParseError> {
    let need = |what: &str, key: &str, value: Option<String>| {
        value.ok_or_else(|| ParseError::new(line, format!("{what} has no `{key}`"), ""))
    };
    match list {
        List::Node { id, attributes } => found.node(line, need("a node", "id", id)?, attributes),
        List::Edge { ends: [source, target], attributes } => {
            let ends = [need("an edge", "source", source)?, need("an edge", "target", target)?];
            found.edge(line, ends, false, attributes);
            Ok(())
        }
        List::Graph | List::Other => Ok(()),
    }
}

fn is_key(word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || ['_', '-', '.', ':'].contains(&c);
    word.starts_with(|c: char| c.is_alphabetic() || c == '_') && word.chars().all(inside)
}

fn read(text: &str) -> Result<Attributed, ParseError> {
    let mut tokens = Tokens { rest: text.strip_prefix('\u{feff}').unwrap_or(text), line: 1 };
    let mut found = Attributed::default();
    let (mut graph, mut directed) = (false, false);
    let mut open: Vec<(usize, List)> = Vec::new();
    while let Some((line, token)) = tokens.next()? {
        let no_key = |what: &str| {
            ParseError::new(
                line,
                format!("`{}` stands where a key is expected", quoted(what)),
                "write `key value`",
            )
        };
        let key = match token {
            Token::Close => {
                let nothing = || ParseError::new(line, "`]` has no matching `[`", "");
                let (began, list) = open.pop().ok_or_else(nothing)?;
                close(&mut found, began, list)?;
                continue;
            }
            Token::Word(key) if is_key(key) => key,
            Token::Word(what) | Token::Text(what) => return Err(no_key(what)),
            Token::Open => return Err(no_key("[")),
        };
        let value = match tokens.next()? {
            Some((_, Token::Open)) => {
                let list = List::within(open.last().map(|(_, list)| list), key);
                if matches!(list, List::Graph) && std::mem::replace(&mut graph, true) {
                    return Err(ParseError::new(line, "there is a second graph", "write one graph per file"));
                }
                open.push((line, list));
                continue;
            }
            Some((_, Token::Word(word))) => word.to_owned(),
            // An `&` as in `AT&T` stands for itself.
            Some((_, Token::Text(text))) => {
                quick_xml::escape::unescape(text).unwrap_or(Cow::Borrowed(text)).into()
            }
            Some((_, Token::Close)) | None => {
                return Err(ParseError::new(
                    line,
                    format!("`{}` has no value", quoted(key)),
                    "write `key value`",
                ));
            }
        };
        match open.last_mut() {
            Some((_, List::Graph)) if key == "directed" => directed = value == "1",
            Some((_, list)) => list.set(line, key, value),
            None => {}
        }
    }
    if let Some((line, _)) = open.pop() {
        return Err(ParseError::new(line, "a `[` is not closed", "is the file complete?"));
    }
    if !graph {
        return Err(ParseError::new(0, "there is no `graph [`", "is this GML?"));
    }
    found.direct(directed);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::graphml;
    use super::*;
    use proptest::prelude::*;
    use thalweg_units::{Rate, Span};

    /// As the Topology Zoo has them: a header, places, labels, speeds as numbers and as texts; a list in a node.
    const ZOO: &str = "# made up\r\nCreator \"Topology Zoo Toolset\"\r\ngraph [\r\n  directed 0\r\n  label \"Map\"\r\n\
        node [\r\n    id 10\r\n    label \"New &amp; York\"\r\n    Longitude -74.00597\r\n    Latitude 40.71427\r\n\
        graphics [\r\n x 1.0\r\n label \"not this\"\r\n ]\r\n  ]\r\n\
        node [ id 11 label \"AT&T\" Internal 1 ]\r\n  node [ id 12 label \"None\" ]\r\n  node [ id 13 label \"None\" ]\r\n\
        edge [ source 10 target 11 LinkSpeedRaw 1.0E10 LinkLabel \"10 Gbps\" ]\r\n\
        edge [\r\n source 11\r\n target 12\r\n LinkLabel \"622 Mbit/s\"\r\n LinkNote \"a [b] # c\"\r\n ]\r\n\
        edge [ source 13 target 11 delay \"2ms\" ]\r\n  edge [ source 11 target 11 ]\r\n]\r\n";

    #[test]
    fn a_map_of_the_topology_zoo_is_read() {
        let g = map(ZOO).expect("a map");
        assert_eq!((g.hosts, g.nodes), (0, 4));
        assert_eq!(g.names, ["New & York", "AT&T", "n12", "n13"]);
        let links: Vec<_> = g.links.iter().map(|l| (l.a, l.b, l.rate, l.delay, l.line)).collect();
        let rate = |mbps| Some(Rate::from_mbps(mbps));
        assert_eq!(
            links,
            [
                (0, 1, rate(10_000), None, 19),
                (1, 2, rate(622), None, 20),
                (3, 1, None, Some(Span::from_ms(2)), 26)
            ]
        );
        let g = parse(ZOO).expect("a network");
        assert_eq!((g.hosts, g.nodes, &*g.names[3]), (3, 4, "AT&T"));
    }

    #[test]
    fn one_edge_each_way_is_one_link_where_edges_have_a_direction() {
        let text = "graph [ edge [ source 1 target 2 ] edge [ source 2 target 1 ] node [ id 1 ] node [ id 2 ] directed 1 ]";
        assert_eq!(map(text).map(|g| g.links.len()), Ok(1));
        assert_eq!(map(&text.replace("directed 1", "")).map(|g| g.links.len()), Ok(2));
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_line() {
        let message = |text: &str| {
            let e = parse(text).expect_err(text);
            format!("{}: {}", e.line, e.reason)
        };
        assert_eq!(message(""), "0: there is no `graph [`");
        assert_eq!(message("<graphml>"), "1: `<graphml>` stands where a key is expected");
        assert_eq!(message("graph [\nnode [\nid 1"), "2: a `[` is not closed");
        assert_eq!(message("graph [\n]\n]"), "3: `]` has no matching `[`");
        assert_eq!(message("graph [\nnode [ label \"x\" ]\n]"), "2: a node has no `id`");
        assert_eq!(message("graph [\nnode [ id 1 ]\nnode [ id 1 ] ]"), "3: node `1` is defined twice");
        assert_eq!(message("graph [ node [ id 1 ]\nedge [ target 1 ] ]"), "2: an edge has no `source`");
        assert_eq!(message("graph [ node [ id 1 ]\nedge [ source 1 target 2 ] ]"), "2: there is no node `2`");
        assert_eq!(message("graph [\nlabel ]"), "2: `label` has no value");
        assert_eq!(message("graph [\nlabel \"x ]"), "2: a string is not closed");
        assert_eq!(message("graph [\n1 2 ]"), "2: `1` stands where a key is expected");
        assert_eq!(message("graph [ ]\ngraph [ ]"), "2: there is a second graph");
        let edge = |more: &str| {
            message(&format!("graph [ node [ id 1 ] node [ id 2 ]\nedge [ source 1 target 2\n{more} ] ]"))
        };
        assert!(edge("rate \"fast\"").starts_with("3: `fast` is not a rate: it does not begin with"));
    }

    /// The reader works without recursion.
    #[test]
    fn depth_costs_no_stack() {
        let e = parse(&"a [ ".repeat(200_000)).expect_err("open");
        assert_eq!(e.reason, "a `[` is not closed");
    }

    /// Ids, labels with what needs to be written otherwise, links with speeds and delays, loops and parallels.
    #[derive(Clone, Debug)]
    struct Drawn {
        labels: Vec<Option<String>>,
        links: Vec<(usize, usize, Option<u32>, Option<u32>)>,
        directed: bool,
    }

    fn drawn() -> impl Strategy<Value = Drawn> {
        let labels = prop::collection::vec(prop::option::of("[a-cé &#<\\[\\]]{0,4}"), 1..8);
        (labels, any::<bool>()).prop_flat_map(|(labels, directed)| {
            let ends = 0..labels.len();
            let link = (ends.clone(), ends, prop::option::of(1u32..4), prop::option::of(1u32..4));
            let links = prop::collection::vec(link, 0..12);
            links.prop_map(move |links| Drawn { labels: labels.clone(), links, directed })
        })
    }

    fn written(of: &Drawn, xml: bool) -> String {
        let value = |key: &str, value: Option<String>| match value
            .map(|v| quick_xml::escape::escape(&*v).into_owned())
        {
            None => String::new(),
            Some(v) if xml => format!("<data key='{key}'>{v}</data>"),
            Some(v) => format!(" {key} \"{v}\""),
        };
        let mut out = String::new();
        for (id, label) in of.labels.iter().enumerate() {
            let label = value("label", label.clone());
            out += &if xml {
                format!("<node id='{id}'>{label}</node>\n")
            } else {
                format!("node [ id {id}{label} ]\n")
            };
        }
        for (a, b, rate, delay) in &of.links {
            let more = value("rate", rate.map(|r| format!("{r}Gbps")))
                + &value("delay", delay.map(|d| format!("{d}ms")));
            out += &if xml {
                format!("<edge source='{a}' target='{b}'>{more}</edge>\n")
            } else {
                format!("edge [ source {a} target {b}{more} ]\n")
            };
        }
        match (xml, of.directed) {
            (true, true) => format!("<graph edgedefault='directed'>\n{out}</graph>"),
            (true, false) => format!("<graph>\n{out}</graph>"),
            (false, directed) => format!("graph [ directed {}\n{out}]", u8::from(directed)),
        }
    }

    proptest! {
        /// An oracle: the other format, whose reader is another one.
        #[test]
        fn a_graph_reads_the_same_from_gml_and_from_graphml(of in drawn()) {
            let (gml, xml) = (written(&of, false), written(&of, true));
            prop_assert_eq!(map(&gml), graphml::map(&xml), "{}", gml);
            prop_assert_eq!(parse(&gml), graphml::parse(&xml), "{}", gml);
        }
    }
}
