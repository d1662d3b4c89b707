//! Calls of a controller under examination: which one is under way, so that a panic has a place.

use std::cell::Cell;
use std::fmt;
use std::panic::resume_unwind;
use thalweg_machines::congestion::Permit;
use thalweg_units::{FlowId, Span, Time};

/// A call of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The function of the contract; `make`: the controller was being made.
    pub name: &'static str,
    /// Of which flow.
    pub flow: FlowId,
    /// At which simulated instant, where the call is given one.
    pub at: Option<Time>,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "flow {}, in `{}`", self.flow.0, self.name)?;
        self.at.map_or(Ok(()), |at| write!(f, " at {at}"))
    }
}

/// A permit that stops a run; travels as a panic that no hook sees.
pub(crate) struct Impossible(pub String);

thread_local! {
    static UNDER_WAY: Cell<Option<Call>> = const { Cell::new(None) };
}

/// Performs a call.
pub(crate) fn perform<T>(call: Call, work: impl FnOnce() -> T) -> T {
    UNDER_WAY.set(Some(call));
    let answer = work();
    UNDER_WAY.set(None);
    answer
}

/// Ends the run if what is allowed after this call would stop time, or every packet.
pub(crate) fn check(call: Call, permit: Permit) {
    let reason = match (permit.wake, call.at) {
        _ if permit.pace.is_some_and(|pace| pace.bps() == 0) => {
            "its pace is 0: a pace is 1 bit/s at least, or absent".to_owned()
        }
        (Some(_), None) => "it wants to be woken, and does not know the time yet".to_owned(),
        // The same instant again and again, and time would stand still.
        (Some(wake), Some(now)) if wake < now || (call.name == "on_tick" && wake == now) => {
            let earliest = if call.name == "on_tick" { now + Span::from_ps(1) } else { now };
            format!("its wake-up, {wake}, is before {earliest}")
        }
        _ => return,
    };
    UNDER_WAY.set(Some(call));
    resume_unwind(Box::new(Impossible(reason)));
}

/// The call under way on this thread, if one is: of a panic, where it happened.
pub(crate) fn take() -> Option<Call> {
    UNDER_WAY.take()
}
