//! A controller that records its calls and permits what the test sets.

use crate::congestion::custom::{ControllerFactory, PluggedController, register_controller};
use crate::congestion::{
    AckSample, CongestionControl, ControllerSpec, Feedback, Loss, Observation, Permit, Restart,
};
use std::cell::{Cell, RefCell};
use thalweg_units::{Bytes, Rate, Span, Time};
use thalweg_wire::Notice;

/// A call of the contract, with its arguments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Call {
    Sent(Time, Bytes, Bytes),
    Open(Time, Option<Span>),
    Ack(AckSample<'static>),
    Feedback(Time),
    Loss(Loss),
    Timeout(Loss),
    Notification(Time),
    Tick(Time),
    Notice(Time),
    Restart(Time, Span),
    RestartFrom(Time, Restart),
}

thread_local! {
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
    static PAUSED: Cell<bool> = const { Cell::new(false) };
    static PERMIT: Cell<Permit> = const { Cell::new(Permit::window(Bytes::MAX)) };
}

/// All calls so far in this test.
pub fn calls() -> Vec<Call> {
    CALLS.with_borrow(Clone::clone)
}

/// The samples of all ACKs.
pub fn samples() -> Vec<AckSample<'static>> {
    calls().into_iter().filter_map(|c| if let Call::Ack(a) = c { Some(a) } else { None }).collect()
}

pub fn permit(permit: Permit) {
    PERMIT.set(permit);
}

pub fn pace(rate: Rate) {
    PERMIT.set(Permit { pace: Some(rate), ..Permit::window(Bytes::MAX) });
}

/// The spec of a fresh recorder.
pub fn recorder() -> ControllerSpec {
    let factory =
        ControllerFactory { make: |_, _, _| Ok(Box::new(Recorder)), load: |_, _| Ok(Box::new(Recorder)) };
    register_controller("test recorder", factory);
    CALLS.with_borrow_mut(Vec::clear);
    permit(Permit::window(Bytes::MAX));
    ControllerSpec::Custom(crate::congestion::custom::Params {
        name: "test recorder".into(),
        ..Default::default()
    })
}

#[derive(Clone)]
struct Recorder;

/// What `f` does is not recorded: a copy of the sender repeats what the sender has done.
pub fn unrecorded<T>(f: impl FnOnce() -> T) -> T {
    PAUSED.set(true);
    let done = f();
    PAUSED.set(false);
    done
}

fn note(call: Call) {
    if PAUSED.get() {
        return;
    }
    CALLS.with_borrow_mut(|calls| calls.push(call));
}

impl CongestionControl for Recorder {
    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        note(Call::Sent(now, bytes, in_flight));
    }
    fn on_open(&mut self, now: Time, rtt: Option<Span>, _: Feedback<'_>) {
        note(Call::Open(now, rtt));
    }
    fn on_feedback(&mut self, now: Time, _: Feedback<'_>, _: Bytes) {
        note(Call::Feedback(now));
    }
    fn on_notice(&mut self, now: Time, _: &Notice) {
        note(Call::Notice(now));
    }
    fn restart_from(&mut self, now: Time, window: Restart) {
        note(Call::RestartFrom(now, window));
    }
    fn on_ack(&mut self, ack: &AckSample) {
        let feedback = match ack.feedback {
            Feedback::Int(stack) => Feedback::Int(Box::leak(Box::new(*stack))),
            Feedback::Explicit(what) => Feedback::Explicit(what),
            Feedback::Mark => Feedback::Mark,
            Feedback::None => Feedback::None,
        };
        let Observation::Ack { sample, .. } = Observation::ack(ack) else { unreachable!("it is one") };
        note(Call::Ack(AckSample { feedback, ..sample }));
    }
    fn on_loss(&mut self, loss: &Loss) {
        note(Call::Loss(*loss));
    }
    fn on_timeout(&mut self, loss: &Loss) {
        note(Call::Timeout(*loss));
    }
    fn on_notification(&mut self, now: Time) {
        note(Call::Notification(now));
    }
    fn on_restart(&mut self, now: Time, idle: Span) {
        note(Call::Restart(now, idle));
    }
    fn on_tick(&mut self, now: Time) {
        note(Call::Tick(now));
        let Permit { window, pace, .. } = PERMIT.get();
        PERMIT.set(Permit { window, pace, wake: None });
    }
    fn permit(&self) -> Permit {
        PERMIT.get()
    }
}

impl PluggedController for Recorder {
    fn name(&self) -> &str {
        "test recorder"
    }
    fn boxed_clone(&self) -> Box<dyn PluggedController> {
        Box::new(self.clone())
    }
    fn save(&self) -> Vec<u8> {
        vec![]
    }
}
