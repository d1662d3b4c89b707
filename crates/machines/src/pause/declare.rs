//! What a pause policy declares, once: its keys with their defaults and documentation, what they need
//! of the switch, and what follows for the network. The scenario's schema, the checks, the engine's short
//! cuts and the tables all come from here.

use super::PausePolicy;
use crate::problems::{Invalid, Problems};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{self, Debug, Display};
use thalweg_units::{Bytes, Span};

/// A policy's parameters: its table in scenarios. The doc comments of the fields document the keys.
pub trait Parameters: Clone + Copy + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// The state machine of one switch.
    type Machine: PausePolicy;

    /// Writes down what follows from the switches.
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

    /// What the laws of every policy are tried on: the variants that differ most.
    #[cfg(test)]
    fn variants() -> Vec<Self>;
}

/// Ethernet's smallest: what a pause frame has on the wire.
pub(super) fn smallest_frame() -> Bytes {
    Bytes::new(64)
}

/// The switches that policies are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Memory that every input has of its own.
    pub memory: Option<Bytes>,
    /// Memory that all inputs of a switch share.
    pub shared: Option<Bytes>,
    /// What the largest link holds both ways.
    pub link: Bytes,
    /// The largest packet on the wire.
    pub packet: u32,
    /// Packets that may come besides, because of a relief.
    pub more: u64,
}

impl Site {
    /// What may arrive at an input after it has requested a pause by such a frame.
    pub fn headroom(&self, frame: Bytes) -> Headroom {
        Headroom { link: self.link, packet: self.packet, packets: 3 + self.more, frame }
    }
}

/// What may arrive at an input after it has requested a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headroom {
    link: Bytes,
    packet: u32,
    /// One that crosses the threshold, one that the frame waits for, one that the neighbour has begun; and
    /// those of a relief.
    packets: u64,
    frame: Bytes,
}

impl Headroom {
    /// All of it.
    pub fn bytes(&self) -> Bytes {
        let packets = self.packets.saturating_mul(u64::from(self.packet));
        let sum = self.link.get().saturating_add(packets);
        Bytes::new(sum.saturating_add(self.frame.get()))
    }
}

impl Display for Headroom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (link, frame, sum) = (self.link.get(), self.frame.get(), self.bytes().get());
        write!(
            f,
            "{link} B on the largest link both ways + {} packets of {} B + a frame of {frame} B = {sum} B",
            self.packets, self.packet
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
    /// As long as nothing breaks no packet is refused for want of memory.
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
    /// Ports stop, and go on when a frame permits it, or after so many quanta of 512 bit times.
    Ports {
        /// `None`: not before a frame permits it.
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
    /// How often a neighbour is sent all that is paused, while a queue of it is paused or recently was.
    pub every: Span,
    /// A queue goes on by itself if its pause has not been confirmed for so long.
    pub expires: Span,
    /// NICs obey.
    pub nics: bool,
    /// Frames name flows, not queues. Nothing is confirmed then, and nothing expires.
    pub flows: bool,
    /// Packets on paths that could close a cycle of pauses are exempt from accounting: the owner knows which.
    pub elide: bool,
}

/// What a policy makes of the memory of inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Claims {
    /// Nothing.
    None,
    /// An input pauses above `xoff`, and may hold the headroom besides.
    Static {
        /// Bytes.
        xoff: u64,
        /// Bytes at which its neighbour goes on.
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
