//! Routing rules in scenarios: what flowlets do for an asymmetric network, and what cannot take effect.
use crate::common::*;
use std::path::Path;
use thalweg_scenario::load;

/// Two leaves of six hosts under two spines; the link between the first leaf and the second spine has a quarter of the
/// rate of the others. Half the hosts' rate of web search: 16 Gb/s between the leaves each way, where 25 would fit.
fn asymmetric(routing: &str, seed: u32) -> String {
    format!(
        "seed = {seed}\nrouting = {routing}\n\
         topology = {{ kind = \"leaf-spine\", leaves = 2, spines = 2, hosts_per_leaf = 6, spine_rate = \"20Gbps\" }}\n\
         [[link]]\nwhich = {{ kind = \"between\", ends = [\"leaf0\", \"spine1\"] }}\n\
         transmitter = {{ kind = \"fixed\", rate = \"5Gbps\" }}\n\
         [switch]\nbuffer = \"500KB\"\n\
         [transport]\nkind = \"tcp\"\nrto = {{ kind = \"rfc6298\", min = \"2ms\", initial = \"2ms\" }}\n\
         [[traffic]]\nkind = \"poisson\"\nsizes = \"web-search\"\nload = 0.5\nuntil = \"100ms\"\n\
         [run]\nuntil = \"400ms\"\n"
    )
}

/// Mean completion time, ms, and which part of what the first leaf sends up takes the slow link.
fn measured(routing: &str, seed: u32) -> (f64, f64) {
    let run = run(&asymmetric(routing, seed));
    let fct = column(&run, "flows", "fct_ps");
    let ended: Vec<f64> = fct.iter().filter(|ps| **ps >= 0).map(|ps| *ps as f64 * 1e-9).collect();
    assert_eq!(ended.len(), fct.len(), "{routing}: every flow ends");
    // Links 12 and 13, behind those of the hosts, lead from the first leaf to the spines.
    let carried = column(&run, "ports", "bytes");
    let (fast, slow) = (carried[24] as f64, carried[26] as f64);
    (ended.iter().sum::<f64>() / ended.len() as f64, slow / (fast + slow))
}

/// LetFlow (NSDI 2017, §2): hashing gives the slow link half of the flows, 8 Gb/s where 5 fit, and its
/// queue is full for as long as they last; flowlets leave it by themselves. A flow that is held up there sends when its
/// ACKs come, in bursts with gaps longer than the timeout, and each gap is a draw; on the fast path its packets follow
/// each other, and it stays. No load is measured.
#[test]
fn flowlets_complete_sooner_than_hashed_flows_where_one_link_is_slower() {
    for seed in 1..4 {
        let hashed = measured("\"ecmp\"", seed);
        let flowlets = measured("{ kind = \"flowlet\", timeout = \"50us\" }", seed);
        let conga = measured("\"conga\"", seed);
        println!("{seed}: {hashed:?} {flowlets:?} {conga:?}");
        assert!(flowlets.0 < 0.8 * hashed.0, "{flowlets:?} {hashed:?}");
        // 5 of 25 Gb/s would be a fifth.
        assert!(flowlets.1 < 0.3 && flowlets.1 < hashed.1, "{flowlets:?} {hashed:?}");
        // CONGA (SIGCOMM 2014) measures instead.
        assert!(conga.0 < flowlets.0 && conga.1 < 0.3, "{conga:?} {flowlets:?}");
    }
}

