//! The Internet2 backbone against what is published of it, and the random one against its rules.

use super::*;
use std::convert::Infallible;
use std::path::Path;
use thalweg_net::spec::LinkSpec;
use thalweg_units::{NodeId, Rate};

fn graph(topology: &str) -> Graph {
    let doc = format!("{topology}\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n");
    crate::load(&doc, "t.toml", Path::new("."), &[]).unwrap_or_else(|e| panic!("{}", e[0])).graph().clone()
}

/// "ups", row = at, column = to, core routers 0 to 9; the default static routing of ns-2 gives the same.
const NEXT: [[u32; 10]; 10] = [
    [0, 1, 2, 3, 2, 1, 3, 3, 3, 3],
    [0, 1, 2, 0, 2, 5, 5, 0, 5, 0],
    [0, 1, 2, 0, 4, 1, 0, 0, 0, 0],
    [0, 0, 0, 3, 4, 5, 6, 7, 6, 7],
    [2, 2, 2, 3, 4, 5, 3, 3, 3, 3],
    [1, 1, 1, 3, 4, 5, 6, 3, 6, 3],
    [3, 5, 3, 3, 3, 5, 6, 3, 8, 8],
    [3, 3, 3, 3, 3, 3, 3, 7, 8, 9],
    [6, 6, 6, 6, 6, 6, 6, 7, 8, 9],
    [7, 7, 7, 7, 7, 7, 8, 7, 8, 9],
];

#[test]
fn internet2_has_the_published_next_hops() {
    let g = graph("[topology]\nkind = \"internet2\"");
    assert_eq!((g.hosts, g.switches, g.links.len()), (100, 110, 216));
    let adjacency = g.adjacency();
    for dst in 0..100u32 {
        let next = lowest::next_hops(&g, &adjacency, NodeId(dst));
        for core in 0..10u32 {
            // At its own core router the way goes down to the edge router of the host.
            let expected =
                if core == dst % 10 { 110 + dst } else { 100 + NEXT[core as usize][(dst % 10) as usize] };
            assert_eq!(next[100 + core as usize], NodeId(expected), "at {core} to host {dst}");
        }
    }
}

/// The simulator's routing `lowest` takes the ways that loads and rates are computed with, both ways the same.
#[test]
fn the_simulator_takes_the_same_ways() {
    use thalweg_net::routing::{Pick, Routes};
    use thalweg_units::HostId;
    for topology in
        ["kind = \"internet2\"", "kind = \"backbone\"\nedges_per_router = 1", "kind = \"fat-tree\"\nk = 4"]
    {
        let g = graph(&format!("[topology]\n{topology}"));
        let routes = Routes::new(g.hosts, g.switches, &g.links, 7).expect("connected");
        let adjacency = g.adjacency();
        for dst in 0..g.hosts {
            let next = lowest::next_hops(&g, &adjacency, NodeId(dst));
            for src in (0..g.hosts.min(20)).filter(|src| *src != dst) {
                let mut ports = Vec::new();
                routes.path(HostId(src), HostId(dst), Pick::Lowest, &mut ports);
                let mut at = NodeId(src);
                for port in ports {
                    assert_eq!(routes.peer(port), next[at.at()], "{topology}: {src} to {dst} at {at}");
                    at = next[at.at()];
                }
                assert_eq!(at, NodeId(dst));
            }
        }
    }
}

/// k ordered pairs of core routers use every core link in each direction, and its rate is k · 10 Gb/s / 9, rounded up
/// to 1 Mb/s.
#[test]
fn every_core_link_of_internet2_carries_its_number_of_pairs_both_ways() {
    let g = graph("[topology]\nkind = \"internet2\"");
    // A hundred pairs of hosts are a pair of core routers.
    let Ok(carried) = lowest::carried(
        &g,
        |src, dst| if src % 10 == dst % 10 { 0.0 } else { 0.01 },
        || Ok::<_, Infallible>(()),
    );
    for (i, (a, b, k, mbps)) in internet2::CORE.iter().enumerate() {
        let link = 200 + i;
        assert_eq!((g.links[link].a, g.links[link].b), (NodeId(100 + a), NodeId(100 + b)));
        for port in [2 * link, 2 * link + 1] {
            assert!((carried[port] - f64::from(*k)).abs() < 1e-9, "{a}-{b}: {} pairs", carried[port]);
        }
        assert_eq!(u64::from(*k * 10_000).div_ceil(9), *mbps);
        assert_eq!(g.links[link].rate(), Rate::from_mbps(*mbps));
    }
}

