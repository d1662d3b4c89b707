//! The tables and keys of a scenario, one file per section. All defaults are defined here, or where an algorithm or a
//! family declares its own table.
//!
//! The doc comment of a key gives its meaning and its unit. Doc comments become the descriptions of the JSON Schema,
//! the texts of `explain`, and the manual. Keys whose default depends on other keys (`nic.*`, `transport.ecn`,
//! `transport.rank`, ..) are optional here and filled in by [`crate::resolve`].

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
    /// Name of the scenario in reports, and of the folder of its results: one component of a path.
    #[serde(default = "default::name")]
    pub name: String,
    /// Seed of all random streams. Runs of one scenario with one seed are identical.
    #[serde(default = "default::seed")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807_i64))]
    pub seed: u64,
    /// A named combination of transport, controller and scheduler, such as `dctcp+srpt`. Keys of the scenario override
    /// those of the scheme. The catalogue `schemes` lists all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// The shape of the network: its hosts, switches and links.
    pub topology: Topology,
    /// Links that differ from what the topology makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<Link>,
    /// How a path is chosen among the shortest ones.
    #[serde(default)]
    pub routing: Routing,
    /// Output queues and memory of switches.
    #[serde(default)]
    pub switch: Switch,
    /// Output queues of hosts; those keys that `switch` has, too, default to the values there.
    #[serde(default)]
    pub nic: Nic,
    /// The initial slack that NICs write into the slack header. If not given, they write none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack: Option<Slack>,
    /// Queue management at the receiving edge, by the slack that packets used. If not given, none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge: Option<Edge>,
    /// The transport protocol of flows.
    #[serde(default)]
    pub transport: Transport,
    /// Further transports by name, for traffic sections whose key `transport` names them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub transports: BTreeMap<String, Transport>,
    /// The traffic: which flows hosts send to each other.
    pub traffic: Vec<Traffic>,
    /// Link failures and losses of pause frames, and when they happen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incident: Vec<Incident>,
    /// Which flows are measured, and what is recorded in addition.
    #[serde(default)]
    pub measure: Measure,
    /// When the run ends, and how it is executed.
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

/// Keeps only these kinds of a table with `kind`.
fn keep_kinds(schema: &mut schemars::Schema, names: &[&str]) {
    let kinds = schema.get_mut("oneOf").and_then(|list| list.as_array_mut());
    kinds.into_iter().for_each(|kinds| {
        kinds.retain(|kind| {
            let name = kind.pointer("/properties/kind/const").and_then(|name| name.as_str());
            name.is_some_and(|name| names.contains(&name))
        });
    });
}
