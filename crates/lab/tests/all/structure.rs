//! The shape of the laboratory's source, and of the crates that do not look at their own.

#[path = "../../../../tests/structure.rs"]
mod source;

use source::{Exempt, Source, keeps_the_laws};
use std::path::Path;

#[test]
fn the_laboratory_has_no_circles_of_imports_and_no_large_or_spread_structs() {
    let source = Source::of(env!("CARGO_MANIFEST_DIR"));
    let imports = source.imports();
    assert!(imports["run"].contains("engine") && imports["replay"].contains("engine"), "{imports:?}");
    keeps_the_laws(&source, &Exempt::default());
}

#[test]
fn no_other_crate_has_circles_of_imports_or_large_or_spread_structs() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("next to the others");
    for entry in std::fs::read_dir(crates).expect("a folder") {
        let entry = entry.expect("an entry");
        let exempt = match entry.file_name().to_str().expect("a name") {
            "machines" | "net" | "policy" | "connect" | "emulate" | "scenario" | "sim" | "lab" => continue,
            "wire" => Exempt { tables: &["Packet"], ..Exempt::default() }, // a header
            "verbs" => Exempt { tables: &["Setup"], ..Exempt::default() }, // what two queue pairs agree on
            "python" => Exempt { tables: &["Ack"], ..Exempt::default() },  // what a Python controller reads
            "plugin" => Exempt { tables: &["Ack", "Table"], ..Exempt::default() }, // an interface of C
            "theory" => Exempt { tables: &["Path"], ..Exempt::default() }, // one path of RC3 with all that is counted
            _ => Exempt::default(),
        };
        println!("{}", entry.path().display());
        keeps_the_laws(&Source::of(entry.path().to_str().expect("a path")), &exempt);
    }
}
