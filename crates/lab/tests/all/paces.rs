//! Paces in front of a host's queue.

use crate::common::*;

const STAR: &str = "[topology]\nkind = \"star\"\nhosts = 5\nrate = \"10Gbps\"\n[switch]\ninputs = { shared = \"40MB\" }\n\
    pfc = { threshold = { kind = \"static\", xoff = \"500KB\" } }\nmarking = { kind = \"red-ecn\", min = \"5KB\", max = \"200KB\" }\n\
    [transport]\nkind = \"rdma\"\ncongestion = \"dcqcn\"\nrecovery = \"go-back-n\"\n[run]\nuntil = \"100ms\"\n";

/// DCQCN begins at line rate. A flow that is alone at its host has the same schedule in a queue as where its NIC pulls
/// packets: none of it is poured into the queue at once.
#[test]
fn a_flow_at_line_rate_is_spaced_by_its_pace() {
    let flows: String = (1..5)
        .map(|src| format!("[[traffic]]\nkind = \"flow\"\nsrc = {src}\ndst = 0\nsize = \"2MB\"\n"))
        .collect();
    let [queued, pulled] = ["queue", "round-robin"].map(|order| {
        let run = run(&format!("{STAR}[nic]\norder = \"{order}\"\n{flows}"));
        (column(&run, "flows", "fct_ps"), column(&run, "ports", "max_queue")[2])
    });
    assert_eq!(queued.0, pulled.0);
    assert!(queued.1 <= 3000, "{} bytes in the queue of a NIC", queued.1);
}

/// Nothing else would ever end it.
#[test]
fn a_flow_without_end_is_paced_too() {
    let run =
        run(&format!("{STAR}[[traffic]]\nkind = \"backlogged\"\nsrc = 1\ndst = 0\n").replace("100ms", "1ms"));
    let bytes = column(&run, "ports", "bytes")[2];
    assert!((1_240_000..=1_251_000).contains(&bytes), "{bytes} bytes begun in a millisecond of 10 Gb/s");
}

/// A host's own queue is too short for a flow: it learns of each drop when its link could have sent that packet.
#[test]
fn drops_in_a_host_s_own_queue_are_repaired() {
    let run = run(
        "[topology]\nkind = \"star\"\nhosts = 2\nrate = \"100Gbps\"\ndelay = \"50us\"\n[transport]\nkind = \"rdma\"\n\
         congestion = \"hpcc\"\nrecovery = \"drop-notified\"\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"10MB\"\n\
         [nic]\nbuffer = \"10KB\"\n[run]\nuntil = \"30ms\"\n",
    );
    assert!(column(&run, "flows", "fct_ps")[0] > 0, "it never ended");
}

/// Two flows of one host that start at once, 60 KB and 30 KB: the shorter one has the link first.
#[test]
fn the_order_shortest_is_that_of_every_transport() {
    for transport in ["tcp", "udp", "rdma", "ndp", "uet", "phost", "homa"] {
        let switch = if transport == "ndp" { "scheduler = \"ndp\"" } else { "" };
        let completed = |order: &str| {
            let run = run(&format!(
                "topology = {{ kind = \"star\", hosts = 3 }}\nrun = {{ until = \"20ms\" }}\n\
                 [transport]\nkind = \"{transport}\"\n[switch]\nbuffer = \"200KB\"\n{switch}\n\
                 [nic]\norder = \"{order}\"\n\
                 [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"60KB\"\n\
                 [[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 2\nsize = \"30KB\"\n"
            ));
            column(&run, "flows", "fct_ps")
        };
        let (shortest, in_turn) = (completed("shortest"), completed("round-robin"));
        assert!(
            shortest[1] <= in_turn[1] && shortest[1] < 60_000_000,
            "{transport}: {shortest:?} {in_turn:?}"
        );
    }
}
