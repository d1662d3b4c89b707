//! The open door: a discipline registered by the user ([`crate::custom::register_discipline`]).

use super::{At, Key, Manages, Needs, Parameters};
use crate::congestion::custom::Json;
use crate::custom::CustomDiscipline;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
        Needs { key: Key::Anything, classes: Some(256), inputs: false, overtakes: false, manages }
    }
    fn make(&self, _: &At) -> Result<CustomDiscipline, String> {
        CustomDiscipline::make(&self.name, self.params.0.to_string().as_bytes())
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![] // it obeys its author
    }
}
