//! What a dragonfly is known for (Kim, Dally, Scott, Abts, ISCA 2008, §4): which throughput minimal, Valiant's and
//! UGAL-L routing reach under benign and adverse traffic. The paper's example: p = h = 2, a = 4, 9 groups, 72 hosts.
use crate::common::*;
use std::path::Path;
use thalweg_lab::Run;
use thalweg_scenario::Stop;

const HOSTS: usize = 72;
/// What is simulated, us.
const TIME: usize = 1000;

fn network(rule: &str, more: &str) -> String {
    format!(
        "topology = {{ kind = \"dragonfly\", hosts_per_router = 2, routers_per_group = 4, global_links = 2 }}\n\
         routing = {rule}\n\
         transport = {{ kind = \"udp\" }}\n\
         run = {{ until = \"{TIME}us\", stop_when_done = false }}\n{more}\n"
    )
}

/// Packets of 1500 B at random instants to random hosts, at so much of the hosts' rate.
fn uniform(load: f64) -> String {
    format!(
        "[[traffic]]\nkind = \"poisson\"\nsizes = {{ fixed = \"1472B\" }}\nload = {load}\n\
         packet_payload = \"1472B\"\npacket_header = \"28B\"\n"
    )
}

/// Every host sends to the one of its place in the next group.
fn adverse(load: f64) -> String {
    let rate = 10_000.0 * load;
    format!(
        "[[traffic]]\nkind = \"permutation\"\nstride = 8\nsize = \"10MB\"\njitter = \"1500ns\"\n\
         transport = {{ kind = \"udp\", pace = {{ kind = \"constant\", rate = \"{rate:.0}Mbps\" }} }}\n"
    )
}

/// Queues of 100 KB, which drop what finds them full.
const LOSSY: &str = "[switch]\nbuffer = \"100KB\"\n";
/// Inputs of 60 KB, which pause their neighbours.
const LOSSLESS: &str = "[switch]\nbuffer = \"unlimited\"\ninputs = { memory = \"60KB\" }\npfc = {}\n";

fn finished(rule: &str, traffic: &str, switch: &str) -> Run {
    run(&network(rule, &format!("{switch}{traffic}")))
}

/// The part of the hosts' rate at which packets reach them.
fn throughput(run: &Run) -> f64 {
    let bytes = column(run, "ports", "bytes");
    let down: i128 = (0..HOSTS).map(|host| bytes[2 * host + 1]).sum();
    down as f64 / (HOSTS * TIME * 1250) as f64
}

fn delivered(rule: &str, traffic: &str, switch: &str) -> f64 {
    throughput(&finished(rule, traffic, switch))
}

/// §4.3: benign traffic is balanced on minimal paths, and UGAL-L leaves it there; by way of random groups every packet
/// crosses two global links instead of one.
#[test]
fn uniform_traffic_fills_the_network_on_minimal_paths_and_half_of_it_by_detours() {
    let [minimal, valiant, ugal] =
        ["ecmp", "valiant", "ugal"].map(|rule| delivered(&format!("\"{rule}\""), &uniform(1.0), LOSSY));
    println!("uniform, at full load: minimal {minimal:.3}, Valiant {valiant:.3}, UGAL-L {ugal:.3}");
    assert!(minimal > 0.93 && ugal > 0.91 && ugal < minimal + 0.01, "{minimal} {ugal}");
    assert!((0.53..0.63).contains(&valiant), "{valiant}");
}

/// §4.3: a group's eight hosts have one link to the next group, 1 / (a p) of their rate. By way of random groups each
/// of the group's eight global links carries 2/9 of what eight hosts send, two crossings of which a ninth each: 9/16.
#[test]
fn traffic_from_each_group_to_the_next_has_one_link_on_minimal_paths_and_half_the_network_by_detours() {
    let [minimal, valiant, ugal] =
        ["ecmp", "valiant", "ugal"].map(|rule| delivered(&format!("\"{rule}\""), &adverse(0.6), LOSSY));
    println!("adverse, at a load of 0.6: minimal {minimal:.3}, Valiant {valiant:.3}, UGAL-L {ugal:.3}");
    assert!((0.115..=0.125).contains(&minimal), "{minimal}");
    assert!((0.51..=0.5625).contains(&valiant), "{valiant}");
    assert!(ugal > 0.4 && ugal < valiant, "{ugal}");
    let half = delivered("\"valiant\"", &adverse(0.5), LOSSY);
    assert!(half > 0.485, "{half}: what it carries it carries whole");
    let flows = delivered("{ kind = \"valiant\", per = \"flow\" }", &adverse(0.6), LOSSY);
    assert!(flows > 2.0 * minimal, "{flows}: a group for each flow is drawn as evenly as 72 draws are");
}

/// §4.3.1: the queue of the global link is at another router for six hosts of eight. They see it once it holds back
/// what they send.
#[test]
fn local_queues_show_congestion_elsewhere_where_switches_hold_each_other_back() {
    let [lossy, lossless] = [LOSSY, LOSSLESS].map(|switch| finished("\"ugal\"", &adverse(0.4), switch));
    println!("UGAL-L, adverse, at 0.4: {:.3}, with PFC {:.3}", throughput(&lossy), throughput(&lossless));
    assert_eq!(lossless.summary()["drops"], 0);
    assert!(throughput(&lossless) > 0.36, "{}", throughput(&lossless));
    assert!(throughput(&lossless) > 1.1 * throughput(&lossy), "{}", throughput(&lossy));
}

/// §4.1: the paper's routers have virtual channels. Without them buffers wait for each other in a circle.
#[test]
fn without_virtual_channels_detours_deadlock_and_the_search_finds_the_cycle_before() {
    let text = network("\"valiant\"", &format!("{LOSSLESS}{}", adverse(0.9)));
    let scenario = scenario(&text, Path::new("."), &[]);
    assert!(!scenario.check_deadlock(&Stop::default()).expect("routes").cycle.is_empty());
    let run = finish(&scenario);
    let found = run.summary()["pauses"]["deadlocks"].as_array().map_or(0, Vec::len);
    assert!(found > 0 && run.summary()["drops"] == 0, "{found}");
    assert!(throughput(&run) < 0.3, "{}", throughput(&run));
}

/// Dally, Seitz (1987): of a mesh only dimension order leaves no cycle; a ring of four has one by itself.
#[test]
fn a_lossless_mesh_in_dimension_order_has_no_cycle_of_pauses() {
    let cycle = |rule: &str, wrap: bool| {
        let text = format!(
            "routing = \"{rule}\"\ntopology = {{ kind = \"torus\", dimensions = [4, 4], wrap = {wrap} }}\n\
             transport = {{ kind = \"udp\" }}\nrun = {{ until = \"1ms\" }}\n{LOSSLESS}{}",
            adverse(0.5)
        );
        let found = scenario(&text, Path::new("."), &[]).check_deadlock(&Stop::default());
        found.expect("routes").cycle.len().saturating_sub(1)
    };
    assert_eq!(cycle("dimension-order", false), 0);
    assert_eq!(cycle("ecmp", false), 4);
    assert_eq!(cycle("dimension-order", true), 4);
    assert!(cycle("valiant", false) > 0);
}
