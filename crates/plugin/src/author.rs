//! The library's end: a controller of the project's own contract as a table of C functions.

use crate::abi::{self, NONE, Sink, Table, Text};
use crate::{
    AckSample, Bytes, CongestionControl, Delivery, Feedback, FlowId, IntHop, IntStack, Loss, Permit, Rate,
    Report, Restart, Span, Start, Stream, Time,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A controller that a library may hold: the project's contract, its name, its parameters, and how it begins.
pub trait Controller: CongestionControl + Clone + Serialize + DeserializeOwned + Send + Sync {
    /// What scenarios call it.
    const NAME: &'static str;
    /// Its packets may be marked, unless the scenario says otherwise.
    const ECN: bool = false;
    /// Switches write telemetry into its packets ([`AckSample::feedback`]).
    const TELEMETRY: bool = false;
    /// What a scenario may write under `params`; what it does not write is as in `Default`.
    type Params: Serialize + DeserializeOwned + Default;

    /// One flow's.
    ///
    /// # Errors
    /// Why these parameters are impossible.
    fn make(start: &Start, params: Self::Params) -> Result<Self, String>;
}

thread_local! {
    /// Where and why the last panic was.
    static PANICKED: RefCell<String> = const { RefCell::new(String::new()) };
    /// What a call that cannot say so has failed with.
    static FAILED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// What [`export!`](crate::export) answers with: the table, and from now on panics are reported, not printed.
pub fn open<C: Controller>() -> *const Table {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let what = payload.downcast_ref::<&str>().copied();
        let what = what.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic");
        let place = info.location().map(|at| format!("{at}: ")).unwrap_or_default();
        PANICKED.with_borrow_mut(|last| *last = format!("{place}{what}"));
    }));
    table::<C>()
}

/// A controller's table. It is never freed.
pub fn table<C: Controller>() -> *const Table {
    let names = match serde_json::to_value(C::Params::default()) {
        Ok(Value::Object(map)) => map.keys().cloned().collect(),
        _ => Vec::<String>::new(),
    };
    let names: &'static [u8] = Box::leak(Value::from(names).to_string().into_bytes().into_boxed_slice());
    let wants = u32::from(C::ECN) * abi::ECN + u32::from(C::TELEMETRY) * abi::TELEMETRY;
    Box::leak(Box::new(Table {
        version: abi::VERSION,
        size: size_of::<Table>() as u32,
        wants,
        reserved: 0,
        name: Text::of(C::NAME.as_bytes()),
        params: Text::of(names),
        make: Some(make::<C>),
        load: Some(load::<C>),
        save: Some(save::<C>),
        copy: Some(copy::<C>),
        free: Some(free::<C>),
        permit: Some(permit::<C>),
        on_ack: Some(on_ack::<C>),
        on_loss: Some(on_loss::<C>),
        on_timeout: Some(on_timeout::<C>),
        on_tick: Some(on_tick::<C>),
        on_sent: Some(on_sent::<C>),
        on_open: Some(on_open::<C>),
        on_notification: Some(on_notification::<C>),
        on_restart: Some(on_restart::<C>),
        restart_from: Some(restart_from::<C>),
        threshold: Some(threshold::<C>),
        report: Some(report::<C>),
        failed: Some(failed),
    }))
}

/// Its value, or why there is none: no panic crosses the border.
fn guarded<T>(f: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| {
        let last = PANICKED.with_borrow_mut(std::mem::take);
        Err(if last.is_empty() { "panicked".into() } else { last })
    })
}

/// Its value, or the one that stands in for it until the engine has asked what failed ([`failed`]).
fn answered<T>(instead: T, f: impl FnOnce() -> Result<T, String>) -> T {
    guarded(f).unwrap_or_else(|why| {
        FAILED.with_borrow_mut(|failed| _ = failed.get_or_insert(why));
        instead
    })
}

