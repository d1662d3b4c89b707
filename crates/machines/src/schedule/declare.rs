//! What an order of service says of itself, once: its keys with their defaults, documentation and ranges, and what it needs of
//! senders and switches. The scenario's schema, `explain`, the catalogue, the manual, the checks and the laws all come from here.

use super::{Discipline, DisciplineSpec, Entry, Managed, Order};
use crate::custom::{CustomDiscipline, Limited};
use crate::packet::Handle;
use crate::problems::Problems;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use thalweg_units::{Rate, Span, Stream, Time};

/// An order's parameters: its table in scenarios. The doc comment of the struct is the order's summary, with its source in
/// parentheses; those of the fields document the keys; [`Default`] holds the defaults.
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
    fn make(&self, at: &At) -> Result<Self::Machine, String>;

    /// A file that has a list of numbers for every port: its key, and its name.
    fn table(&self) -> Option<(&'static str, &str)> {
        None
    }

    /// What that file says of the port, instead of the file.
    fn fill(&mut self, _numbers: &[u64]) {}

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
    /// It serves [`Packet::class`](crate::Packet::class), of which it knows so many.
    pub classes: Option<u16>,
    /// It serves the inputs of a switch.
    pub inputs: bool,
    /// It can say of two packets which goes first whatever was sent before, so transmissions may give way; the others serve
    /// in turns (or in order of arrival, where nothing ever overtakes).
    pub overtakes: bool,
    /// The queue management that it does itself.
    pub manages: Manages,
}

impl Needs {
    /// Flow, size, time of arrival.
    pub const NOTHING: Self =
        Self { key: Key::Nothing, classes: None, inputs: false, overtakes: false, manages: Manages::Nothing };

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
    /// Whatever somebody writes.
    Rank,
    /// The slack that is left.
    Slack,
    /// Nobody knows: it is a user's.
    Anything,
}

/// Queue management inside an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manages {
    /// None: that is the stage's.
    Nothing,
    /// Delay, so that a stage that measures delay too would do it twice.
    Delay,
    /// All of it: a stage beside it is never asked.
    Everything,
}

/// What an order's checks may ask about the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Around {
    /// The section of the scenario that says how much it may hold.
    pub section: &'static str,
    /// It has a limit.
    pub overflows: bool,
    /// When the run ends.
    pub end: Span,
}

impl Around {
    /// A queue about which nothing is known.
    pub const ANY: Self = Self { section: "switch", overflows: true, end: Span::MAX };
}

/// The port that an order is made for.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// Of its link.
    pub rate: Rate,
    /// What chance draws from; the queue's stage draws from it too.
    pub stream: Stream,
    /// Transmissions give way ([`DisciplineSpec::preemptive`]).
    pub preemptive: bool,
}

/// What [`Parameters::make`] makes: an order, which becomes a queue with the limit and the stage of its port, or a whole queue.
pub trait Machine {
    /// The queue.
    type Queue: OutputQueue;
    /// Makes it.
    ///
    /// # Errors
    /// If limit or stage do not fit.
    fn queue(self, spec: &DisciplineSpec, at: &At) -> Result<Self::Queue, String>;
}

impl<O: Order> Machine for O {
    type Queue = Managed<O>;
    fn queue(self, spec: &DisciplineSpec, at: &At) -> Result<Managed<O>, String> {
        Managed::new(self, spec, at.stream, at.rate)
    }
}

/// A user's own, behind the port's limit; marking is its own affair.
impl Machine for CustomDiscipline {
    type Queue = Limited;
    fn queue(self, spec: &DisciplineSpec, _: &At) -> Result<Limited, String> {
        Ok(Limited { discipline: self, limit: spec.limit })
    }
}

/// A port's queue, with the short cuts around it that whoever runs it may take.
pub trait OutputQueue: Discipline {
    /// As [`Discipline::dequeue`]: what leaves, and whether it is to be marked. Most queues remember what is to be known of
    /// the packet; for the others, `look` looks.
    fn serve(
        &mut self,
        now: Time,
        out: &mut Vec<Handle>,
        look: impl FnOnce(Handle) -> Entry,
    ) -> Option<(Entry, bool)>;

    /// Which packet would probably be next: a hint for prefetching.
    #[inline]
    fn upcoming(&self) -> Option<Handle> {
        None
    }

    /// A packet of at most so many bytes that finds nothing waiting and leaves before another comes changes nothing here
    /// but what [`OutputQueue::note_bypass`] notes, and leaves unmarked: then it need not come in. If another does come, it may
    /// still join, as of its own arrival, and is then admitted unmarked. 0: all must come in.
    fn bypass_limit(&self) -> u64 {
        0
    }

    /// True if a control packet of `wire` bytes, for which there is room, would leave before everything that waits and whatever
    /// may come, and change nothing but the count: then it need not come in, and is counted until
    /// [`OutputQueue::cancel_reserve`].
    #[inline]
    fn reserve(&mut self, _wire: u32) -> bool {
        false
    }

    /// A packet of `wire` bytes that was reserved for has left.
    #[inline]
    fn cancel_reserve(&mut self, _wire: u32) {}

    /// A packet that came by `input` of the switch has bypassed the queue.
    #[inline]
    fn note_bypass(&mut self, _input: u8) {}
}

impl OutputQueue for Limited {
    fn serve(
        &mut self,
        now: Time,
        out: &mut Vec<Handle>,
        look: impl FnOnce(Handle) -> Entry,
    ) -> Option<(Entry, bool)> {
        self.dequeue(now, out).map(|served| (look(served.handle), served.mark))
    }
}
