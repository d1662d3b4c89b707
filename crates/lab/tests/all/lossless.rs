//! What follows from the topology, and what the simulator is given, for lossless fabrics and RDMA.
use crate::common::*;
use std::path::Path;
use thalweg_lab::Run;
use thalweg_machines::buffer::InputMemory;
use thalweg_machines::congestion::ControllerSpec;
use thalweg_machines::pause::Claims;
use thalweg_machines::transport::{CnpRule, Notification, RdmaAcks, RdmaSpec, RdmaTimer, TransportSpec};
use thalweg_net::spec::{IncidentKind, NetworkSpec, Predecessor};
use thalweg_scenario::{catalogue, load};
use thalweg_units::{Bytes, FlowId, PortId, Span, Time};

/// IRN's default network (UCB/EECS-2018-103 §4.3.1): 54 servers, 40 Gb/s, 2 us per link.
const FAT_TREE: &str = r#"
topology = { kind = "fat-tree", k = 6, rate = "40Gbps", delay = "2us" }
run = { until = "1ms" }
[[traffic]]
kind = "permutation"
size = "100KB"
"#;

fn spec(text: &str, set: &[(&str, &str)]) -> NetworkSpec {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    scenario(text, Path::new("."), &set).network().unwrap_or_else(|e| panic!("{e}"))
}