unsafe extern "C" fn failed(error: Sink) -> u32 {
    let Some(why) = FAILED.with_borrow_mut(Option::take) else { return 0 };
    // SAFETY: the sink is of the call that we are in.
    unsafe { error.put(why.as_bytes()) };
    1
}

/// A new controller, or null with the reason.
fn made<C>(error: Sink, f: impl FnOnce() -> Result<C, String>) -> *mut c_void {
    match guarded(f) {
        Ok(controller) => Box::into_raw(Box::new(controller)).cast(),
        Err(why) => {
            // SAFETY: the sink is of the call that we are in.
            unsafe { error.put(why.as_bytes()) };
            std::ptr::null_mut()
        }
    }
}

/// Calls the controller behind `state`.
///
/// # Safety
/// `state` is from `make`, `load` or `copy` of the same type, and no other call has it.
unsafe fn call<C: Controller>(state: *mut c_void, error: Sink, f: impl FnOnce(&mut C)) -> u32 {
    // SAFETY: as the caller says.
    let controller = unsafe { &mut *state.cast::<C>() };
    match guarded(|| {
        f(controller);
        Ok(())
    }) {
        Ok(()) => 0,
        Err(why) => {
            // SAFETY: the sink is of the call that we are in.
            unsafe { error.put(why.as_bytes()) };
            1
        }
    }
}

fn span(ps: u64) -> Option<Span> {
    (ps != NONE).then(|| Span::from_ps(ps))
}

/// The parameters: what was written over the defaults.
fn parameters<P: Serialize + DeserializeOwned + Default>(written: &[u8]) -> Result<P, String> {
    let mut all = serde_json::to_value(P::default()).map_err(|e| e.to_string())?;
    let written = if written.is_empty() { Ok(Value::Null) } else { serde_json::from_slice(written) };
    match written.map_err(|e| e.to_string())? {
        Value::Null => {}
        Value::Object(written) if all.is_object() => {
            if let Some(key) = written.keys().find(|key| all.get(key).is_none()) {
                return Err(format!("no parameter `{key}` is declared"));
            }
            write_over(&mut all, Value::Object(written));
        }
        other => return Err(format!("`params` is {other}, not a table")),
    }
    serde_json::from_value(all).map_err(|e| e.to_string())
}

/// Table by table: what is not written stays. (A table with other keys is another variant, or a map.)
fn write_over(all: &mut Value, written: Value) {
    match (all, written) {
        (Value::Object(all), Value::Object(written)) if written.keys().all(|key| all.contains_key(key)) => {
            for (key, value) in written {
                write_over(&mut all[&key], value);
            }
        }
        (there, value) => *there = value,
    }
}

unsafe extern "C" fn make<C: Controller>(start: *const abi::Start, params: Text, error: Sink) -> *mut c_void {
    // SAFETY: both are the engine's, and there during the call.
    let (start, params) = unsafe { (&*start, params.bytes()) };
    made(error, || {
        let start = Start {
            stream: Stream::new(start.seed, "plug-in", u64::from(start.flow)),
            flow: FlowId(start.flow),
            class: start.class as u8,
            mss: start.mss,
            header: start.header,
            initial_window: Bytes::new(start.initial_window),
            max_window: Bytes::new(start.max_window),
            initial_threshold: Bytes::new(start.initial_threshold),
            line_rate: Rate::from_bps(start.line_rate),
            base_rtt: Span::from_ps(start.base_rtt_ps),
            switches: start.switches,
            time_quantum: Span::from_ps(start.time_quantum_ps),
            // How its packets are spaced is its transport's affair.
            queued: false,
            records: false,
        };
        C::make(&start, parameters(params)?)
    })
}

unsafe extern "C" fn load<C: Controller>(saved: Text, error: Sink) -> *mut c_void {
    // SAFETY: the engine's, and there during the call.
    let saved = unsafe { saved.bytes() };
    made(error, || {
        postcard::from_bytes::<C>(saved).map_err(|e| format!("its saved state cannot be read: {e}"))
    })
}

