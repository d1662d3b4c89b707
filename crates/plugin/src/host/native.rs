//! One flow's controller, behind the contract of all: what it is given goes to a library's functions, and what these
//! allow is read once after each call.

use super::{Failure, Library, has_failed, keep};
use crate::abi::{self, NONE, Sink, Table, Text};
use crate::{AckSample, Bytes, CongestionControl, Feedback, FlowId, Loss, Permit, Report, Restart};
use crate::{Span, Time};
use std::ffi::c_void;
use thalweg_machines::congestion::custom::{Earliest, Impermissible, PluggedController, Stated};

/// One flow's controller.
pub(super) struct Native {
    name: String,
    library: Library,
    flow: FlowId,
    /// Null: it stands in for one that could not be made, until the run ends of it.
    pub(super) state: *mut c_void,
    permit: Permit,
}

// SAFETY: the interface lets states move between threads; calls never overlap, for all that change one are `&mut`.
unsafe impl Send for Native {}
// SAFETY: what takes `&self` reads, and a state may be read from several threads.
unsafe impl Sync for Native {}

impl Drop for Native {
    fn drop(&mut self) {
        if let (Some(free), false) = (self.table().free, self.state.is_null()) {
            // SAFETY: it was made by this table, and is not used again.
            unsafe { free(self.state) }
        }
    }
}

/// What a library wrote, on one line.
pub(super) fn text(bytes: Vec<u8>) -> String {
    let said = String::from_utf8_lossy(&bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    if said.is_empty() { "failed, and does not say why".into() } else { said }
}

impl Native {
    fn table(&self) -> &'static Table {
        self.library.table()
    }

    pub(super) fn of(name: &str, library: Library, flow: FlowId, state: *mut c_void) -> Self {
        Self { name: name.to_owned(), library, flow, state, permit: Permit::default() }
    }

    pub(super) fn fail(&self, now: Option<Time>, doing: &'static str, why: String) {
        keep(Failure { name: self.name.clone(), flow: Some(self.flow), now, doing, why });
    }

    /// What went wrong in a function that has just returned and cannot say so itself.
    fn check(&self) -> Result<(), String> {
        let Some(failed) = self.table().failed else { return Ok(()) };
        let mut error = Vec::new();
        // SAFETY: the sink is there during the call.
        if unsafe { failed(Sink::into_vec(&mut error)) } == 0 { Ok(()) } else { Err(text(error)) }
    }

    /// As [`Self::check`], kept: it ends the run.
    fn fail_if_any(&self, doing: &'static str) {
        if let Err(why) = self.check() {
            self.fail(None, doing, why);
        }
    }

    /// Takes the permit: none that would stop time, or a pace of nothing.
    pub(super) fn read(&mut self, earliest: Earliest) -> Result<(), String> {
        let mut allowed = abi::Permit { window: 0, pace: NONE, wake_ps: NONE };
        let permit = self.table().permit.expect("looked for when registered");
        // SAFETY: a state of this table.
        unsafe { permit(self.state, &raw mut allowed) };
        self.check().map_err(|why| format!("permit: {why}"))?;
        let stated = |number| (number != NONE).then_some(number);
        let wake = allowed.wake_ps;
        let pace = stated(allowed.pace);
        let stated = Stated { window: allowed.window, pace, wake_ps: stated(wake) };
        self.permit = stated.permit(earliest).map_err(|wrong| match wrong {
            Impermissible::Pace => "its pace is 0: a pace is 1 bit/s at least, or absent".into(),
            Impermissible::NoInstant => format!("its wake-up, {wake} ps, is no instant"),
            Impermissible::TooSoonToSay => "it wants to be woken, and does not know the time yet".into(),
            Impermissible::Before(earliest) => {
                format!("its wake-up, {wake} ps, is before {} ps", earliest.ps())
            }
        })?;
        Ok(())
    }

    /// Calls the library, then takes the permit; what fails is kept and ends the run.
    fn call(&mut self, doing: &'static str, now: Time, f: impl FnOnce(&Table, *mut c_void, Sink) -> u32) {
        if self.state.is_null() || has_failed() {
            return;
        }
        let mut error = Vec::new();
        let status = f(self.table(), self.state, Sink::into_vec(&mut error));
        // The same instant again and again, and time would stand still.
        let earliest = if doing == "on_tick" { now + Span::from_ps(1) } else { now };
        let done = if status == 0 { self.read(Earliest::At(earliest)) } else { Err(text(error)) };
        if let Err(why) = done {
            self.fail(Some(now), doing, why);
        }
    }
}

