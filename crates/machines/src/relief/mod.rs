//! Relief: what a switch does about packets that wait behind a pause although their own path is free, and about
//! deadlocks, in which ports wait for each other.
//!
//! A relief ([`Relief`]) works next to the pause policy of one switch. It sees the switch ([`SwitchView`]), is notified
//! of flows that pass, of signals from neighbours ([`Signal`]) and of its clock, and answers with [`Act`]s: send a
//! signal to a neighbour, move ("lift") a packet into the escape queue, which pauses do not hold
//! ([`crate::schedule::liftable`]), or drop packets. The driver carries them out and accounts for memory.

mod declare;
mod detect;
mod spec;

// One file each of the list below.
pub mod deadlock_breaker;
pub mod escape;
pub mod loop_breaker;

pub use declare::{Parameters, Site};

use crate::kinds::kinds;
use crate::problems::Problems;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};
use thalweg_wire::Signal;

// The one list. Each relief has a file of its own, which declares its `Params` ([`Parameters`]).
kinds! {
    /// What switches do about packets stuck behind pauses, and about deadlocks.
    #[derive(Copy)]
    pub enum ReliefSpec;
    /// Any relief, statically dispatched.
    #[derive(PartialEq)]
    pub enum ReliefMachine {
        escape: Escape(Box<escape::Escape>), "escape";
        deadlock_breaker: DeadlockBreaker(Box<deadlock_breaker::DeadlockBreaker>), "deadlock-breaker";
        loop_breaker: LoopBreaker(Box<loop_breaker::LoopBreaker>), "loop-breaker";
    }

    impl ReliefSpec {
        fn check(&self, problems: &mut Problems);
        /// See [`Parameters::more`].
        pub fn more(&self) -> u64;
        /// See [`Parameters::drops`].
        pub fn drops(&self) -> bool;
        /// See [`Parameters::names_connections`].
        pub fn names_connections(&self) -> bool;
        fn unchecked as make(&self, site: &Site) -> ReliefMachine;
    }

    impl Relief for ReliefMachine {
        #[inline]
        fn recalls(&self, flow: u32, input: usize, output: usize) -> bool;
        fn on_passing(&mut self, flow: u32, input: usize, output: usize);
        fn on_escaping(&mut self, flow: u32, output: usize, hops: u16) -> bool;
        fn on_link_down(&mut self, port: usize, acts: &mut Vec<Act>);
        fn substitutes(&self) -> bool;
        fn on_sent(&mut self, output: usize);
        fn next(&self, now: Time) -> Time;
        fn is_active(&self, view: &impl SwitchView) -> bool;
        fn tick(&mut self, now: Time, view: &impl SwitchView, acts: &mut Vec<Act>);
        fn on_signal(&mut self, now: Time, port: usize, signal: Signal, view: &impl SwitchView, acts: &mut Vec<Act>);
        fn tally(&self) -> Tally;
        fn passages(&self, view: &impl SwitchView) -> (Vec<Passage>, Span);
        fn has_place(&self, output: usize) -> bool;
        fn check(&self, lifted: &[u32]) -> Result<(), String>;
    }
}

/// A switch, as its relief sees it. Ports have numbers below [`SwitchView::ports`]; each is an input and an output.
pub trait SwitchView {
    /// How many ports.
    fn ports(&self) -> usize;
    /// A number for the port that no other port of the network has.
    fn id(&self, port: usize) -> u32;
    /// The neighbour is a switch.
    fn faces_switch(&self, port: usize) -> bool;
    /// The last frame to the neighbour requested a stop (PFC-requested).
    fn has_paused(&self, input: usize) -> bool;
    /// The neighbour has paused the port (PFC-activated).
    fn is_paused(&self, output: usize) -> bool;
    /// A packet of the flow waits in the queue; the escape queue does not count.
    fn waits(&self, output: usize, flow: u32) -> bool;
    /// Packets in the queue.
    fn waiting(&self, output: usize) -> u32;
    /// Bytes that came by `input` and wait in the queue of `output`.
    fn held(&self, output: usize, input: usize) -> u64;
    /// When a packet last left the queue, other than through the escape queue.
    fn last_sent(&self, output: usize) -> Time;
}

/// An action that a relief requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Sends a signal to the neighbour at a port.
    Signal(usize, Signal),
    /// Moves the first waiting packet of a flow into the output's escape queue, to escape `hops` hops.
    Lift {
        /// Which port.
        output: usize,
        /// Which flow.
        flow: u32,
        /// This one included.
        hops: u16,
    },
    /// Moves the first packet of the output's queue that came by the input into the output's escape queue, to escape
    /// this hop only.
    LiftFirst {
        /// Which port.
        output: usize,
        /// Which port it came by.
        input: usize,
    },
    /// Drops packets from the head of the output's queue until no input of which it holds bytes has paused its
    /// neighbour.
    GiveUp(usize),
}

