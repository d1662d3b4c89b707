//! The shape of the machines' source.

#[path = "../../../tests/structure.rs"]
mod source;

use source::{Source, keeps_the_laws};

#[test]
fn the_machines_have_no_circles_of_imports_and_no_large_or_spread_structs() {
    let source = Source::of(env!("CARGO_MANIFEST_DIR"));
    let imports = source.imports();
    assert!(imports["schedule::round_robin"].contains("stage::codel"), "{imports:?}");
    // The contract of transports stands in the file of their list.
    let circle = [
        "transport",
        "transport::rdma::layout",
        "transport::rdma::receiver",
        "transport::rdma::recovery",
        "transport::rdma::segments",
        "transport::rdma::sender",
        "transport::rdma::timer",
        "transport::tcp::receiver",
        "transport::tcp::sender",
        "transport::udp",
    ];
    let tables = [
        "Packet",  // a header
        "Params",  // a controller's keys
        "TcpSpec", // a connection's parameters
        // A flow's state, kept together: touched with every ACK.
        "TcpSender",
        "RdmaSender",
    ];
    keeps_the_laws(&source, &circle, &tables);
}
