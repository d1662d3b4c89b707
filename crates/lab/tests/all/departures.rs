//! When the first packet of a flow really leaves its host.

use crate::common::*;
use std::path::Path;
use thalweg_lab::Run;
use thalweg_units::FlowId;

/// RDMA over a lossless fabric that pauses hosts: many flows to one, and flows of the same hosts to others.
const PAUSES: &str = r#"
scheme = "roce+voq-pfc"
topology = { kind = "star", hosts = 10 }
run = { until = "20ms" }
measure = { packets = {} }
[[traffic]]
kind = "incast"
fan_in = 8
receiver = 0
size = "400KB"
[[traffic]]
kind = "permutation"
size = "50KB"
jitter = "400us"
"#;

/// Flows of one host wait for each other in the queue of its NIC.
const QUEUES: &str = r#"
topology = { kind = "star", hosts = 4 }
run = { until = "20ms" }
measure = { packets = {} }
[[traffic]]
kind = "incast"
fan_in = 30
receiver = 0
senders = "with-replacement"
size = "20KB"
"#;

/// SYNs, as all that controls, go before what waits.
const BACKPRESSURE: &str =
    "{scheduler={kind=\"bfc\",queues=8},inputs={shared=\"2MB\"},backpressure={},control_first=true}";

/// Begun, as the table has it, and when the first packet of each flow began to leave, as the recording has it; -1:
/// never.
fn both(text: &str, set: &[(&str, &str)]) -> (Vec<i128>, Vec<i128>, Vec<i128>) {
    let set: Vec<_> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let mut run = Run::new(&scenario(text, Path::new("."), &set)).expect("a network");
    while run.step(1 << 20) {}
    let rows = run.take_recorded(true);
    let mut first = vec![-1i128; run.spec().flows.len()];
    for (row, flow) in rows.flow.iter().enumerate() {
        // What its NIC drops has not left.
        if rows.losses.at[row] == rows.ingress[row] {
            continue;
        }
        let first = &mut first[FlowId(*flow).at()];
        if rows.forward[row] == 1 && (*first < 0 || *first > i128::from(rows.ingress[row])) {
            *first = i128::from(rows.ingress[row]);
        }
    }
    (column(&run, "flows", "begun_ps"), first, column(&run, "flows", "start_ps"))
}

#[test]
fn a_flow_has_begun_when_its_first_packet_leaves_its_host_behind_pauses_and_queues() {
    for (text, set) in [
        (PAUSES, &[][..]),
        (QUEUES, &[]),
        (QUEUES, &[("switch.scheduler", "srpt")]),
        (QUEUES, &[("switch.scheduler", "fq")]),
        (QUEUES, &[("nic.order", "round-robin")]),
        (QUEUES, &[("nic.buffer", "6KB")]),
        (QUEUES, &[("switch.scheduler", "srpt"), ("switch.preemptive", "true")]),
        (QUEUES, &[("switch", BACKPRESSURE), ("transport.handshake", "true")]),
    ] {
        let (begun, first, start) = both(text, set);
        assert_eq!(begun, first, "{set:?}");
        // (Where the memory is small nothing that waits fits into it.)
        assert!(!set.is_empty() || begun.iter().zip(&start).any(|(b, s)| b > s), "{set:?}: none waits");
    }
}

#[test]
fn without_acks_nothing_is_acknowledged() {
    let run =
        run(&PAUSES
            .replace("measure = { packets = {} }", "transport = { kind = \"rdma\", acks = \"never\" }"));
    assert!(column(&run, "flows", "acked_ps").iter().all(|at| *at == -1));
    assert!(column(&run, "flows", "received_ps").iter().any(|at| *at > 0));
}

/// A thousand datagrams of a stream of 1 MB and ten of one of 10 KB meet, together 1.6 times a link: the shortest job
/// waits for no more than the packet that is being sent, 1.664 us of 1040 B at 5 Gb/s.
#[test]
fn the_shorter_of_two_streams_goes_first_where_jobs_are_sorted_by_size() {
    let completion = |scheduler: &str, streams: &[(u32, &str)]| {
        let stream = |(src, size): &(u32, &str)| {
            format!(
                "[[traffic]]\nkind = \"udp\"\nsrc = {src}\ndst = 2\nrate = \"4Gbps\"\npayload = \"1000B\"\nsize = \"{size}\"\n"
            )
        };
        let traffic: String = streams.iter().map(stream).collect();
        let text = format!(
            "topology = {{ kind = \"star\", hosts = 3, rate = \"5Gbps\", delay = \"1us\" }}\ntransport = \"udp\"\n\
             switch = {{ scheduler = \"{scheduler}\", buffer = \"unlimited\" }}\nnic = {{ scheduler = \"fifo\" }}\n\
             run = {{ until = \"10ms\" }}\n{traffic}"
        );
        column(&run(&text), "flows", "fct_ps")[0]
    };
    let alone = completion("fifo", &[(1, "10KB")]);
    let both = [(1, "10KB"), (0, "1MB")];
    assert!(completion("fifo", &both) > alone + 10_000_000);
    assert!(completion("sjf", &both) <= alone + 1_664_000);
}

/// Messages on one queue pair: each begins when its own first packet leaves, as the same flows do on connections of
/// their own, where those leave in the same order. 100 packets of 1090 B take 87.2 us at 10 Gb/s.
#[test]
fn a_message_behind_another_begins_when_its_first_packet_is_on_the_link() {
    let folder = Folder::new(
        "messages",
        &[(
            "flows.csv",
            "id,src,dst,size_bytes,start_ns\n0,0,1,102400,0\n1,0,1,102400,0\n2,0,1,10240,5000\n",
        )],
    );
    let begun = |connection: &str| {
        let text = format!(
            "[topology]\nkind = \"star\"\nhosts = 2\nrate = \"10Gbps\"\ndelay = \"1us\"\n[transport]\nkind = \"rdma\"\n\
             cap = \"none\"\n[[traffic]]\nkind = \"list\"\nfile = \"flows.csv\"\nconnection = \"{connection}\"\n"
        );
        column(&finish(&scenario(&text, &folder.0, &[])), "flows", "begun_ps")
    };
    assert_eq!(begun("back-to-back"), [0, 87_200_000, 174_400_000]);
    assert_eq!(begun("fresh"), begun("back-to-back"));
}
