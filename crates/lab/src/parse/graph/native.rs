//! thalweg's own graphs, as TOML or JSON:
//!
//! ```toml
//! hosts = 2
//! switches = 1
//! links = [ { a = 0, b = 2, rate = "10Gbps", delay = "1us" }, { a = 1, b = 2 } ]
//! ```

use super::{RawGraph, RawLink};
use crate::parse::ParseError;
use crate::quantity::Q;
use serde::Deserialize;
use thalweg_units::{Rate, Span};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    hosts: u32,
    switches: u32,
    links: Vec<Link>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Link {
    a: u32,
    b: u32,
    rate: Option<Q<Rate>>,
    delay: Option<Q<Span>>,
}

/// # Errors
/// The first value that is not what it should be.
pub fn toml(text: &str) -> Result<RawGraph, ParseError> {
    let file: File = toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(0, |s| text[..s.start.min(text.len())].matches('\n').count() + 1);
        ParseError::new(line, e.message().replace('\n', ", "), "")
    })?;
    graph(&file)
}

/// # Errors
/// The first value that is not what it should be.
pub fn json(text: &str) -> Result<RawGraph, ParseError> {
    let file: File = serde_json::from_str(text).map_err(|e| {
        let message = e.to_string();
        let short = message.rsplit_once(" at line").map_or(message.as_str(), |(m, _)| m);
        ParseError::new(e.line(), short.to_owned(), "")
    })?;
    graph(&file)
}

fn graph(file: &File) -> Result<RawGraph, ParseError> {
    let nodes =
        file.hosts.checked_add(file.switches).ok_or_else(|| ParseError::new(0, "too many nodes", ""))?;
    let links = file.links.iter().map(|l| RawLink {
        a: l.a,
        b: l.b,
        rate: l.rate.map(|q| q.0),
        delay: l.delay.map(|q| q.0),
        line: 0,
    });
    RawGraph::new(file.hosts, nodes, links.collect())
}
