//! The scenario files of universal packet scheduling: they load, they run, and what they promise holds.
use crate::common::*;
use std::path::Path;
use thalweg_lab::Run;
use thalweg_machines::stage::CarriedSpec;
use thalweg_scenario::{Scenario, load};

/// A scenario file with settings on top.
#[track_caller]
fn file(name: &str, set: &[(&str, &str)]) -> Scenario {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/ups/scenarios");
    let text = std::fs::read_to_string(dir.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    load(&text, name, &dir, &set).unwrap_or_else(|e| panic!("{}", e[0]))
}

/// Every row of the experiments can be written on top of these files.
#[test]
fn the_rows_of_the_experiments_can_be_written() {
    let tenth: &[(&str, &str)] =
        &[("topology.host_rate", "1Gbps"), ("topology.slower", "10"), ("traffic.0.of.rate", "100Mbps")];
    let virtual_clock = ("slack", "{kind=\"virtual-clock\",rate=\"100Mbps\"}");
    let codel = ("edge", "{kind=\"codel\"}");
    for set in [
        &[("traffic.0.load", "0.1")][..],
        &[("topology.host_rate", "1Gbps")],
        &[("topology.edge_rate", "10Gbps")],
        tenth,
        &[("topology.core_delay", "5ms"), ("topology.access_delay", "0.5ms")],
        &[("switch.scheduler", "fifo")],
        &[("switch.scheduler", "round-robin")],
        &[("switch.scheduler", "lifo")],
        &[("switch.scheduler", "pifo"), ("transport.rank", "flow-size")],
        &[("switch.scheduler", "lstf"), ("slack", "{kind=\"constant\"}")],
        &[("switch.scheduler", "parity")],
        &[
            ("switch.scheduler", "lstf"),
            ("switch.mix", "{scheduler=\"round-robin\",nodes=\"odd\"}"),
            ("slack", "{kind=\"constant\"}"),
        ],
    ] {
        file("i2.toml", set);
    }
    for set in [
        &[][..],
        tenth,
        &[("switch.scheduler", "pifo"), ("transport.rank", "flow-size")],
        &[("switch.scheduler", "srpt"), ("transport.rank", "from-here")],
        &[("switch.scheduler", "lstf"), ("slack", "{kind=\"flow-size\"}")],
        &[("switch.scheduler", "{kind=\"fq-codel\",count=\"packets\"}"), ("switch.buffer", "34250pkts")],
        &[("switch.scheduler", "round-robin"), virtual_clock, codel],
        &[("switch.scheduler", "lstf"), virtual_clock, codel],
        &[("switch.scheduler", "lstf"), virtual_clock, ("edge", "{kind=\"codel\",refresh=\"40ms\"}")],
    ] {
        file("i2-tcp.toml", set);
    }
    let dctcp = ("transport", "{kind=\"tcp\",congestion=\"dctcp\",header=\"50B\",handshake=true}");
    file("fat-tree.toml", &[]);
    file("fat-tree.toml", &[dctcp, ("switch.marking", "{kind=\"step\",threshold=\"15pkts\"}")]);
    file(
        "fat-tree.toml",
        &[
            dctcp,
            ("switch.scheduler", "lstf"),
            ("slack", "{kind=\"constant\"}"),
            ("edge", "{kind=\"ecn\",threshold=\"17.52us\"}"),
        ],
    );
    file("rocketfuel.toml", &[]);
    file("fair-share.toml", &[]);
    file("fair-share.toml", &[("switch.scheduler", "lstf"), virtual_clock]);
}

#[test]
fn slack_rules_and_weights_reach_the_simulator() {
    use thalweg_machines::slack::SlackRule;
    use thalweg_units::{Rate, Span};
    let spec = |set: &[(&str, &str)]| {
        let mut all =
            vec![("switch.scheduler", "lstf"), ("traffic.0.until", "1ms"), ("measure.until", "1ms")];
        all.extend_from_slice(set);
        file("i2.toml", &all).network().expect("a network")
    };
    let one = spec(&[("slack", "{kind=\"virtual-clock\",rate=\"100Mbps\"}"), ("traffic.0.weight", "2.5")]);
    let rates = vec![Rate::from_mbps(250)];
    let slack = one.slack.expect("slack");
    assert_eq!(slack.rule, SlackRule::VirtualClock { rates, ack_full_size: None });
    assert_eq!(one.carried, CarriedSpec::Slack);
    assert_eq!(one.probes.record.map(|r| r.hops), Some(false));
    assert_eq!(
        spec(&[("slack", "{kind=\"constant\"}"), ("measure.packets.hops", "true")])
            .probes
            .record
            .map(|r| r.hops),
        Some(true)
    );
    let two = spec(&[("slack", "{kind=\"flow-size\"}")]);
    assert_eq!(two.slack.expect("slack").rule, SlackRule::FlowSize { unit: Span::from_secs(1), mss: 1460 });
    assert_eq!(one.flows, two.flows, "the slack does not change who sends what");
}

/// Odd switches have the mixed scheduler, hosts their own: every port's, on the whole of Internet2.
#[test]
fn a_mix_goes_by_the_numbers_of_switches() {
    let s = file(
        "i2.toml",
        &[
            ("traffic.0.until", "1ms"),
            ("measure.until", "1ms"),
            ("switch.scheduler", "lifo"),
            ("switch.preemptive", "true"),
            ("switch.mix", "{scheduler=\"random\",nodes=\"odd\"}"),
        ],
    );
    let spec = s.network().expect("a network");
    use thalweg_machines::schedule::OrderSpec;
    for (l, link) in spec.links.iter().enumerate() {
        for (port, node) in [(2 * l, link.a.0), (2 * l + 1, link.b.0)] {
            let kind = &spec.disciplines[usize::from(spec.port_discipline[port])];
            let expected = match node {
                0..100 => (OrderSpec::fifo(), false),
                n if n % 2 == 1 => (OrderSpec::random(), true),
                _ => (OrderSpec::lifo(), true),
            };
            assert_eq!((kind.order.clone(), kind.preemptive), expected, "port {port} of node {node}");
        }
    }
}

/// "UPS-CPc": paths have 4 to 7 routers; a lone packet takes what the propagation and its transmissions take.
#[test]
fn datagrams_cross_internet2_by_the_closed_form() {
    let one = "[{kind=\"flow\",src=0,dst=4,size=\"1460B\"}]";
    let s = file("i2.toml", &[("traffic", one), ("switch.scheduler", "fifo")]);
    let run = finish(&s);
    // Core 0 to core 4 is 0, 2, 4: 4 access links of 1 ms, 2 core links of 10 ms; 1460 B at 10 Gb/s twice, at 1 Gb/s
    // twice, at 7778 and 3334 Mb/s.
    let wire = |mbps: u64| (1460u64 * 8 * 1_000_000).div_ceil(mbps);
    let expected = 24_000_000_000 + 2 * wire(10_000) + 2 * wire(1000) + wire(7778) + wire(3334);
    assert_eq!(column(&run, "flows", "fct_ps"), vec![i128::from(expected)]);
    assert_eq!(column(&run, "flows", "rtt_ps"), vec![-1], "nothing is acknowledged");
}

/// One lone flow: SYN, window of 2, doubling each round trip; every round trip measured is that of the empty path.
#[test]
fn a_lone_flow_measures_the_empty_path() {
    let one = "[{kind=\"flow\",src=0,dst=4,size=\"1460B\"}]";
    let run = finish(&file("i2-tcp.toml", &[("traffic", one), ("measure.from", "0s")]));
    let wire = |bytes: u64, mbps: u64| (bytes * 8 * 1_000_000).div_ceil(mbps);
    let way =
        |b: u64| 24_000_000_000 + 2 * wire(b, 10_000) + 2 * wire(b, 1000) + wire(b, 7778) + wire(b, 3334);
    let (syn, data) = (way(40) + way(40), way(1510) + way(40));
    assert_eq!(column(&run, "flows", "fct_ps"), vec![i128::from(syn + data)]);
    assert_eq!(column(&run, "flows", "rtt_ps"), vec![i128::from((syn + data) / 2)]);
}

/// Edge-CoDel drops where queues stand; the summary counts it.
#[test]
fn the_summary_counts_what_the_edge_did() {
    let text = "topology = { kind = \"dumbbell\", pairs = 4, bottleneck_rate = \"1Gbps\" }\n\
                switch = { scheduler = \"lstf\", buffer = \"unlimited\" }\nslack = { kind = \"constant\" }\n\
                edge = { kind = \"codel\", target = \"100us\", interval = \"1ms\", refresh = \"400us\" }\n\
                [[traffic]]\nkind = \"incast\"\nfan_in = 4\nsize = \"2MB\"\nreceiver = 7\n[run]\nuntil = \"200ms\"\n";
    let run: Run = run(text);
    let summary = run.summary();
    let count = |key: &str| summary["edge"][key].as_u64().unwrap_or_else(|| panic!("no {key}: {summary}"));
    assert!(count("drops") > 0 && count("refreshes_by_delay") > 0, "{}", summary["edge"]);
    assert_eq!((count("marks"), summary["drops"].as_u64()), (0, Some(0)), "only the edge drops");
    let plain = crate::common::run(&text.replace("edge = {", "measure = { packets = {} } # {"));
    assert!(plain.summary()["edge"].is_null());
}
