//! The shape of the laboratory's source.

#[path = "../../../../tests/structure.rs"]
mod source;

use source::{Source, keeps_the_laws};

#[test]
fn the_laboratory_has_no_circles_of_imports_and_no_large_or_spread_structs() {
    let source = Source::of(env!("CARGO_MANIFEST_DIR"));
    let imports = source.imports();
    assert!(
        imports["scenario"].contains("validate") && imports["replay"].contains("scenario"),
        "{imports:?}"
    );
    // Scenarios, section by section, and sections, key by key.
    keeps_the_laws(&source, &[], &["Document", "Rdma", "Tcp"]);
}
