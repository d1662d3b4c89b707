//! The JSON Schema for editors and validators, with the rules that the checker implements in code.

use crate::quantity;
use crate::text::schema::{required, tag, variants};
use serde_json::{Map, Value as Json, json};

/// Turns the checker's schema into a self-contained one.
pub(crate) fn complete(schema: &mut Json) {
    match schema {
        Json::Object(map) => map.values_mut().for_each(complete),
        Json::Array(items) => items.iter_mut().for_each(complete),
        _ => {}
    }
    let Json::Object(map) = schema else { return };
    scalars(map);
    let default_kind = map.remove("x-default-kind");
    map.remove("x-registry");
    map.remove("x-renamed");
    map.remove("x-renamed-kinds");
    if let Some(table) = map.remove("x-table").as_ref().and_then(Json::as_str) {
        map.remove("type");
        map.insert(
            "anyOf".into(),
            json!([{ "type": "string" }, { "$ref": format!("#/properties/{table}") }]),
        );
    }
    if map.remove("x-node").is_some() {
        named_too(map);
    }
    close(map);
    let Some(names) = variants(schema).map(|v| v.into_iter().filter_map(tag).map(str::to_owned).collect())
    else {
        return;
    };
    let short = short_forms(schema, names);
    if let Some(default) = default_kind.as_ref().and_then(Json::as_str) {
        let list = schema.get_mut("oneOf").and_then(Json::as_array_mut);
        let variant = list.into_iter().flatten().find(|v| tag(v) == Some(default));
        if let Some(required) = variant.and_then(|v| v.get_mut("required")).and_then(Json::as_array_mut) {
            required.retain(|k| k != "kind");
        }
    }
    let description = schema.get("description").cloned().unwrap_or_default();
    let table = std::mem::take(schema);
    let forms: Vec<Json> = short.into_iter().chain([table]).collect();
    *schema = json!({ "description": description, "anyOf": forms });
}

/// Allows the number of a node or its name; in a list, for every item.
fn named_too(map: &mut Map<String, Json>) {
    if let Some(items) = map.get_mut("items").and_then(Json::as_object_mut) {
        return named_too(items);
    }
    let mut types = match map.remove("type") {
        Some(Json::Array(types)) => types,
        one => Vec::from_iter(one),
    };
    types.push("string".into());
    map.insert("type".into(), types.into());
}

/// Adds units as patterns and integer widths as limits: validators do not know our formats, and some names of formats
/// (`time`) have another meaning there.
fn scalars(map: &mut Map<String, Json>) {
    if let Some(pattern) = map.get("x-quantity").and_then(Json::as_str).and_then(quantity::pattern) {
        map.insert("pattern".into(), pattern.into());
    }
    let Some(format) = map.get("format").and_then(Json::as_str) else { return };
    let most = match format {
        "uint8" => u64::from(u8::MAX),
        "uint16" => u64::from(u16::MAX),
        "uint32" => u64::from(u32::MAX),
        _ => u64::MAX,
    };
    if most < u64::MAX && !map.contains_key("maximum") {
        map.insert("maximum".into(), most.into());
    }
    map.remove("format");
}

/// Allows in a table of several kinds the common keys and those of its kind only. Not by `unevaluatedProperties`, which
/// most validators in editors do not support.
fn close(map: &mut Map<String, Json>) {
    let common: Vec<String> =
        map.get("properties").and_then(Json::as_object).into_iter().flat_map(Map::keys).cloned().collect();
    for variant in map.get_mut("oneOf").and_then(Json::as_array_mut).into_iter().flatten() {
        if tag(variant).is_none() {
            continue;
        }
        variant["additionalProperties"] = false.into();
        for key in &common {
            // Their values are described outside of the `oneOf`.
            variant["properties"][key] = true.into();
        }
    }
}

/// Allows short forms as the checker does: `"drr"` for `{ kind = "drr" }`, `{ fixed = "2MB" }` for `{ kind = "fixed",
/// size = "2MB" }`.
fn short_forms(schema: &Json, names: Vec<String>) -> Vec<Json> {
    let all = variants(schema).unwrap_or_default();
    let needs = |v: &Json| required(v).into_iter().filter(|k| *k != "kind").map(str::to_owned).collect();
    let outer: Vec<String> = needs(schema);
    let mut out = Vec::new();
    let alone: Vec<&str> = all.iter().filter(|v| required(v).len() <= 1).filter_map(|v| tag(v)).collect();
    if outer.is_empty() && !alone.is_empty() {
        out.push(json!({ "type": "string", "enum": alone }));
    }
    for (variant, name) in all.iter().zip(&names) {
        let key = name.replace('-', "_");
        let Some(properties) = variant.get("properties").and_then(Json::as_object) else { continue };
        let inside: Vec<String> = needs(variant);
        let keys: Vec<&String> = properties.keys().filter(|k| *k != "kind").collect();
        if keys.is_empty() {
            continue;
        }
        let all_needed = [&inside[..], &outer[..]].concat();
        let mut values =
            vec![json!({ "type": "object", "propertyNames": { "enum": keys }, "required": all_needed })];
        let value = match &inside[..] {
            [need] => properties.get(need),
            _ => properties.get(&key),
        };
        values.extend(value.filter(|v| v.is_object()).cloned());
        // As a pattern, so that editors suggest the keys of the long form.
        let only = format!("^{key}$");
        out.push(json!({
            "type": "object", "patternProperties": { only: { "anyOf": values } },
            "minProperties": 1, "additionalProperties": false,
        }));
    }
    out
}
