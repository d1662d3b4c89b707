//! What an order of service declares: its keys with defaults, documentation and ranges, and what it needs of senders
//! and switches. The scenario schema, `explain`, the catalogue, the manual, the checks and the common tests are all
//! derived from it.

use crate::problems::{Invalid, Mistake, Problems};
use crate::schedule::{Limit, OutputQueue};
use crate::stage::{Acts, StageSpec};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use thalweg_units::{Bytes, Rate, Span, Stream};

/// An order's parameters: its table in scenarios. The doc comment of the struct is the order's summary, with
/// its source in parentheses; those of the fields document the keys; [`Default`] holds the defaults.
pub trait Parameters:
    Clone + Debug + PartialEq + Default + Serialize + DeserializeOwned + JsonSchema
{
    /// The state machine of one port.
    type Machine: Machine;

    /// What it needs of senders and switches.
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }

    /// What is impossible, or cannot take effect, at such a queue.
    fn check(&self, _at: &Around, _problems: &mut Problems) {}

    /// The order of a port, from parameters that were checked.
    ///
    /// # Errors
    /// If it cannot work at this port.
    fn make(&self, at: &At) -> Result<Self::Machine, Invalid>;

    /// Its queue with the limit and the stage of its port.
    ///
    /// # Errors
    /// If order, limit or stage do not fit.
    fn queue(
        &self,
        limit: Limit,
        stage: &StageSpec,
        at: &At,
    ) -> Result<<Self::Machine as Machine>::Queue, Invalid> {
        self.make(at)?.queue(limit, stage, at)
    }

    /// A file that has a list of numbers for every port: its key, and its name.
    fn table(&self) -> Option<(&'static str, &str)> {
        None
    }

    /// Replaces the file by the numbers that it holds for this port.
    fn fill(&mut self, _numbers: &[u64]) {}

    /// Files that hold its texts: their keys and names.
    fn files(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The contents of these files, in that order.
    fn read(&mut self, _texts: &[String]) {}

    /// Mistakes in its texts: the key of each text, and whether it is in a file.
    fn mistakes(&self) -> Vec<(String, bool, Mistake)> {
        Vec::new()
    }

    /// Ports of the network that it names, with the keys.
    fn ports(&self) -> Vec<(String, u32)> {
        Vec::new()
    }

    /// Keeps only what applies to this port of the network, with the contents of its files instead of their names.
    fn settle(&mut self, _port: u32) {}

    /// Memory in bytes that it needs at one idle port, where this many packets pass per second.
    fn memory(&self, _packets_per_second: f64) -> f64 {
        QUEUE
    }

    /// The variants on which the common tests run: those that differ most.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default()]
    }
}

/// Measured memory in bytes of a queue with per-flow state, including what the allocator rounds up.
pub const QUEUE: f64 = 450.0;

/// What an order needs of senders and switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needs {
    /// What it sorts by.
    pub key: Key,
    /// It serves traffic classes ([`Packet::class`](thalweg_wire::Packet::class)): how many it distinguishes.
    pub classes: Option<u16>,
    /// It serves control packets, too, by the class in their header.
    pub control_classes: bool,
    /// It needs to know by which input of a switch a packet came.
    pub inputs: bool,
    /// It serves inputs in turn, and its driver can set whose turn it is
    /// ([`OutputQueue::turn_to`](crate::schedule::OutputQueue::turn_to)).
    pub by_input: bool,
    /// Packets have a fixed priority order, so that a later packet may overtake, and a transmission may be interrupted.
    /// Other orders serve in turns, or in order of arrival.
    pub overtakes: bool,
    /// The queue management that it does itself.
    pub manages: Manages,
    /// What it does to packets in addition to ordering them and dropping what does not fit.
    pub acts: Acts,
    /// It treats packets with ECT(1) as L4S (RFC 9331), so senders that use ECT(1) for something else must not use it.
    pub l4s: bool,
    /// It sets its own limits, so that the port's limit has no effect.
    pub sizes_itself: bool,
    /// It depends on the link's rate, which must be constant.
    pub fixed_rate: bool,
    /// It depends on the rate of the reverse direction, which must be constant.
    pub fixed_back: bool,
    /// It may hold packets back although the link is free.
    pub holds_back: bool,
    /// It reports when one of its queues has become too long
    /// ([`HopByHop::is_overfull`](crate::schedule::HopByHop::is_overfull)).
    pub reports_overfull: bool,
    /// Packets can be removed from its middle ([`Discipline::withdraw`](crate::schedule::Discipline::withdraw)).
    pub searchable: bool,
    /// Packets pass a pipeline after leaving its queues, so that the instants at which pauses no longer reach them, and
    /// at which the switch knows that they have left, differ from that of transmission
    /// ([`Pipeline::committed`](crate::schedule::Pipeline::committed),
    /// [`Pipeline::late`](crate::schedule::Pipeline::late)).
    pub apart: bool,
    /// It knows the next packet before it leaves ([`OutputQueue::head`](crate::schedule::OutputQueue::head)).
    pub foretells: bool,
    /// It never pushes out a waiting packet ([`Discipline::push_out`](crate::schedule::Discipline::push_out)).
    pub keeps: bool,
    /// It requests notifications for packets
    /// ([`Discipline::take_notified`](crate::schedule::Discipline::take_notified)): its switch sends messages to their
    /// senders.
    pub notifies: bool,
    /// It trims packets to their headers instead of dropping them; headers may take this much in addition to the limit.
    pub trims: Option<Bytes>,
    /// All ports of a switch run it together; the largest number of ports
    /// ([`Programmed`](crate::schedule::Programmed)).
    pub together: Option<u16>,
}