/// 4 to 7 routers for 35.6, 37.8, 20.0, 6.7 % of the pairs of core routers; 23.8 ms from host to host in the mean.
#[test]
fn ways_through_internet2_are_as_long_as_published() {
    let g = graph("[topology]\nkind = \"internet2\"");
    let adjacency = g.adjacency();
    let mut pairs = [0u32; 8];
    let mut delay = Span::ZERO;
    for src in 0..10u32 {
        for dst in (0..10u32).filter(|d| *d != src) {
            let next = lowest::next_hops(&g, &adjacency, NodeId(dst));
            let (mut at, mut routers) = (NodeId(src), 0);
            while at != NodeId(dst) {
                let to = next[at.at()];
                let link = adjacency[at.at()].iter().find(|(_, n)| *n == to).expect("a link").0;
                delay += g.links[link as usize].delay();
                routers += usize::from(at.0 >= 100);
                at = to;
            }
            pairs[routers] += 1;
        }
    }
    assert_eq!(pairs, [0, 0, 0, 0, 32, 34, 18, 6]); // of 90: 35.6, 37.8, 20.0, 6.7 %
    // 4 access links and 1.978 core links in the mean: 178 core links over the 90 ways.
    assert_eq!(delay, Span::from_ms(90 * 4 + 178 * 10));
    assert!((delay.secs() / 90.0 - 23.8e-3).abs() < 0.05e-3);
}

#[test]
fn internet2_comes_slower_shorter_and_without_edge_routers() {
    let rates = |g: &Graph| [0, 100, 200].map(|l: usize| g.links[l].rate().bps() / 100_000);
    let plain = graph("[topology]\nkind = \"internet2\"");
    assert_eq!(rates(&plain), [100_000, 10_000, 55_560]);
    assert_eq!((plain.links[99].a, plain.links[99].b), (NodeId(99), NodeId(209)));
    assert_eq!((plain.links[199].a, plain.links[199].b), (NodeId(209), NodeId(109)));
    let tenth = graph("[topology]\nkind = \"internet2\"\nhost_rate = \"1Gbps\"\nslower = 10");
    assert_eq!(rates(&tenth), [1000, 1000, 5556]);
    let bare = graph("[topology]\nkind = \"internet2\"\nedge_routers = false\ncore_delay = \"10us\"");
    assert_eq!((bare.hosts, bare.switches, bare.links.len()), (100, 10, 116));
    assert_eq!((bare.links[57].b, bare.links[57].rate()), (NodeId(107), Rate::from_gbps(10)));
    assert_eq!((bare.links[100].delay(), bare.links[0].delay()), (Span::from_us(10), Span::from_ms(1)));
}

/// The fair-share set: a flow per ordered pair (s, t) from host 10t + s to host 10s + t makes k flows on
/// every core link.
#[test]
fn ninety_flows_share_the_core_of_internet2_fairly() {
    let g = graph("[topology]\nkind = \"internet2\"\nedge_routers = false");
    let flow = |src: u32, dst: u32| src % 10 != dst % 10 && (src / 10, src % 10) == (dst % 10, dst / 10);
    let Ok(carried) =
        lowest::carried(&g, |src, dst| f64::from(u8::from(flow(src, dst))), || Ok::<_, Infallible>(()));
    for (i, (_, _, k, mbps)) in internet2::CORE.iter().enumerate() {
        assert_eq!([carried[2 * (100 + i)], carried[2 * (100 + i) + 1]], [f64::from(*k); 2]);
        assert!((*mbps as f64 / f64::from(*k) - 1111.1).abs() < 1.0); // fair share 1.111 Gb/s
    }
    assert_eq!(carried.iter().take(200).sum::<f64>(), 180.0); // 90 flows leave a host and reach one
}

