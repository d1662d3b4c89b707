//! What a rule declares: its keys with defaults, documentation and ranges, and what it needs of its driver. The
//! scenario schema, `explain`, the catalogue, the manual, the checks and the common tests are all derived from it.

use super::RouteRule;
use crate::problems::Problems;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use thalweg_units::{FlowId, HostId, NodeId, Stream, mix64};

/// A rule's parameters: its table in scenarios. The doc comment of the struct is its summary, with its source in
/// parentheses; those of the fields document the keys; [`Default`] holds the defaults. (In scenarios the key
/// `convergence` is in the same table; it is read before these.)
pub trait Parameters:
    Clone + Debug + PartialEq + Default + Serialize + DeserializeOwned + JsonSchema
{
    /// The machine of one node.
    type Machine: RouteRule;

    /// What it needs, and what follows from it for others.
    fn needs(&self) -> Needs;

    /// How the path of one direction of a flow is chosen. For rules that choose per packet: the path for which ideal
    /// completion times are computed.
    fn pick(&self, ends: &Ends) -> Pick {
        Pick::Hash(ends.hash())
    }

    /// A file that belongs to it.
    fn file(&self) -> Option<File<'_>> {
        None
    }

    /// What is impossible, or cannot take effect.
    fn check(&self, _at: &Around, _problems: &mut Problems) {}

    /// The machine of a node, from parameters that were checked.
    fn make(&self, at: &Site) -> Self::Machine;

    /// The variants on which the common tests run: those that differ most.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default()]
    }
}

/// What a rule needs of its driver, and what it does to packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needs {
    /// Which paths flows may come to take.
    pub paths: Paths,
    /// The path of a flow's direction is known as the flow starts, and changes with the routes only: source routes
    /// are a short cut of it. Otherwise packets of one flow may take different paths.
    pub source_routes: bool,
    /// How packets of the reverse direction find their path.
    pub back: Back,
    /// All flows between two hosts take one path, unless a file gives them others.
    pub per_pair: bool,
    /// It looks at what waits at the candidates ([`Candidates::waiting`](super::Candidates::waiting),
    /// [`Candidates::load`](super::Candidates::load)).
    pub waiting: bool,
    /// It draws random numbers.
    pub draws: bool,
    /// It remembers something from one packet to the next.
    pub remembers: bool,
    /// Packets of a flow may arrive in another order than that in which they left.
    pub reorders: bool,
    /// Packets are given a value at their first switch ([`RouteRule::stamp`]).
    pub stamps: bool,
    /// It uses a value that transports write into their packets.
    pub path_values: bool,
    /// Its machine is shown every packet that its switch forwards, even if there is only one candidate, with
    /// [`Passing::leaf`] and [`Passing::enters`].
    pub everywhere: bool,
    /// It sends packets by way of groups of switches ([`Candidates::lead_to`](super::Candidates::lead_to)), so that
    /// their paths are not only the shortest ones.
    pub groups: bool,
}

impl Needs {
    /// One path per flow and direction, any of the shortest ones.
    pub const FLOW: Self = Self {
        paths: Paths::Any,
        source_routes: true,
        back: Back::Own,
        per_pair: false,
        waiting: false,
        draws: false,
        remembers: false,
        reorders: false,
        stamps: false,
        path_values: false,
        everywhere: false,
        groups: false,
    };
    /// A path for every packet, by its header alone.
    pub const PACKET: Self = Self { source_routes: false, reorders: true, ..Self::FLOW };
}

/// Which paths flows may come to take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Paths {
    /// Any of the shortest ones.
    Any,
    /// Of the shortest ones that through the lowest-numbered next hops.
    Lowest,
    /// Of the shortest ones those that begin, at every switch, with a link along the first dimension there is.
    Ordered,
    /// Those that a file gives, whatever fails.
    Given,
}

/// How packets of the reverse direction find their path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Back {
    /// By a choice of its own.
    Own,
    /// By the same choice, which in a symmetric network leads over the same switches.
    Alike,
    /// Over the data's path in reverse.
    Reverse,
}

