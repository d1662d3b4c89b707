//! What a family of networks says of itself, once: its keys with their defaults and documentation, and the
//! graph that they make.

use super::Graph;
use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::Q;
use thalweg_units::Span;

/// A family's table in scenarios. The doc comment of the struct is its summary, with its source in
/// parentheses; those of the fields document the keys.
pub(crate) trait Family {
    /// Hosts come first; links whose delay is to be solved have none yet.
    fn build(&self, cx: &Cx<'_>) -> Result<Graph, Diagnostic>;

    /// The keys of delays, if the links' delay can be solved from a round trip.
    fn delays(&mut self) -> Option<Delays<'_>> {
        None
    }

    /// Writes down what depends on other keys.
    fn resolve(&mut self) {}

    /// The file that it reads.
    fn file(&self) -> Option<&str> {
        None
    }
}

/// The keys of delays. All links have one delay, or hosts' links one and the others another.
pub(crate) struct Delays<'a> {
    /// Of the links.
    pub delay: &'a mut Option<Q<Span>>,
    /// Instead of it.
    pub base_rtt: &'a mut Option<Q<Span>>,
    /// Of hosts' links, where that has a key of its own.
    pub host_delay: Option<&'a mut Option<Q<Span>>>,
    /// So many links, the last ones, have a delay already.
    pub own: usize,
}

impl<'a> Delays<'a> {
    /// One delay for all links.
    pub fn alike(delay: &'a mut Option<Q<Span>>, base_rtt: &'a mut Option<Q<Span>>) -> Self {
        Self { delay, base_rtt, host_delay: None, own: 0 }
    }
}

/// Defaults that families share.
pub(super) mod default {
    use crate::quantity::Q;
    use thalweg_units::{Rate, Span};

    pub(crate) fn ten_gbps() -> Q<Rate> {
        Q::of("10Gbps")
    }
    pub(crate) fn forty_gbps() -> Q<Rate> {
        Q::of("40Gbps")
    }
    pub(crate) fn one_gbps() -> Q<Rate> {
        Q::of("1Gbps")
    }
    pub(crate) fn one() -> u32 {
        1
    }
    pub(crate) fn yes() -> bool {
        true
    }
    pub(crate) fn core_delay() -> Q<Span> {
        Q::of("10ms") // ups: the authors' ns-2 code
    }
    pub(crate) fn access_delay() -> Q<Span> {
        Q::of("1ms") // ups: the authors' ns-2 code
    }
}
