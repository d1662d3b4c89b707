//! Resolved scenarios load back to themselves; the schema, the catalogues and explanations are complete.

use proptest::prelude::*;
use std::path::Path;
use thalweg_scenario::{
    KINDS, catalogue, choice_names, choices, explain, explain_scheme, kinds_of_tables, load, schema,
};

const TOPOLOGIES: &[&str] = &[
    "kind = \"pair\"",
    "kind = \"star\"\nhosts = 5\nsink_rate = \"20Gbps\"",
    "kind = \"dumbbell\"\npairs = 2",
    "kind = \"parking-lot\"\nbottlenecks = 2\nbase_rtt = \"40us\"",
    "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 3\nbase_rtt = \"20us\"",
    "kind = \"fat-tree\"\nk = 4\ntime_quantum = \"1ns\"",
    "kind = \"dragonfly\"\nhosts_per_router = 2\nrouters_per_group = 2\nglobal_links = 1\nlocal_rate = \"20Gbps\"",
    "kind = \"torus\"\ndimensions = [3, 2]\nbase_rtt = \"40us\"",
];
const TRAFFIC: &[&str] = &[
    "kind = \"poisson\"\nsizes = \"web-search\"\nload = 0.5\nmax_flows = 10",
    "kind = \"poisson\"\nsizes = { uniform = {} }\nload = 0.5\narrivals = \"log-normal\"",
    "kind = \"permutation\"\nsize = \"1MB\"",
    "kind = \"backlogged\"\nsrc = 0\ndst = 1\ncount = 2\nspacing = \"1ms\"",
    "kind = \"incast\"\nfan_in = 1\nsize = \"64KB\"",
    "kind = \"request-response\"\nclient = 0\nserver = 1\nrequest = \"1KB\"\nresponse = \"9KB\"\ncount = 3",
    "kind = \"udp\"\nsrc = 1\ndst = 0\nrate = \"1Gbps\"\nspacing = \"poisson\"",
];
const SCHEMES: &[&str] = &[
    "",
    "scheme = \"mintcp+srpt\"",
    "scheme = \"dctcp+ads-2\"",
    "scheme = \"tcp+sjf\"",
    "scheme = \"dctcp+fq\"",
];
const MORE: &[&str] = &[
    "",
    "[measure]\nfct = \"receiver\"\nqueues = { every = \"10us\" }\ncontrollers = { every = \"1us\", flows = [0] }",
    "[nic]\nbuffer = \"unlimited\"",
    "[run]\nuntil = \"20ms\"\nmax_events = 1000\ncheck = true",
    "[routing]\nkind = \"spray-random\"",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_resolved_scenario_loads_back_to_itself(t in 0..TOPOLOGIES.len(), f in 0..TRAFFIC.len(), s in 0..SCHEMES.len(), m in 0..MORE.len()) {
        // Datagrams alone leave most schemes without effect.
        let s = if TRAFFIC[f].contains("udp") { 0 } else { s };
        // Other routing than the default needs a choice of paths.
        let m = if MORE[m].contains("[routing]") && !TOPOLOGIES[t].contains("spine") && !TOPOLOGIES[t].contains("fat") { 0 } else { m };
        let text = format!(
            "{}\nrouting = \"ecmp\"\n[topology]\n{}\n[[traffic]]\n{}\n{}\n", SCHEMES[s], TOPOLOGIES[t], TRAFFIC[f], MORE[m]
        );
        let text = if MORE[m].contains("[routing]") { text.replace("routing = \"ecmp\"\n", "") } else { text };
        let first = load(&text, "a.toml", Path::new("."), &[]).map_err(|e| TestCaseError::fail(format!("{}\n{text}", e[0])))?;
        let resolved = first.to_toml();
        let second = load(&resolved, "b.toml", Path::new("."), &[]).map_err(|e| TestCaseError::fail(format!("{}\n{resolved}", e[0])))?;
        prop_assert!(first == second);
        prop_assert_eq!(&second.to_toml(), &resolved);
        let (one, two) = (first.network().map_err(|e| TestCaseError::fail(e.to_string()))?, second.network().expect("as the first"));
        prop_assert_eq!(one, two);
    }
}

