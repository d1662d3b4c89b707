//! What a family of traffic says of itself, once: its keys with their defaults and documentation, the flows that they
//! make, and what can be said of these without drawing them.

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
    /// What the section will offer, without drawing it; refuses what cannot be, and what cannot take effect.
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic>;

    /// Makes the flows. Its random streams are the section's own ([`Section::stream`]).
    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic>;

    /// When its flows come and are over, as a fluid: for estimates.
    fn course(&self, f: &Fluid) -> Course;

    /// Packets of `payload` bytes in a flow, on average, if flows have `mean` bytes.
    fn packets(&self, mean: f64, payload: f64) -> f64 {
        (mean / payload).ceil()
    }

    /// The two hosts, if all its flows go from one to the other.
    fn ends(&self) -> Option<(u32, u32)> {
        None
    }

    /// Its flows never end by themselves, or nothing waits for their end.
    fn is_endless(&self) -> bool {
        false
    }

    /// Of its flows that follow others each counts as measured if the one that it follows does, whenever it starts.
    fn answers(&self) -> bool {
        false
    }

    /// It is a job: it has a completion time as a whole.
    fn is_job(&self) -> bool {
        false
    }

    /// When its flows arrive, if they do so at random or from a list: loads are measured then.
    fn arrives(&self) -> Option<Arrives> {
        None
    }

    /// Which links its load is a fraction of, if it has one.
    fn load_of(&self) -> Option<LoadOf> {
        None
    }

    /// How large its flows are, if that is drawn.
    fn sizes(&self) -> Option<&Sizes> {
        None
    }

    /// The file that it reads.
    fn file(&self) -> Option<&str> {
        None
    }

    /// All files that it reads, relative to `dir`, which is where they are.
    fn files(&self, _dir: &Path) -> Vec<String> {
        self.file().into_iter().map(str::to_owned).collect()
    }

    /// It brings its own transport.
    fn brings_transport(&self) -> bool {
        self.transport(None).is_some()
    }

    /// The transport, if it brings its own; `wanted`: the rank that a scheduler sorts by.
    fn transport(&self, _wanted: Option<Rank>) -> Option<TransportSpec> {
        None
    }

    /// Writes down what depends on other keys; load is offered until then if the section does not say.
    fn resolve(&mut self, _offered_until: Q<Span>) {}
}

/// When flows arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrives {
    /// The first not before.
    pub from: Span,
    /// The last before; none: then comes the last that starts by the clock.
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
