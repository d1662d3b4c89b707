//! The open door: a discipline registered by the user ([`crate::custom::register_discipline`]).

use super::{At, Discipline, Entry, Key, Limit, Machine, Manages, Needs, OutputQueue, Parameters};
use crate::congestion::custom::Json;
use crate::custom::{CustomDiscipline, Limited};
use crate::packet::{Ecn, Handle};
use crate::stage::StageSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// A scheduler registered by the user.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-registry" = "schedulers"))]
pub struct Params {
    /// The name it was registered under.
    pub name: String,
    /// What its factory is given, as JSON.
    #[serde(default)]
    pub params: Json,
}

impl Parameters for Params {
    type Machine = CustomDiscipline;

    fn needs(&self) -> Needs {
        let manages = Manages::Everything;
        Needs { key: Key::Anything, classes: Some(256), manages, ..Needs::NOTHING }
    }
    fn make(&self, _: &At) -> Result<CustomDiscipline, String> {
        CustomDiscipline::make(&self.name, self.params.0.to_string().as_bytes())
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![] // it obeys its author
    }
}

/// A user's own, behind the port's limit; marking is its own affair.
impl Machine for CustomDiscipline {
    type Queue = Limited;
    fn queue(self, limit: Limit, _: &StageSpec, _: &At) -> Result<Limited, String> {
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
