//! A switch's memory, accounted by the input at which packets arrived, and its pause policy, if it has one
//! ([`crate::pause`]).
//!
//! How memory is divided is a separate contract: every input has its own memory (an input-queued switch), or all share
//! one, by fixed shares or by a dynamic threshold. What arrives between a pause and its effect goes to the headroom.
//! The owner transmits the frames.

mod account;
mod any;
mod fixed;
mod own;
mod spec;
mod threshold;

pub use spec::{Input, InputMemory, InputSpec};

use crate::pause::{Claims, Held, Passing, PauseMachine, PausePolicy};
use crate::problems::Invalid;
use account::Account;
use any::AnyAccount;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;
use thalweg_wire::Frame;

/// The memory of one switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    spec: InputSpec,
    account: AnyAccount,
    inputs: Vec<Input>,
    /// The policy that pauses the neighbours, if any.
    policy: Option<PauseMachine>,
}

impl Inputs {
    /// The empty memory of a switch with so many inputs.
    ///
    /// # Errors
    /// If reserves and headrooms do not fit, or XON is above XOFF.
    pub fn new(spec: InputSpec, inputs: usize) -> Result<Self, Invalid> {
        let policy = spec.pause.map(|policy| policy.make(inputs)).transpose()?;
        let account = AnyAccount::new(&spec, inputs)?;
        Ok(Self { spec, account, inputs: vec![Input::default(); inputs], policy })
    }

    /// The inputs.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Which memory this is.
    pub fn spec(&self) -> &InputSpec {
        &self.spec
    }

    /// Bytes in the shared memory, beyond reserves and outside headrooms if the threshold is dynamic; 0: none
    /// is shared.
    #[inline]
    pub fn used(&self) -> u64 {
        self.account.used()
    }

    /// The largest value of [`Inputs::used`]; 0: no memory is shared.
    pub fn pool(&self) -> u64 {
        self.account.pool()
    }

    /// Some input's neighbour is paused: every departure matters at once.
    #[inline]
    pub fn is_pausing(&self) -> bool {
        self.policy.as_ref().is_some_and(|policy| policy.is_pausing())
    }

    /// The last frame to the neighbour of `input` requested a stop.
    pub fn has_paused(&self, input: usize) -> bool {
        self.policy.as_ref().is_some_and(|policy| policy.has_paused(input))
    }

    /// Whether `wire` more bytes at this input cause neither a drop nor a frame, even if some of the bytes counted here
    /// have already left.
    #[inline]
    pub fn is_quiet(&self, input: usize, wire: u32) -> bool {
        let (at, wire) = (&self.inputs[input], u64::from(wire));
        if self.policy.as_ref().is_some_and(|policy| !policy.is_quiet(at.bytes + wire)) {
            return false;
        }
        self.account.is_quiet(at, wire)
    }

    /// A packet of `wire` bytes arrives at an input: false if it must be dropped, else it is stored.
    #[inline]
    pub fn take(&mut self, input: usize, wire: u32) -> bool {
        let (at, wire) = (&mut self.inputs[input], u64::from(wire));
        let stored = self.account.take(at, wire);
        if stored {
            at.bytes += wire;
        }
        stored
    }

    /// A packet has left the switch.
    #[inline]
    pub fn release(&mut self, input: usize, wire: u32) {
        let (at, wire) = (&mut self.inputs[input], u64::from(wire));
        debug_assert!(at.bytes >= wire, "more released than taken");
        self.account.release(at, wire);
        at.bytes -= wire;
    }

    /// After [`Inputs::take`]: the frame for the neighbour of the packet's input, if any.
    #[inline]
    pub fn on_taken(&mut self, now: Time, at: Passing<'_>) -> Option<Frame> {
        let held = self.held(at.input);
        self.policy.as_mut().and_then(|policy| policy.on_taken(now, at, held))
    }

    /// A packet has joined a queue and made it too long: the frame for the neighbour of its input, if any.
    #[inline]
    pub fn on_overfull(&mut self, now: Time, at: Passing<'_>) -> Option<Frame> {
        self.policy.as_mut().and_then(|policy| policy.on_overfull(now, at))
    }

    /// The periodic frame that confirms to the neighbour of an input what is paused, if any.
    pub fn reminder(&self, input: usize) -> Option<Frame> {
        self.policy.as_ref().and_then(|policy| policy.reminder(input))
    }

    /// The frames that restate the pauses to the neighbour of an input.
    pub fn restate(&self, input: usize) -> Vec<Frame> {
        self.policy.as_ref().map_or_else(Vec::new, |policy| policy.restate(input))
    }

    /// The policy that pauses the neighbours, if any.
    pub fn policy(&self) -> Option<&PauseMachine> {
        self.policy.as_ref()
    }

    /// A packet begins to leave: likewise.
    #[inline]
    pub fn on_departed(&mut self, now: Time, at: Passing<'_>) -> Option<Frame> {
        self.policy.as_mut().and_then(|policy| policy.on_departed(now, at))
    }

    /// After [`Inputs::release`]: likewise.
    #[inline]
    pub fn on_released(&mut self, now: Time, input: usize) -> Option<Frame> {
        let held = self.held(input);
        self.policy.as_mut().and_then(|policy| policy.on_released(now, input, held))
    }

    /// The neighbour behind `output` has sent a frame.
    pub fn on_frame(&mut self, now: Time, output: usize, frame: Frame) {
        if let Some(policy) = &mut self.policy {
            policy.on_frame(now, output, frame);
        }
    }

    /// The state of an input, for the pause policy.
    #[inline]
    fn held(&self, input: usize) -> Held {
        let Input { bytes, headroom } = self.inputs[input];
        Held { bytes, headroom, threshold: self.account.threshold() }
    }

    /// An input that has paused its neighbour resumes it at this many bytes or less; 0: a dynamic threshold decides, or
    /// there are no pauses.
    pub fn resumes_at(&self) -> u64 {
        if let Claims::Static { xon, .. } = self.spec.claims() { xon } else { 0 }
    }

    /// Whether the neighbour of a paused input would resume if every input held only `left` bytes and nothing arrived.
    pub fn resumes_with(&self, input: usize, left: impl Fn(usize) -> u64) -> bool {
        let Some(policy) = &self.policy else { return true };
        let at = |input: usize| self.inputs[input].with(left(input));
        let threshold = self.account.threshold_of(&mut (0..self.inputs.len()).map(at));
        let Input { bytes, headroom } = at(input);
        policy.resumes(Held { bytes, headroom, threshold })
    }
}

#[cfg(test)]
mod tests;
