//! In-band telemetry from end to end: what switches write follows from who reads it, and HPCC makes the best of it.

use crate::common::*;
use std::path::Path;
use thalweg_lab::Run;
use thalweg_scenario::load;

/// The authors' simulator: hosts on one switch, 100 Gb/s, 1 us, times cut to nanoseconds
/// (tests/reference/hpcc-rdma.toml).
const AUTHORS: &str = r#"
topology = { kind = "star", hosts = 6, rate = "100Gbps", delay = "1us", time_quantum = "1ns" }
nic = { order = "hpcc-simulator", marking = "none" }
run = { until = "1s" }
measure = { fct = "sender" }
[switch]
inputs = { shared = "33554432B", release = "start" }
pfc = { threshold = "dynamic", headroom = "37500B", frame = "43B" }
[transport]
kind = "rdma"
mtu = "1000B"
header = "48B"
ack_size = "46B"
recovery = { kind = "go-back-n", repeat_nack = "500us" }
timer = "off"
congestion = { kind = "hpcc", max_stage = 0, base_rtt = "4160ns", variant = "simulator" }
"#;

/// Payload, start and completion time, ns.
const LONE: [(u32, u64, i128); 12] = [
    (1, 1000, 4028),
    (100, 101_000, 4044),
    (999, 201_040, 4188),
    (1000, 301_439, 4188),
    (1001, 401_839, 4195),
    (2000, 502_239, 4275),
    (5000, 603_039, 4536),
    (10_000, 705_039, 4971),
    (50_000, 809_039, 8451),
    (100_000, 929_039, 13_045),
    (500_000, 1_069_039, 49_779),
    (1_000_000, 1_369_039, 95_688),
];

/// Three senders of 1 MB to one receiver, 100 Gb/s.
const INCAST: &str = r#"
topology = { kind = "star", hosts = 4, rate = "100Gbps", delay = "1us" }
switch = { buffer = "unlimited" }
nic = { order = "round-robin" }
run = { until = "100ms" }
transport = { kind = "rdma", recovery = "go-back-n", congestion = "hpcc" }
[[traffic]]
kind = "incast"
fan_in = 3
size = "1MB"
receiver = 0
"#;

fn with(text: &str, set: &[(&str, &str)]) -> Run {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    finish(&scenario(text, Path::new("."), &set))
}

#[track_caller]
fn refused(text: &str, set: &[(&str, &str)], expected: &str) {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let errors = load(text, "s.toml", Path::new("."), &set).expect_err("refused");
    assert!(errors[0].to_string().contains(expected), "{}", errors[0]);
}

/// The longest queue of the port to host 0.
fn longest_queue(run: &Run) -> i128 {
    column(run, "ports", "max_queue").into_iter().nth(1).expect("a port")
}

#[test]
fn lone_flows_take_as_long_as_in_the_authors_simulator() {
    // Published with the reference data. Up to the first update of the rate: store and forward, 4000 ns, 2
    // packets and 2 ACKs. Beyond, units of 512 B in the telemetry make the rate depend on all that the port
    // has sent before.
    let flows: String = LONE
        .map(|(size, start, _)| {
            format!(
                "[[traffic]]\nkind = \"flow\"\nsrc = 2\ndst = 5\nsize = \"{size}B\"\nstart = \"{start}ns\"\n"
            )
        })
        .concat();
    let run = with(&format!("{AUTHORS}{flows}"), &[]);
    let ours: Vec<i128> = column(&run, "flows", "fct_ps").into_iter().map(|ps| ps / 1000).collect();
    assert_eq!(ours, LONE.map(|(_, _, theirs)| theirs));
}