/// CONGA (SIGCOMM 2014), §2.4: ten hosts of a leaf send 1 Gb/s each by two spines, of which one has half of the rate
/// behind it, 4 of 8 Gb/s; the last hop of its path is slow, so the first leaf cannot see it. Two to one is fair: of
/// ten flows, which start one after the other, three or four go there, and nothing is lost. Of flows that are hashed
/// more do, for some seed. What comes back brings the news.
#[test]
fn conga_leaves_a_path_whose_far_link_is_slower() {
    let of = |routing: &str, seed: u32| {
        let flow = |src: u32, dst: u32, mbps: u32| {
            format!(
                "[[traffic]]\nkind = \"flow\"\nsrc = {src}\ndst = {dst}\nsize = \"{}KB\"\nstart = \"{}ms\"\n\
                 transport = {{ kind = \"udp\", pace = {{ kind = \"constant\", rate = \"{mbps}Mbps\" }} }}\n",
                5 * mbps,
                2 * (src % 10),
            )
        };
        let text = format!(
            "seed = {seed}\nrouting = \"{routing}\"\nrun = {{ until = \"100ms\" }}\n\
             topology = {{ kind = \"leaf-spine\", leaves = 2, spines = 2, hosts_per_leaf = 10, host_rate = \"1Gbps\", \
             spine_rate = \"8Gbps\", delay = \"2us\" }}\n\
             [[link]]\nwhich = {{ kind = \"between\", ends = [\"leaf1\", \"spine1\"] }}\n\
             transmitter = {{ kind = \"fixed\", rate = \"4Gbps\" }}\n"
        );
        let flows = (0..10).map(|host| flow(host, 10 + host, 1000) + &flow(10 + host, host, 100));
        let run = run(&(text + &flows.collect::<String>()));
        // 20 links of hosts; by link 21 the first leaf sends to the second spine.
        let slow = column(&run, "ports", "packets")[42] as f64 / 3425.0;
        (run.summary()["drops"].as_u64().expect("a count"), slow.round() as u64)
    };
    for seed in 1..9 {
        let (lost, slow) = of("conga", seed);
        assert!(lost == 0 && (3..5).contains(&slow), "{seed}: {lost} lost, {slow} flows on the slow path");
    }
    assert!((1..9).any(|seed| of("ecmp", seed).0 > 0));
}

#[track_caller]
fn refused(set: &[(&str, &str)], expected: &str) {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let errors = load(&asymmetric("\"ecmp\"", 1), "s.toml", Path::new("."), &set).expect_err("refused");
    let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(all.iter().any(|e| e.contains(expected)), "{}", all.join("\n"));
}

#[test]
fn parameters_of_rules_that_cannot_take_effect_are_refused_with_the_reason() {
    refused(
        &[("routing", "{kind=\"flowlet\",timeout=\"0us\"}")],
        "`routing.timeout`: a time of 0 never passes",
    );
    refused(&[("routing", "{kind=\"flowlet\",entries=0}")], "`routing.entries`");
    refused(
        &[("routing", "{kind=\"flowlet\",entries=1,hash=\"destination\"}")],
        "`routing.hash`: it has no effect: there is one entry for all",
    );
    refused(
        &[("routing", "{kind=\"least-loaded\",samples=9}")],
        "`routing.samples`: it has no effect: no switch has more than 8 links; at most 8",
    );
    refused(
        &[("routing", "{kind=\"least-loaded\",samples=1,memory=0}")],
        "one port drawn is compared with none",
    );
    refused(
        &[("routing", "adaptive"), ("switch.buffer", "unlimited")],
        "`routing.kind`: it has no effect: queues without a limit are filled to no share of it",
    );
    refused(&[("routing", "{kind=\"least-loaded\",timeout=\"1us\"}")], "`routing.timeout`: unknown key");
    refused(
        &[("routing", "entropy")],
        "`routing.kind`: it has no effect: no transport writes path values, so that packets of a flow take one path",
    );
}

#[test]
fn rules_that_go_by_the_shape_of_a_network_are_refused_where_it_has_none() {
    refused(
        &[("routing", "dimension-order")],
        "`routing.kind`: the topology has no dimensions to go along in order; \"ecmp\", or the topology `torus`",
    );
    for rule in ["valiant", "ugal"] {
        refused(
            &[("routing", rule)],
            "`routing.kind`: packets go by way of a third group of switches, and there are two; \"ecmp\", or a topology \
             with more groups, such as `dragonfly`",
        );
    }
    refused(
        &[("routing", "dimension-order"), ("topology", "{kind=\"torus\",dimensions=[9]}"), ("link", "[]")],
        "`routing.kind`: it has no effect: there is one dimension, so that no order matters; \"ecmp\"",
    );
}

#[test]
fn path_values_that_cannot_take_effect_are_refused_with_the_reason() {
    let (rdma, values) = (("transport", "{kind=\"rdma\"}"), "transport.path_values");
    refused(
        &[rdma, (values, "{}")],
        "`transport.path_values`: it has no effect: the routing `ecmp` does not hash",
    );
    let entropy = ("routing", "entropy");
    refused(&[rdma, entropy, (values, "{count=1}")], "`transport.path_values.count`");
    refused(
        &[rdma, entropy, (values, "{recycle=true}")],
        "`transport.path_values.recycle`: ACKs do not say whether their data was marked",
    );
}
