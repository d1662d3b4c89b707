//! What a pause policy declares: its keys with defaults and documentation, what they need of the switch, and what
//! follows for the network. The scenario schema, the checks, the engine's short cuts and the tables are all derived
//! from it.

use super::PausePolicy;
use crate::problems::{Invalid, Problems};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{self, Debug, Display};
use thalweg_units::{Bytes, Rate, Span};

/// A policy's parameters: its table in scenarios. The doc comments of the fields document the keys.
pub trait Parameters: Clone + Copy + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// The state machine of one switch.
    type Machine: PausePolicy;

    /// Fills in keys whose defaults depend on the switches.
    fn settle(&mut self, _at: &Site) {}

    /// What is impossible, or cannot take effect, at such switches.
    fn check(&self, _at: &Site, _problems: &mut Problems) {}

    /// What follows for the network, from parameters that were settled.
    fn effects(&self) -> Effects;

    /// The policy of a switch with so many inputs, from parameters that were settled.
    ///
    /// # Errors
    /// If parameters contradict each other, with their values.
    fn make(&self, inputs: usize) -> Result<Self::Machine, Invalid>;

    /// The variants on which the common tests run: those that differ most.
    #[cfg(test)]
    fn variants() -> Vec<Self>;
}

/// Ethernet's smallest: what a pause frame has on the wire.
pub(super) fn smallest_frame() -> Bytes {
    Bytes::new(64)
}

/// A link by which packets come to a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Input {
    /// Bytes on the link during one round trip: they arrive while a frame travels to the sender, and after it has taken
    /// effect there.
    pub link: Bytes,
    /// The rate at which packets come.
    pub rate: Rate,
    /// The rate of the reverse direction, which frames take; the directions of a link may differ.
    pub back: Rate,
}

impl Input {
    /// Bytes that arrive while `bytes` leave by the reverse direction.
    fn meanwhile(&self, bytes: u64) -> u64 {
        let (rate, back) = (u128::from(self.rate.bps()), u128::from(self.back.bps()));
        u64::try_from((u128::from(bytes) * rate).div_ceil(back.max(1))).unwrap_or(u64::MAX)
    }
}

/// The switches that policies are made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Memory that every input has of its own.
    pub memory: Option<Bytes>,
    /// Memory that all inputs of a switch share.
    pub shared: Option<Bytes>,
    /// All inputs, those that are alike once.
    pub inputs: Vec<Input>,
    /// The largest packet on the wire.
    pub packet: u32,
    /// Further packets that may arrive because of a relief.
    pub more: u64,
}

impl Site {
    /// What may arrive at an input after it has requested a pause by such a frame: at the one at which that is most.
    pub fn headroom(&self, frame: Bytes) -> Headroom {
        let (packet, packets) = (self.packet, 2 + self.more);
        let of = |input: &Input| Headroom { input: *input, packet, packets, frame };
        let none = Input { link: Bytes::ZERO, rate: Rate::INFINITE, back: Rate::INFINITE };
        self.inputs.iter().map(of).max_by_key(Headroom::bytes).unwrap_or_else(|| of(&none))
    }

    /// What comes by an input, at most, while a packet and such a frame behind it leave by the way back.
    pub(super) fn meanwhile(&self, frame: Bytes) -> u64 {
        let behind = u64::from(self.packet).saturating_add(frame.get());
        self.inputs.iter().map(|input| input.meanwhile(behind)).max().unwrap_or(behind)
    }
}

/// What may arrive at an input after it has requested a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headroom {
    input: Input,
    packet: u32,
    /// One that crosses the threshold, one that the neighbour has begun; and those of a relief.
    packets: u64,
    /// It waits for a packet, too.
    frame: Bytes,
}

impl Headroom {
    /// All of it.
    pub fn bytes(&self) -> Bytes {
        let packets = self.packets.saturating_mul(u64::from(self.packet));
        let sum = self.input.link.get().saturating_add(packets);
        Bytes::new(sum.saturating_add(self.meanwhile()))
    }