#[test]
fn hpcc_keeps_the_queue_near_zero_over_queue_pairs_and_over_tcp() {
    let tcp = [("transport", "{kind=\"tcp\",congestion=\"hpcc\"}")];
    for set in [&[][..], &tcp[..]] {
        let run = with(INCAST, set);
        assert_eq!(run.summary()["flows"]["completed"], 3);
        // Each starts with a product of 54 KB at once, of which a third can leave: three products at most,
        // and one that is gone when the first ACKs are here.
        let longest = longest_queue(&run);
        assert!((40_000..170_000).contains(&longest), "{set:?}: {longest}");
        // 95 % of the line, less headers and the time that the rates need.
        let last = column(&run, "flows", "fct_ps").into_iter().max().expect("flows");
        assert!((240_000_000..330_000_000).contains(&last), "{set:?}: {last} ps");
    }
}

#[test]
fn what_a_port_writes_does_not_depend_on_how_it_is_simulated() {
    // With flow control that never acts every port decides at events; without, when it is next touched.
    let flows = |set: &[(&str, &str)]| {
        let run = with(INCAST, set);
        (column(&run, "flows", "fct_ps"), longest_queue(&run))
    };
    let plain = flows(&[]);
    let memory = ("switch.inputs", "{shared=\"100MB\",release=\"start\"}");
    assert_eq!(flows(&[memory]), plain);
    assert_eq!(flows(&[memory, ("switch.pfc", "{threshold=\"dynamic\"}")]), plain);
    // A memory that others see.
    assert_eq!(flows(&[("switch.shared_buffer", "{total=\"100MB\"}")]), plain);
}

#[test]
fn who_does_not_read_telemetry_carries_none() {
    let bytes = |set: &[(&str, &str)]| -> i128 {
        let one = INCAST.replace("1MB", "1000B").replace("fan_in = 3", "fan_in = 1");
        column(&with(&one, set), "ports", "bytes").into_iter().sum()
    };
    // 1000 + 66 B of data over two links; an ACK of 70 B back.
    assert_eq!(
        bytes(&[("transport.congestion", "fixed"), ("transport.acks", "per-packet")]),
        2 * (1066 + 70)
    );
    assert_eq!(bytes(&[]), 2 * (1066 + 42 + 70 + 42));
    assert_eq!(bytes(&[("transport.telemetry", "10B")]), 2 * (1066 + 10 + 70 + 10));
}

#[test]
fn a_run_that_was_saved_goes_on_with_its_telemetry() {
    let scenario = scenario(INCAST, Path::new("."), &[]);
    let straight = finish(&scenario).digest();
    let mut run = Run::new(&scenario).expect("a network");
    while run.step(777) {
        run = Run::load(&run.save()).expect("saved");
    }
    assert_eq!(run.digest(), straight);
}

#[test]
fn t_is_the_longest_round_trip_with_full_packets() {
    // 4 x 1 us, and 1024 + 66 + 42 B out and 70 + 42 B back over two links of 100 Gb/s: 4 us + 2 x (90.56 + 8.96) ns.
    let message = scenario(INCAST, Path::new("."), &[]).to_toml();
    assert!(message.contains("base_rtt = \"4199040ps\""), "{message}");
    assert!(message.contains("telemetry = \"42B\""), "{message}");
}

#[test]
fn what_cannot_be_is_reported() {
    refused(
        INCAST,
        &[("transport.congestion", "fixed"), ("transport.telemetry", "42B")],
        "`transport.telemetry`: it has no effect: the controller does not read telemetry; remove the key, or use the controller hpcc",
    );
    refused(
        INCAST,
        &[("topology", "{kind=\"pair\"}"), ("traffic.0", "{kind=\"flow\",src=0,dst=1,size=\"1KB\"}")],
        "`transport.congestion`: the controller reads telemetry (INT) that switches write, and the topology has no switch",
    );
    refused(
        INCAST,
        &[("switch.preemptive", "true"), ("switch.scheduler", "lifo")],
        "`switch.preemptive`: the controller needs telemetry (INT), and an interrupted transmission",
    );
    let cut = [("switch.cut_through", "64B"), ("nic.order", "queue")];
    refused(
        INCAST,
        &cut,
        "`switch.cut_through`: the controller needs telemetry (INT), which is written when a whole packet leaves",
    );
    let long = [
        ("topology", "{kind=\"parking-lot\",bottlenecks=9}"),
        ("traffic.0", "{kind=\"flow\",src=0,dst=1,size=\"1KB\"}"),
    ];
    refused(INCAST, &long, "room for the telemetry (INT) of 8 switches, and the longest path has 10");
    refused(INCAST, &[("transport.acks", "never")], "the controller's window advances with ACKs");
    let tcp = "{kind=\"tcp\",congestion=\"hpcc\",initial_window=\"4pkts\"}";
    refused(INCAST, &[("transport", tcp)], "`transport.initial_window`: it has no effect");
}

