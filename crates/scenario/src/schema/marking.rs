//! `marking` and `stages` of `[switch]` and `[nic]`: which stages can act on a queue. The stages, with their keys and
//! defaults, are declared with the algorithms, in `thalweg_machines::stage`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use thalweg_machines::stage::{Acts, StageSpec};

/// Stages that can stand inside a queue: all but those that only write into headers.
pub(super) fn inside_a_queue(generator: &mut SchemaGenerator) -> Schema {
    let inside = |spec: &StageSpec| spec.acts() != Acts::Writes;
    let names: Vec<&str> = StageSpec::all().iter().filter(|spec| inside(spec)).map(StageSpec::key).collect();
    let mut schema = StageSpec::json_schema(generator);
    super::keep_kinds(&mut schema, &names);
    // Older scenarios name this stage after the shape of its marking probability.
    schema.insert("x-renamed-kinds".into(), serde_json::json!({ "ramp": "red-ecn" }));
    schema
}

/// A list of such stages.
pub(super) fn in_front_of_a_queue(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": inside_a_queue(generator) })
}

/// One such stage, or none.
pub(super) fn inside_a_queue_or_none(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [inside_a_queue(generator), { "type": "null" }] })
}
