//! The open door: user-written machines behind a box, one arm per contract.
//!
//! State is data even here: a plug-in saves itself to bytes and a loader registered under its name
//! brings it back, so runs with plug-ins can be cut, saved and resumed like any other.

use crate::congestion::{AckSample, CongestionControl, Feedback, Loss, Permit, Start};
use crate::packet::{Handle, Packet};
use crate::schedule::{Discipline, Limit, Served, Verdict};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::{OnceLock, RwLock};
use thalweg_units::{Bytes, Span, Time};

/// A user's controller: the contract, and how to clone and save it.
pub trait PluggedController: CongestionControl + Send + Sync {
    /// The name its factory is registered under.
    fn name(&self) -> &str;
    /// A copy with the same future.
    fn boxed_clone(&self) -> Box<dyn PluggedController>;
    /// Everything it knows, as bytes that its loader understands.
    fn save(&self) -> Vec<u8>;
}

/// A user's queue discipline: the contract, and how to clone and save it.
pub trait PluggedDiscipline: Discipline + Send + Sync {
    /// The name its factory is registered under.
    fn name(&self) -> &str;
    /// A copy with the same future.
    fn boxed_clone(&self) -> Box<dyn PluggedDiscipline>;
    /// Everything it knows, as bytes that its loader understands.
    fn save(&self) -> Vec<u8>;
}

/// A plug-in, or why its factory refuses.
pub type Made<T> = Result<Box<T>, String>;

/// How controllers of one name are made and brought back.
#[derive(Clone, Copy)]
pub struct ControllerFactory {
    /// A new one for a flow that starts; `params` is what the scenario wrote under `params`.
    pub make: fn(name: &str, start: &Start, params: &[u8]) -> Made<dyn PluggedController>,
    /// From the bytes of [`PluggedController::save`].
    pub load: fn(name: &str, saved: &[u8]) -> Made<dyn PluggedController>,
}

/// How disciplines of one name are made and brought back.
#[derive(Clone, Copy)]
pub struct DisciplineFactory {
    /// A new one for a port; `params` is what the scenario wrote under `params`.
    pub make: fn(name: &str, params: &[u8]) -> Made<dyn PluggedDiscipline>,
    /// From the bytes of [`PluggedDiscipline::save`].
    pub load: fn(name: &str, saved: &[u8]) -> Made<dyn PluggedDiscipline>,
}

/// What a controller says of itself before any flow starts: scenarios are checked against it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// It wants to hear of ECN marks, so its packets may be marked unless the scenario says otherwise.
    pub ecn: bool,
    /// It wants to be told the telemetry that switches write into packets.
    pub telemetry: bool,
    /// The names it knows under `params`; `None`: its factory alone decides.
    pub params: Option<Vec<String>>,
}

#[derive(Default)]
struct Registry {
    controllers: BTreeMap<String, ControllerFactory>,
    declared: BTreeMap<String, Declared>,
    disciplines: BTreeMap<String, DisciplineFactory>,
}

fn registry() -> &'static RwLock<Registry> {
    static REGISTRY: OnceLock<RwLock<Registry>> = OnceLock::new();
    REGISTRY.get_or_init(Default::default)
}

/// Makes controllers called `name` available to scenarios; a second registration replaces the first.
pub fn register_controller(name: &str, factory: ControllerFactory) {
    let mut registry = registry().write().unwrap_or_else(|e| e.into_inner());
    registry.controllers.insert(name.to_owned(), factory);
    registry.declared.remove(name);
}

/// Says more of the controllers registered as `name`, for scenarios to be checked against.
pub fn declare_controller(name: &str, declared: Declared) {
    registry().write().unwrap_or_else(|e| e.into_inner()).declared.insert(name.to_owned(), declared);
}

/// What the controllers registered as `name` have declared; nothing, if nothing.
pub fn declared(name: &str) -> Declared {
    registry().read().unwrap_or_else(|e| e.into_inner()).declared.get(name).cloned().unwrap_or_default()
}

/// Makes disciplines called `name` available to scenarios; a second registration replaces the first.
pub fn register_discipline(name: &str, factory: DisciplineFactory) {
    registry().write().unwrap_or_else(|e| e.into_inner()).disciplines.insert(name.to_owned(), factory);
}

/// The registered controllers' names, sorted.
pub fn controllers() -> Vec<String> {
    registry().read().unwrap_or_else(|e| e.into_inner()).controllers.keys().cloned().collect()
}

/// The registered disciplines' names, sorted.
pub fn disciplines() -> Vec<String> {
    registry().read().unwrap_or_else(|e| e.into_inner()).disciplines.keys().cloned().collect()
}

/// A boxed user controller that clones, saves and loads like any other state.
pub struct CustomController(pub Box<dyn PluggedController>);

impl CustomController {
    /// Makes the controller registered as `name`.
    ///
    /// # Errors
    /// If nothing is registered under the name or its factory refuses the parameters.
    pub fn make(name: &str, start: &Start, params: &[u8]) -> Result<Self, String> {
        let factory = registry().read().unwrap_or_else(|e| e.into_inner()).controllers.get(name).copied();
        let factory = factory.ok_or_else(|| format!("no controller is registered as `{name}`"))?;
        (factory.make)(name, start, params).map(Self)
    }
}

