//! The shape of the source.

#[path = "../../../tests/structure.rs"]
mod source;

use source::{Exempt, Source, keeps_the_laws};

#[test]
fn there_are_no_circles_of_imports_and_no_large_or_spread_structs() {
    let source = Source::of(env!("CARGO_MANIFEST_DIR"));
    // A record's fields are those of the kernel's half.
    keeps_the_laws(&source, &Exempt { tables: &["Record"], ..Exempt::default() });
}
