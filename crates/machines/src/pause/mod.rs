//! Hop-by-hop flow control: what neighbours tell each other ([`Frame`]), what a port then may not send ([`Paused`]), and who
//! decides it: a *policy* of the switch beside its memory ([`PausePolicy`]).
//!
//! Frames go ahead of everything else on a link and are never paused themselves.

mod frame;
mod paused;
mod pfc;

pub use frame::{Frame, QueueSet};
pub use paused::{Change, Paused};
pub use pfc::{Pfc, PfcSpec, PfcThreshold};

/// What a switch's memory says of one of its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Bytes stored that came by it, headroom included.
    pub bytes: u64,
    /// Of these, in the headroom.
    pub headroom: u64,
    /// What the memory grants it now beyond its reserve; `u64::MAX`: it has no threshold of its own.
    pub threshold: u64,
}

/// Makes frames out of what a switch's memory holds. Told of every packet that was stored and of every one that has left.
pub trait PausePolicy {
    /// `input` has taken a packet and holds this: what is its neighbour told?
    fn on_taken(&mut self, input: usize, held: Held) -> Option<Frame>;
    /// A packet that came by `input` has left, and it holds this: what is its neighbour told?
    fn on_released(&mut self, input: usize, held: Held) -> Option<Frame>;
    /// The last thing that the neighbour of `input` was told is to stop.
    fn has_paused(&self, input: usize) -> bool;
    /// Some neighbour is paused: every departure matters at once.
    fn is_pausing(&self) -> bool;
}