/// Shows a library what the network wrote.
fn with_feedback<T>(feedback: Feedback<'_>, f: impl FnOnce(abi::Feedback) -> T) -> T {
    let none = abi::Feedback { hops: std::ptr::null(), len: 0, path: 0, mark: 0 };
    match feedback {
        Feedback::Int(stack) => {
            let mut hops = [abi::Hop::default(); crate::IntStack::CAPACITY];
            let len = stack.as_slice().len();
            for (to, hop) in hops.iter_mut().zip(stack.as_slice()) {
                *to = abi::Hop {
                    at_ps: hop.at.ps(),
                    tx_bytes: hop.tx_bytes,
                    queue: hop.queue,
                    rate: hop.rate.bps(),
                };
            }
            f(abi::Feedback { hops: hops.as_ptr(), len, path: stack.path(), mark: 0 })
        }
        Feedback::Mark => f(abi::Feedback { mark: 1, ..none }),
        // What routers write is for controllers that declare it, which a user's cannot.
        _ => f(none),
    }
}

fn shown(loss: &Loss) -> abi::Loss {
    abi::Loss {
        now_ps: loss.now.ps(),
        in_flight: loss.in_flight.get(),
        acked_to: loss.acked_to,
        sent_to: loss.sent_to,
    }
}

fn flag(on: bool, flag: u32) -> u32 {
    if on { flag } else { 0 }
}

