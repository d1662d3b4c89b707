//! What each family of topologies declares: its keys with defaults and documentation, and the graph that they make.

use super::Graph;
use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::Q;
use thalweg_units::Span;

/// A family's table in scenarios. The doc comment of the struct is its summary, with its source in
/// parentheses; those of the fields document the keys.
pub(crate) trait Family {
    /// Builds the graph, hosts first. Links whose delay follows from `base_rtt` have no delay yet.
    fn build(&self, cx: &Cx<'_>) -> Result<Graph, Diagnostic>;

    /// The keys of delays, if link delays can be computed from a round trip.
    fn delays(&mut self) -> Option<Delays<'_>> {
        None
    }

    /// Fills in keys whose defaults depend on other keys.
    fn resolve(&mut self) {}

    /// The file that the topology reads.
    fn file(&self) -> Option<&str> {
        None
    }
}

/// The keys of delays. Either all links have the same delay, or the links of hosts have one and the others another.
pub(crate) struct Delays<'a> {
    /// Delay of the links.
    pub delay: &'a mut Option<Q<Span>>,
    /// Round trip from which `delay` is computed, if that is not given.
    pub base_rtt: &'a mut Option<Q<Span>>,
    /// Delay of hosts' links, in families with a key for it.
    pub host_delay: Option<&'a mut Option<Q<Span>>>,
    /// Number of links, the last ones of the graph, whose delay is given by other keys.
    pub own: usize,
}

impl<'a> Delays<'a> {
    /// The same delay for all links.
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
