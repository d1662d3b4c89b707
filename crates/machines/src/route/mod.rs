//! Routing rules: which path a packet takes, of several equally short ones or by a detour.
//!
//! A switch knows by which of its ports a packet can leave: its *candidates*, the first hops of all shortest paths that
//! work. A rule chooses among them. Most choose once per flow ([`Needs::source_routes`]): then [`Pick`] defines the
//! choice, and the driver may compute the whole path when a flow starts. The others choose packet by packet: a machine
//! ([`RouteRule`]) of every switch is given the packet and a view of the candidates ([`Candidates`]: which ports they
//! are, and how much waits there). A rule may also send packets by way of another *group* of switches
//! ([`Needs::groups`]): then it is shown the candidates of that way, too ([`Candidates::lead_to`]).
//!
//! A machine has a stream of random numbers of its own, named by seed and node.

mod declare;
mod detour;
mod flowlets;
mod spec;

// One file each of the list below.
pub mod adaptive;
pub mod conga;
pub mod dimension_order;
pub mod ecmp;
pub mod ecmp_pairs;
pub mod ecmp_symmetric;
pub mod entropy;
pub mod flowlet;
pub mod least_loaded;
pub mod lowest;
pub mod modulo;
pub mod numbered;
pub mod pinned;
pub mod spray_random;
pub mod spray_round_robin;
pub mod ugal;
pub mod valiant;

pub use declare::{
    Around, Back, Ends, File, Given, Holds, Needs, Parameters, Paths, Pick, PinnedPath, Site, SiteKind, salt,
    spread,
};

use crate::kinds::kinds;
use crate::problems::Problems;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, HostId, PortId, Rate, Time};

// The one list. Each rule has a file of its own, which declares its `Params` ([`Parameters`]).
kinds! {
    /// The routing rule: how a packet's path is chosen, for all but `valiant` and `ugal` among the shortest paths.
    pub enum RouteSpec;
    /// The machine of a node, statically dispatched.
    pub enum RouteMachine {
        ecmp: Ecmp(Laid), "ecmp";
        ecmp_pairs: EcmpPairs(Laid), "ecmp-pairs";
        ecmp_symmetric: EcmpSymmetric(Laid), "ecmp-symmetric";
        lowest: Lowest(Laid), "lowest";
        modulo: Modulo(Laid), "modulo";
        spray_random: SprayRandom(spray_random::SprayRandom), "spray-random";
        spray_round_robin: SprayRoundRobin(spray_round_robin::SprayRoundRobin), "spray-round-robin";
        pinned: Pinned(Laid), "pinned";
        flowlet: Flowlet(flowlet::LetFlow), "flowlet";
        least_loaded: LeastLoaded(least_loaded::Drill), "least-loaded";
        adaptive: Adaptive(adaptive::Adaptive), "adaptive";
        entropy: Entropy(entropy::Hashed), "entropy";
        numbered: Numbered(numbered::Numbered), "numbered";
        conga: Conga(conga::Conga), "conga";
        dimension_order: DimensionOrder(Laid), "dimension-order";
        valiant: Valiant(valiant::Valiant), "valiant";
        ugal: Ugal(ugal::Ugal), "ugal";
    }

    impl RouteSpec {
        /// See [`Parameters::needs`].
        pub fn needs(&self) -> Needs;
        /// See [`Parameters::pick`].
        pub fn pick(&self, ends: &Ends) -> Pick;
        /// See [`Parameters::file`].
        pub fn file(&self) -> Option<File<'_>>;
        fn check(&self, at: &Around, problems: &mut Problems);
        fn unchecked as make(&self, at: &Site) -> RouteMachine;
    }

    impl RouteRule for RouteMachine {
        #[inline]
        fn stamp(&mut self, value: u32, choice: bool) -> u32;
        #[inline]
        fn choose(&mut self, now: Time, packet: &mut Passing, ports: &mut impl Candidates) -> usize;
    }
}

/// What a rule sees of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passing {
    /// Its flow, the same in both directions.
    pub flow: FlowId,
    /// The host it goes to.
    pub dst: HostId,
    /// The value in its header for rules, written by its transport, by [`RouteRule::stamp`] or by a switch on its way.
    pub value: u32,
    /// Bytes on the wire.
    pub wire: u32,
    /// The switch of its destination host, by number. Only where [`Needs::everywhere`] says that the rule looks.
    pub leaf: u32,
    /// It comes from a host, not from a switch. Likewise.
    pub enters: bool,
}

impl Passing {
    /// A hash of the flow and its direction: what stands for the addresses and port numbers of real headers.
    #[inline]
    pub fn hash(&self) -> u64 {
        thalweg_units::mix64(u64::from(self.flow.0) << 32 | u64::from(self.dst.0))
    }
}

