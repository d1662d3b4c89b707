//! Writes a resolved document as TOML: one section per table, `kind` first, nested tables inline.

use serde_json::{Map, Value};

/// `sections` gives the order of the top-level keys; others follow in alphabetical order.
pub(crate) fn document(json: &Value, sections: &[&str]) -> String {
    let mut out = String::new();
    let Value::Object(map) = json else { return out };
    let rest = map.keys().map(String::as_str).filter(|k| !sections.contains(k));
    let order: Vec<&str> = sections.iter().copied().chain(rest).filter(|k| map.contains_key(*k)).collect();
    for key in &order {
        if !is_section(&map[*key]) && !map[*key].is_null() {
            out.push_str(&format!("{} = {}\n", name(key), inline(&map[*key])));
        }
    }
    for key in &order {
        match &map[*key] {
            Value::Object(table) if *key == "transports" => {
                for (sub, value) in table {
                    if let Value::Object(value) = value {
                        section(&mut out, &format!("[{}.{}]", name(key), name(sub)), value);
                    }
                }
            }
            Value::Object(table) => section(&mut out, &format!("[{}]", name(key)), table),
            Value::Array(items) if is_section(&map[*key]) => {
                for item in items {
                    if let Value::Object(table) = item {
                        section(&mut out, &format!("[[{}]]", name(key)), table);
                    }
                }
            }
            _ => {}
        }
    }
    out
}

fn is_section(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => !items.is_empty() && items.iter().all(Value::is_object),
        _ => false,
    }
}

fn entries(table: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let kind = table.iter().filter(|(k, _)| *k == "kind");
    kind.chain(table.iter().filter(|(k, _)| *k != "kind")).filter(|(_, v)| !v.is_null())
}

fn section(out: &mut String, header: &str, table: &Map<String, Value>) {
    out.push_str(&format!("\n{header}\n"));
    for (key, value) in entries(table) {
        out.push_str(&format!("{} = {}\n", name(key), inline(value)));
    }
}

fn name(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { key.to_owned() } else { quote(key) }
}

fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn inline(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) if n.is_f64() => {
            let text = n.to_string();
            if text.contains(['.', 'e', 'E']) { text } else { format!("{text}.0") }
        }
        Value::Number(n) => n.to_string(),
        Value::String(s) => quote(s),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        // A tagged value without parameters is written in its short form.
        Value::Object(table) if table.len() == 1 && table.get("kind").is_some_and(Value::is_string) => {
            inline(&table["kind"])
        }
        Value::Object(table) => {
            let parts: Vec<String> =
                entries(table).map(|(k, v)| format!("{} = {}", name(k), inline(v))).collect();
            if parts.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", parts.join(", ")) }
        }
    }
}
