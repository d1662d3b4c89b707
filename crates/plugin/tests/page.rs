//! The table of functions in docs/plugins.md: every callback of a controller, of the interface in C and of its header.

use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = include_str!("../../../docs/plugins.md");
const TRAIT: &str = include_str!("../../machines/src/congestion/mod.rs");
const TABLE: &str = include_str!("../src/abi.rs");
const HEADER: &str = include_str!("../thalweg_plugin.h");

/// The text between two marks.
fn part<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let (_, text) = text.split_once(from).expect(from);
    text.split_once(to).expect(to).0
}

/// The names that follow a mark.
fn names<'t>(text: &'t str, before: &'t str, end: char) -> BTreeSet<&'t str> {
    text.split(before).skip(1).filter_map(|rest| rest.split_once(end)).map(|(name, _)| name).collect()
}

/// The rows by function: the columns Rust and Library.
fn rows() -> BTreeMap<&'static str, [&'static str; 2]> {
    let table =
        part(PAGE, "| Function | Called | Rust | Library | Python |\n|---|---|---|---|---|\n", "\n\n");
    table.lines().map(|row| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>()).fold(
        BTreeMap::new(),
        |mut rows, cells| {
            assert_eq!(cells.len(), 5, "{cells:?}");
            assert!(
                rows.insert(cells[0].trim_matches('`'), [cells[2], cells[3]]).is_none(),
                "{} twice",
                cells[0]
            );
            rows
        },
    )
}

#[test]
fn every_function_of_a_controller_is_in_the_pages_table() {
    let callbacks = names(part(TRAIT, "pub trait CongestionControl {", "\n}\n"), "    fn ", '(');
    let table = part(TABLE, "pub struct Table {", "\n}\n");
    let functions: BTreeSet<&str> = names(table, "    pub ", ':')
        .into_iter()
        .filter(|name| !["version", "size", "wants", "reserved", "name", "params"].contains(name))
        .collect();
    let header = names(part(HEADER, "THALWEG_VERSION, sizeof(thalweg_table)", "} thalweg_table;"), "(*", ')');
    assert!(callbacks.len() > 15 && functions.len() > 15, "{callbacks:?} {functions:?}");
    assert_eq!(functions, header, "the table in Rust and the one in C");

    let rows = rows();
    let named: BTreeSet<&str> = rows.keys().copied().collect();
    let all: BTreeSet<&str> = callbacks.union(&functions).copied().collect();
    assert_eq!(named, all, "on the page, and in the sources");
    for (name, [rust, library]) in rows {
        assert_eq!(library != "–", functions.contains(name), "{name}: {library} in a library");
        assert!(rust != "–" || !callbacks.contains(name), "{name}: {rust} in Rust");
    }
}