/// Four flows cross one spine and are gone. A fifth follows them; at 3 ms its link fails, and it goes on over the
/// other spine, whose ports have sent nothing: W_init all along, 45 056 B.
#[test]
fn a_flow_alone_keeps_its_window_when_its_path_changes() {
    let flow = |src: u32, start: &str, size: &str| {
        format!("[[traffic]]\nkind = \"flow\"\nsrc = {src}\ndst = {}\nsize = \"{size}\"\n{start}", src + 8)
    };
    let before: String = (1..5).map(|src| flow(src, "", "5MB")).collect();
    let text = format!(
        "seed = 3\ntopology = {{ kind = \"leaf-spine\", leaves = 2, spines = 2, hosts_per_leaf = 8, host_rate = \"50Gbps\", \
         spine_rate = \"100Gbps\", delay = \"1us\" }}\nswitch = {{ inputs = {{ shared = \"32MB\" }} }}\n\
         routing = {{ convergence = \"1us\" }}\nmeasure = {{ controllers = {{ every = \"1us\", flows = [4] }} }}\n\
         transport = {{ kind = \"rdma\", recovery = \"irn\", congestion = \"hpcc\" }}\n{}{before}\
         [[incident]]\nkind = \"link-failure\"\nat = \"3ms\"\nlink = [\"leaf0\", \"spine1\"]\n",
        flow(0, "start = \"2ms\"\n", "20MB")
    );
    for variant in ["\"published\"", "\"simulator\""] {
        let congestion = format!("{{kind=\"hpcc\",variant={variant}}}");
        let run = with(&text, &[("transport.congestion", congestion.as_str())]);
        let (at, window) = (column(&run, "controllers", "time_ps"), column(&run, "controllers", "window"));
        let after = at.iter().zip(&window).filter(|(at, _)| **at > 3_001_000_000).map(|(_, w)| *w);
        let least = after.min().expect("samples");
        let most = *window.iter().max().expect("samples");
        println!("{variant}: {least} of {most}, {:?}", column(&run, "flows", "fct_ps"));
        assert!(variant != "\"published\"" || least == 45_056, "{least} of {most}");
        assert!(2 * least > most, "{variant}: {least} of {most}");
    }
}

#[test]
fn telemetry_of_packets_that_pass_different_ports_is_refused() {
    let key = |rule: &str| {
        format!(
            "`transport.congestion`: `hpcc` compares the telemetry of the same ports in packets of one flow, and with \
             `{rule}` packets of a flow pass different ports; write `routing = \"ecmp\"`, or a controller without telemetry"
        )
    };
    let fabric = "{kind=\"leaf-spine\",leaves=2,spines=2,hosts_per_leaf=2}";
    for rule in ["spray-random", "spray-round-robin", "flowlet", "least-loaded"] {
        refused(INCAST, &[("topology", fabric), ("routing", rule)], &key(rule));
    }
    refused(
        INCAST,
        &[
            ("topology", fabric),
            ("routing", "\"spray-random\""),
            ("transport", "{kind=\"tcp\",congestion=\"hpcc\"}"),
        ],
        &key("spray-random"),
    );
}
