//! What real packets cannot have is refused by its key.

use crate::common::{ports, scenario};

fn refused(more: &str) -> String {
    ports(&scenario("100Mbps", "5ms", more)).expect_err(more).to_string()
}

#[test]
fn what_ip_does_not_carry_is_refused_by_key() {
    for (more, key, word) in [
        (
            "[switch]\nscheduler = \"srpt\"\n[transport]\nrank = \"remaining\"\n",
            "switch.scheduler",
            "rank header",
        ),
        ("[transport]\ncongestion = \"hpcc\"\n", "switch.marking", "telemetry"),
        (
            "[switch]\nmarking = \"xcp\"\n[transport]\ncongestion = \"xcp\"\n",
            "switch.marking",
            "explicit feedback",
        ),
        (
            "[switch]\nscheduler = { kind = \"policy\", text = \"q = Queue(9 pkts); out = Port(q); q.congestion = (length > 3, notify);\" }\n\
             [transport]\nkind = \"rdma\"\ncongestion = \"dcqcn\"\n",
            "switch.scheduler",
            "`notify`",
        ),
        (
            "[switch]\nbuffer = \"unlimited\"\nshared_buffer = { total = \"1MB\" }\n",
            "switch.shared_buffer",
            "memory shared",
        ),
    ] {
        let why = refused(more);
        assert!(why.starts_with(&format!("`{key}`: ")) && why.contains(word), "{why}");
    }
}

#[test]
fn what_ip_carries_is_not_refused() {
    for more in [
        "[switch]\nscheduler = \"fq-codel\"\n",
        "[switch]\nscheduler = \"drr\"\n",
        "[switch]\nmarking = \"pie\"\n",
        "[[link]]\nwhich = \"core-links\"\ndirection = \"forward\"\ntransmitter = \"cellular\"\nloss = { independent = 0.1 }\n",
    ] {
        ports(&scenario("100Mbps", "5ms", more)).unwrap_or_else(|why| panic!("{more}: {why}"));
    }
}