impl CongestionControl for CustomController {
    fn on_sent(&mut self, now: Time, bytes: Bytes, in_flight: Bytes) {
        self.0.on_sent(now, bytes, in_flight);
    }
    fn on_open(&mut self, now: Time, rtt: Option<Span>, feedback: Feedback<'_>) {
        self.0.on_open(now, rtt, feedback);
    }
    fn on_ack(&mut self, ack: &AckSample) {
        self.0.on_ack(ack);
    }
    fn on_loss(&mut self, loss: &Loss) {
        self.0.on_loss(loss);
    }
    fn on_timeout(&mut self, loss: &Loss) {
        self.0.on_timeout(loss);
    }
    fn on_notice(&mut self, now: Time, notice: &crate::Notice) {
        self.0.on_notice(now, notice);
    }
    fn on_notification(&mut self, now: Time) {
        self.0.on_notification(now);
    }
    fn on_restart(&mut self, now: Time, idle: Span) {
        self.0.on_restart(now, idle);
    }
    fn on_tick(&mut self, now: Time) {
        self.0.on_tick(now);
    }
    fn permit(&self) -> Permit {
        self.0.permit()
    }
    fn threshold(&self) -> Bytes {
        self.0.threshold()
    }
    fn other_window(&self) -> Bytes {
        self.0.other_window()
    }
}

/// A boxed user discipline that clones, saves and loads like any other state.
pub struct CustomDiscipline(pub Box<dyn PluggedDiscipline>);

impl CustomDiscipline {
    /// Makes the discipline registered as `name`.
    ///
    /// # Errors
    /// If nothing is registered under the name or its factory refuses the parameters.
    pub fn make(name: &str, params: &[u8]) -> Result<Self, String> {
        let factory = registry().read().unwrap_or_else(|e| e.into_inner()).disciplines.get(name).copied();
        let factory = factory.ok_or_else(|| format!("no discipline is registered as `{name}`"))?;
        (factory.make)(name, params).map(Self)
    }
}

impl Discipline for CustomDiscipline {
    fn enqueue(&mut self, now: Time, packet: &Packet, handle: Handle, out: &mut Vec<Handle>) -> Verdict {
        self.0.enqueue(now, packet, handle, out)
    }
    fn dequeue(&mut self, now: Time, out: &mut Vec<Handle>) -> Option<Served> {
        self.0.dequeue(now, out)
    }
    fn packets(&self) -> u32 {
        self.0.packets()
    }
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }
    fn wake(&self) -> Option<Time> {
        self.0.wake()
    }
    fn on_tick(&mut self, now: Time) {
        self.0.on_tick(now);
    }
}

/// A user's discipline behind the port's limit: an arrival that does not fit is dropped before it is asked.
/// One that pushes out others wants the limit unlimited, and one of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Limited {
    /// The user's.
    pub discipline: CustomDiscipline,
    /// Of what it holds.
    pub limit: Limit,
}

impl Discipline for Limited {
    fn enqueue(&mut self, now: Time, packet: &Packet, handle: Handle, out: &mut Vec<Handle>) -> Verdict {
        let fits = match self.limit {
            Limit::Bytes(bytes) => self.bytes() + u64::from(packet.wire) <= bytes.get(),
            Limit::Packets(packets) => self.packets() < packets,
            Limit::Unlimited => true,
        };
        if fits { self.discipline.enqueue(now, packet, handle, out) } else { Verdict::Dropped }
    }
    fn dequeue(&mut self, now: Time, out: &mut Vec<Handle>) -> Option<Served> {
        self.discipline.dequeue(now, out)
    }
    fn packets(&self) -> u32 {
        self.discipline.packets()
    }
    fn bytes(&self) -> u64 {
        self.discipline.bytes()
    }
    fn wake(&self) -> Option<Time> {
        self.discipline.wake()
    }
    fn on_tick(&mut self, now: Time) {
        self.discipline.on_tick(now);
    }
}

macro_rules! boxed_state {
    ($wrapper:ident, $table:ident) => {
        impl Clone for $wrapper {
            fn clone(&self) -> Self {
                Self(self.0.boxed_clone())
            }
        }
        impl std::fmt::Debug for $wrapper {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($wrapper), self.0.name())
            }
        }
        impl Serialize for $wrapper {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                (self.0.name(), self.0.save()).serialize(serializer)
            }
        }
        impl<'de> Deserialize<'de> for $wrapper {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde::de::Error;
                let (name, saved): (String, Vec<u8>) = Deserialize::deserialize(deserializer)?;
                let load =
                    registry().read().unwrap_or_else(|e| e.into_inner()).$table.get(&name).map(|f| f.load);
                let load = load.ok_or_else(|| {
                    D::Error::custom(format!("the saved run uses `{name}`, which is not registered here"))
                })?;
                load(&name, &saved).map(Self).map_err(D::Error::custom)
            }
        }
    };
}
boxed_state!(CustomController, controllers);
boxed_state!(CustomDiscipline, disciplines);
