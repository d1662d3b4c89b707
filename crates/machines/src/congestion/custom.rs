//! The open door: a controller registered by the user ([`crate::custom::register_controller`]).

use super::{Calls, FeedbackKind, Gives, Marks, Needs, Parameters, Start};
use crate::custom::{CustomController, declared};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// A controller registered by the user.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-registry" = "controllers"))]
pub struct Params {
    /// The name it was registered under.
    pub name: String,
    /// What its factory is given, as JSON.
    #[serde(default)]
    pub params: Json,
}

impl Parameters for Params {
    type Machine = CustomController;

    fn needs(&self) -> Needs {
        let declared = declared(&self.name);
        let marks = if declared.ecn { Marks::Wanted } else { Marks::Heard };
        let feedback = if declared.telemetry { FeedbackKind::Int } else { FeedbackKind::None };
        Needs {
            marks,
            feedback,
            round_trips: true,
            delivery: true,
            gives: Gives::Anything,
            calls: Calls::Both,
            ..Needs::WINDOW
        }
    }

    fn make(&self, start: &Start) -> Result<CustomController, String> {
        CustomController::make(&self.name, start, self.params.0.to_string().as_bytes())
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![] // it obeys its author
    }
}

/// Any JSON; its text in binary formats.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Json(pub Value);

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if s.is_human_readable() { self.0.serialize(s) } else { s.collect_str(&self.0) }
    }
}
impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        if d.is_human_readable() {
            return Value::deserialize(d).map(Self);
        }
        let text = Cow::<'de, str>::deserialize(d)?;
        serde_json::from_str(&text).map(Self).map_err(serde::de::Error::custom)
    }
}
impl JsonSchema for Json {
    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({})
    }
}
