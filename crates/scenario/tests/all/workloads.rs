//! Flow lists against closed forms: means, loads, counts; draws that do not depend on what they should not.

use std::path::Path;
use thalweg_net::spec::{FlowSpec, NetworkSpec};
use thalweg_scenario::{Scenario, load};
use thalweg_units::FlowId;

fn scenario(text: &str) -> Scenario {
    load(text, "s.toml", Path::new("."), &[]).unwrap_or_else(|e| panic!("{}", e[0]))
}

fn network(text: &str) -> NetworkSpec {
    scenario(text).network().unwrap_or_else(|e| panic!("{e}"))
}

fn flows(text: &str) -> Vec<FlowSpec> {
    network(text).flows
}

fn ads(extra: &str, load: &str) -> String {
    format!(
        "{extra}\n[topology]\nkind = \"leaf-spine\"\nleaves = 9\nspines = 4\nhosts_per_leaf = 16\nbase_rtt = \"16us\"\n\
         [[traffic]]\nkind = \"poisson\"\nsizes = \"heavy-tailed\"\nload = {load}\n\
         [measure]\nfrom = \"50ms\"\nuntil = \"150ms\"\n[run]\nuntil = \"1.5s\"\n"
    )
}

/// ADS: mean 184.475 packets; 144 × 10 Gb/s × 0.7 / (8 × 184.475 × 1500 B) × 0.1 s = 45 534 flows, "roughly 44 000".
#[test]
fn ads_has_about_45_000_measured_flows_of_184_packets() {
    let flows = flows(&ads("", "0.7"));
    let measured: Vec<&FlowSpec> = flows.iter().filter(|f| f.measured).collect();
    let n = measured.len() as f64;
    assert!((n - 45_534.0).abs() < 4.0 * 45_534f64.sqrt(), "{n}");
    let packets = flows.iter().map(|f| f.size as f64 / 1460.0).sum::<f64>() / flows.len() as f64;
    // σ of one size is about 480 packets: four standard errors of the mean of 68 000 are 7.4.
    assert!((packets - 184.475).abs() < 7.4, "{packets}");
    assert!(flows.windows(2).all(|w| w[0].start <= w[1].start), "sorted");
    assert!(flows.iter().all(|f| f.src != f.dst));
}

/// With fixed sizes the load has no noise but that of the arrivals: 1 % of 70 % on 1.44 Tb/s for a second.
#[test]
fn the_offered_load_is_within_one_per_cent() {
    for (of, capacity) in [("host-links", 144.0 * 10e9), ("core-links", 36.0 * 40e9)] {
        for extra in ["", "process = \"global\"", "arrivals = { log_normal = { sigma = 1.0 } }"] {
            let text = ads("", "0.7").replace(
                "sizes = \"heavy-tailed\"",
                &format!("sizes = {{ fixed = \"146KB\" }}\nof = \"{of}\"\n{extra}"),
            );
            let flows = flows(&text);
            // 100 packets of 1500 B.
            let bits = flows.len() as f64 * 150_000.0 * 8.0;
            let load = bits / (capacity * 0.15);
            assert!((load / 0.7 - 1.0).abs() < 0.01, "{of} {extra}: {load}");
        }
    }
}

#[test]
fn the_flow_list_depends_on_neither_scheme_nor_seedless_settings() {
    let plain = |scheme: &str| -> Vec<(u32, u32, u64, u64)> {
        let list = flows(&ads(&format!("scheme = \"{scheme}\""), "0.3"));
        list.iter().map(|f| (f.src.0, f.dst.0, f.size, f.start.ps())).collect()
    };
    let first = plain("mintcp+fifo");
    for scheme in ["tcp+fq", "dctcp+srpt", "dctcp+ads-8", "tcp+sjf"] {
        assert_eq!(plain(scheme), first, "{scheme}");
    }
    let other = flows(&ads("seed = 2", "0.3"));
    assert_ne!(other[0].start.ps(), first[0].3);
}

/// The k-th flow of a host has the same size and destination at every load, and a second section changes none.
#[test]
fn draws_belong_to_their_section_and_host() {
    let of_host = |text: &str| -> Vec<(u32, u64)> {
        let list = flows(text);
        list.iter().filter(|f| f.src.0 == 17 && f.group == 0).map(|f| (f.dst.0, f.size)).take(30).collect()
    };
    let first = of_host(&ads("", "0.3"));
    assert_eq!(first.len(), 30);
    assert_eq!(of_host(&ads("", "0.6")), first);
    let more = format!("{}\n[[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\n", ads("", "0.3"));
    assert_eq!(of_host(&more), first);
}

#[test]
fn a_permutation_sends_and_receives_once_and_an_incast_fans_in() {
    let base = "[topology]\nkind = \"star\"\nhosts = 16\n[[traffic]]\n";
    let list = flows(&format!("{base}kind = \"permutation\"\nsize = \"1MB\"\njitter = \"10us\"\n"));
    let mut dst: Vec<u32> = list.iter().map(|f| f.dst.0).collect();
    dst.sort_unstable();
    assert_eq!(dst, (0..16).collect::<Vec<u32>>());
    assert!(list.iter().all(|f| f.src != f.dst && f.start.ps() <= 10_000_000));

    let incast = "kind = \"incast\"\nfan_in = 8\nsize = \"64KB\"\nreceiver = 3\nat = \"1ms\"\nperiod = \"2ms\"\nrepeat = 3\n";
    let list = flows(&format!("{base}{incast}"));
    assert_eq!(list.len(), 24);
    for (event, chunk) in list.chunks(8).enumerate() {
        let mut src: Vec<u32> = chunk.iter().map(|f| f.src.0).collect();
        src.sort_unstable();
        src.dedup();
        assert_eq!(src.len(), 8, "distinct senders");
        assert!(chunk.iter().all(|f| f.dst.0 == 3 && f.start.ps() == (1 + 2 * event as u64) * 1_000_000_000));
    }
    assert_eq!(flows(&format!("{base}kind = \"all-to-all\"\nsize = \"1KB\"\n")).len(), 240);
}