/// How much of a queue is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// What waits, plus the rest of the packet in transmission.
    pub used: u64,
    /// The limit of what may wait.
    pub of: u64,
}

/// The ports by which a packet may leave: at least two (one only where [`Needs::everywhere`]), in ascending order.
pub trait Candidates {
    /// How many.
    fn count(&self) -> usize;
    /// Which port a candidate is.
    fn port(&self, candidate: usize) -> PortId;
    /// Bytes that wait there, as of just before the present instant. A port that has nothing to send after what it is
    /// sending has 1, an idle one 0. Only where [`Needs::waiting`] says that the rule looks.
    // CHOICE DRILL §3.2: a queue is what waits behind the packet in transmission, and an idle port is emptier than a
    // busy one. Other reading: the packet in transmission counts whole until its last bit has left.
    fn waiting(&mut self, candidate: usize) -> u64;
    /// How much of the queue there is in use, likewise: in bytes, or in packets if that is how its limit counts.
    /// Without a limit it may hold 2^64 - 1. Only where [`Needs::waiting`] says that the rule looks.
    fn load(&mut self, candidate: usize) -> Load;
    /// The rate of its link; of one that changes the mean.
    fn rate(&self, candidate: usize) -> Rate;

    /// How many groups of switches there are by way of which a packet may be sent. This and what follows only where
    /// [`Needs::groups`].
    fn groups(&self) -> u32 {
        0
    }
    /// The group of this switch; `None`: it is in none.
    fn here(&self) -> Option<u32> {
        None
    }
    /// The group of the destination's switch.
    fn there(&self) -> Option<u32> {
        None
    }
    /// From now on the candidates are the first hops of the shortest paths to the nearest switch of this group, and
    /// what is chosen is one of them. False: the group is this switch's own, or no path leads there, and nothing
    /// changes.
    fn lead_to(&mut self, _group: u32) -> bool {
        false
    }
    /// The candidates are those that lead to the destination again, as they are at first.
    fn lead_home(&mut self) {}
    /// Links between switches from here to the destination's switch, by way of the group to which the candidates lead.
    fn hops(&self) -> u32 {
        0
    }
}

/// The machine of one node.
///
/// ```
/// use thalweg_machines::route::{Candidates, Load, Passing, RouteRule};
/// use thalweg_units::{FlowId, HostId, PortId, Rate, Time};
///
/// /// Takes the port where least waits.
/// struct Emptiest;
///
/// impl RouteRule for Emptiest {
///     fn choose(&mut self, _: Time, _: &mut Passing, ports: &mut impl Candidates) -> usize {
///         (0..ports.count()).min_by_key(|candidate| ports.waiting(*candidate)).unwrap_or(0)
///     }
/// }
///
/// /// What waits at each candidate, bytes.
/// struct Ports([u64; 3]);
///
/// impl Candidates for Ports {
///     fn count(&self) -> usize {
///         self.0.len()
///     }
///     fn port(&self, candidate: usize) -> PortId {
///         PortId(candidate as u32)
///     }
///     fn waiting(&mut self, candidate: usize) -> u64 {
///         self.0[candidate]
///     }
///     fn load(&mut self, candidate: usize) -> Load {
///         Load { used: self.0[candidate], of: 100_000 }
///     }
///     fn rate(&self, _: usize) -> Rate {
///         Rate::from_gbps(10)
///     }
/// }
///
/// let mut packet =
///     Passing { flow: FlowId(0), dst: HostId(1), value: 0, wire: 1500, leaf: 0, enters: true };
/// assert_eq!(Emptiest.choose(Time::ZERO, &mut packet, &mut Ports([3000, 1, 1500])), 1);
/// ```
pub trait RouteRule {
    /// Returns the value that a packet carries from its first switch on; `value` is the one it has. `choice`: there is
    /// more than one path. Called at the machine of its host, at the first switch, in the order in which packets arrive
    /// there. Only of rules that stamp ([`Needs::stamps`]).
    #[inline]
    fn stamp(&mut self, value: u32, _choice: bool) -> u32 {
        value
    }
    /// Returns the candidate that a packet takes at `now`. The value that it carries from this switch on is left in
    /// `packet`.
    fn choose(&mut self, now: Time, packet: &mut Passing, ports: &mut impl Candidates) -> usize;
}

/// The machine of rules that choose per flow. Paths are computed when flows start, so it never has to choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Laid;

impl RouteRule for Laid {
    fn choose(&mut self, _: Time, _: &mut Passing, _: &mut impl Candidates) -> usize {
        debug_assert!(false, "a path that was laid is followed");
        0
    }
}

#[cfg(test)]
mod tests;
