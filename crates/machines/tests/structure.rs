//! The shape of the machines' source.

#[path = "../../../tests/structure.rs"]
mod source;

use source::{Exempt, Source, keeps_the_laws};

#[test]
fn the_machines_have_no_circles_of_imports_and_no_large_or_spread_structs() {
    let source = Source::of(env!("CARGO_MANIFEST_DIR"));
    let imports = source.imports();
    assert!(imports["schedule::round_robin"].contains("stage::codel"), "{imports:?}");
    let tables = [
        "Needs",    // what an order declares of itself
        "Params",   // a controller's keys
        "RdmaSpec", // a queue pair's parameters
        "TcpSpec",  // a connection's parameters
    ];
    // Its limits and its short cut for ACKs in order are free functions in files of their own.
    let spread = [("TcpSender", 47)];
    keeps_the_laws(&source, &Exempt { tables: &tables, spread: &spread, ..Exempt::default() });
}