/// Counts of what reliefs have done, for statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Tokens, or detections, begun here.
    pub tokens: u64,
    /// Packets lifted because of a token, or to advance a cycle.
    pub lifted: u64,
    /// Tokens that ended here because the port could reserve nothing more.
    pub ended_pool: u64,
    /// Tokens that ended here because nothing of the flow waits, and the hop before is a host, not held back,
    /// or unknown.
    pub ended_source: u64,
    /// Signals sent, of any kind.
    pub signals: u64,
    /// Reservations given back by a timer.
    pub reclaimed: u64,
    /// Cycles found, and broken.
    pub cycles: u64,
    /// Largest number of hops that a token has travelled.
    pub furthest: u16,
}

/// A flow that a switch can bring past a pause: it holds the flow's input back, the output is open, and has a
/// place for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Which flow.
    pub flow: u32,
    /// By which it comes.
    pub input: usize,
    /// By which it leaves.
    pub output: usize,
}

/// The relief of one switch.
///
/// ```
/// use thalweg_machines::relief::{Relief, ReliefSpec, Site, SwitchView};
/// use thalweg_units::{Span, Time};
///
/// /// A switch of four ports in which nothing waits and nothing is paused.
/// struct Idle;
///
/// impl SwitchView for Idle {
///     fn ports(&self) -> usize {
///         4
///     }
///     fn id(&self, port: usize) -> u32 {
///         port as u32
///     }
///     fn faces_switch(&self, _: usize) -> bool {
///         true
///     }
///     fn has_paused(&self, _: usize) -> bool {
///         false
///     }
///     fn is_paused(&self, _: usize) -> bool {
///         false
///     }
///     fn waits(&self, _: usize, _: u32) -> bool {
///         false
///     }
///     fn waiting(&self, _: usize) -> u32 {
///         0
///     }
///     fn held(&self, _: usize, _: usize) -> u64 {
///         0
///     }
///     fn last_sent(&self, _: usize) -> Time {
///         Time::ZERO
///     }
/// }
///
/// let mut relief = ReliefSpec::escape().make(&Site { ports: 4, delay: Span::from_us(1), clock: 7 })?;
/// let mut acts = Vec::new();
/// relief.tick(relief.next(Time::ZERO), &Idle, &mut acts);
/// assert!(acts.is_empty() && !relief.is_active(&Idle));
/// # Ok::<(), thalweg_machines::Invalid>(())
/// ```
pub trait Relief {
    /// [`Relief::on_passing`] may be skipped for a packet of the flow from `input` to `output`: the state
    /// would not change.
    #[inline]
    fn recalls(&self, _flow: u32, _input: usize, _output: usize) -> bool {
        true
    }
    /// A packet of the flow has come by `input` and is to leave by `output`.
    fn on_passing(&mut self, _flow: u32, _input: usize, _output: usize) {}
    /// A packet of the flow that is to escape `hops` hops from here on has arrived. Returns true if it, or another
    /// packet of its flow in its place, joins the escape queue; false if no place is reserved, so that it is treated as
    /// others.
    fn on_escaping(&mut self, _flow: u32, _output: usize, _hops: u16) -> bool {
        true
    }
    /// The link of a port has failed: no signal that was under way on it arrives, and no packet.
    fn on_link_down(&mut self, _port: usize, _acts: &mut Vec<Act>) {}
    /// Escaping packets must not overtake waiting packets of their flow: the first of these goes in their place.
    fn substitutes(&self) -> bool {
        true
    }
    /// A packet of the escape queue begins to leave, or is lost.
    fn on_sent(&mut self, _output: usize) {}
    /// When [`Relief::tick`] is to be called next, while there is anything to do; after `now`.
    fn next(&self, now: Time) -> Time;
    /// Whether there is anything to do. Called when a neighbour or an output was paused, and after every tick.
    fn is_active(&self, view: &impl SwitchView) -> bool;
    /// The instant named by [`Relief::next`] has come.
    fn tick(&mut self, now: Time, view: &impl SwitchView, acts: &mut Vec<Act>);
    /// The neighbour at `port` has sent a signal.
    fn on_signal(
        &mut self,
        now: Time,
        port: usize,
        signal: Signal,
        view: &impl SwitchView,
        acts: &mut Vec<Act>,
    );
    /// What it has done so far.
    fn tally(&self) -> Tally;
    /// Flows whose packets, if they wait where the input's neighbour is paused, are promised to go on; and
    /// the longest time until the switch does something about them. Empty: it promises nothing.
    fn passages(&self, _view: &impl SwitchView) -> (Vec<Passage>, Span) {
        (Vec::new(), Span::ZERO)
    }
    /// Whether the output can reserve a place for another token.
    fn has_place(&self, _output: usize) -> bool {
        true
    }
    /// Checks the invariants; `lifted`: packets in each output's escape queue.
    ///
    /// # Errors The invariant that is violated.
    fn check(&self, _lifted: &[u32]) -> Result<(), String> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
