//! What a run says at its end of packets whose places on the wire are booked and that still wait.

use crate::common::*;

/// Two hosts send at 8 Gb/s each to a third over 10 Gb/s: the longer the run, the longer the queue. A policer that
/// never drops takes the short cut away, and nothing else.
#[test]
fn a_run_that_ends_in_mid_traffic_counts_no_more_than_has_happened() {
    let stage = "stages = [{ kind = \"policer\", rate = \"90Tbps\", burst = \"1GB\" }]\n";
    let [short, whole] = ["", stage].map(|stage| {
        let run = run(&format!(
            "[topology]\nkind = \"star\"\nhosts = 3\nrate = \"10Gbps\"\n[switch]\nbuffer = \"unlimited\"\n{stage}\
             [nic]\nbuffer = \"unlimited\"\n{stage}\
             [[traffic]]\nkind = \"udp\"\nsrc = 0\ndst = 2\nrate = \"8Gbps\"\n\
             [[traffic]]\nkind = \"udp\"\nsrc = 1\ndst = 2\nrate = \"8Gbps\"\n\
             [[traffic]]\nkind = \"flow\"\nsrc = 1\ndst = 2\nsize = \"200KB\"\nstart = \"60us\"\n\
             [run]\nuntil = \"200us\"\n"
        ));
        let hops = run.summary()["packet_hops"].as_u64();
        (column(&run, "ports", "waited_ps"), column(&run, "ports", "packets"), column(&run, "flows", "begun_ps"), hops)
    });
    assert_eq!(short, whole);
}