#[test]
fn the_backbone_has_its_size_and_a_median_rate() {
    let g = graph("[topology]\nkind = \"backbone\"");
    assert_eq!((g.hosts, g.switches, g.links.len()), (830, 913, 2 * 830 + 131));
    let distance = g.distances(&g.adjacency(), NodeId(0));
    assert!(distance.iter().all(|d| *d < u32::MAX), "connected");
    let core: Vec<&LinkSpec> = g.links[1660..].iter().collect();
    let mut ends: Vec<(NodeId, NodeId)> = core.iter().map(|l| (l.a, l.b)).collect();
    ends.dedup();
    ends.sort();
    ends.dedup();
    assert_eq!(ends.len(), 131, "no two links between the same routers");
    assert!(core.iter().all(|l| l.a.0 >= 830 && l.b.0 < 830 + 83 && l.delay() == Span::from_ms(10)));
    let mut rates: Vec<u64> = core.iter().map(|l| l.rate().bps()).collect();
    rates.sort_unstable();
    assert_eq!(rates[65], 1_000_000_000, "the middle of 131");
    // Every link has the rate k · R / 82 for the k of its busier direction: uniform traffic fills all alike.
    let Ok(carried) =
        lowest::carried(&g, |src, dst| f64::from(u8::from(src % 83 != dst % 83)), || Ok::<_, Infallible>(()));
    let share: Vec<f64> = (0..131)
        .map(|i| {
            carried[2 * (1660 + i)].max(carried[2 * (1660 + i) + 1]) / g.links[1660 + i].rate().bps() as f64
        })
        .collect();
    assert!(share.iter().all(|s| (s / share[0] - 1.0).abs() < 1e-6));
    assert_eq!(g, graph("[topology]\nkind = \"backbone\"\nseed = 1"));
    assert_ne!(g, graph("[topology]\nkind = \"backbone\"\nseed = 2"));
}

/// Preferential attachment: some routers have many links, most have few.
#[test]
fn the_backbone_has_hubs() {
    let g = graph("[topology]\nkind = \"backbone\"\nedges_per_router = 1");
    let mut degree = [0u32; 83];
    for l in &g.links[166..] {
        degree[l.a.at() - 83] += 1;
        degree[l.b.at() - 83] += 1;
    }
    degree.sort_unstable();
    assert!(degree[41] <= 3 && degree[82] >= 9, "{degree:?}");
    // 32 of the routers that join bring one link; none but each other joined 0 and 1.
    assert!(degree[0] == 1 && degree.iter().sum::<u32>() == 262);
}

