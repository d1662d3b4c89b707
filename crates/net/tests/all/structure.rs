//! The shape of the source of networks as data, and what it may not know of.

#[path = "../../../../tests/structure.rs"]
mod source;

use source::{Exempt, Source, keeps_the_laws};

#[test]
fn networks_have_no_circles_of_imports_and_no_large_or_spread_structs() {
    let source = Source::of(env!("CARGO_MANIFEST_DIR"));
    let imports = source.imports();
    assert!(
        imports["ideal"].contains("routing") && imports["dependencies"].contains("routing"),
        "{imports:?}"
    );
    // What a scenario hands over is a table, not state.
    keeps_the_laws(&source, &Exempt { tables: &["NetworkSpec"], ..Exempt::default() });
}

#[test]
fn a_network_is_data_without_the_simulator() {
    source::depends_on_nothing_that_runs(env!("CARGO_MANIFEST_DIR"));
}