unsafe extern "C" fn save<C: Controller>(state: *const c_void, out: Sink) {
    // SAFETY: a state of ours, and a sink of this call.
    unsafe {
        let controller = &*state.cast::<C>();
        let saved = answered(Vec::new(), || postcard::to_allocvec(controller).map_err(|e| e.to_string()));
        out.put(&saved);
    }
}

unsafe extern "C" fn copy<C: Controller>(state: *const c_void) -> *mut c_void {
    // SAFETY: a state of ours.
    let controller = unsafe { &*state.cast::<C>() };
    let copied = answered(None, || Ok(Some(controller.clone())));
    copied.map_or(std::ptr::null_mut(), |copied| Box::into_raw(Box::new(copied)).cast())
}

unsafe extern "C" fn free<C: Controller>(state: *mut c_void) {
    // SAFETY: a state of ours, which the engine gives back once.
    let controller = unsafe { Box::from_raw(state.cast::<C>()) };
    let _ = guarded(|| {
        drop(controller);
        Ok(())
    });
}

unsafe extern "C" fn permit<C: Controller>(state: *const c_void, permit: *mut abi::Permit) {
    // SAFETY: a state of ours, and room for the answer.
    unsafe {
        let allowed = answered(Permit::default(), || Ok((*state.cast::<C>()).permit()));
        *permit = abi::Permit {
            window: allowed.window.get(),
            pace: allowed.pace.map_or(NONE, Rate::bps),
            wake_ps: allowed.wake.map_or(NONE, Time::ps),
        };
    }
}

