//! What can be written in a scenario, one file per section: the only home of defaults.
//!
//! Every key's doc comment says its unit and meaning; they become the descriptions of the JSON
//! Schema, the texts of `explain`, and the manual. Keys whose default depends on other keys
//! (`nic.*`, `transport.ecn`, `transport.rank`, ..) are optional here and filled in by
//! [`crate::resolve`].

mod congestion;
mod incident;
mod link;
mod lossless;
mod marking;
mod measure;
mod ndp;
mod phost;
mod rdma;
mod receivers;
mod routing;
pub(crate) mod scheme;
mod slack;
mod switch;
mod tcp;
mod transport;
mod uet;

pub use incident::*;
pub use link::*;
pub use lossless::*;
pub use measure::*;
pub use ndp::*;
pub use phost::*;
pub use rdma::*;
pub use receivers::*;
pub use routing::*;
pub use slack::*;
pub use switch::*;
pub use tcp::*;
pub use thalweg_machines::transport::Rank;
pub use transport::*;
pub use uet::*;

// Algorithms and families of networks and of traffic declare their tables themselves.
pub use crate::topology::{GraphFile, GraphFormat, Shape, Topology};
pub use crate::traffic::{
    Arrivals, ConnectionSharing, Interpolation, LoadOf, Pairs, Pattern, Sizes, Traffic,
};
pub use thalweg_machines::nic::NicOrder;
pub use thalweg_machines::point::PointSpec as CongestionPoint;
pub use thalweg_machines::relief::ReliefSpec as Relief;
pub use thalweg_machines::schedule::OrderSpec as Scheduler;
pub use thalweg_machines::stage::StageSpec as Marking;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Functions for `#[serde(default = "..")]`.
macro_rules! defaults {
    ($($name:ident: $t:ty = $e:expr;)*) => {
        mod default {
            #[allow(unused_imports)]
            use super::*;
            $(pub(super) fn $name() -> $t { $e })*
        }
    };
}
pub(crate) use defaults;

/// A scenario: a network, what happens in it, and what is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// What reports call it, and the folder of its results: one part of a path.
    #[serde(default = "default::name")]
    pub name: String,
    /// Seed of every random stream.
    #[serde(default = "default::seed")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_i64))]
    pub seed: u64,
    /// A named combination of transport, controller and scheduler (`dctcp+srpt`); its settings lie under
    /// the ones written here. See the catalogue `schemes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// The network's shape.
    pub topology: Topology,
    /// Links that are not as the topology makes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<Link>,
    /// How paths are chosen among the shortest.
    #[serde(default)]
    pub routing: Routing,
    /// Output queues of switches.
    #[serde(default)]
    pub switch: Switch,
    /// Output queues of hosts; every key defaults to the one of `switch`.
    #[serde(default)]
    pub nic: Nic,
    /// What NICs write into the slack header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack: Option<Slack>,
    /// Queue management at the receiving edge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge: Option<Edge>,
    /// How the two ends of a flow talk.
    #[serde(default)]
    pub transport: Transport,
    /// Further transports by name, for traffic sections that refer to one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub transports: BTreeMap<String, Transport>,
    /// What hosts send to each other.
    pub traffic: Vec<Traffic>,
    /// What breaks, and when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incident: Vec<Incident>,
    /// Which flows count, and what is recorded besides them.
    #[serde(default)]
    pub measure: Measure,
    /// When the run ends.
    #[serde(default)]
    pub run: Limits,
}

/// The order in which a resolved scenario is written.
pub(crate) const SECTIONS: &[&str] = &[
    "name",
    "seed",
    "scheme",
    "topology",
    "link",
    "routing",
    "switch",
    "nic",
    "slack",
    "edge",
    "transport",
    "transports",
    "traffic",
    "incident",
    "measure",
    "run",
];

defaults! {
    name: String = "scenario".into();
    seed: u64 = 1;
}

/// Leaves only these kinds of a choice.
fn keep_kinds(schema: &mut schemars::Schema, names: &[&str]) {
    let kinds = schema.get_mut("oneOf").and_then(|list| list.as_array_mut());
    kinds.into_iter().for_each(|kinds| {
        kinds.retain(|kind| {
            let name = kind.pointer("/properties/kind/const").and_then(|name| name.as_str());
            name.is_some_and(|name| names.contains(&name))
        });
    });
}
