//! Whatever is accepted is accepted again as it was resolved, and is the same run: random combinations of the
//! keys' rows.

use super::{FILES, Settings, plugins, rows};
use crate::common::Folder;
use std::path::Path;
use thalweg_lab::Run;
use thalweg_scenario::{Scenario, load};
use thalweg_units::Stream;

/// A NIC that pulls has no queue, and a pair no switch: nothing would have this buffer.
#[test]
fn a_buffer_that_no_switch_has_is_refused_at_once() {
    let text = "topology = \"pair\"\n[switch]\nbuffer = \"100KB\"\n[nic]\norder = \"round-robin\"\n[transport]\nkind = \"rdma\"\n\
                [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n";
    let errors = load(text, "s.toml", Path::new("."), &[]).expect_err("refused");
    assert_eq!(
        errors[0].to_string(),
        "s.toml:3: `switch.buffer`: it has no effect: the topology has no switch; remove the key"
    );
}

/// What happens in the first events; `None` if the network cannot be built.
fn digest(scenario: &Scenario) -> Option<u64> {
    let mut run = Run::new(scenario).ok()?;
    run.step(3000);
    Some(run.digest())
}

/// What is wrong with a scenario's resolved form; `None` if it was refused itself.
fn again(text: &str, dir: &Path, set: &Settings) -> Option<Result<(), String>> {
    let scenario = load(text, "s.toml", dir, set).ok()?;
    let resolved = scenario.to_toml();
    let judge = || {
        let again = load(&resolved, "resolved.toml", dir, &[]).map_err(|e| e[0].to_string())?;
        if again != scenario {
            return Err("it is another scenario".to_owned());
        }
        if digest(&again) != digest(&scenario) {
            return Err("it runs differently".to_owned());
        }
        Ok(())
    };
    Some(judge())
}

#[test]
fn every_accepted_scenario_is_accepted_as_resolved_and_runs_alike() {
    plugins::register();
    let files = Folder::new("resolved", FILES);
    let rows = rows();
    // Rows stand on few texts; keys of one are laid over the others too.
    let texts: std::collections::BTreeSet<&str> = rows.iter().map(|(_, row, _)| row.1).collect();
    let texts: Vec<&str> = texts.into_iter().collect();
    let mut s = Stream::new(2026, "resolved", 0);
    let mut wrong = std::collections::BTreeMap::new();
    let mut accepted = 0;
    for _ in 0..2500 {
        let text = texts[s.below(texts.len() as u64) as usize];
        let mut set = Settings::new();
        for _ in 0..=s.below(5) {
            let (path, row, around) = &rows[s.below(rows.len() as u64) as usize];
            if s.below(2) == 0 {
                set.extend(around.iter().cloned());
            }
            let value = if s.below(2) == 0 { row.3 } else { row.4 };
            if !value.is_empty() {
                set.push((super::key_of(path), value.to_owned()));
            }
        }
        if s.below(6) == 0 {
            set.push(("topology".to_owned(), "pair".to_owned()));
        }
        match again(text, &files.0, &set) {
            None => {}
            Some(Ok(())) => accepted += 1,
            Some(Err(why)) => drop(wrong.entry(why).or_insert(set)),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(accepted > 200, "{accepted} accepted: the combinations are mostly refused");
}
