//! `marking` and `stages` of `[switch]` and `[nic]`: which stages can stand inside a queue. What each is, its keys and
//! their defaults stand with the algorithm, in `thalweg_machines::stage`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use thalweg_machines::stage::{Acts, StageSpec};

/// Stages inside a queue.
pub(super) fn inside_a_queue(generator: &mut SchemaGenerator) -> Schema {
    let inside = |spec: &StageSpec| spec.acts() != Acts::Writes;
    let names: Vec<&str> = StageSpec::all().iter().filter(|spec| inside(spec)).map(StageSpec::key).collect();
    let mut schema = StageSpec::json_schema(generator);
    super::keep_kinds(&mut schema, &names);
    // What was called by its shape has the field's name.
    schema.insert("x-renamed-kinds".into(), serde_json::json!({ "ramp": "red-ecn" }));
    schema
}

/// Any number of them that do something.
pub(super) fn in_front_of_a_queue(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": inside_a_queue(generator) })
}

/// One, or nothing.
pub(super) fn inside_a_queue_or_none(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [inside_a_queue(generator), { "type": "null" }] })
}
