//! Reading the JSON Schema of scenarios: variants, words, required keys, ranges and examples.

use crate::diagnostic::suggest;
use serde_json::Value as Json;

/// The alternative that is not `null`.
pub(crate) fn present(schema: &Json) -> &Json {
    match schema.get("anyOf").and_then(Json::as_array) {
        Some(options) => {
            options.iter().find(|o| o.get("type") != Some(&Json::from("null"))).unwrap_or(schema)
        }
        None => schema,
    }
}

/// The variants of a tagged enum.
pub(crate) fn variants(schema: &Json) -> Option<Vec<&Json>> {
    let options = schema.get("oneOf").and_then(Json::as_array)?;
    options.iter().all(|o| tag(o).is_some()).then(|| options.iter().collect())
}

/// The tag of a variant.
pub(crate) fn tag(variant: &Json) -> Option<&str> {
    variant.get("properties")?.get("kind")?.get("const")?.as_str()
}

/// The words of a plain enum.
pub(crate) fn words(schema: &Json) -> Option<Vec<String>> {
    let list = |v: &Json| -> Option<Vec<String>> {
        v.as_array()?.iter().map(|w| w.as_str().map(str::to_owned)).collect()
    };
    if let Some(words) = schema.get("enum") {
        return list(words);
    }
    let options = schema.get("oneOf")?.as_array()?;
    let mut out = Vec::new();
    for option in options {
        match (option.get("const"), option.get("enum")) {
            (Some(word), _) => out.push(word.as_str()?.to_owned()),
            (_, Some(words)) => out.extend(list(words)?),
            _ => return None,
        }
    }
    Some(out)
}

/// The hint for an unknown word: its current name if it was renamed, else the most similar one of `words`.
pub(super) fn suggest_word(schema: &Json, word: &str, words: &[String]) -> String {
    let now = schema.get("x-renamed-kinds").and_then(|names| names.get(word)?.as_str());
    now.map_or_else(|| suggest(word, words), |now| format!("`{word}` is now called `{now}`"))
}

/// The keys that a table must have.
pub(crate) fn required(schema: &Json) -> Vec<&str> {
    let list = schema.get("required").and_then(Json::as_array);
    list.into_iter().flatten().filter_map(Json::as_str).collect()
}

pub(super) fn is_type(schema: &Json, name: &str) -> bool {
    match schema.get("type") {
        Some(Json::String(t)) => t == name,
        Some(Json::Array(list)) => list.iter().any(|t| t == name),
        _ => false,
    }
}

/// The current name of a renamed key.
pub(super) fn renamed(key: &str) -> Option<&'static str> {
    match key {
        "path" => Some("file"),
        _ => None,
    }
}

/// The registered names that may be written instead of a kind: for a scheduler, those of all registered schedulers.
pub(super) fn registered(custom: &Json) -> Vec<String> {
    match custom.get("x-registry").and_then(Json::as_str) {
        Some("controllers") => thalweg_machines::congestion::custom::controllers(),
        Some("schedulers") => thalweg_machines::schedule::custom::disciplines(),
        _ => Vec::new(),
    }
}

/// True if `kind` is the registry of users' own algorithms for this table.
pub(super) fn is_registry(custom: Option<&Json>, kind: &str) -> bool {
    custom.and_then(|custom| custom.get("x-registry")).is_some_and(|registry| registry == kind)
}

pub(super) fn example(schema: &Json) -> Option<String> {
    let schema = present(schema);
    if let Some(variants) = variants(schema) {
        return variants.first().and_then(|v| tag(v)).map(|t| format!("\"{t}\""));
    }
    let first = schema.get("examples").and_then(Json::as_array).and_then(|e| e.first());
    first.or_else(|| schema.get("default").filter(|d| !d.is_null())).map(Json::to_string)
}

/// A hint for a missing key: how it can be written.
pub(super) fn written(key: &str, schema: &Json) -> Option<String> {
    let example = example(schema).map(|e| format!("for example `{key} = {e}`"));
    let one_of = || words(present(schema)).map(|words| format!("one of {}", words.join(", ")));
    let whole = || is_type(schema, "integer").then(|| "a whole number".to_owned());
    example.or_else(one_of).or_else(whole)
}

/// The allowed range, if `x` is outside of it.
pub(super) fn range(schema: &Json, x: f64, format: &str) -> Option<String> {
    let limit = |key: &str| schema.get(key).and_then(Json::as_f64);
    let top = match format {
        "uint8" => Some(255.0),
        "uint16" => Some(65_535.0),
        "uint32" => Some(4_294_967_295.0),
        _ => None,
    };
    let (above, min) = (limit("exclusiveMinimum"), limit("minimum"));
    let (below, max) = (limit("exclusiveMaximum"), limit("maximum").or(top));
    let ok = above.is_none_or(|a| x > a)
        && min.is_none_or(|m| x >= m)
        && below.is_none_or(|b| x < b)
        && max.is_none_or(|m| x <= m);
    if ok {
        return None;
    }
    // Whole numbers are shown as in the schema, because floats would round the largest.
    let exact = |key: &str, x: f64| match schema.get(key) {
        Some(Json::Number(n)) if !n.is_f64() => n.to_string(),
        _ => x.to_string(),
    };
    let low =
        above.map(|a| format!("above {a}")).or(min.map(|m| format!("at least {}", exact("minimum", m))));
    let high =
        below.map(|b| format!("below {b}")).or(max.map(|m| format!("at most {}", exact("maximum", m))));
    Some(format!("allowed: {}", [low, high].into_iter().flatten().collect::<Vec<_>>().join(" and ")))
}
