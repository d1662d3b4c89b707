//! GraphML, as much of it as topology collections use: nodes, edges, `<data>` with keys. Hosts are the
//! nodes with one link; they get the first numbers, in their order.
//!
//! Rates are read from the attributes `rate`, `bandwidth`, `LinkSpeedRaw`, `capacity`, delays from
//! `delay`, `latency`: with units, or a plain number of bits per second.

use super::{RawGraph, RawLink, delay, rate};
use crate::parse::ParseError;
use std::collections::BTreeMap;

/// A tag: its name, its attributes, whether it closes itself.
struct Tag<'a> {
    line: usize,
    name: &'a str,
    attributes: Vec<(&'a str, String)>,
    empty: bool,
}

impl Tag<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| *n == name).map(|(_, v)| v.as_str())
    }
}

fn unescape(text: &str) -> String {
    let named = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    named.iter().fold(text.to_owned(), |t, (from, to)| t.replace(from, to))
}

fn tag(line: usize, body: &str) -> Result<Tag<'_>, ParseError> {
    let (body, empty) = match body.strip_suffix('/') {
        Some(rest) => (rest, true),
        None => (body, false),
    };
    let end = body.find(char::is_whitespace).unwrap_or(body.len());
    let (name, mut rest) = body.split_at(end);
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            break;
        }
        let broken = || {
            ParseError::new(line, format!("the attributes of <{name}> are broken"), "write name=\"value\"")
        };
        let (key, after) = rest.split_once('=').ok_or_else(broken)?;
        let after = after.trim_start();
        let quote = after.chars().next().filter(|q| *q == '"' || *q == '\'').ok_or_else(broken)?;
        let (value, next) = after[1..].split_once(quote).ok_or_else(broken)?;
        attributes.push((key.trim(), unescape(value)));
        rest = next;
    }
    Ok(Tag { line, name, attributes, empty })
}

#[derive(Default)]
struct Reader {
    /// Key id → attribute name, in lower case.
    keys: BTreeMap<String, String>,
    /// Node id → number.
    nodes: BTreeMap<String, u32>,
    links: Vec<RawLink>,
    in_edge: bool,
    data: Option<String>,
}

impl Reader {
    fn open(&mut self, tag: &Tag<'_>) -> Result<(), ParseError> {
        let need = |name: &str| {
            let missing = || ParseError::new(tag.line, format!("<{}> has no `{name}`", tag.name), "");
            tag.get(name).map(str::to_owned).ok_or_else(missing)
        };
        match tag.name {
            "key" => {
                let id = need("id")?;
                let name = tag.get("attr.name").unwrap_or(&id).to_ascii_lowercase();
                self.keys.insert(id, name);
            }
            "node" => {
                let next = self.nodes.len() as u32;
                let id = need("id")?;
                if self.nodes.insert(id.clone(), next).is_some() {
                    return Err(ParseError::new(tag.line, format!("node `{id}` is defined twice"), ""));
                }
            }
            "edge" => {
                let node = |end: &str| {
                    let id = need(end)?;
                    let known = self.nodes.get(&id).copied();
                    known.ok_or_else(|| {
                        ParseError::new(
                            tag.line,
                            format!("there is no node `{id}`"),
                            "define nodes before edges",
                        )
                    })
                };
                let (a, b) = (node("source")?, node("target")?);
                self.links.push(RawLink { a, b, rate: None, delay: None, line: tag.line as u32 });
                self.in_edge = !tag.empty;
            }
            "data" if self.in_edge && !tag.empty => {
                let id = need("key")?;
                self.data = Some(self.keys.get(&id).cloned().unwrap_or(id.to_ascii_lowercase()));
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) {
        match name {
            "edge" => self.in_edge = false,
            "data" => self.data = None,
            _ => {}
        }
    }

    fn text(&mut self, line: usize, text: &str) -> Result<(), ParseError> {
        let (Some(key), Some(link)) = (&self.data, self.links.last_mut()) else { return Ok(()) };
        let text = unescape(text);
        match key.as_str() {
            "rate" | "bandwidth" | "capacity" | "linkspeedraw" => {
                // Topology collections write 1.0E10.
                let plain = text
                    .parse::<f64>()
                    .ok()
                    .filter(|x| *x >= 1.0 && *x < 1e18)
                    .map(|x| (x as u64).to_string());
                link.rate = Some(rate(line, plain.as_deref().unwrap_or(&text))?);
            }
            "delay" | "latency" => link.delay = Some(delay(line, &text)?),
            _ => {}
        }
        Ok(())
    }
}

/// # Errors
/// The first tag that is not what it should be.
pub fn parse(text: &str) -> Result<RawGraph, ParseError> {
    let mut reader = Reader::default();
    let (mut rest, mut line, mut seen) = (text, 1usize, false);
    while let Some(start) = rest.find('<') {
        let (before, after) = rest.split_at(start);
        let content = before.trim();
        if !content.is_empty() {
            reader.text(line, content)?;
        }
        line += before.matches('\n').count();
        let end = if after.starts_with("<!--") { after.find("-->").map(|e| e + 2) } else { after.find('>') };
        let Some(end) = end else {
            return Err(ParseError::new(line, "a tag has no end", "close it with `>`"));
        };
        let body = &after[1..end];
        if let Some(name) = body.strip_prefix('/') {
            reader.close(name.trim());
        } else if !body.starts_with(['?', '!']) {
            let tag = tag(line, body)?;
            seen |= tag.name == "graph";
            reader.open(&tag)?;
        }
        line += body.matches('\n').count();
        rest = &after[end + 1..];
    }
    if !seen {
        return Err(ParseError::new(0, "there is no <graph>", "is this GraphML?"));
    }
    RawGraph::hosts_by_degree(reader.nodes.len() as u32, reader.links, true)
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
    }
}
