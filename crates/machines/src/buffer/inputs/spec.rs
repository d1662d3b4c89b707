//! A switch's memory by input as data, and what is counted of an input.

use crate::pause::{Claims, Effects, PauseSpec, QueuePauses};
use serde::{Deserialize, Serialize};
use thalweg_units::Bytes;

/// The memory of a switch, as data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputSpec {
    /// How memory is divided.
    pub memory: InputMemory,
    /// The policy that pauses the neighbours, if any.
    pub pause: Option<PauseSpec>,
    /// A packet gives its memory back as its transmission begins, not as it ends.
    pub release_at_start: bool,
    /// An input sends one packet at a time through the switch ([`crate::crossbar`]); its ports' orders serve
    /// inputs in turn.
    pub one_per_input: bool,
}

impl InputSpec {
    /// What follows from pauses for the network.
    pub fn effects(&self) -> Option<Effects> {
        self.pause.map(|policy| policy.effects())
    }

    /// How single queues are paused.
    pub fn queue_pauses(&self) -> Option<QueuePauses> {
        self.effects()?.queues()
    }

    /// Pauses stop whole ports.
    pub fn stops_ports(&self) -> bool {
        self.effects().is_some_and(|effects| effects.stops_ports())
    }

    /// How the pause policy divides the memory.
    pub fn claims(&self) -> Claims {
        self.effects().map_or(Claims::None, |effects| effects.claims)
    }
}

/// How memory is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputMemory {
    /// Every input has this much memory of its own.
    PerInput(Bytes),
    /// All inputs of a switch share this memory.
    Shared(Bytes),
}

/// One input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Bytes stored, headroom included.
    pub bytes: u64,
    /// Of these, in the headroom (dynamic threshold only: with a static one the headroom is what lies above it).
    pub headroom: u64,
}

impl Input {
    /// The input when `left` bytes remain. The headroom is emptied first.
    pub(super) fn with(self, left: u64) -> Self {
        let gone = self.bytes.saturating_sub(left);
        Self { bytes: self.bytes - gone, headroom: self.headroom.saturating_sub(gone) }
    }
}
