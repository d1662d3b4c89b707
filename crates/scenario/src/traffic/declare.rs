//! What each family of traffic declares: its keys with defaults and documentation, the flows that they make, and what
//! is known of these without drawing them.

use super::course::{Course, Fluid};
use super::drafts::Drafts;
use super::partners::LoadOf;
use super::section::{Expected, Section};
use super::sizes::Sizes;
use crate::Diagnostic;
use crate::quantity::Q;
use std::path::Path;
use thalweg_machines::transport::{Rank, TransportSpec};
use thalweg_units::Span;

/// A family's table in scenarios. The doc comment of the struct is its summary, with its source in
/// parentheses; those of the fields document the keys.
pub(crate) trait Family {
    /// What the section is expected to offer, computed without drawing flows. Refuses impossible keys, and keys without
    /// effect.
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic>;

    /// Makes the flows. Its random streams are the section's own ([`Section::stream`]).
    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic>;

    /// The course of the section's flows over time in a fluid model, for estimates.
    fn course(&self, f: &Fluid) -> Course;

    /// Average number of packets of `payload` bytes in a flow, if flows have `mean` bytes.
    fn packets(&self, mean: f64, payload: f64) -> f64 {
        (mean / payload).ceil()
    }

    /// The two hosts, if all flows go from one to the other.
    fn ends(&self) -> Option<(u32, u32)> {
        None
    }

    /// True if the flows never end by themselves, or if their completion is not of interest.
    fn is_endless(&self) -> bool {
        false
    }

    /// True if a flow that follows another is measured exactly if that one is, whenever it starts.
    fn answers(&self) -> bool {
        false
    }

    /// True if the section is a job, which has a completion time as a whole.
    fn is_job(&self) -> bool {
        false
    }

    /// When flows arrive, if they arrive at random or come from a list; loads are measured within this time.
    fn arrives(&self) -> Option<Arrives> {
        None
    }

    /// The capacity of which the load is a fraction, if there is a load.
    fn load_of(&self) -> Option<LoadOf> {
        None
    }

    /// The distribution of flow sizes, if they are drawn.
    fn sizes(&self) -> Option<&Sizes> {
        None
    }

    /// The file that the section reads.
    fn file(&self) -> Option<&str> {
        None
    }

    /// All files that the section reads, relative to their folder `dir`.
    fn files(&self, _dir: &Path) -> Vec<String> {
        self.file().into_iter().map(str::to_owned).collect()
    }

    /// True if the family has a transport of its own.
    fn brings_transport(&self) -> bool {
        self.transport(None).is_some()
    }

    /// The transport of the family, if it has one. `wanted`: the rank that a scheduler sorts by.
    fn transport(&self, _wanted: Option<Rank>) -> Option<TransportSpec> {
        None
    }

    /// Fills in keys whose defaults depend on other keys. `_offered_until`: when the offered load ends, unless the
    /// section gives a time.
    fn resolve(&mut self, _offered_until: Q<Span>) {}
}

/// When flows arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrives {
    /// No flow arrives earlier.
    pub from: Span,
    /// No flow arrives at this time or later; `None`: until the last one of those that start at a given time.
    pub until: Option<Span>,
}

/// Defaults that families share.
pub(super) mod default {
    use crate::quantity::Q;
    use thalweg_units::{Bytes, Span};

    pub(crate) fn transport() -> String {
        "default".into()
    }
    pub(crate) fn yes() -> bool {
        true
    }
    pub(crate) fn zero() -> Q<Span> {
        Q(Span::ZERO)
    }
    pub(crate) fn nanosecond() -> Q<Span> {
        Q::of("1ns") // what lists of flows count in
    }
    pub(crate) fn one() -> u32 {
        1
    }
    pub(crate) fn two() -> u32 {
        2
    }
    pub(crate) fn weight() -> f64 {
        1.0 // NSDI 2016 §3.3: all flows alike
    }
    pub(crate) fn mss() -> Q<Bytes> {
        Q::of("1460B")
    }
    pub(crate) fn header() -> Q<Bytes> {
        Q::of("40B")
    }
    pub(crate) fn message() -> Q<Bytes> {
        Q::of("64KB") // TIMELY, dissertation §3.5.2
    }
    pub(crate) fn sigma() -> f64 {
        2.0 // BFC §3.6.2
    }
}
