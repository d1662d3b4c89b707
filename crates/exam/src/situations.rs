//! The situations: `situations/situations.toml` as values. Python reads them here, too.

use crate::pattern::matches;
use crate::situation::{Look, Settles, Situation};
use serde::Deserialize;
use std::sync::LazyLock;
use toml::{Table, Value};

const TEXT: &str = include_str!("../situations/situations.toml");

/// The files that situations name, with what is in them.
pub(crate) const FILES: [(&str, &str); 1] = [("unequal.csv", include_str!("../situations/unequal.csv"))];

#[derive(Deserialize)]
struct File {
    base: Table,
    situation: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    about: String,
    #[serde(default)]
    scenario: Table,
    rival: Option<String>,
    #[serde(default)]
    from: f64,
    #[serde(default)]
    event: f64,
    #[serde(default)]
    settles: Settles,
    #[serde(default = "second")]
    window: f64,
    #[serde(default = "between_switches")]
    bottleneck: (String, String),
    #[serde(default)]
    base_rtt: Vec<f64>,
}

fn second() -> f64 {
    1.0
}

fn between_switches() -> (String, String) {
    ("switch0".into(), "switch1".into())
}

/// All of them, in the order of the file.
///
/// ```
/// let names = thalweg_exam::situations::all().iter().map(|s| s.name.as_str());
/// assert!(names.take(2).eq(["steady", "fast"]));
/// ```
pub fn all() -> &'static [Situation] {
    static ALL: LazyLock<Vec<Situation>> = LazyLock::new(|| {
        let file: File = toml::from_str(TEXT).expect("a file of this crate, which its tests read");
        file.situation.into_iter().map(|entry| situation(&file.base, entry)).collect()
    });
    &ALL
}

/// Those whose name one of the patterns matches, in the order of the file; all without any.
///
/// # Errors
/// The first pattern that matches none.
pub fn chosen(patterns: &[String]) -> Result<Vec<&'static Situation>, String> {
    if let Some(idle) = patterns.iter().find(|p| !all().iter().any(|s| matches(p, &s.name))) {
        return Err(idle.clone());
    }
    let wanted = |s: &&Situation| patterns.is_empty() || patterns.iter().any(|p| matches(p, &s.name));
    Ok(all().iter().filter(wanted).collect())
}

fn situation(base: &Table, entry: Entry) -> Situation {
    let mut scenario = merged(base, &entry.scenario);
    if let Some(rival) = entry.rival {
        let mut transport = Table::from_iter([("kind".to_owned(), Value::from("tcp"))]);
        transport.extend(base["transport"].as_table().cloned().unwrap_or_default());
        transport.insert("congestion".into(), rival.into());
        scenario.insert(
            "transports".into(),
            Table::from_iter([("rival".to_owned(), Value::Table(transport))]).into(),
        );
    }
    scenario.insert("name".into(), entry.name.clone().into());
    Situation {
        text: scenario.to_string(),
        name: entry.name,
        about: entry.about,
        look: Look {
            from: entry.from,
            event: entry.event,
            settles: entry.settles,
            window: entry.window,
            base_rtt: entry.base_rtt,
        },
        bottleneck: entry.bottleneck,
    }
}

/// Tables are merged as far as both have the same `kind`, everything else is replaced.
fn merged(base: &Table, over: &Table) -> Table {
    let mut out = base.clone();
    for (key, value) in over {
        let value = match (out.get(key), value) {
            (Some(Value::Table(there)), Value::Table(value))
                if value.get("kind").is_none_or(|kind| there.get("kind") == Some(kind)) =>
            {
                Value::Table(merged(there, value))
            }
            _ => value.clone(),
        };
        out.insert(key.clone(), value);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_another_kind_are_replaced_and_those_of_the_same_are_merged() {
        let table = |text: &str| -> Table { text.parse().expect("TOML") };
        let base = table("a = { kind = 'x', n = 1, m = 2 }\nb = [1]\n");
        assert_eq!(
            merged(&base, &table("a = { n = 3 }")),
            table("a = { kind = 'x', n = 3, m = 2 }\nb = [1]\n")
        );
        assert_eq!(merged(&base, &table("a = { kind = 'y' }")), table("a = { kind = 'y' }\nb = [1]\n"));
        assert_eq!(merged(&base, &table("b = [2]")), table("a = { kind = 'x', n = 1, m = 2 }\nb = [2]\n"));
    }

    #[test]
    fn every_situation_has_a_name_of_its_own_and_counts_within_its_run() {
        let mut names: Vec<&str> = all().iter().map(|s| s.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().len());
        assert!(all().len() >= 30);
        for s in all() {
            assert!(s.look.window > 0.0 && !s.about.is_empty(), "{}", s.name);
        }
    }

    #[test]
    fn patterns_choose_in_the_order_of_the_file_and_one_that_matches_none_is_refused() {
        let names = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|p| (*p).to_owned()).collect();
            chosen(&patterns).map(|found| found.iter().map(|s| s.name.as_str()).collect::<Vec<_>>())
        };
        assert_eq!(names(&["step-down", "step-up"]), Ok(vec!["step-up", "step-down"]));
        assert_eq!(names(&["vs-cubic*"]), Ok(vec!["vs-cubic", "vs-cubic-deep"]));
        assert_eq!(names(&["steady", "nosuch*"]), Err("nosuch*".into()));
        assert_eq!(names(&[]).map(|all| all.len()), Ok(all().len()));
    }
}
