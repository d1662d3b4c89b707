//! The shape of the simulator's source: four owners with few fields, which no one else sees, and files that do not
//! import each other in circles.

#[path = "../../../../tests/structure.rs"]
mod source;

use source::{Exempt, Source, circles, keeps_the_laws};

#[test]
fn the_simulator_has_no_circles_of_imports_and_no_large_or_spread_structs() {
    let source = Source::of(env!("CARGO_MANIFEST_DIR"));
    let imports = source.imports();
    assert!(imports["sim"].contains("fabric") && imports["fabric::gated"].contains("fabric"), "{imports:?}");
    let exempt = Exempt {
        // The switches computed from a network's specification, one for each feature, are a table, not state.
        tables: &["Features"],
        closed: &["Fabric", "Hosts", "Flows"],
        spread: &[
            ("Cx", 72),      // the context, which is given to whatever schedules an event
            ("Fabric", 171), // every packet and port: to be cut by place, into nodes
            ("Hosts", 55),   // likewise
            ("Sim", 26), // the run loop: it is built, saved, read, recounted and divided in files of their own
        ],
        ..Exempt::default()
    };
    keeps_the_laws(&source, &exempt);
}

#[test]
fn a_struct_with_a_field_that_others_see_is_open() {
    let source = small([("a", "pub struct Open { pub one: u8 }\npub struct Closed { one: u8 }")]);
    assert_eq!(["Open", "Closed", "Missing"].map(|name| source.is_closed(name)), [false, true, false]);
}

/// A crate of these files.
fn small<const N: usize>(files: [(&str, &str); N]) -> Source {
    Source::new(files.map(|(name, text)| (name.to_owned(), text.to_owned())).into())
}

#[test]
fn an_import_is_followed_through_re_exports_to_the_file_that_has_the_item() {
    let facade = ("lib", "mod a;\nmod b;\npub use a::Item;\n");
    let source = small([facade, ("a", "use crate::b::Other;\npub struct Item;"), ("b", "use crate::Item;")]);
    assert_eq!(circles(&source.imports()), [vec!["a".to_owned(), "b".to_owned()]].into());
    let source = small([facade, ("a", "pub struct Item;"), ("b", "fn f() -> crate::Item {}")]);
    assert!(source.imports()["b"].contains("a") && circles(&source.imports()).is_empty());
    let folder = ("a", "mod c;\npub(crate) use c::*;\npub use b::X as Y;");
    let source = small([folder, ("a::c", "pub struct Item;"), ("b", "use super::a::{Item, self};")]);
    assert_eq!(source.imports()["b"], ["a".to_owned(), "a::c".to_owned()].into());
}

#[test]
fn paths_in_macros_are_imports_and_what_is_for_tests_is_not() {
    let uses = "fn f() { assert!(g(crate::b::N), \"{}\", super::c::M); }\n#[cfg(test)]\nuse crate::d::P;";
    let source = small([("a", uses), ("b", ""), ("c", ""), ("d", "")]);
    assert_eq!(source.imports()["a"], ["b".to_owned(), "c".to_owned()].into());
    let source = small([("a", "#[cfg(test)]\nmod tried;"), ("a::tried", "use crate::b::N;"), ("b", "")]);
    assert!(!source.imports().contains_key("a::tried"));
}

#[test]
fn folders_form_a_circle_although_no_files_do() {
    let (up, down) = (("a::x", "use crate::b::y::Y;"), ("b::z", "use crate::a::w::W;"));
    let source =
        small([("a", ""), ("b", ""), up, ("a::w", "pub struct W;"), ("b::y", "pub struct Y;"), down]);
    assert!(circles(&source.imports()).is_empty());
    assert_eq!(circles(&source.folders()), [vec!["a".to_owned(), "b".to_owned()]].into());
}

#[test]
fn a_free_function_that_changes_a_struct_counts_as_its_method() {
    let free = "use super::T;\npub(super) fn f<Q>(_: u8, t: &mut T<Q>) {}\nfn reads(t: &T<u8>) {}";
    let names = ["a", "b", "c", "d", "e"];
    let home = ("lib", "pub struct T<Q>(Q);\nimpl<Q> T<Q> { fn g(&mut self) {}\n const N: u8 = 1; }");
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (*name, free)).collect();
    files.push(home);
    let source = small::<6>(files.try_into().unwrap());
    assert_eq!(source.spread(), [("T".to_owned(), 6)].into());
}
