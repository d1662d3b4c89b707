//! Hop-by-hop flow control: the frames that neighbours exchange ([`Frame`]), what a port then may not send
//! ([`Paused`]), and the *policy* of the switch that decides which frames to send, next to its memory
//! ([`PausePolicy`]).
//!
//! Frames are sent before everything else on a link and are never paused.

mod declare;
mod list;
mod outbox;
mod paused;
#[cfg(test)]
mod tests;

// One file each of the list below.
pub mod backpressure;
pub mod gfc;
pub mod pfc;

use declare::smallest_frame;
pub use declare::{Claims, Effects, Headroom, Input, Parameters, QueuePauses, Reach, Site};
pub use outbox::{Outbox, Posted};
pub use paused::{Change, Paused};

use crate::problems::{Invalid, Problem, Problems};
use list::policies;
use serde::{Deserialize, Serialize};
use thalweg_units::{Time, dispatch};
use thalweg_wire::{Classes, Frame, Packet};

/// The one list of pause policies, handed to the macro that is named; what is in its braces comes first.
#[macro_export]
macro_rules! pause_policies {
    ($then:ident! { $($with:tt)* }) => {
        $then! { { $($with)* }
            pfc: Pfc, "Priority flow control: full inputs make their upstream neighbours pause, in all traffic classes. Needs `inputs`.";
            backpressure: Backpressure, "Backpressure flow control: queues of the scheduler `bfc` that are too long make single queues of upstream neighbours pause. Needs `inputs`, and goes without `pfc`.";
            gfc: Gfc, "Gentle flow control: the fuller an input, the more often its upstream neighbour halves its rate; it never stops. Needs `inputs`, and goes without `pfc`.";
        }
    };
}
pause_policies!(policies! {});

/// A packet on its way through a switch.
#[derive(Clone, Copy, Debug)]
pub struct Passing<'a> {
    /// The input by which it came.
    pub input: usize,
    /// The output at which it waits, or waited.
    pub output: usize,
    /// Itself; [`Packet::hop`] is the queue that it came from at the hop before.
    pub packet: &'a Packet,
}

/// What a switch's memory reports of one of its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Bytes stored that came by it, headroom included.
    pub bytes: u64,
    /// Of these, in the headroom.
    pub headroom: u64,
    /// What the memory grants it now beyond its reserve; `u64::MAX`: it has no threshold of its own.
    pub threshold: u64,
}

/// Decides which frames a switch sends. It is notified of every packet that is stored or has left, except for arrivals
/// of which the memory knows that they change nothing ([`crate::buffer::Inputs::is_quiet`]).
///
/// ```
/// use thalweg_machines::pause::{Held, Passing, PausePolicy};
/// use thalweg_units::Time;
/// use thalweg_wire::{Classes, Frame, Packet};
///
/// /// One input: stop at 10 kB, go on when nothing is left.
/// struct OnOff(bool);
///
/// impl PausePolicy for OnOff {
///     fn on_taken(&mut self, _: Time, _: Passing<'_>, held: Held) -> Option<Frame> {
///         let stops = held.bytes >= 10_000 && !self.0;
///         self.0 |= stops;
///         stops.then_some(Frame::Xoff { classes: Classes::ALL, hold: None })
///     }
///     fn on_released(&mut self, _: Time, _: usize, held: Held) -> Option<Frame> {
///         let resumes = held.bytes == 0 && self.0;
///         self.0 &= !resumes;
///         resumes.then_some(Frame::Xon { classes: Classes::ALL })
///     }
///     fn has_paused(&self, _: usize) -> bool {
///         self.0
///     }
///     fn is_pausing(&self) -> bool {
///         self.0
///     }
/// }
///
/// let at = Passing { input: 0, output: 1, packet: &Packet::default() };
/// let held = |bytes| Held { bytes, headroom: 0, threshold: u64::MAX };
/// let mut policy = OnOff(false);
/// assert_eq!(policy.on_taken(Time::ZERO, at, held(1500)), None);
/// assert!(policy.on_taken(Time::ZERO, at, held(10_500)).is_some() && policy.has_paused(0));
/// assert_eq!(policy.on_released(Time::ZERO, 0, held(0)), Some(Frame::Xon { classes: Classes::ALL }));
/// ```
pub trait PausePolicy {
    /// A packet was stored, and its input now holds this. Returns the frame for its neighbour, if any.
    fn on_taken(&mut self, now: Time, at: Passing<'_>, held: Held) -> Option<Frame>;
    /// A packet has joined a queue and made it too long ([`crate::schedule::HopByHop::is_overfull`]); it is
    /// now marked [`HELD_BACK`](thalweg_wire::Flags::HELD_BACK). Returns the frame for its input's neighbour,
    /// if any.
    #[inline]
    fn on_overfull(&mut self, _now: Time, _at: Passing<'_>) -> Option<Frame> {
        None
    }
    /// A packet begins to leave; its bytes are released then or at its end. Returns the frame for its input's
    /// neighbour, if any. Called for policies whose pauses reach single queues ([`Reach`]).
    #[inline]
    fn on_departed(&mut self, _now: Time, _at: Passing<'_>) -> Option<Frame> {
        None
    }
    /// Bytes were released, and their input now holds this. Returns the frame for its neighbour, if any.
    fn on_released(&mut self, now: Time, input: usize, held: Held) -> Option<Frame>;
    /// The periodic frame to the neighbour of `input`, regardless of earlier frames.
    fn reminder(&self, _input: usize) -> Option<Frame> {
        None
    }
    /// The frames that restate the pauses to the neighbour of `input`, whose pause state was reset when its link failed
    /// and was restored.
    fn restate(&self, input: usize) -> Vec<Frame> {
        let xoff = self.has_paused(input).then_some(Frame::Xoff { classes: Classes::ALL, hold: None });
        xoff.into_iter().collect()
    }
    /// The neighbour behind `output` has sent a frame. What it pauses reaches the port without the policy.
    fn on_frame(&mut self, _now: Time, _output: usize, _frame: Frame) {}
    /// Whether the neighbour of a paused input would resume if the input held this. Always true for policies that never
    /// stop a neighbour for good.
    fn resumes(&self, _held: Held) -> bool {
        true
    }
    /// The last frame to the neighbour of `input` requested a stop, wholly or in part.
    fn has_paused(&self, input: usize) -> bool;
    /// Number of waiting packets that cause pauses.
    fn counted(&self) -> u64 {
        0
    }
    /// Some neighbour is paused: every departure matters at once.
    fn is_pausing(&self) -> bool;
    /// Whether an input that reaches this many bytes causes no frame, as far as this depends on the bytes alone.
    #[inline]
    fn is_quiet(&self, _bytes: u64) -> bool {
        !self.is_pausing()
    }
}