fn rdma(spec: &NetworkSpec) -> &RdmaSpec {
    match &spec.transports[0] {
        TransportSpec::Rdma(r) => r,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_defaults_of_irn_are_those_of_the_paper() {
    let s = spec(FAT_TREE, &[("scheme", "irn+voq-pfc")]);
    // 40e9 x 24e-6 / 8 = 120 000 B; / 1090 B = 110.09 packets.
    assert_eq!(rdma(&s).cap, Some(110));
    let inputs = s.inputs.expect("inputs");
    // Headroom 40e9 x 2 x 2e-6 / 8 = 20 000 B, 3 x 1090 and 64 B; the paper has the first alone, and 220 KB.
    let (xoff, headroom) = (240_000 - 23_334, 23_334);
    assert_eq!(inputs.claims(), Claims::Static { xoff, xon: xoff, headroom });
    assert_eq!(inputs.memory, InputMemory::PerInput(Bytes::kb(240)));
    assert_eq!((rdma(&s).acks, rdma(&s).timer), (RdmaAcks::PerPacket, RdmaTimer::Off));
    let lossy = spec(FAT_TREE, &[("scheme", "irn+voq")]);
    assert_eq!(lossy.inputs.expect("inputs").memory, InputMemory::PerInput(Bytes::kb(240)));
    let pair = RdmaTimer::Pair {
        low: Span::from_us(100),
        high: Span::from_us(320),
        max_in_flight: 3,
        max_rate_factor: 4,
    };
    assert_eq!(rdma(&lossy).timer, pair);
}

#[test]
fn the_cap_follows_rate_and_path() {
    let cap = |rate: &str| rdma(&spec(FAT_TREE, &[("scheme", "irn+voq"), ("topology.rate", rate)])).cap;
    assert_eq!((cap("10Gbps"), cap("100Gbps")), (Some(27), Some(275)));
    let here = |topology: &str| rdma(&spec(FAT_TREE, &[("scheme", "irn+voq"), ("topology", topology)])).cap;
    // Two links, 1 us each way: 4 us at 10 Gb/s are 5000 B.
    assert_eq!(here("{kind=\"star\",hosts=3}"), Some(4));
    // A packet may always be under way.
    assert_eq!(here("{kind=\"star\",hosts=3,delay=\"1ns\"}"), Some(1));
    let off = |set: &[(&str, &str)]| rdma(&spec(FAT_TREE, set)).cap;
    assert_eq!(off(&[("scheme", "irn+voq"), ("transport.cap", "none")]), None);
    assert_eq!(off(&[("scheme", "irn+voq"), ("transport.cap", "111")]), Some(111));
    assert_eq!(off(&[("scheme", "roce+voq")]), None);
    assert_eq!(off(&[("scheme", "roce+voq"), ("transport.cap", "auto")]), Some(110));
}

/// Shorter than a base round trip, a timer has everything sent twice.
#[test]
fn timers_of_their_defaults_outlast_long_paths() {
    let timer = |scheme: &str, set: &[(&str, &str)]| {
        let set =
            [&[("scheme", scheme), ("topology", "{kind=\"star\",hosts=3,delay=\"1ms\"}")], set].concat();
        rdma(&spec(FAT_TREE, &set)).timer
    };
    let RdmaTimer::Pair { low, high, .. } = timer("irn+voq", &[]) else { panic!("a pair") };
    // 4 ms, twice 1090 B and twice an ACK at 10 Gb/s.
    assert!(
        low > Span::from_ms(8) && low < Span::from_us(8006) && high == low.saturating_mul(2),
        "{low} {high}"
    );
    assert_eq!(timer("roce+voq", &[]), RdmaTimer::Fixed { value: high });
    let written = timer("irn+voq", &[("transport.timer", "pair")]);
    assert!(
        matches!(written, RdmaTimer::Pair { low, .. } if low == Span::from_us(100)),
        "what is written stays"
    );
}

#[test]
fn roce_sends_the_acks_that_are_needed() {
    let acks = |scheme: &str, set: &[(&str, &str)]| {
        let set = [&[("scheme", scheme)], set].concat();
        let s = spec(FAT_TREE, &set);
        (rdma(&s).acks, rdma(&s).timer)
    };
    let fixed = RdmaTimer::Fixed { value: Span::from_us(320) };
    assert_eq!(acks("roce+voq-pfc", &[]), (RdmaAcks::Never, RdmaTimer::Off));
    assert_eq!(acks("roce-dcqcn+voq-pfc", &[]), (RdmaAcks::Never, RdmaTimer::Off));
    assert_eq!(acks("roce-timely+voq-pfc", &[]), (RdmaAcks::PerSegment, RdmaTimer::Off));
    assert_eq!(acks("roce+voq", &[]), (RdmaAcks::PerPacket, fixed));
    assert_eq!(acks("roce+voq-pfc", &[("transport.cap", "auto")]), (RdmaAcks::PerPacket, RdmaTimer::Off));
    assert_eq!(acks("roce+voq-pfc", &[("transport.timer", "fixed")]), (RdmaAcks::PerPacket, fixed));
    assert_eq!(
        acks("roce-dcqcn+voq-pfc", &[("transport.notification", "echo")]),
        (RdmaAcks::PerPacket, RdmaTimer::Off)
    );
    assert_eq!(acks("roce+voq-pfc", &[("transport.segments", "{}")]), (RdmaAcks::PerSegment, RdmaTimer::Off));
    assert_eq!(acks("roce+voq", &[("transport.acks", "never")]), (RdmaAcks::Never, RdmaTimer::Off));
}

#[test]
fn controllers_know_what_they_need() {
    let reported = |scheme: &str| rdma(&spec(FAT_TREE, &[("scheme", scheme)])).notification;
    let cnp = Notification::Packet { interval: Span::from_us(50), rule: CnpRule::Spaced, wire: 82 };
    assert_eq!(reported("irn-dcqcn+voq"), cnp);
    assert_eq!(reported("irn-dctcp+voq"), Notification::Echo);
    assert_eq!(reported("irn-timely+voq"), Notification::Off);
    // minRTT is the propagation of the longest path, both ways.
    match &rdma(&spec(FAT_TREE, &[("scheme", "irn-timely+voq")])).controller {
        ControllerSpec::Timely(t) => assert_eq!(t.min_rtt, Some(Span::from_us(24))),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_scheme_loads_runs_and_is_read_back_equal() {
    for entry in catalogue("schemes").expect("schemes") {
        let text = format!(
            "scheme = \"{}\"\ntopology = {{ kind = \"leaf-spine\", leaves = 2, spines = 2, hosts_per_leaf = 2 }}\n\
             run = {{ until = \"10ms\", check = true }}\n[[traffic]]\nkind = \"permutation\"\nsize = \"30KB\"\n",
            entry.name
        );
        let s = scenario(&text, Path::new("."), &[]);
        let again = load(&s.to_toml(), "r.toml", Path::new("."), &[]).unwrap_or_else(|e| panic!("{}", e[0]));
        assert!(again == s, "{}", entry.name);
        let run = finish(&s);
        assert_eq!(run.summary()["flows"]["completed"], 4, "{}", entry.name);
        assert_eq!(run.digest(), finish(&again).digest(), "{}", entry.name);
    }
}

#[test]
fn a_transport_without_a_kind_is_of_the_schemes() {
    let s = spec(FAT_TREE, &[("scheme", "roce+voq"), ("transport.mtu", "1000B")]);
    assert_eq!(rdma(&s).payload, 1000);
    let s =
        spec(&FAT_TREE.replace("run =", "scheme = \"roce+voq\"\nrun ="), &[("transport", "{mtu=\"999B\"}")]);
    assert_eq!(rdma(&s).payload, 999);
}

#[test]
fn incidents_are_in_order_and_what_is_mended_comes_first() {
    let incidents = "[{kind=\"link-failure\",at=\"30us\",until=\"50us\",link=[54,0]},\
        {kind=\"pause-loss\",from=\"10us\",until=\"30us\",probability=0.5,port=1},\
        {kind=\"link-failure\",at=\"50us\",link=[0,54]}]";
    let s = spec(FAT_TREE, &[("scheme", "irn+voq-pfc"), ("incident", incidents)]);
    let us = |t: u64| Time::from_ps(t * 1_000_000);
    let seen: Vec<_> = s.incidents.iter().map(|i| (i.at, i.what)).collect();
    assert_eq!(
        seen,
        [
            (us(10), IncidentKind::PauseLoss(Some(PortId(1)), 0.5)),
            (us(30), IncidentKind::PauseLoss(Some(PortId(1)), 0.0)),
            (us(30), IncidentKind::LinkDown(0)),
            (us(50), IncidentKind::LinkUp(0)),
            (us(50), IncidentKind::LinkDown(0)),
        ]
    );
}

#[test]
fn a_failure_takes_all_links_between_two_nodes() {
    let topology = "{kind=\"leaf-spine\",leaves=2,spines=1,hosts_per_leaf=1,links_per_pair=2}";
    let incidents = "[{kind=\"link-failure\",at=\"30us\",link=[2,4]}]";
    let s = spec(FAT_TREE, &[("topology", topology), ("incident", incidents)]);
    assert_eq!(s.incidents.len(), 2);
}

#[test]
fn flows_of_a_pair_share_a_connection_by_section_and_direction() {
    let text = r#"
topology = { kind = "star", hosts = 3 }
run = { until = "5ms" }
transport = { kind = "rdma" }
[[traffic]]
kind = "request-response"
client = 0
server = 1
request = "1KB"
response = "2KB"
count = 3
connection = "per-pair"
[[traffic]]
kind = "incast"
fan_in = 2
size = "1KB"
receiver = 0
repeat = 2
period = "1ms"
connection = "per-pair"
[[traffic]]
kind = "flow"
src = 0
dst = 1
size = "1KB"
[[traffic]]
kind = "all-to-all"
size = "1KB"
connection = "per-pair"
"#;
    let s = spec(text, &[]);
    let mut seen = std::collections::BTreeMap::new();
    for f in &s.flows {
        if f.group == 2 {
            assert_eq!(f.connection, u32::MAX);
            continue;
        }
        let same = *seen.entry((f.group, f.src.0, f.dst.0)).or_insert(f.connection);
        assert_eq!(same, f.connection);
    }
    let mut numbers: Vec<u32> = seen.into_values().collect();
    numbers.sort_unstable();
    // Two, two, and from each of three hosts to two others.
    assert!(numbers.iter().copied().eq(0..10), "{numbers:?}");
}

/// Remote procedure calls between four pods.
const RPC: &str = r#"
topology = { kind = "fat-tree", k = 4 }
run = { until = "30ms" }
transport = { kind = "rdma" }
[measure]
from = "2ms"
[[traffic]]
kind = "rpc"
load = 0.4
request = "10KB"
response = "30KB"
servers = "other-pods"
packet_payload = "1024B"
packet_header = "66B"
"#;

#[test]
fn calls_are_answered_by_the_server_at_once_and_offer_the_load() {
    let s = spec(RPC, &[]);
    let mut bytes = 0.0;
    let mut answers = 0;
    for (flow, f) in (0..).map(FlowId).zip(&s.flows) {
        let packets = f.size.div_ceil(1024);
        bytes += (f.size + 66 * packets) as f64;
        assert_ne!(f.src.0 / 4, f.dst.0 / 4, "another pod");
        let [Predecessor::Flow { flow: asked, .. }] = s.precedence.of(flow) else {
            assert_eq!(f.size, 10_000);
            assert_eq!(f.measured, f.start >= Time::from_ps(2_000_000_000));
            continue;
        };
        let request = &s.flows[asked.at()];
        assert_eq!((f.src, f.dst, f.size, f.start), (request.dst, request.src, 30_000, Time::ZERO));
        assert_eq!(f.measured, request.measured, "a call counts as a whole");
        answers += 1;
    }
    assert_eq!(2 * answers, s.flows.len());
    // 16 hosts of 10 Gb/s for 30 ms: about 7000 calls, so 2.5 % are three standard deviations.
    let load = bytes * 8.0 / (16.0 * 10e9 * 30e-3);
    assert!((load / 0.4 - 1.0).abs() < 0.03, "{load}");
}

#[test]
fn calls_on_the_busiest_link_load_it_both_ways() {
    let set = [("routing", "lowest"), ("traffic.0.of", "busiest-link"), ("run.until", "200ms")];
    let set = set.map(|(k, v)| (k.to_owned(), v.to_owned()));
    let s = scenario(RPC, Path::new("."), &set);
    // Routes of `lowest` all pass core 0: what leaves a pod, requests and responses, leaves it on one link,
    // and so does what enters it.
    let mut carried = [0u64; 8];
    for f in &s.network().expect("a network").flows {
        let wire = f.size + 66 * f.size.div_ceil(1024);
        carried[f.src.at() / 4] += wire;
        carried[4 + f.dst.at() / 4] += wire;
    }
    for bytes in carried {
        // About 4800 calls a link, of 10.6 KB and 32 KB: a standard deviation of 1.6 %.
        let load = bytes as f64 * 8.0 / (10e9 * 200e-3);
        assert!((load / 0.4 - 1.0).abs() < 0.05, "{load}");
    }
}

#[test]
fn the_cost_of_queue_pairs_counts_the_acks_they_send() {
    let hops = |scheme: &str| {
        let s = scenario(FAT_TREE, Path::new("."), &[("scheme".into(), scheme.into())]);
        s.estimate().expect("an estimate").packet_hops as f64
    };
    let (silent, segments, all) = (hops("roce+voq-pfc"), hops("roce-timely+voq-pfc"), hops("irn+voq"));
    assert!((all / silent - 2.0).abs() < 1e-3);
    assert!((segments / silent - (1.0 + 1.0 / 16.0)).abs() < 1e-3);
    // And what happens is near what was expected.
    let run = finish(&scenario(FAT_TREE, Path::new("."), &[("scheme".into(), "roce+voq-pfc".into())]));
    let real = run.progress().packet_hops as f64;
    assert!((real / silent - 1.0).abs() < 0.15, "{real} {silent}");
}

/// Four hosts send to one under flow control; a bystander shares a path with them.
const STORM: &str = r#"
topology = { kind = "leaf-spine", leaves = 2, spines = 1, hosts_per_leaf = 4, spine_rate = "10Gbps" }
switch = { scheduler = "input-round-robin", inputs = { memory = "30KB" }, pfc = {} }
nic = { order = "round-robin" }
transport = { kind = "rdma", recovery = "go-back-n" }
run = { until = "10ms", check = true }
measure = { pauses = true, memory = true }
[[traffic]]
kind = "incast"
fan_in = 7
size = "200KB"
receiver = 0
senders = "neighbours"
"#;

#[test]
fn pauses_are_listed_with_their_causes_and_sums_agree() {
    let run = run(STORM);
    let summary = run.summary();
    let pauses = &summary["pauses"];
    assert_eq!(summary["drops"], 0);
    assert_eq!(summary["flows"]["completed"], 7);
    assert_eq!(pauses["deadlocks"].as_array().map(Vec::len), Some(0));
    let column = |name| column(&run, "pauses", name);
    let (began, ended, cause, depth) =
        (column("began_ps"), column("ended_ps"), column("cause"), column("depth"));
    assert!(began.len() > 5);
    assert_eq!(began.len() as u64, pauses["frames"].as_u64().expect("a number"));
    assert!(depth.iter().any(|d| *d > 0), "the spine's pauses make the leaves pause hosts");
    for i in 0..began.len() {
        assert!(ended[i] > began[i]);
        let of_cause = if cause[i] < 0 { -1 } else { depth[usize::try_from(cause[i]).expect("known")] };
        assert_eq!(depth[i], of_cause + 1);
    }
    let sum: i128 = began.iter().zip(&ended).map(|(b, e)| e - b).sum();
    assert_eq!(sum, crate::common::column(&run, "ports", "paused_ps").iter().sum());
    assert_eq!(began.len() as i128, crate::common::column(&run, "ports", "pauses").iter().sum());
    assert!((pauses["paused_s"].as_f64().expect("a number") - sum as f64 * 1e-12).abs() < 1e-12);
}

#[test]
fn the_most_held_is_reported_by_input_with_its_share_of_limit_and_headroom() {
    let run = run(STORM);
    let column = |name| column(&run, "memory", name);
    let (node, from, most) = (column("node"), column("from_node"), column("most_bytes"));
    // Two leaves (nodes 8 and 9) with four hosts each, a spine (10); inputs in the order of links.
    assert_eq!(node, [8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 10, 10]);
    assert_eq!(from, [0, 1, 2, 3, 10, 4, 5, 6, 7, 10, 8, 9]);
    // 30 KB less the headroom: 2 x 10 Gb/s x 1 us = 2500 B, 3 x 1090 and 64 B.
    let (limit, headroom) = (column("limit_bytes"), column("headroom_bytes"));
    assert!(limit.iter().zip(&headroom).all(|(l, h)| (*l, *h) == (30_000, 5834)));
    let above = column("most_headroom");
    assert!(most.iter().zip(&above).all(|(m, a)| *a == (m - 24_166).max(0)));
    assert!(above.iter().all(|a| *a <= 5834) && above.iter().any(|a| *a > 0));
    let memory = &run.summary()["memory"];
    let largest = most.iter().max().expect("inputs");
    assert_eq!(memory["most_bytes"].as_u64().map(i128::from), Some(*largest));
    let first = most.iter().position(|m| m == largest).expect("one");
    assert_eq!(memory["from_node"].as_u64().map(i128::from), Some(from[first]));
    assert_eq!(memory["of_limit"].as_f64(), Some(*largest as f64 / 30_000.0));
    assert_eq!(memory["of_headroom"].as_f64(), Some((*largest - 24_166) as f64 / 5834.0));
    assert!(memory["of_shared"].is_null());
    // A shared memory has a row of its own, and its inputs no limit.
    let set = [("switch.inputs", "{shared=\"1MB\"}"), ("switch.pfc", "{threshold=\"dynamic\"}")];
    let set = set.map(|(k, v)| (k.to_owned(), v.to_owned()));
    let run = finish(&scenario(STORM, Path::new("."), &set));
    let (port, limit) =
        (crate::common::column(&run, "memory", "port"), crate::common::column(&run, "memory", "limit_bytes"));
    assert_eq!(port.len(), 15);
    assert!(port.iter().zip(&limit).all(|(p, l)| (*p < 0) != (*l < 0)));
    assert!(run.summary()["memory"]["of_shared"].as_f64().is_some_and(|share| share > 0.0 && share < 1.0));
    let unasked = finish(&scenario(STORM, Path::new("."), &[("measure.memory".into(), "false".into())]));
    assert!(unasked.summary()["memory"].is_null());
    assert!(unasked.tables().iter().all(|t| t.name != "memory"));
}

fn text(run: &Run, name: &str) -> Vec<String> {
    let tables = run.tables();
    let column = tables[0].columns.iter().find(|c| c.name == name).expect("a column");
    match &column.data {
        thalweg_lab::ColumnData::Text(v) => v.clone(),
        thalweg_lab::ColumnData::MaybeText(v) => v.iter().flatten().cloned().collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn flows_report_how_they_ended_and_why() {
    let run = run(STORM);
    assert!(text(&run, "end").iter().all(|e| e == "completed"));
    assert_eq!(text(&run, "reason"), Vec::<String>::new(), "null: nothing is to be explained");
    // Host 0's only link fails for good: the hosts that send to it have no path left.
    let set =
        [("incident", "[{kind=\"link-failure\",at=\"100us\",link=[0,8]}]"), ("routing.convergence", "10us")];
    let set = set.map(|(k, v)| (k.to_owned(), v.to_owned()));
    let run = finish(&scenario(STORM, Path::new("."), &set));
    assert!(text(&run, "end").iter().all(|e| e == "failed"), "{:?}", text(&run, "end"));
    assert_eq!(text(&run, "reason"), ["unreachable: no path is left"; 7]);
    let summary = run.summary();
    assert_eq!((&summary["flows"]["failed"], &summary["flows"]["completed"]), (&7.into(), &0.into()));
    assert_eq!(summary["flows"]["unfinished"]["unreachable: no path is left"], 7);
    assert!(summary["incidents"]["packets_lost"].as_u64() > Some(0));
    // The run ends first.
    let set = [("run.until".to_owned(), "50us".to_owned())];
    let run = finish(&scenario(STORM, Path::new("."), &set));
    assert_eq!(text(&run, "reason"), ["the run ended first"; 7]);
}

#[test]
fn round_trips_are_of_the_measured_window() {
    let set = [
        ("transport", "{kind=\"rdma\",recovery=\"go-back-n\",congestion=\"timely\"}"),
        ("measure", "{round_trips=true,from=\"200us\",until=\"600us\"}"),
    ];
    let set = set.map(|(k, v)| (k.to_owned(), v.to_owned()));
    let run = finish(&scenario(STORM, Path::new("."), &set));
    let at = column(&run, "round_trips", "time_ps");
    assert!(!at.is_empty());
    assert!(at.iter().all(|t| (200_000_000..600_000_000).contains(t)));
    assert!(column(&run, "round_trips", "pace").iter().all(|p| *p > 0 && *p <= 10_000_000_000));
}

/// 15 hosts send to one, whose link serves each input so rarely that nothing drains while a pause is on its
/// way; data the other way make the frame wait for a whole packet.
const FULL_DUPLEX: &str = r#"
scheme = "roce+voq-pfc"
topology = { kind = "star", hosts = 16 }
run = { until = "5ms" }
measure = { memory = true }
[[traffic]]
kind = "incast"
fan_in = 15
receiver = 0
size = "262144B"
[[traffic]]
kind = "permutation"
size = "1048576B"
jitter = "10us"
"#;

/// The headroom is 2500 + 3 x 1090 + 64 = 5834 B: the packet that crosses the threshold and four that still
/// come are 5450 B.
#[test]
fn the_computed_headroom_loses_nothing_and_one_packet_less_does() {
    let with = |headroom: u64, lossy: bool| {
        // The threshold is 20 packets in both.
        let memory = format!("{}B", 21_800 + headroom);
        let pfc = format!("{{headroom=\"{headroom}B\",lossy_ok={lossy}}}");
        let set = [("switch.inputs.memory".to_owned(), memory), ("switch.pfc".to_owned(), pfc)];
        let run = finish(&scenario(FULL_DUPLEX, Path::new("."), &set));
        let summary = run.summary();
        assert_eq!(run.violation(), None, "losses that are meant are no error");
        let most = summary["memory"]["most_bytes"].as_u64().expect("measured");
        (most - 21_800, summary["drops"].as_u64().expect("counted"))
    };
    assert_eq!(with(5834, false), (5450, 0));
    let (held, lost) = with(5834 - 1090, true);
    assert!(held <= 4744 && lost > 0, "{lost} lost, {held} B above the threshold");
}

/// GFC (SIGCOMM 2019, §4.2): a neighbour sends at the rate that its last frame has, from that instant on. One burst of
/// 146 000 B at 40 Gb/s into a link of 1 Gb/s: the switch slows its source to a thousandth, and lets it go faster as
/// its input empties, long before that link runs out of packets.
#[test]
fn a_higher_rate_of_gfc_counts_from_the_frame_on_that_permits_it() {
    let run = run(
        "[topology]\nkind = \"star\"\nhosts = 2\nrate = \"40Gbps\"\nsink_rate = \"1Gbps\"\ndelay = \"1us\"\n\
         [switch]\ninputs = { memory = \"300KB\", release = \"end\" }\n\
         gfc = { first = \"20KB\", last = \"23KB\", stages = 10 }\n[nic]\nbuffer = \"unlimited\"\n\
         [transport]\nkind = \"udp\"\n[[traffic]]\nkind = \"flow\"\nsrc = 1\ndst = 0\nsize = \"146000B\"\n\
         [run]\nuntil = \"5ms\"\nstop_when_done = false\n",
    );
    // A flow whose last link is never idle takes as long as alone.
    assert_eq!(column(&run, "flows", "fct_ps"), column(&run, "flows", "ideal_ps"));
}

/// Both ways between two switches are slow because links of 1 Gb/s behind them are: frames are sent ahead of what a
/// lower rate holds back.
#[test]
fn frames_do_not_wait_for_the_lower_rate_of_the_data() {
    let links = [(0, 4, "40"), (1, 4, "1"), (4, 5, "40"), (2, 5, "1"), (3, 5, "40")];
    let one = |(a, b, rate): &(u32, u32, &str)| {
        format!("[[links]]\na = {a}\nb = {b}\nrate = \"{rate}Gbps\"\ndelay = \"1us\"\n")
    };
    let file = format!("hosts = 4\nswitches = 2\n{}", links.iter().map(one).collect::<String>());
    let folder = Folder::new("gentle", &[("two.toml", &file)]);
    let flow = |src: u32, dst: u32, at: &str| {
        format!(
            "[[traffic]]\nkind = \"flow\"\nsrc = {src}\ndst = {dst}\nsize = \"146000B\"\nstart = \"{at}\"\n"
        )
    };
    let held = |flows: &str| {
        let text = format!(
            "[topology]\nkind = \"file\"\nfile = \"two.toml\"\nformat = \"thalweg-toml\"\n[switch]\n\
             inputs = {{ memory = \"300KB\" }}\ngfc = {{ first = \"20KB\", last = \"23KB\", stages = 10 }}\n\
             [nic]\nbuffer = \"unlimited\"\n[transport]\nkind = \"udp\"\n[measure]\nmemory = true\n\
             [run]\nuntil = \"5ms\"\nstop_when_done = false\n{flows}"
        );
        let run = finish(&scenario(&text, &folder.0, &[]));
        let (node, from) = (column(&run, "memory", "node"), column(&run, "memory", "from_node"));
        let at = (0..node.len()).find(|i| (node[*i], from[*i]) == (4, 5)).expect("an input");
        column(&run, "memory", "most_bytes")[at]
    };
    let one = flow(3, 1, "20us");
    let (alone, both) = (held(&one), held(&format!("{one}{}", flow(0, 2, "0us"))));
    // A frame waits for a packet of the other flow, at most, and not for the gap behind it.
    assert!(both < alone + 3000, "{alone} B, and {both} B next to data the other way");
}

/// Frames are counted, whatever they do to neighbours.
#[test]
fn the_summary_has_the_pauses_of_every_policy() {
    let go = |rest: &str| {
        let text = format!(
            "{rest}[nic]\norder = \"round-robin\"\nbuffer = \"unlimited\"\n[transport]\nkind = \"rdma\"\n\
             recovery = \"go-back-n\"\n[[traffic]]\nkind = \"incast\"\nfan_in = 3\nsize = \"300KB\"\n\
             receiver = 0\n[run]\nuntil = \"5ms\"\n"
        );
        run(&text).summary()["pauses"].clone()
    };
    let star = |switch: &str| {
        format!("[topology]\nkind = \"star\"\nhosts = 4\nrate = \"10Gbps\"\n[switch]\n{switch}\n")
    };
    let bfc =
        "scheduler = \"bfc\"\ninputs = { shared = \"1MB\", release = \"start\" }\ncontrol_first = true\n";
    let plain = format!("{bfc}backpressure = {{}}");
    let gfc = "inputs = { memory = \"60KB\" }\ngfc = { first = \"20KB\", last = \"23KB\" }";
    for switch in [&plain, gfc, "inputs = { memory = \"60KB\" }\npfc = {}"] {
        let pauses = go(&star(switch));
        assert!(pauses["frames"].as_u64().is_some_and(|frames| frames > 0), "{switch}");
        assert!(pauses["spared"].is_null(), "{switch}");
    }
    assert!(go(&star("inputs = { memory = \"60KB\" }")).is_null(), "no policy");
    // A route that comes down and goes up again closes a cycle.
    let elided = go(&format!(
        "[topology]\nkind = \"fat-tree\"\nk = 4\nrate = \"40Gbps\"\n[routing]\nkind = \"ecmp\"\n\
         convergence = \"10us\"\n[[incident]]\nkind = \"link-failure\"\nat = \"20us\"\n\
         link = [\"agg0\", \"edge0\"]\n[switch]\n{bfc}backpressure = {{ elide = \"cycles\" }}\n"
    ));
    assert!(elided["spared"].is_u64(), "{elided}");
}

/// A link fails and comes back, and what takes the new way overtakes what is on the old one.
#[test]
fn a_flow_whose_way_changes_may_be_reordered_under_escape_too() {
    let run = run(
        "seed = 3\n[topology]\nkind = \"leaf-spine\"\nleaves = 3\nhosts_per_leaf = 3\nspines = 2\n\
         host_rate = \"10Gbps\"\nspine_rate = \"10Gbps\"\ndelay = \"1us\"\n[switch]\nrelief = \"escape\"\n\
         inputs = { memory = \"100KB\" }\n\
         pfc = { threshold = { kind = \"static\", xoff = \"20KB\", xon = \"15KB\" } }\n\
         [nic]\nbuffer = \"unlimited\"\norder = \"round-robin\"\n[transport]\nkind = \"rdma\"\n\
         [routing]\nkind = \"ecmp\"\nconvergence = \"5us\"\n[[traffic]]\nkind = \"permutation\"\nsize = \"200KB\"\n\
         [[traffic]]\nkind = \"incast\"\nfan_in = 6\nsize = \"60KB\"\nreceiver = 1\nat = \"20us\"\n\
         [[incident]]\nkind = \"link-failure\"\nat = \"97us\"\nuntil = \"373us\"\nlink = [\"leaf0\", \"spine1\"]\n\
         [run]\nuntil = \"60ms\"\nstop_when_done = false\ncheck = true\n",
    );
    let reordered = run.summary()["pauses"]["relief"]["reordered"].as_u64();
    assert!(reordered.is_some_and(|reordered| reordered > 0), "{reordered:?}: nothing to be forgiven");
}

/// Two sources of 40 Gb/s behind a link of 10 Gb/s are slowed down; the link of one fails for 1 us, and it comes back
/// not knowing its rate. The switch says it again: nothing is lost for want of memory.
#[test]
fn gfc_sends_the_rate_again_when_a_link_comes_back() {
    let held = |incident: &str| {
        let run = run(&format!(
            "[topology]\nkind = \"star\"\nhosts = 3\nrate = \"40Gbps\"\nsink_rate = \"10Gbps\"\ndelay = \"2us\"\n\
             [nic]\norder = \"round-robin\"\n[switch]\ninputs = {{ memory = \"200KB\" }}\n\
             gfc = {{ first = \"100KB\", last = \"200KB\" }}\n[transport]\nkind = \"rdma\"\ncap = \"none\"\n\
             recovery = \"go-back-n\"\n{incident}\
             [[traffic]]\nkind = \"backlogged\"\nsrc = 1\ndst = 0\n[[traffic]]\nkind = \"backlogged\"\nsrc = 2\n\
             dst = 0\n[run]\nuntil = \"3ms\"\n[measure]\nmemory = true\n"
        ));
        let most = *column(&run, "memory", "most_bytes").iter().max().expect("inputs");
        (most, column(&run, "ports", "dropped").iter().sum::<i128>())
    };
    let (calm, none) = held("");
    let incident = "[routing]\nconvergence = \"10ms\"\n[[incident]]\nkind = \"link-failure\"\nlink = [\"h1\", \"switch0\"]\nat = \"2ms\"\nuntil = \"2.001ms\"\n";
    let (most, lost) = held(incident);
    assert_eq!(none, 0);
    // What was on the link, 2 us at less than 10 Gb/s, and none for want of memory.
    assert!((1..=2).contains(&lost), "{lost} packets");
    // The frame takes 2 us; until then, and as long again on the wire, 40 Gb/s come and 5 Gb/s leave.
    assert!(most < calm + 17_500, "{calm} B, and {most} B after the link has come back");
}