#[test]
fn requests_and_responses_follow_each_other() {
    let net = network(
        "[topology]\nkind = \"star\"\nhosts = 3\n[[traffic]]\nkind = \"request-response\"\nclient = 0\nserver = 2\n\
         request = \"100B\"\nresponse = \"64KB\"\ncount = 2\nthink = \"5us\"\nstart = \"1ms\"\n\
         [[traffic]]\nkind = \"flow\"\nsrc = 1\ndst = 2\nsize = \"1MB\"\nstart = \"2ms\"\n",
    );
    // Those that start by the clock first: the first request, the plain flow; then the chain.
    let after = |flow| {
        net.precedence.of(flow).first().map_or(u32::MAX, |f| match f.step() {
            thalweg_net::spec::Step::Flow(flow) => flow.0,
            thalweg_net::spec::Step::Work(work) => panic!("no computation {work} here"),
        })
    };
    let chain: Vec<(u32, u32, u64, u32)> = (0..)
        .map(FlowId)
        .zip(&net.flows)
        .map(|(flow, f)| (f.src.0, f.dst.0, f.start.ps(), after(flow)))
        .collect();
    let none = u32::MAX;
    assert_eq!(
        chain,
        [
            (0, 2, 1_000_000_000, none),
            (1, 2, 2_000_000_000, none),
            (2, 0, 0, 0),
            (0, 2, 5_000_000, 2),
            (2, 0, 0, 3)
        ]
    );
    assert!(net.flows.iter().all(|f| f.measured));
}

/// Published or computed by hand: means of the named distributions, from many draws.
#[test]
fn named_distributions_have_their_means() {
    for (name, mean) in [
        ("heavy-tailed", 184.475 * 1460.0),
        ("web-search-bytes", 1_711_250.0),
        ("facebook-hadoop", 120_420.75),
        ("google-rpc", 2_907.0),
        ("facebook-hadoop-fine", 121_849.0),
        ("rdma-heavy-tailed", 0.5 * 528.0 + 0.35 * 100_512.0 + 0.15 * 1_600_000.0),
        ("bimodal", 1_001_000.0),
        ("point", 2_000_000.0),
    ] {
        let text = ads("", "0.7").replace("heavy-tailed", name);
        let s = scenario(&text);
        let e = s.estimate().expect("estimated");
        let wire = 0.7 * 144.0 * 10e9 * 0.15 / 8.0;
        // flows × (mean + 40 B per packet) = wire bytes: the mean that the load was computed with.
        let packets_per_flow = e.packets as f64 / e.flows as f64;
        let computed = wire / e.flows as f64 - 40.0 * packets_per_flow;
        assert!((computed / mean - 1.0).abs() < 0.03, "{name}: {computed} {mean}");
    }
}

/// What is exported reads back as the same flows.
#[test]
fn exported_lists_read_back() {
    let dir = std::env::temp_dir().join(format!("thalweg-export-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    let s = scenario(&ads("", "0.1"));
    let first = s.network().expect("network").flows;
    std::fs::write(dir.join("f.csv"), s.flows_csv().expect("csv")).expect("written");
    std::fs::write(dir.join("f.txt"), s.flows_hpcc().expect("hpcc")).expect("written");
    for (file, format) in [("f.csv", "csv"), ("f.txt", "hpcc")] {
        let text = ads("", "0.1").replace(
            "kind = \"poisson\"\nsizes = \"heavy-tailed\"\nload = 0.1",
            &format!("kind = \"list\"\nfile = \"{file}\"\nformat = \"{format}\""),
        );
        let again = load(&text, "s.toml", &dir, &[]).unwrap_or_else(|e| panic!("{}", e[0]));
        assert_eq!(again.network().expect("network").flows, first, "{format}");
    }
    std::fs::remove_dir_all(&dir).expect("removed");
}

#[test]
fn racks_send_to_themselves_or_to_others_as_written() {
    let rack = |h: u32| h / 16;
    let with = |pairs: &str| {
        flows(&ads("", "0.2").replace("load = 0.2", &format!("load = 0.2\npairs = \"{pairs}\"")))
    };
    let inter = with("inter-rack");
    assert!(inter.len() > 1000 && inter.iter().all(|f| rack(f.src.0) != rack(f.dst.0)));
    let intra = with("intra-rack");
    assert!(intra.iter().all(|f| rack(f.src.0) == rack(f.dst.0) && f.src != f.dst));
    // All 15 partners of a host occur, about equally often.
    let mut partners = [0u32; 144];
    intra.iter().filter(|f| f.src.0 == 20).for_each(|f| partners[f.dst.at()] += 1);
    let n: u32 = partners.iter().sum();
    assert!((16..32).filter(|h| *h != 20).all(|h| partners[h] > 0 && partners[h] < n / 4), "{partners:?}");
    assert!(with("to-host-zero").iter().all(|f| f.dst.0 == 0 && f.src.0 != 0));
}