/// One direction of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ends {
    /// Where the flow's data comes from.
    pub src: HostId,
    /// Where it goes.
    pub dst: HostId,
    /// Which flow.
    pub flow: FlowId,
    /// It is what comes back.
    pub back: bool,
}

impl Ends {
    /// A hash of source and destination.
    pub fn hash_of_pair(&self) -> u64 {
        mix64(u64::from(self.src.0) << 32 | u64::from(self.dst.0))
    }
    /// A hash of source, destination, flow and direction.
    pub fn hash(&self) -> u64 {
        let flow = mix64(u64::from(self.flow.0) << 1 | u64::from(self.back));
        self.hash_of_pair().wrapping_add(flow)
    }
}

/// What picks among candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// A hash, salted by each switch.
    Hash(u64),
    /// A number, taken modulo the number of ports.
    Modulo(u32),
    /// The port to the lowest-numbered node.
    Lowest,
}

/// Which of so many candidates a hash picks at the switch of that salt.
#[inline]
pub fn spread(hash: u64, salt: u64, count: usize) -> usize {
    ((u128::from(mix64(hash ^ salt)) * count as u128) >> 64) as usize
}

/// A switch's salt for hashing.
pub fn salt(seed: u64, switch: u32) -> u64 {
    mix64(mix64(seed) ^ mix64(u64::from(switch) + 0x5a17))
}

/// A file that a rule names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct File<'a> {
    /// The key that names it.
    pub key: &'static str,
    /// Its name.
    pub name: &'a str,
    /// What it holds.
    pub holds: Holds,
}

/// What a rule's file holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holds {
    /// [`Given::Offsets`].
    Offsets,
    /// [`Given::Paths`].
    Paths,
}

/// What files say.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub enum Given {
    /// There is none.
    #[default]
    Nothing,
    /// By host: the first value of its counter.
    Offsets(Vec<u32>),
    /// By flow: the switches that its data and its ACKs pass.
    Paths(Vec<PinnedPath>),
}

/// A flow's path in both directions, switches only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedPath {
    /// From source to destination.
    pub data: Vec<NodeId>,
    /// From destination to source.
    pub ack: Vec<NodeId>,
}

/// The network that a rule is for, as far as its checks go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Around {
    /// Links of the switch that has most.
    pub links: u32,
    /// Some transport writes path values into its packets.
    pub path_values: bool,
    /// Queues of switches have a limit of their own.
    pub overflows: bool,
    /// Switches.
    pub switches: u32,
    /// Links to other switches, of the switch with hosts that has most.
    pub uplinks: u32,
    /// Dimensions that links lead along, as in a torus; 0: the topology has none.
    pub dimensions: u32,
    /// Groups of switches by way of which packets may be sent.
    pub groups: u32,
}

impl Around {
    /// A network about which nothing is known.
    pub const ANY: Self = Self {
        links: u32::MAX,
        path_values: true,
        overflows: true,
        switches: 1,
        uplinks: 2,
        dimensions: 2,
        groups: 3,
    };
}

/// Whose machine is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site {
    /// The run's seed.
    pub seed: u64,
    /// Which node.
    pub node: SiteKind,
    /// A host's entry in [`Given::Offsets`]; 0 without.
    pub first: u32,
}

/// A host, or a switch, by its number among its like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SiteKind {
    /// A host: of rules that stamp.
    Host(u32),
    /// A switch.
    Switch(u32),
}

impl Site {
    /// A stream of this node alone.
    pub fn stream(&self, purpose: &str) -> Stream {
        let (SiteKind::Host(number) | SiteKind::Switch(number)) = self.node;
        Stream::new(self.seed, purpose, u64::from(number))
    }
    /// A switch's salt for hashing; hosts hash nothing.
    pub fn salt(&self) -> u64 {
        match self.node {
            SiteKind::Host(_) => 0,
            SiteKind::Switch(number) => salt(self.seed, number),
        }
    }
}