    /// What comes while the frame waits for a packet and leaves.
    fn meanwhile(&self) -> u64 {
        self.input.meanwhile(u64::from(self.packet).saturating_add(self.frame.get()))
    }
}

impl Display for Headroom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Input { link, rate, back } = self.input;
        let (link, frame, sum) = (link.get(), self.frame.get(), self.bytes().get());
        let (packets, packet) = (self.packets, self.packet);
        write!(f, "{link} B on the largest link both ways + ")?;
        if rate == back {
            let packets = packets.saturating_add(1);
            return write!(f, "{packets} packets of {packet} B + a frame of {frame} B = {sum} B");
        }
        let meanwhile = self.meanwhile();
        write!(
            f,
            "{packets} packets of {packet} B + {meanwhile} B at {rate} while one and a frame of {frame} B leave at {back} = {sum} B"
        )
    }
}

/// What follows from a policy for its network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effects {
    /// A frame on the wire.
    pub frame: Bytes,
    /// What its frames do to neighbours.
    pub reach: Reach,
    /// What it makes of the memory of inputs.
    pub claims: Claims,
    /// Without failures no packet is dropped for lack of memory.
    pub lossless: bool,
}

impl Effects {
    /// Its frames pause single queues, or flows.
    pub fn queues(&self) -> Option<QueuePauses> {
        if let Reach::Queues(queues) = self.reach { Some(queues) } else { None }
    }
    /// Its frames stop whole ports.
    pub fn stops_ports(&self) -> bool {
        matches!(self.reach, Reach::Ports { .. })
    }
}

/// What a policy's frames do to neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach {
    /// Ports stop, and resume when a frame permits it, or after a number of quanta of 512 bit times.
    Ports {
        /// `None`: only when a frame permits it.
        quanta: Option<u16>,
    },
    /// Ports slow down, and never stop.
    Rates,
    /// Single queues stop, or single flows.
    Queues(QueuePauses),
}

impl Reach {
    /// In a sentence about the policy.
    pub fn does(&self) -> &'static str {
        match self {
            Self::Ports { .. } => "pauses whole ports",
            Self::Rates => "slows neighbours down",
            Self::Queues(_) => "pauses single queues",
        }
    }
}

/// How queues are paused one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePauses {
    /// Period of the frames that repeat the pause state to a neighbour while a queue of it is paused or recently was.
    pub every: Span,
    /// A paused queue resumes by itself if its pause has not been confirmed for this time.
    pub expires: Span,
    /// NICs obey.
    pub nics: bool,
    /// Frames name flows, not queues. Nothing is confirmed then, and nothing expires.
    pub flows: bool,
    /// Packets on paths that could close a cycle of pauses are exempt from accounting: the owner knows which.
    pub elide: bool,
}

/// How a policy divides the memory of inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Claims {
    /// Nothing.
    None,
    /// An input requests a pause above `xoff`, and may hold the headroom in addition.
    Static {
        /// Bytes.
        xoff: u64,
        /// Bytes at which its neighbour resumes.
        xon: u64,
        /// Bytes.
        headroom: u64,
    },
    /// `alpha` × what is free of the shared memory, beyond a reserve and a headroom of each input.
    Dynamic {
        /// The share.
        alpha: f64,
        /// Bytes.
        reserve: u64,
        /// Bytes.
        headroom: u64,
    },
}

impl Claims {
    /// What every input may claim at once, and what that is.
    pub fn each(&self) -> Option<(u64, &'static str)> {
        match *self {
            Self::None => None,
            Self::Static { xoff, headroom, .. } => Some((xoff.saturating_add(headroom), "XOFF and headroom")),
            Self::Dynamic { reserve, headroom, .. } => {
                Some((reserve.saturating_add(headroom), "reserve and headroom"))
            }
        }
    }
}
