//! Queue disciplines written by users, registered by name.

use super::{
    At, Discipline, Entry, Key, Limit, Machine, Manages, Needs, OutputQueue, Parameters, Served, Verdict,
};
use crate::plugin::{Json, Made, Registry, boxed_state};
use crate::problems::Invalid;
use crate::stage::StageSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;
use thalweg_wire::{Ecn, Handle, Packet};

/// A user's queue discipline: the contract, and how to clone and save it.
pub trait PluggedDiscipline: Discipline + Send + Sync {
    /// The name its factory is registered under.
    fn name(&self) -> &str;
    /// A copy with the same future.
    fn boxed_clone(&self) -> Box<dyn PluggedDiscipline>;
    /// Its complete state, as bytes that its loader understands.
    fn save(&self) -> Vec<u8>;
}

/// How disciplines of one name are made and brought back.
#[derive(Clone, Copy)]
pub struct DisciplineFactory {
    /// A new one for a port; `params` is what the scenario wrote under `params`.
    pub make: fn(name: &str, params: &[u8]) -> Made<dyn PluggedDiscipline>,
    /// From the bytes of [`PluggedDiscipline::save`].
    pub load: fn(name: &str, saved: &[u8]) -> Made<dyn PluggedDiscipline>,
}

static FACTORIES: Registry<DisciplineFactory> = Registry::new();

/// Makes disciplines called `name` available to scenarios; a second registration replaces the first.
pub fn register_discipline(name: &str, factory: DisciplineFactory) {
    FACTORIES.insert(name, factory);
}

/// The registered disciplines' names, sorted.
pub fn disciplines() -> Vec<String> {
    FACTORIES.names()
}

/// A scheduler registered by the user.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-registry" = "schedulers"))]
pub struct Params {
    /// The name it was registered under.
    pub name: String,
    /// Parameters for its factory, which receives them as JSON.
    #[serde(default)]
    pub params: Json,
}

impl Parameters for Params {
    type Machine = CustomDiscipline;

    fn needs(&self) -> Needs {
        let manages = Manages::Everything;
        Needs { key: Key::Anything, classes: Some(256), manages, keeps: true, ..Needs::NOTHING }
    }
    fn make(&self, _: &At) -> Result<CustomDiscipline, Invalid> {
        CustomDiscipline::make(&self.name, self.params.0.to_string().as_bytes())
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![] // it obeys its author
    }
}

/// A boxed user discipline that clones, saves and loads like any other state.
pub struct CustomDiscipline(pub Box<dyn PluggedDiscipline>);

impl CustomDiscipline {
    /// Makes the discipline registered as `name`.
    ///
    /// # Errors
    /// If nothing is registered under the name or its factory refuses the parameters.
    pub fn make(name: &str, params: &[u8]) -> Result<Self, Invalid> {
        let unknown = || Invalid::new(format!("no discipline is registered as `{name}`")).at("name");
        let factory = FACTORIES.get(name).ok_or_else(unknown)?;
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
    fn on_idle(&mut self, at: Time) {
        self.0.on_idle(at);
    }
}

/// A user's discipline behind the port's limit: an arrival that does not fit is dropped before the discipline
/// sees it. A discipline that pushes out packets needs an unlimited limit here, and one of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Limited {
    /// The user's.
    pub discipline: CustomDiscipline,
    /// Limit of what the discipline may hold.
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
    fn on_idle(&mut self, at: Time) {
        self.discipline.on_idle(at);
    }
}

/// A user's discipline behind the port's limit; it does its own marking.
impl Machine for CustomDiscipline {
    type Queue = Limited;
    fn queue(self, limit: Limit, _: &StageSpec, _: &At) -> Result<Limited, Invalid> {
        Ok(Limited { discipline: self, limit })
    }
}

impl OutputQueue for Limited {
    fn serve(
        &mut self,
        now: Time,
        out: &mut Vec<Handle>,
        look: impl FnOnce(Handle) -> Entry,
    ) -> Option<(Entry, bool)> {
        let served = self.dequeue(now, out)?;
        let entry = look(served.handle);
        Some((Entry { ecn: if served.mark { Ecn::Ce } else { entry.ecn }, ..entry }, served.mark))
    }
}

boxed_state!(CustomDiscipline, FACTORIES);
