//! The shape of the simulator's source: four owners with few fields, and files that do not import each other
//! in circles.

#[path = "../../../../tests/structure.rs"]
mod source;

use source::{Source, keeps_the_laws};

#[test]
fn the_simulator_has_no_circles_of_imports_and_no_large_or_spread_structs() {
    let source = Source::of(env!("CARGO_MANIFEST_DIR"));
    let imports = source.imports();
    assert!(imports["sim"].contains("fabric") && imports["fabric::gated"].contains("fabric"), "{imports:?}");
    // What the laboratory hands over is a table, not state; so are the switches computed from it, one for each feature.
    keeps_the_laws(&source, &[], &["NetworkSpec", "Features"]);
}

/// A crate of three files.
fn small(files: [(&str, &str); 3]) -> Source {
    Source::new(files.map(|(name, text)| (name.to_owned(), text.to_owned())).into())
}

#[test]
fn an_import_is_followed_through_re_exports_to_the_file_that_has_the_item() {
    let facade = ("lib", "mod a;\nmod b;\npub use a::Item;\n");
    let source = small([facade, ("a", "use crate::b::Other;\npub struct Item;"), ("b", "use crate::Item;")]);
    assert_eq!(source.circles(), [vec!["a".to_owned(), "b".to_owned()]].into());
    let source = small([facade, ("a", "pub struct Item;"), ("b", "fn f() -> crate::Item {}")]);
    assert!(source.imports()["b"].contains("a") && source.circles().is_empty());
    let folder = ("a", "mod c;\npub(crate) use c::*;\npub use b::X as Y;");
    let source = small([folder, ("a::c", "pub struct Item;"), ("b", "use super::a::{Item, self};")]);
    assert_eq!(source.imports()["b"], ["a".to_owned(), "a::c".to_owned()].into());
}
