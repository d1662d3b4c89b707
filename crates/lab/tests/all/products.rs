//! Lengths in bandwidth-delay products, and the dumbbell whose round trip they are made of.
use crate::common::*;
use std::path::Path;
use thalweg_scenario::{explain, load};

/// 1500 B and 40 B over three links of 1 Gb/s take 3 x (12 + 0.32) us; two hosts' links and a bottleneck have the rest.
const DUMBBELL: &str = "topology = { kind = \"dumbbell\", pairs = 2, host_rate = \"1Gbps\", bottleneck_rate = \"1Gbps\", base_rtt = \"100us\" }\n\
    [[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 2\n[[traffic]]\nkind = \"backlogged\"\nsrc = 1\ndst = 3\n[run]\nuntil = \"100ms\"\n";

fn toml(set: &[(&str, &str)]) -> String {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    scenario(DUMBBELL, Path::new("."), &set).to_toml()
}

#[track_caller]
fn refused(set: &[(&str, &str)], expected: &str) {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let errors = load(DUMBBELL, "s.toml", Path::new("."), &set).expect_err("refused");
    assert!(errors[0].to_string().contains(expected), "{}", errors[0]);
}

#[test]
fn products_of_bandwidth_and_delay_are_bytes_once_resolved() {
    // 1 Gb/s x 100 us = 12 500 B (as exact as the delays that were solved from it).
    let message = toml(&[
        ("switch.buffer", "1bdp"),
        ("nic.buffer", "unlimited"),
        ("transport.max_window", "2.5 bdp"),
        ("transport.initial_window", "0.5bdp"),
    ]);
    for line in ["\nbuffer = \"12500B\"", "max_window = \"31250B\"", "initial_window = \"6250B\""] {
        assert!(message.contains(line), "{line} in {message}");
    }
    assert!(!message.contains("bdp"), "{message}");
    // The slower bottleneck counts.
    let message = toml(&[("topology.bottleneck_rate", "500Mbps"), ("switch.buffer", "1bdp")]);
    assert!(message.contains("\nbuffer = \"6250B\""), "{message}");
    // A name is a name.
    assert!(toml(&[("name", "1bdp")]).contains("name = \"1bdp\""));
}

#[test]
fn what_is_no_product_is_reported() {
    refused(
        &[("switch.buffer", "xbdp")],
        "`xbdp` is not a multiple of the bandwidth-delay product: it does not begin with a number",
    );
    refused(&[("switch.buffer", "99999999999999999bdp")], "it is too large");
    refused(
        &[("traffic.0", "{kind=\"flow\",src=0,dst=2,size=\"1bdp\"}")],
        "`bdp` is not a unit of this kind",
    );
    // In the place where it was written, with the sum.
    refused(&[("switch.buffer", "0.01bdp")], "`switch.buffer`: 125B cannot hold one packet of 1500 bytes");
    assert!(explain("switch.buffer").expect("known").contains("(\"0.5bdp\")"));
}

#[test]
fn a_dumbbell_has_the_names_of_its_siblings() {
    let delays = |set: &[(&str, &str)]| {
        let message = toml(set);
        let value = |key: &str| {
            let at = message.find(key).unwrap_or_else(|| panic!("{key} in {message}")) + key.len();
            message[at..].split('"').next().unwrap_or_default().to_owned()
        };
        (value("host_delay = \""), value("\ndelay = \""))
    };
    // 100 us - 3 x 12.32 us = 63.04 us: six delays.
    let sixth = "10506666ps".to_owned();
    assert_eq!(delays(&[]), (sixth.clone(), sixth));
    // With hosts' links of 1 us the bottleneck has 63.04 - 4 us, each way.
    assert_eq!(delays(&[("topology.host_delay", "1us")]), ("1us".to_owned(), "29520ns".to_owned()));
    refused(&[("topology.host_delay", "30us")], "serialisation and `host_delay` alone take 156960ns");
    refused(&[("topology.delay", "1us")], "`delay` and `base_rtt` are both given");
    refused(
        &[("topology.bottleneck_delay", "1us")],
        "`topology.bottleneck_delay`: unknown key; it is called `delay` now",
    );
    let plain = "{kind=\"dumbbell\",pairs=2}";
    assert_eq!(delays(&[("topology", plain)]), ("1us".to_owned(), "1us".to_owned()));
}

#[test]
fn flows_without_end_have_throughput_fairness_and_queueing_delay() {
    let set = [("transport.max_window", "2bdp"), ("switch.buffer", "4bdp"), ("switch.scheduler", "drr")];
    let set = set.map(|(k, v)| (k.to_owned(), v.to_owned()));
    let summary = finish(&scenario(DUMBBELL, Path::new("."), &set)).summary();
    let endless = &summary["endless"];
    let number = |key: &str| endless[key].as_f64().unwrap_or_else(|| panic!("{key} in {endless}"));
    assert_eq!(endless["flows"], 2);
    // 1460 of 1500 bytes are payload, and the bottleneck is always busy.
    assert!((0.99..=1.0).contains(&(number("sum_gbps") / (1460.0 / 1500.0))), "{endless}");
    assert!(number("jain") > 0.99 && number("jain") <= 1.0, "{endless}");
    // Four products are under way, in a network that holds one: three wait, 300 us.
    let waits = endless["queueing_us"]["mean"].as_f64().expect("round trips");
    assert!((290.0..320.0).contains(&waits), "{endless}");
    // Not counted where the section is not.
    let set = [("traffic.0.measured".to_owned(), "false".to_owned())];
    let summary = finish(&scenario(DUMBBELL, Path::new("."), &set)).summary();
    assert_eq!(summary["endless"]["flows"], 1);
    assert_eq!(summary["endless"]["jain"], 1.0);
}
