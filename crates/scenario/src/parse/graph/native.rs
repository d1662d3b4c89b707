//! thalweg's own graphs, as TOML or JSON:
//!
//! ```toml
//! hosts = 2
//! switches = 1
//! links = [ { a = 0, b = 2, rate = "10Gbps", delay = "1us" }, { a = 1, b = 2 } ]
//! names = ["web", "db", "tor"] # may be left out; with them links may say `a = "web"`
//! ```

use super::{RawGraph, RawLink};
use crate::parse::{ParseError, quoted};
use crate::quantity::Q;
use crate::topology::names::fit;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use thalweg_units::{Rate, Span};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    hosts: u32,
    switches: u32,
    links: Vec<Link>,
    #[serde(default)]
    names: Vec<String>,
}

/// An end of a link.
enum End {
    Number(u32),
    Name(String),
}

impl<'de> Deserialize<'de> for End {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = End;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the number or the name of a node")
            }
            fn visit_u64<E: de::Error>(self, n: u64) -> Result<End, E> {
                let wrong = |_| E::invalid_value(de::Unexpected::Unsigned(n), &self);
                u32::try_from(n).map(End::Number).map_err(wrong)
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<End, E> {
                let wrong = |_| E::invalid_value(de::Unexpected::Signed(n), &self);
                u32::try_from(n).map(End::Number).map_err(wrong)
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<End, E> {
                Ok(End::Name(name.to_owned()))
            }
        }
        d.deserialize_any(Either)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Link {
    a: End,
    b: End,
    rate: Option<Q<Rate>>,
    delay: Option<Q<Span>>,
}

/// # Errors
/// The first invalid value.
pub fn toml(text: &str) -> Result<RawGraph, ParseError> {
    let file: File = toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(0, |s| text[..s.start.min(text.len())].matches('\n').count() + 1);
        ParseError::new(line, shortened(&e.message().replace('\n', ", ")), "")
    })?;
    graph(&file)
}

/// # Errors
/// The first invalid value.
pub fn json(text: &str) -> Result<RawGraph, ParseError> {
    let file: File = serde_json::from_str(text).map_err(|e| {
        let message = e.to_string();
        let short = message.rsplit_once(" at line").map_or(message.as_str(), |(m, _)| m);
        ParseError::new(e.line(), shortened(short), "")
    })?;
    graph(&file)
}

/// The message of a library, which may quote the file, shortened.
fn shortened(message: &str) -> String {
    match message.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}

fn graph(file: &File) -> Result<RawGraph, ParseError> {
    let nodes =
        file.hosts.checked_add(file.switches).ok_or_else(|| ParseError::new(0, "too many nodes", ""))?;
    if !file.names.is_empty() && file.names.len() != nodes as usize {
        let reason = format!("there are {} names for {nodes} nodes", file.names.len());
        return Err(ParseError::new(0, reason, "write a name for every node, or leave out `names`"));
    }
    let fitting = |name: &String| {
        let hint = "a name has 1 to 80 printable characters, not digits alone";
        let wrong = || ParseError::new(0, format!("`{}` is not a valid name of a node", quoted(name)), hint);
        fit(name).filter(|n| n == name).ok_or_else(wrong)
    };
    let names = file.names.iter().map(fitting).collect::<Result<Vec<String>, _>>()?;
    let number: BTreeMap<&str, u32> = names.iter().map(String::as_str).zip(0..).collect();
    let node = |end: &End| match end {
        End::Number(n) => Ok(*n),
        End::Name(name) => number.get(name.as_str()).copied().ok_or_else(|| {
            ParseError::new(0, format!("there is no node `{}`", quoted(name)), "`names` lists the nodes")
        }),
    };
    let mut links = Vec::with_capacity(file.links.len());
    for l in &file.links {
        let (rate, delay) = (l.rate.map(|q| q.0), l.delay.map(|q| q.0));
        links.push(RawLink { rate, delay, ..RawLink::bare(node(&l.a)?, node(&l.b)?, 0) });
    }
    Ok(RawGraph { names, ..RawGraph::new(file.hosts, nodes, links)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_may_have_names() {
        let text = "hosts = 2\nswitches = 1\nnames = [\"web\", \"db\", \"tor\"]\nlinks = [{a=\"web\",b=\"tor\"},{a=1,b=2}]\n";
        let g = toml(text).expect("reads");
        assert_eq!(g.names, ["web", "db", "tor"]);
        assert_eq!(g.links.iter().map(|l| (l.a, l.b)).collect::<Vec<_>>(), [(0, 2), (1, 2)]);
        let message = |from: &str, to: &str| toml(&text.replace(from, to)).expect_err("wrong");
        assert_eq!(message("a=\"web\"", "a=\"wbe\"").reason, "there is no node `wbe`");
        assert_eq!(message("\"db\", ", "").reason, "there are 2 names for 3 nodes");
        assert_eq!(message("\"db\"", "\"3\"").reason, "`3` is not a valid name of a node");
        let e = message("a=1", "a=-1");
        assert_eq!(
            (e.line, e.reason.as_str()),
            (4, "invalid value: integer `-1`, expected the number or the name of a node")
        );
    }
}
