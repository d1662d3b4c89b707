//! `[topology]`: one file per shape, which builds its [`Graph`], and what can be computed of any graph.

mod build;
mod declare;
mod graph;
mod links;
mod list;
pub mod lowest;
pub mod names;
pub(crate) mod near;
mod nics;
mod reach;

// One file each of the list below.
mod backbone;
mod dragonfly;
mod dumbbell;
mod fat_tree;
mod file;
mod internet2;
mod leaf_spine;
mod pair;
mod parking_lot;
mod rails;
mod star;
mod torus;

pub(crate) use build::build;
pub(crate) use declare::{Delays, Family};
pub use file::GraphFormat;
pub use graph::{Graph, PacketSizes};
pub(crate) use links::{Overlays, ports};
pub use names::Names;
pub(crate) use nics::Choice;
pub(crate) use reach::round_trip_bytes;

use crate::Diagnostic;
use crate::context::Cx;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, dispatch};

// The one list. Each family has a file of its own, which declares its keys ([`Family`]).
list::topologies! {
    pair: Pair, "pair";
    star: Star, "star";
    dumbbell: Dumbbell, "dumbbell";
    parking_lot: ParkingLot, "parking-lot";
    leaf_spine: LeafSpine, "leaf-spine";
    fat_tree: FatTree, "fat-tree";
    rails: Rails, "rails";
    dragonfly: Dragonfly, "dragonfly";
    torus: Torus, "torus";
    internet2: Internet2, "internet2";
    backbone: Backbone, "backbone";
    file: GraphFile, "file";
}

/// The network's shape; hosts are nodes `0 .. hosts`, switches follow. Every node also has a name: hosts
/// `h0`, `h1`, .., switches by their tier (`leaf0`, `spine0`, `edge0`, `agg0`, `core0`, `router0`, else `switch0`), or
/// as the file says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Topology {
    /// The family of the topology.
    #[serde(flatten)]
    pub shape: Shape,
    /// Clock of the network: serialisation times are rounded down to whole multiples of this, as in simulators with
    /// nanosecond clocks. `0ps`: exact times, rounded up to 1 ps.
    #[serde(default)]
    pub time_quantum: Q<Span>,
}

/// The largest number of links that a network may have.
pub(crate) const MOST_LINKS: u64 = 4_000_000;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod wide_area_tests;
