//! The one list of pause policies: parameters, construction and dispatch come from it.

use super::{Backpressure, BackpressureSpec, Frame, Gfc, GfcSpec, Held, Passing, PausePolicy, Pfc, PfcSpec};
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

macro_rules! policies {
    ($($name:ident($spec:ty), $summary:literal;)*) => {
        /// The parameters of any policy.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        pub enum PauseSpec {
            $(#[doc = $summary] $name($spec),)*
        }

        /// Any policy, statically dispatched: that of one switch.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum PauseMachine {
            $(#[doc = $summary] $name($name),)*
        }

        impl PauseSpec {
            /// Bytes of a frame on the wire.
            pub fn frame_wire(&self) -> u32 {
                match self { $(Self::$name(spec) => spec.frame_wire),* }
            }

            /// The policy of a switch with so many inputs.
            ///
            /// # Errors
            /// If parameters contradict each other, with their values.
            pub fn make(&self, inputs: usize) -> Result<PauseMachine, String> {
                match self {
                    $(Self::$name(spec) => $name::new(spec, inputs).map(PauseMachine::$name),)*
                }
            }
        }

        impl PausePolicy for PauseMachine {
            #[inline]
            fn on_taken(&mut self, now: Time, at: Passing<'_>, held: Held) -> Option<Frame> {
                match self { $(Self::$name(m) => m.on_taken(now, at, held)),* }
            }
            #[inline]
            fn on_overfull(&mut self, now: Time, at: Passing<'_>) -> Option<Frame> {
                match self { $(Self::$name(m) => m.on_overfull(now, at)),* }
            }
            fn reminder(&self, input: usize) -> Option<Frame> {
                match self { $(Self::$name(m) => m.reminder(input)),* }
            }
            #[inline]
            fn on_departed(&mut self, now: Time, at: Passing<'_>) -> Option<Frame> {
                match self { $(Self::$name(m) => m.on_departed(now, at)),* }
            }
            #[inline]
            fn on_released(&mut self, now: Time, input: usize, held: Held) -> Option<Frame> {
                match self { $(Self::$name(m) => m.on_released(now, input, held)),* }
            }
            fn on_frame(&mut self, now: Time, output: usize, frame: Frame) {
                match self { $(Self::$name(m) => m.on_frame(now, output, frame)),* }
            }
            #[inline]
            fn has_paused(&self, input: usize) -> bool {
                match self { $(Self::$name(m) => m.has_paused(input)),* }
            }
            #[inline]
            fn is_pausing(&self) -> bool {
                match self { $(Self::$name(m) => m.is_pausing()),* }
            }
            #[inline]
            fn is_quiet(&self, bytes: u64) -> bool {
                match self { $(Self::$name(m) => m.is_quiet(bytes)),* }
            }
        }
    };
}

policies! {
    Pfc(PfcSpec), "Priority flow control: XOFF and XON by the bytes of an input";
    Gfc(GfcSpec), "Gentle flow control: the rate of an input's neighbour is halved as often as the input is fuller";
    Backpressure(BackpressureSpec), "Backpressure flow control: a queue of the hop before stops while packets of it wait in queues that are too long";
}