impl Needs {
    /// It needs only flow, size and time of arrival.
    pub const NOTHING: Self = Self {
        key: Key::Nothing,
        classes: None,
        control_classes: false,
        inputs: false,
        by_input: false,
        overtakes: false,
        manages: Manages::Nothing,
        acts: Acts::Not,
        l4s: false,
        sizes_itself: false,
        fixed_rate: false,
        fixed_back: false,
        holds_back: false,
        reports_overfull: false,
        searchable: false,
        apart: false,
        foretells: false,
        keeps: false,
        notifies: false,
        trims: None,
        together: None,
    };

    /// Unknown, because the order is a user's.
    pub fn anything(self) -> bool {
        self.key == Key::Anything
    }
}

/// What the rank header must hold for an order that sorts by it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key {
    /// It does not read the rank header.
    Nothing,
    /// Flow sizes, which senders write.
    FlowSize,
    /// Bytes not yet acknowledged, which senders write.
    Remaining,
    /// The rank, whatever was written there.
    Rank,
    /// The slack that is left.
    Slack,
    /// Unknown: the order is a user's.
    Anything,
}

/// Queue management inside an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manages {
    /// None; a stage may do it.
    Nothing,
    /// It controls delay, so that a stage which measures delay would do the same again.
    Delay,
    /// It applies the stage per queue, so that the stage cannot know the whole link.
    Shares,
    /// It decides itself what is dropped; a stage may only mark packets that leave ([`StageSpec::marks_leaving`]).
    Room,
    /// All of it: a stage is never called.
    Everything,
}

/// The queue, as far as an order's checks need to know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Around {
    /// The section of the scenario that sets its limit.
    pub section: &'static str,
    /// It has a limit.
    pub overflows: bool,
    /// When the run ends.
    pub end: Span,
    /// Which parts of it the next hop pauses, other than all of it.
    pub paused: Paused,
}

impl Around {
    /// A queue about which nothing is known.
    pub const ANY: Self = Self { section: "switch", overflows: true, end: Span::MAX, paused: Paused::Queues };
}

/// Which parts of a port the next hop pauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Paused {
    /// No part of them.
    Nothing,
    /// Single queues.
    Queues,
    /// Whatever queues certain flows wait in.
    Flows,
}

/// The port that an order is made for.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// Rate of its link.
    pub rate: Rate,
    /// Rate of the reverse direction of its link.
    pub back: Rate,
    /// Random stream; the queue's stage draws from it too.
    pub stream: Stream,
    /// Transmissions give way ([`preemptive`](crate::schedule::DisciplineSpec::preemptive)).
    pub preemptive: bool,
}

/// What [`Parameters::make`] makes: an order, which becomes a queue with the limit and the stage of its port,
/// or a whole queue.
pub trait Machine {
    /// The queue.
    type Queue: OutputQueue;
    /// Makes it.
    ///
    /// # Errors
    /// If limit or stage do not fit.
    fn queue(self, limit: Limit, stage: &StageSpec, at: &At) -> Result<Self::Queue, Invalid>;
}