/// Gives a controller what the network wrote, as it is in the engine.
///
/// # Safety
/// The hops are there.
unsafe fn with_feedback<T>(it: &abi::Feedback, f: impl FnOnce(Feedback<'_>) -> T) -> T {
    if it.hops.is_null() {
        return f(if it.mark == 0 { Feedback::None } else { Feedback::Mark });
    }
    // SAFETY: as the caller says.
    let hops = unsafe { std::slice::from_raw_parts(it.hops, it.len) };
    let hops: Vec<IntHop> = hops
        .iter()
        .map(|hop| IntHop {
            at: Time::from_ps(hop.at_ps),
            tx_bytes: hop.tx_bytes,
            queue: hop.queue,
            rate: Rate::from_bps(hop.rate),
        })
        .collect();
    f(Feedback::Int(&IntStack::of(it.path, &hops)))
}

unsafe extern "C" fn on_ack<C: Controller>(state: *mut c_void, ack: *const abi::Ack, error: Sink) -> u32 {
    // SAFETY: a state of ours, and what the engine shows during the call.
    unsafe {
        let ack = &*ack;
        let is = |flag: u32| ack.flags & flag != 0;
        call::<C>(state, error, |c| {
            with_feedback(&ack.feedback, |feedback| {
                c.on_ack(&AckSample {
                    now: Time::from_ps(ack.now_ps),
                    rtt: span(ack.rtt_ps),
                    acked: Bytes::new(ack.acked),
                    sacked: Bytes::new(ack.sacked),
                    in_flight: Bytes::new(ack.in_flight),
                    acked_to: ack.acked_to,
                    sent_to: ack.sent_to,
                    marked: Bytes::new(ack.marked),
                    braked: Bytes::new(ack.braked),
                    in_recovery: is(abi::IN_RECOVERY),
                    app_limited: is(abi::APP_LIMITED),
                    cwnd_limited: is(abi::CWND_LIMITED),
                    delivery: is(abi::DELIVERY).then(|| Delivery {
                        delivered: Bytes::new(ack.delivered),
                        departures: Span::from_ps(ack.departures_ps),
                        arrivals: Span::from_ps(ack.arrivals_ps),
                        sent: Time::from_ps(ack.sent_ps),
                        total: Bytes::new(ack.total),
                        resent: is(abi::RESENT),
                        lost: Bytes::new(ack.lost),
                        app_limited: is(abi::HELD_BACK),
                    }),
                    feedback,
                });
            });
        })
    }
}

fn loss(it: &abi::Loss) -> Loss {
    Loss {
        now: Time::from_ps(it.now_ps),
        in_flight: Bytes::new(it.in_flight),
        acked_to: it.acked_to,
        sent_to: it.sent_to,
    }
}

unsafe extern "C" fn on_loss<C: Controller>(state: *mut c_void, it: *const abi::Loss, error: Sink) -> u32 {
    // SAFETY: a state of ours, and what the engine shows during the call. So are those below.
    unsafe { call::<C>(state, error, |c| c.on_loss(&loss(&*it))) }
}

unsafe extern "C" fn on_timeout<C: Controller>(state: *mut c_void, it: *const abi::Loss, error: Sink) -> u32 {
    unsafe { call::<C>(state, error, |c| c.on_timeout(&loss(&*it))) }
}

unsafe extern "C" fn on_tick<C: Controller>(state: *mut c_void, now_ps: u64, error: Sink) -> u32 {
    unsafe { call::<C>(state, error, |c| c.on_tick(Time::from_ps(now_ps))) }
}

unsafe extern "C" fn on_sent<C: Controller>(
    state: *mut c_void,
    now_ps: u64,
    bytes: u64,
    in_flight: u64,
    error: Sink,
) -> u32 {
    let sent = |c: &mut C| c.on_sent(Time::from_ps(now_ps), Bytes::new(bytes), Bytes::new(in_flight));
    unsafe { call::<C>(state, error, sent) }
}

unsafe extern "C" fn on_open<C: Controller>(
    state: *mut c_void,
    now_ps: u64,
    rtt_ps: u64,
    it: *const abi::Feedback,
    error: Sink,
) -> u32 {
    unsafe {
        call::<C>(state, error, |c| {
            with_feedback(&*it, |feedback| c.on_open(Time::from_ps(now_ps), span(rtt_ps), feedback));
        })
    }
}

unsafe extern "C" fn on_notification<C: Controller>(state: *mut c_void, now_ps: u64, error: Sink) -> u32 {
    unsafe { call::<C>(state, error, |c| c.on_notification(Time::from_ps(now_ps))) }
}

unsafe extern "C" fn on_restart<C: Controller>(
    state: *mut c_void,
    now_ps: u64,
    idle_ps: u64,
    error: Sink,
) -> u32 {
    unsafe { call::<C>(state, error, |c| c.on_restart(Time::from_ps(now_ps), Span::from_ps(idle_ps))) }
}

unsafe extern "C" fn restart_from<C: Controller>(
    state: *mut c_void,
    now_ps: u64,
    window: u64,
    keeps: u32,
    error: Sink,
) -> u32 {
    let left = Restart { window: Bytes::new(window), keeps_threshold: keeps != 0 };
    unsafe { call::<C>(state, error, |c| c.restart_from(Time::from_ps(now_ps), left)) }
}

unsafe extern "C" fn threshold<C: Controller>(state: *const c_void) -> u64 {
    answered(Bytes::MAX, || Ok(unsafe { &*state.cast::<C>() }.threshold())).get()
}

unsafe extern "C" fn report<C: Controller>(state: *const c_void, to: *mut c_void, add: abi::Add) {
    let mut found = Report::default();
    let controller = unsafe { &*state.cast::<C>() };
    answered((), || {
        controller.report(&mut found);
        Ok(())
    });
    for (of, value) in found.values() {
        let [name, unit, doc] = [&of.name, &of.unit, &of.doc].map(|word| Text::of(word.as_bytes()));
        unsafe { add(to, name, unit, doc, value.unwrap_or(0.0), u32::from(value.is_some())) };
    }
}
