//! What an order of service declares, once: its keys with their defaults, documentation and ranges, and
//! what it needs of senders and switches. The scenario's schema, `explain`, the catalogue, the manual, the
//! checks and the laws all come from here.

use super::{Limit, OutputQueue};
use crate::problems::{Invalid, Mistake, Problems};
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

    /// Its queue, with the limit and the stage of its port.
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

    /// What that file says of the port, instead of the file.
    fn fill(&mut self, _numbers: &[u64]) {}

    /// Files that hold texts of it: their keys, and their names.
    fn files(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// What these files hold, in that order.
    fn read(&mut self, _texts: &[String]) {}

    /// What is wrong in its texts: the key of each, and whether that names a file.
    fn mistakes(&self) -> Vec<(String, bool, Mistake)> {
        Vec::new()
    }

    /// Ports of the network that it names, with the keys.
    fn ports(&self) -> Vec<(String, u32)> {
        Vec::new()
    }

    /// Leaves what it is at this port of the network, with what its files hold instead of their names.
    fn settle(&mut self, _port: u32) {}

    /// Bytes that it holds at one port before anything waits, where so many packets pass in a second.
    fn memory(&self, _packets_per_second: f64) -> f64 {
        QUEUE
    }

    /// What the laws of every order are tried on: the variants that differ most.
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default()]
    }
}

/// Bytes of a queue whose order keeps books, and of what the allocator rounds up, measured.
pub const QUEUE: f64 = 450.0;

/// What an order needs of senders and switches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needs {
    /// What it sorts by.
    pub key: Key,
    /// It serves [`Packet::class`](thalweg_wire::Packet::class), of which it knows so many.
    pub classes: Option<u16>,
    /// It serves control packets, too, by the class that they name.
    pub control_classes: bool,
    /// It needs to know by which input of a switch a packet came.
    pub inputs: bool,
    /// It serves inputs in turn, and its driver can set whose turn it is
    /// ([`OutputQueue::turn_to`](super::OutputQueue::turn_to)).
    pub by_input: bool,
    /// It can say of two packets which goes first whatever was sent before, so transmissions may give way;
    /// the others serve in turns (or in order of arrival, where nothing ever overtakes).
    pub overtakes: bool,
    /// The queue management that it does itself.
    pub manages: Manages,
    /// What it does to packets besides ordering them, and giving up what does not fit.
    pub acts: Acts,
    /// It takes packets with ECT(1) for L4S (RFC 9331): those of senders that mean something else by it would get
    /// what is not theirs.
    pub l4s: bool,
    /// It says itself how much may wait, so that nothing is left to say for a limit of the port.
    pub sizes_itself: bool,
    /// It reckons with the link's rate, which must not change.
    pub fixed_rate: bool,
    /// It reckons with the rate of the direction that leads back, likewise.
    pub fixed_back: bool,
    /// It may let nothing leave though something waits and the link is free.
    pub holds_back: bool,
    /// It reports when one of its queues has become too long
    /// ([`Discipline::is_overfull`](super::Discipline::is_overfull)).
    pub reports_overfull: bool,
    /// Packets can be taken out of its middle ([`Discipline::withdraw`](super::Discipline::withdraw)).
    pub searchable: bool,
    /// What it lets go is out of the reach of pauses, or known to be gone, at another instant than that at
    /// which it is sent ([`Discipline::committed`](super::Discipline::committed),
    /// [`Discipline::late`](super::Discipline::late)).
    pub apart: bool,
    /// It knows which packet is next before that leaves ([`OutputQueue::head`](super::OutputQueue::head)).
    pub foretells: bool,
    /// It never gives up a packet that waits ([`Discipline::push_out`](super::Discipline::push_out)).
    pub keeps: bool,
    /// It notifies of packets ([`Discipline::take_notified`](super::Discipline::take_notified)): its switch writes to
    /// their senders.
    pub notifies: bool,
    /// It cuts packets to their headers instead of dropping them; headers may take so much besides the limit.
    pub trims: Option<Bytes>,
    /// All ports of a switch run it together, of which there are so many at most
    /// ([`Programmed`](super::Programmed)).
    pub together: Option<u16>,
}

impl Needs {
    /// Flow, size, time of arrival.
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

    /// Whatever it may be: it is a user's.
    pub fn anything(self) -> bool {
        self.key == Key::Anything
    }
}

/// What of a packet's rank header an order sorts by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key {
    /// It does not look.
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
    /// None: that is the stage's.
    Nothing,
    /// Delay, so that a stage that measures delay too would do it twice.
    Delay,
    /// Which packets a stage sees: the order applies the stage per queue, so the stage cannot know the link.
    Shares,
    /// Who makes room: a stage may mark what leaves, and does nothing else ([`StageSpec::marks_leaving`]).
    Room,
    /// All of it: a stage next to it is never called.
    Everything,
}

/// What an order's checks may need to know about the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Around {
    /// The section of the scenario that says how much it may hold.
    pub section: &'static str,
    /// It has a limit.
    pub overflows: bool,
    /// When the run ends.
    pub end: Span,
    /// What of it the next hop pauses, apart from all of it.
    pub paused: Paused,
}

impl Around {
    /// A queue about which nothing is known.
    pub const ANY: Self = Self { section: "switch", overflows: true, end: Span::MAX, paused: Paused::Queues };
}

/// What of a port's queues the next hop pauses.
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
    /// Of its link.
    pub rate: Rate,
    /// Of the direction of its link that leads back.
    pub back: Rate,
    /// What chance draws from; the queue's stage draws from it too.
    pub stream: Stream,
    /// Transmissions give way ([`preemptive`](super::DisciplineSpec::preemptive)).
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
