//! The contract of engines.

use super::packet::Offered;
use std::fmt;
use thalweg_units::Time;
use thalweg_wire::Handle;

/// The fate of an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It waits.
    Kept,
    /// It was dropped on arrival, and is among the effects.
    Dropped,
}

/// An entity of the policy, by number. Numbers have 32 bits, so that a [`Fault`] has 64 and a result with one fits into
/// a register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// A queue.
    Queue(u32),
    /// A buffer.
    Buffer(u32),
    /// A port.
    Port(u32),
}

/// A task for the driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Discard this packet.
    Dropped(Handle),
    /// Set CE on this packet.
    Marked(Handle),
    /// Notify the control plane, or the neighbour, of this packet, for this part: by a CNP or a pause.
    Notified(Handle, Part),
}

/// A packet that leaves a port. Queue numbers have 32 bits, so that it is returned in two registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Served {
    /// The packet.
    pub handle: Handle,
    /// The queue that it was in.
    pub queue: u32,
    /// The queue that it has entered, if the port is connected and that queue has admitted it.
    pub next: Option<u32>,
}

/// The result of a cycle of processing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cycle {
    /// Nothing waits.
    Idle,
    /// A packet needs one cycle less.
    Worked(Handle),
    /// A packet has left after its last cycle.
    Left(Served),
}

/// A condition under which a policy cannot continue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// A packet names a queue that is not there.
    NoSuchQueue(u32),
    /// There is no such port.
    NoSuchPort(u32),
    /// The port is connected to no queue for this packet.
    NoWay(Handle),
    /// A state would exceed 64 bits.
    State(Part),
    /// A time beyond 63 bits of picoseconds, or before the previous one.
    Clock,
    /// More than 128 bits, which the checker excludes.
    Arithmetic,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchQueue(queue) => write!(f, "the policy has no queue number {queue}"),
            Self::NoSuchPort(port) => write!(f, "the policy has no port number {port}"),
            Self::NoWay(Handle(packet)) => write!(f, "packet {packet} goes on to no queue of its port"),
            Self::State(part) => write!(f, "a state of {part:?} would exceed 64 bits"),
            Self::Clock => write!(f, "the time is beyond 63 bits of picoseconds, or before the last"),
            Self::Arithmetic => write!(f, "a number exceeds 128 bits"),
        }
    }
}

impl std::error::Error for Fault {}

/// An engine, which runs a policy.
///
/// ```
/// use thalweg_policy::{Bytecode, Effect, Engine, Machine, Offered, Verdict};
/// use thalweg_units::Time;
/// use thalweg_wire::Handle;
///
/// let text = "q = Queue(1 pkts); out = Port(q); q.congestion = (currSize >= size, drop(1));";
/// let policy = thalweg_policy::check(text, "one.oq").unwrap();
/// let mut engine = Machine::new(&policy, Bytecode::of(&policy), 1);
/// let (offered, mut effects) = (Offered::default(), Vec::new());
/// assert_eq!(engine.arrive(Time::ZERO, &offered, Handle(1), &mut effects), Ok(Verdict::Kept));
/// assert_eq!(engine.arrive(Time::ZERO, &offered, Handle(2), &mut effects), Ok(Verdict::Dropped));
/// assert_eq!(effects, [Effect::Dropped(Handle(2))]);
/// let served = engine.dequeue(0, Time::ZERO, &mut effects).unwrap();
/// assert_eq!(served.map(|served| served.handle), Some(Handle(1)));
/// ```
pub trait Engine {
    /// A packet arrives. Tasks for the driver are appended to `effects` in order, including drops of other packets.
    ///
    /// # Errors
    /// A fault, after which the engine must not be used.
    fn arrive(
        &mut self,
        now: Time,
        offered: &Offered,
        handle: Handle,
        effects: &mut Vec<Effect>,
    ) -> Result<Verdict, Fault>;

    /// The port is free: returns the packet that leaves. If the port is connected, the packet has already entered the
    /// next queue, or may have been dropped there.
    ///
    /// # Errors
    /// As [`Engine::arrive`].
    fn dequeue(&mut self, port: usize, now: Time, effects: &mut Vec<Effect>)
    -> Result<Option<Served>, Fault>;

    /// This port works for a cycle: the packet that would leave needs one cycle less, and leaves after its last.
    ///
    /// # Errors
    /// As [`Engine::arrive`].
    fn cycle(&mut self, port: usize, now: Time, effects: &mut Vec<Effect>) -> Result<Cycle, Fault>;

    /// Number of packets in this queue.
    fn packets(&self, queue: usize) -> u32;
    /// Bytes of the packets in this queue.
    fn bytes(&self, queue: usize) -> u64;

    /// Packets that arrive from now on are admitted under this version.
    fn set_version(&mut self, version: u32);

    /// This number of packets and bytes of an earlier policy take room in this queue until they have left. None of them
    /// can be pushed out here.
    fn hold(&mut self, queue: usize, packets: u32, bytes: u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_becomes_of_a_packet_fits_into_registers() {
        // A result written to memory in pieces and read as one would stall for longer than all work of a ring takes.
        assert_eq!(size_of::<Result<Verdict, Fault>>(), 8);
        assert_eq!(size_of::<Result<Option<Served>, Fault>>(), 16);
    }
}