/// Links of a Rocketfuel map, three hosts on every router, the hosts' links as given.
#[test]
fn a_rocketfuel_map_gets_hosts() {
    let dir = std::env::temp_dir().join(format!("thalweg-rocketfuel-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    std::fs::write(dir.join("m.cch"), "7 @A (1) -> <9> =a r0\n9 @B bb (1) -> <7> =b r0\n").expect("written");
    let load = |more: &str| {
        let text = format!(
            "[topology]\nkind = \"file\"\nfile = \"m.cch\"\nformat = \"rocketfuel\"\nrate = \"1Gbps\"\ndelay = \"5ms\"\n{more}\
             [[traffic]]\nkind = \"permutation\"\nsize = \"1KB\"\n"
        );
        crate::load(&text, "t.toml", &dir, &[]).map(|s| s.graph().clone()).map_err(|e| e[0].to_string())
    };
    let g = load("hosts_per_router = 3\nhost_rate = \"10Gbps\"\nhost_delay = \"1ms\"\n")
        .expect("a map with hosts");
    assert_eq!((g.hosts, g.switches, g.links.len()), (6, 2, 7));
    assert_eq!(
        (g.links[4].b, g.links[4].rate(), g.links[4].delay()),
        (NodeId(7), Rate::from_gbps(10), Span::from_ms(1))
    );
    assert_eq!((g.links[6].a, g.links[6].b, g.links[6].rate()), (NodeId(6), NodeId(7), Rate::from_gbps(1)));
    assert_eq!(
        load(""),
        Err("t.toml:3: `topology.file`: `m.cch` is a map of routers without hosts; write `hosts_per_router = 1` under [topology]".into())
    );
    std::fs::remove_dir_all(&dir).expect("removed");
}

/// "ups", M10: flows per second and host at 10, 30, 50, 70, 90 % of 1 Gb/s, packets of 1460 B without headers; the same
/// for every transport.
#[test]
fn flows_arrive_as_often_as_published() {
    for (load, flows) in [(0.1, 46.41), (0.3, 139.23), (0.5, 232.05), (0.7, 324.88), (0.9, 417.70)] {
        for transport in ["kind = \"udp\"\nheader = \"0B\"", "kind = \"tcp\"\nheader = \"50B\""] {
            let text = format!(
                "[topology]\nkind = \"internet2\"\n[transport]\n{transport}\n[[traffic]]\nkind = \"poisson\"\n\
                 sizes = \"heavy-tailed\"\nload = {load}\nof = {{ rate = \"1Gbps\" }}\npairs = {{ min_links = 5 }}\n\
                 packet_header = \"0B\"\n[run]\nuntil = \"100s\"\n"
            );
            let s = crate::load(&text, "t.toml", Path::new("."), &[]).unwrap_or_else(|e| panic!("{}", e[0]));
            let each = s.estimate().expect("an estimate").flows as f64 / (100.0 * 100.0);
            assert!((each - flows).abs() < 0.005, "{each} flows/s at {load}");
        }
    }
}

/// Destinations on the same core router are too near, all others are drawn alike.
#[test]
fn no_host_sends_to_one_on_its_own_core_router() {
    let text = "[topology]\nkind = \"internet2\"\n[[traffic]]\nkind = \"poisson\"\nsizes = { fixed = \"1KB\" }\n\
                load = 0.5\npairs = { min_links = 5 }\nuntil = \"1ms\"\n";
    let s = crate::load(text, "t.toml", Path::new("."), &[]).unwrap_or_else(|e| panic!("{}", e[0]));
    let flows = s.network().expect("a network").flows;
    let mut seen = [0u32; 100];
    for f in &flows {
        assert_ne!(f.src.0 % 10, f.dst.0 % 10);
        seen[f.dst.at()] += 1;
    }
    assert!(flows.len() > 50_000);
    let mean = flows.len() as f64 / 100.0;
    assert!(seen.iter().all(|n| (f64::from(*n) - mean).abs() < 6.0 * mean.sqrt()), "{seen:?}");
}

/// λ of a host is R/10 · load / flow size, where a core link has the rate k · R / 82.
#[test]
fn a_backbone_is_loaded_by_its_busiest_link() {
    let text = "routing = \"lowest\"\n[topology]\nkind = \"backbone\"\n[[traffic]]\nkind = \"poisson\"\n\
                sizes = \"heavy-tailed\"\nload = 0.7\nof = \"busiest-link\"\npairs = { min_links = 5 }\n\
                packet_header = \"0B\"\n[run]\nuntil = \"100s\"\n";
    let s = crate::load(text, "t.toml", Path::new("."), &[]).unwrap_or_else(|e| panic!("{}", e[0]));
    let g = s.graph();
    let Ok(carried) = lowest::carried(
        g,
        |src, dst| f64::from(u8::from(src % 83 != dst % 83)) / 100.0,
        || Ok::<_, Infallible>(()),
    );
    let k = carried[2 * 1660].max(carried[2 * 1660 + 1]);
    let r = g.links[1660].rate().bps() as f64 * 82.0 / k;
    println!("R = {r} b/s, k of the first link {k}");
    let flows = 0.7 * r / 10.0 / (8.0 * 269_333.5);
    let each = s.estimate().expect("an estimate").flows as f64 / (830.0 * 100.0);
    assert!((each / flows - 1.0).abs() < 1e-4, "{each} {flows}");
}
