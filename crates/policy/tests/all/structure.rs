//! The shape of the crate's source.

#[path = "../../../../tests/structure.rs"]
mod source;

use source::{Exempt, Source, keeps_the_laws};

#[test]
fn the_crate_has_no_circles_of_imports_and_no_large_or_spread_structs() {
    let source = Source::of(env!("CARGO_MANIFEST_DIR"));
    assert!(source.imports()["engine::bytecode"].contains("engine::decisions"));
    // What is wrong is noted where it is found.
    let spread = [("Found", 48)];
    keeps_the_laws(&source, &Exempt { spread: &spread, ..Exempt::default() });
}