impl CongestionControl for Native {
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let delivery = ack.delivery.unwrap_or_default();
        let flags = flag(ack.in_recovery, abi::IN_RECOVERY)
            | flag(ack.app_limited, abi::APP_LIMITED)
            | flag(ack.cwnd_limited, abi::CWND_LIMITED)
            | flag(ack.delivery.is_some(), abi::DELIVERY)
            | flag(delivery.resent, abi::RESENT)
            | flag(delivery.app_limited, abi::HELD_BACK);
        with_feedback(ack.feedback, |feedback| {
            let it = abi::Ack {
                now_ps: ack.now.ps(),
                rtt_ps: ack.rtt.map_or(NONE, Span::ps),
                acked: ack.acked.get(),
                sacked: ack.sacked.get(),
                in_flight: ack.in_flight.get(),
                acked_to: ack.acked_to,
                sent_to: ack.sent_to,
                marked: ack.marked.get(),
                braked: ack.braked.get(),
                delivered: delivery.delivered.get(),
                departures_ps: delivery.departures.ps(),
                arrivals_ps: delivery.arrivals.ps(),
                sent_ps: delivery.sent.ps(),
                total: delivery.total.get(),
                lost: delivery.lost.get(),
                feedback,
                flags,
                reserved: 0,
            };
            self.call("on_ack", ack.now, |table, state, error| {
                let on_ack = table.on_ack.expect("looked for when registered");
                // SAFETY: a state of this table, and what it is shown is there during the call; so below.
                unsafe { on_ack(state, &raw const it, error) }
            });
        });
    }

    fn on_loss(&mut self, loss: &Loss) {
        let it = shown(loss);
        self.call("on_loss", loss.now, |table, state, error| {
            let on_loss = table.on_loss.expect("looked for when registered");
            // SAFETY: as in `on_ack`.
            unsafe { on_loss(state, &raw const it, error) }
        });
    }

    fn on_timeout(&mut self, loss: &Loss) {
        let it = shown(loss);
        self.call("on_timeout", loss.now, |table, state, error| {
            let on_timeout = table.on_timeout.expect("looked for when registered");
            // SAFETY: as in `on_ack`.
            unsafe { on_timeout(state, &raw const it, error) }
        });
    }

    fn on_tick(&mut self, now: Time) {
        let Some(on_tick) = self.table().on_tick else { return };
        // SAFETY: as in `on_ack`.
        self.call("on_tick", now, |_, state, error| unsafe { on_tick(state, now.ps(), error) });
    }

    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        let Some(on_sent) = self.table().on_sent else { return };
        let (bytes, in_flight) = (bytes.get(), in_flight.get());
        // SAFETY: as in `on_ack`.
        self.call("on_sent", now, |_, state, error| unsafe {
            on_sent(state, now.ps(), bytes, in_flight, error)
        });
    }

    fn on_open(&mut self, now: Time, rtt: Option<Span>, feedback: Feedback<'_>) {
        let Some(on_open) = self.table().on_open else { return };
        let rtt = rtt.map_or(NONE, Span::ps);
        with_feedback(feedback, |it| {
            self.call("on_open", now, |_, state, error| {
                // SAFETY: as in `on_ack`.
                unsafe { on_open(state, now.ps(), rtt, &raw const it, error) }
            });
        });
    }

    fn on_notification(&mut self, now: Time) {
        let Some(on_notification) = self.table().on_notification else { return };
        // SAFETY: as in `on_ack`.
        self.call("on_notification", now, |_, state, error| unsafe {
            on_notification(state, now.ps(), error)
        });
    }

    fn on_restart(&mut self, now: Time, idle: Span) {
        let Some(on_restart) = self.table().on_restart else { return };
        // SAFETY: as in `on_ack`.
        self.call("on_restart", now, |_, state, error| unsafe {
            on_restart(state, now.ps(), idle.ps(), error)
        });
    }

    fn restart_from(&mut self, now: Time, left: Restart) {
        let Some(restart_from) = self.table().restart_from else { return };
        let (window, keeps) = (left.window.get(), u32::from(left.keeps_threshold));
        self.call("restart_from", now, |_, state, error| {
            // SAFETY: as in `on_ack`.
            unsafe { restart_from(state, now.ps(), window, keeps, error) }
        });
    }

    fn permit(&self) -> Permit {
        self.permit
    }

    fn threshold(&self) -> Bytes {
        match self.table().threshold {
            Some(threshold) if !self.state.is_null() && !has_failed() => {
                // SAFETY: a state of this table.
                let found = unsafe { threshold(self.state) };
                self.fail_if_any("threshold");
                Bytes::new(found)
            }
            _ => Bytes::MAX,
        }
    }

    fn report(&self, report: &mut Report) {
        unsafe extern "C" fn add(
            to: *mut c_void,
            name: Text,
            unit: Text,
            doc: Text,
            value: f64,
            present: u32,
        ) {
            // SAFETY: `to` is the report below, which the call borrows; the texts are the library's.
            unsafe {
                let [name, unit, doc] =
                    [name, unit, doc].map(|word| String::from_utf8_lossy(word.bytes()).into_owned());
                (*to.cast::<Report>()).add(name, unit, doc, (present != 0).then_some(value));
            }
        }
        if let (Some(all), false) = (self.table().report, self.state.is_null() || has_failed()) {
            // SAFETY: a state of this table.
            unsafe { all(self.state, std::ptr::from_mut(report).cast(), add) }
            self.fail_if_any("report");
        }
    }
}

impl PluggedController for Native {
    fn name(&self) -> &str {
        &self.name
    }

    fn boxed_clone(&self) -> Box<dyn PluggedController> {
        let copy = self.table().copy.expect("looked for when registered");
        let mut state = std::ptr::null_mut();
        if !self.state.is_null() {
            // SAFETY: a state of this table.
            state = unsafe { copy(self.state) };
            if state.is_null() {
                let why = self.check().err().unwrap_or_else(|| "it cannot be copied".into());
                self.fail(None, "copying its state", why);
            }
        }
        let mut copied = Self::of(&self.name, self.library, self.flow, state);
        copied.permit = self.permit;
        Box::new(copied)
    }

    fn save(&self) -> Vec<u8> {
        let mut saved = self.flow.0.to_le_bytes().to_vec();
        let save = self.table().save.expect("looked for when registered");
        if !self.state.is_null() {
            // SAFETY: a state of this table.
            unsafe { save(self.state, Sink::into_vec(&mut saved)) };
            self.fail_if_any("saving its state");
        }
        saved
    }
}