#[test]
fn every_catalogue_has_names_and_every_name_a_summary() {
    for (kind, _) in KINDS {
        let entries = catalogue(kind).unwrap_or_else(|| panic!("{kind}"));
        assert!(!entries.is_empty(), "{kind}");
        assert!(
            entries.iter().all(|e| !e.summary.is_empty() && !e.summary.contains('\n')),
            "{kind}: {entries:?}"
        );
    }
    assert!(catalogue("nothing").is_none());
    let drr =
        catalogue("schedulers").expect("schedulers").into_iter().find(|e| e.name == "drr").expect("drr");
    assert_eq!(drr.summary, "Deficit round robin over flows.");
    assert_eq!(drr.source, "Shreedhar & Varghese, SIGCOMM 1995");
    assert_eq!(catalogue("schemes").expect("schemes").len(), 5 * 8 + 10 * 4 + 7);
}

#[test]
fn keys_are_explained_with_type_and_default() {
    assert_eq!(
        explain("transport.rto.min").expect("known"),
        "Smallest timeout.\ntype: a time (ps, ns, us, ms, s)\ndefault: \"200ms\"\n\
         with: transport.kind = \"tcp\" and transport.rto.kind = \"rfc6298\"\n\n\
         Lower bound of the 4 deviations (TCP_RTO_MIN).\ntype: a time (ps, ns, us, ms, s)\ndefault: \"200ms\"\n\
         with: transport.kind = \"tcp\" and transport.rto.kind = \"linux\""
    );
    assert!(
        explain("switch.scheduler")
            .expect("known")
            .contains("kinds: fifo, drr, fq, priority, sjf, srpt, ads, lifo, random, lstf, pifo, ")
    );
    assert!(explain("traffic.0.load").expect("known").starts_with("Target load: the fraction"));
    assert!(explain("no.such.key").is_none());
}

#[test]
fn a_key_of_several_kinds_is_explained_for_each() {
    let message = explain("transport.congestion").expect("known");
    let [tcp, rdma] = message.split("\n\n").collect::<Vec<_>>()[..] else { panic!("{message}") };
    assert!(
        tcp.contains("kinds: newreno, cubic, dctcp, dctcp-rate, mintcp, fixed, aimd, timely, hpcc, rtt-target, vegas, bbr, bbr3, copa, vivace, verus, sprout, abc, xcp, rcp, vcp, swift, nimbus, compound, prague, external, custom\n"),
        "{tcp}"
    );
    assert!(tcp.ends_with("with: transport.kind = \"tcp\""), "{tcp}");
    assert!(
        rdma.contains(
            "kinds: newreno, cubic, dctcp, dctcp-rate, mintcp, fixed, aimd, dcqcn, timely, hpcc, rtt-target, rocc, qcn, vegas, bbr, bbr3, copa, vivace, verus, abc, xcp, rcp, vcp, swift, nimbus, compound, external, custom\n"
        ),
        "{rdma}"
    );
    assert!(rdma.ends_with("with: transport.kind = \"rdma\""), "{rdma}");
    // One kind alone has it.
    for (key, kind) in [("recovery", "rdma"), ("timer", "rdma"), ("rto", "tcp"), ("pace", "udp")] {
        let message = explain(&format!("transport.{key}")).expect("known");
        assert!(message.ends_with(&format!("\nwith: transport.kind = \"{kind}\"")), "{message}");
    }
    // The same meaning is written once, a kind that is named in the key not at all.
    let message = explain("transport.header").expect("known");
    assert!(message.starts_with("Header bytes of every data packet on the wire.\n"), "{message}");
    assert_eq!(message.matches("with: ").count(), 5, "different defaults: {message}");
    let message = explain("switch.pfc.threshold.alpha").expect("known");
    assert!(message.ends_with("with: switch.pfc.threshold.kind = \"dynamic\""), "{message}");
    let message = explain("transport.congestion.gain").expect("known");
    let both = "with: transport.kind = \"tcp\" and transport.congestion.kind = \"dctcp\", or \
                transport.kind = \"rdma\" and transport.congestion.kind = \"dctcp\"\n";
    assert!(message.contains(both), "{message}");
    assert!(explain("transport.rdma.congestion").expect("known").ends_with(
        "timely, hpcc, rtt-target, rocc, qcn, vegas, bbr, bbr3, copa, vivace, verus, abc, xcp, rcp, vcp, swift, nimbus, compound, external, custom"
    ));
    assert!(!explain("traffic.0.class").expect("known").contains("with: "), "every kind has it");
}

