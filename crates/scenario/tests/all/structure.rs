//! The shape of the source of scenarios, and what it may not know of.

#[path = "../../../../tests/structure.rs"]
mod source;

use source::{Exempt, Source, keeps_the_laws};

#[test]
fn scenarios_have_no_circles_of_imports_and_no_large_or_spread_structs() {
    let source = Source::of(env!("CARGO_MANIFEST_DIR"));
    let imports = source.imports();
    assert!(
        imports["load"].contains("validate") && imports["network"].contains("topology::graph"),
        "{imports:?}"
    );
    let exempt = Exempt {
        // Scenarios, section by section, and sections, key by key.
        tables: &["Document", "Rdma", "Tcp"],
        folders: &[
            // Files of links become graphs, and files of flows name hosts of one.
            &["parse", "topology"],
        ],
        // What checks find; each is handed it.
        spread: &[("Report", 77)],
        ..Exempt::default()
    };
    keeps_the_laws(&source, &exempt);
}

#[test]
fn a_scenario_becomes_a_network_without_the_simulator() {
    source::depends_on_nothing_that_runs(env!("CARGO_MANIFEST_DIR"));
}
