//! A user's controller as scenarios reach it: by a name under which it is made.

use crate::call::{Call, check, perform};
use std::any::type_name;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use thalweg_machines::congestion::custom::{
    ControllerFactory, Declared, PluggedController, declare_controller, register_controller,
};
use thalweg_machines::congestion::{
    AckSample, CongestionControl, Feedback, Loss, Permit, Report, Restart, Start,
};
use thalweg_machines::plugin::Made;
use thalweg_units::{Bytes, FlowId, Span, Time};
use thalweg_wire::Notice;

type Maker = Arc<dyn Fn(&Start) -> Box<dyn PluggedController> + Send + Sync>;

/// Factories are plain functions: what they call is here, by name.
static MAKERS: RwLock<BTreeMap<String, Maker>> = RwLock::new(BTreeMap::new());
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A controller that can be made by name, until this is dropped.
pub(crate) struct Registered {
    /// Unlike all others of the process: two exams may be under way at once.
    pub name: String,
}

impl Registered {
    pub fn new<C, F>(make: F) -> Self
    where
        C: CongestionControl + Clone + Send + Sync + 'static,
        F: Fn(&Start) -> C + Send + Sync + 'static,
    {
        let name = format!("{}#{}", short_name::<C>(), NEXT.fetch_add(1, Ordering::Relaxed));
        let maker = move |start: &Start| -> Box<dyn PluggedController> {
            let call = Call { name: "make", flow: start.flow, at: None };
            let it = perform(call, || make(start));
            let made = Examined { flow: start.flow, it };
            check(call, made.permit());
            Box::new(made)
        };
        MAKERS.write().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), Arc::new(maker));
        register_controller(&name, ControllerFactory { make: made, load });
        Self { name }
    }

    /// States what it uses, for scenarios to be checked against.
    pub fn declare(&self, ecn: bool, telemetry: bool) {
        declare_controller(&self.name, Declared { ecn, telemetry, ..Declared::default() });
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        MAKERS.write().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
    }
}

/// The last name of a type's path, without its parameters.
pub(crate) fn short_name<C>() -> &'static str {
    let path = type_name::<C>();
    let path = path.split('<').next().unwrap_or(path);
    path.rsplit("::").next().unwrap_or(path)
}

fn made(name: &str, start: &Start, _: &[u8]) -> Made<dyn PluggedController> {
    let maker = MAKERS.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
    Ok(maker.ok_or_else(|| format!("the exam of `{name}` is over"))?(start))
}

fn load(_: &str, _: &[u8]) -> Made<dyn PluggedController> {
    Err("runs of an exam are not saved".to_owned().into())
}

/// One flow's controller.
#[derive(Clone)]
struct Examined<C> {
    flow: FlowId,
    it: C,
}

impl<C: CongestionControl> Examined<C> {
    fn call(&mut self, name: &'static str, at: Time, work: impl FnOnce(&mut C)) {
        let call = Call { name, flow: self.flow, at: Some(at) };
        perform(call, || work(&mut self.it));
        check(call, self.permit());
    }

    fn read<T>(&self, name: &'static str, work: impl FnOnce(&C) -> T) -> T {
        perform(Call { name, flow: self.flow, at: None }, || work(&self.it))
    }
}

impl<C: CongestionControl> CongestionControl for Examined<C> {
    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        self.call("on_sent", now, |it| it.on_sent(now, bytes, in_flight));
    }
    fn on_open(&mut self, now: Time, rtt: Option<Span>, feedback: Feedback<'_>) {
        self.call("on_open", now, |it| it.on_open(now, rtt, feedback));
    }
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.call("on_ack", ack.now, |it| it.on_ack(ack));
    }
    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>, in_flight: Bytes) {
        self.call("on_feedback", now, |it| it.on_feedback(now, feedback, in_flight));
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.call("on_loss", loss.now, |it| it.on_loss(loss));
    }
    fn on_timeout(&mut self, loss: &Loss) {
        self.call("on_timeout", loss.now, |it| it.on_timeout(loss));
    }
    fn on_notification(&mut self, now: Time) {
        self.call("on_notification", now, |it| it.on_notification(now));
    }
    fn on_notice(&mut self, now: Time, notice: &Notice) {
        self.call("on_notice", now, |it| it.on_notice(now, notice));
    }
    fn on_restart(&mut self, now: Time, idle: Span) {
        self.call("on_restart", now, |it| it.on_restart(now, idle));
    }
    fn restart_from(&mut self, now: Time, window: Restart) {
        self.call("restart_from", now, |it| it.restart_from(now, window));
    }
    fn on_tick(&mut self, now: Time) {
        self.call("on_tick", now, |it| it.on_tick(now));
    }
    fn permit(&self) -> Permit {
        self.read("permit", C::permit)
    }
    fn threshold(&self) -> Bytes {
        self.read("threshold", C::threshold)
    }
    fn report(&self, report: &mut Report) {
        self.read("report", |it| it.report(report));
    }
}

impl<C: CongestionControl + Clone + Send + Sync + 'static> PluggedController for Examined<C> {
    fn name(&self) -> &str {
        short_name::<C>()
    }
    fn boxed_clone(&self) -> Box<dyn PluggedController> {
        Box::new(self.clone())
    }
    fn save(&self) -> Vec<u8> {
        Vec::new() // `load` refuses it
    }
}