#[test]
fn a_key_and_a_kind_of_the_same_name_are_both_explained() {
    let message = explain("topology.file").expect("known");
    assert!(
        message.contains("with: topology.kind = \"file\"") && message.contains("Any graph from a file."),
        "{message}"
    );
    assert!(message.contains("hosts_per_router"), "the kind's keys: {message}");
    // Positions in lists may be left out.
    assert_eq!(explain("traffic.backlogged"), explain("traffic.0.backlogged"));
    assert!(explain("traffic.load").expect("known").starts_with("Target load: the fraction of the capacity"));
    let traffic = explain("traffic").expect("known");
    assert!(traffic.contains("kinds: poisson, permutation"), "{traffic}");
}

#[test]
fn choices_are_found_by_name_wherever_they_can_be_made() {
    let keys = |word: &str| choices(word).into_iter().flat_map(|c| c.keys).collect::<Vec<_>>();
    assert!(keys("cubic").contains(&"transport.congestion".to_owned()));
    assert!(keys("fq-codel").contains(&"switch.scheduler".to_owned()));
    assert_eq!(keys("dumbbell"), ["topology"]);
    assert!(
        keys("ecmp").contains(&"routing".to_owned()) || keys("ecmp").contains(&"routing.choice".to_owned()),
        "{:?}",
        keys("ecmp")
    );
    assert!(keys("no-such-choice").is_empty());
    // The same meaning is said once.
    assert_eq!(choices("dumbbell").len(), 1);
    assert!(choice_names().iter().any(|name| name == "cubic"));
    let tables = kinds_of_tables();
    assert!(tables.iter().any(|(key, kinds)| key == "topology" && kinds.iter().any(|k| k == "star")));
    assert!(explain_scheme("dctcp+srpt").expect("known").contains("switch.scheduler = \"srpt\""));
    assert!(explain_scheme("dctcp").is_some() && explain_scheme("dctcp+nothing").is_none());
}

#[test]
fn a_name_with_something_behind_it_is_corrected() {
    let text = "topology = { kind = \"star\", hosts = 2 }\ntransport = { congestion = \"bbrv1\" }\n\
                traffic = [{ kind = \"flow\", src = 0, dst = 1, size = \"1KB\" }]\n";
    let errors = load(text, "s.toml", Path::new("."), &[]).expect_err("unknown");
    assert!(errors[0].to_string().contains("did you mean `bbr`?"), "{}", errors[0]);
}

/// Every key of every section carries a description: it is the manual.
#[test]
fn every_key_of_the_schema_is_described() {
    fn walk(path: &str, schema: &serde_json::Value, missing: &mut Vec<String>) {
        if let Some(map) = schema.as_object() {
            if let Some(properties) = map.get("properties").and_then(|p| p.as_object()) {
                for (key, value) in properties.iter().filter(|(k, _)| *k != "kind") {
                    // `true`: a key of every kind, described outside of the kinds.
                    if value.is_object() && value.get("description").is_none() {
                        missing.push(format!("{path}.{key}"));
                    }
                }
            }
            for (key, value) in map {
                walk(&format!("{path}.{key}"), value, missing);
            }
        } else if let Some(items) = schema.as_array() {
            for (i, value) in items.iter().enumerate() {
                walk(&format!("{path}.{i}"), value, missing);
            }
        }
    }
    let mut missing = Vec::new();
    walk("", &schema(), &mut missing);
    assert_eq!(missing, Vec::<String>::new());
}

/// What is written lies over the scheme, key by key, in long and in short form.
#[test]
fn a_scheme_lies_under_what_is_written() {
    let text = "scheme = \"mintcp+ads-2\"\n[topology]\nkind = \"pair\"\n[transport]\nrto = { fixed = \"45us\" }\n\
                [switch]\nscheduler = { queues = 4 }\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n";
    let toml = load(text, "a.toml", Path::new("."), &[]).unwrap_or_else(|e| panic!("{}", e[0])).to_toml();
    assert!(toml.contains("rto = { kind = \"fixed\", value = \"45us\" }"), "{toml}");
    assert!(
        toml.contains("scheduler = { kind = \"ads\", cap = \"2MB\", map = { kind = \"dynamic\""),
        "{toml}"
    );
    assert!(toml.contains("queues = 4"), "{toml}");
    assert!(toml.contains("congestion = { kind = \"mintcp\""), "{toml}");
    // Another kind replaces the scheme's altogether.
    let text = text.replace("scheduler = { queues = 4 }", "scheduler = \"fifo\"");
    let toml = load(&text, "a.toml", Path::new("."), &[]).unwrap_or_else(|e| panic!("{}", e[0])).to_toml();
    assert!(toml.contains("scheduler = \"fifo\"") && toml.contains("rank = \"none\""), "{toml}");
}
