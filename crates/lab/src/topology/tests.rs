use super::*;
use crate::text::tree::Origin;
use std::path::Path;

fn graph(topology: &str) -> Graph {
    let doc = format!("{topology}\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n");
    let s = crate::load(&doc, "t.toml", Path::new("."), &[]).unwrap_or_else(|e| panic!("{}", e[0]));
    let g = s.graph().clone();
    let distance = g.distances(&g.adjacency(), NodeId(0));
    assert!(distance.iter().all(|d| *d < u32::MAX), "connected");
    g
}

/// k³/4 hosts, 5k²/4 switches, 3k³/4 links; hosts of different pods are 6 links apart.
#[test]
fn a_fat_tree_has_the_published_counts() {
    for k in [2u32, 4, 8, 16] {
        let g = graph(&format!("[topology]\nkind = \"fat-tree\"\nk = {k}"));
        assert_eq!((g.hosts, g.switches), (k * k * k / 4, 5 * k * k / 4));
        assert_eq!(g.links.len() as u32, 3 * k * k * k / 4);
        let distance = g.distances(&g.adjacency(), NodeId(0));
        assert_eq!(distance[g.hosts as usize - 1], 6);
        let degree = g.adjacency();
        assert!(degree[g.hosts as usize..].iter().all(|n| n.len() as u32 == k), "every switch has k ports");
    }
}

/// ADS §2.2: 9 × 16 hosts, full bisection: 4 × 40 Gb/s up against 16 × 10 Gb/s down.
#[test]
fn the_leaf_spine_of_ads_has_full_bisection_and_its_round_trip_is_solved_exactly() {
    let g = graph(
        "[topology]\nkind = \"leaf-spine\"\nleaves = 9\nspines = 4\nhosts_per_leaf = 16\nbase_rtt = \"16us\"",
    );
    assert_eq!((g.hosts, g.switches, g.links.len()), (144, 13, 144 + 36));
    assert_eq!(g.core_capacity(), 144 * 10_000_000_000);
    // Data 1200 + 300 + 300 + 1200 ns, ACK 32 + 8 + 8 + 32 ns; (16000 − 3080) / 8 = 1615 ns.
    assert_eq!(g.links[0].delay(), Span::from_ns(1615));
    assert_eq!(g.base_rtt(Frames { full: 1500, ack: 40 }), Span::from_us(16));
    assert_eq!(g.racks()[17], NodeId(145));
}

#[test]
fn small_topologies_are_what_their_names_say() {
    let g = graph("[topology]\nkind = \"pair\"\nrate = \"100Gbps\"");
    assert_eq!((g.hosts, g.switches, g.links.len()), (2, 0, 1));
    let g = graph("[topology]\nkind = \"star\"\nhosts = 5\nsink_rate = \"20Gbps\"");
    assert_eq!((g.hosts, g.switches, g.links.len()), (5, 1, 5));
    assert_eq!((g.links[0].rate(), g.links[1].rate()), (Rate::from_gbps(20), Rate::from_gbps(10)));
    let g = graph("[topology]\nkind = \"dumbbell\"\npairs = 3\nbottleneck_rate = \"1Gbps\"");
    assert_eq!((g.hosts, g.switches, g.links.len()), (6, 2, 7));
    assert_eq!(g.core_links(), vec![6]);
    let distance = |g: &Graph, a, b: u32| g.distances(&g.adjacency(), NodeId(a))[b as usize];
    assert_eq!((distance(&g, 0, 1), distance(&g, 0, 3)), (2, 3));
    let g = graph("[topology]\nkind = \"parking-lot\"\nbottlenecks = 3");
    assert_eq!((g.hosts, g.switches, g.links.len()), (8, 4, 11));
    assert_eq!(distance(&g, 0, 1), 5);
    assert_eq!([distance(&g, 2, 3), distance(&g, 4, 5), distance(&g, 6, 7)], [3, 3, 3]);
}

/// Every shape with every link rate gets its round trip to within two picoseconds per link.
#[test]
fn base_rtt_is_solved_to_the_picosecond() {
    for shape in [
        "kind = \"pair\"",
        "kind = \"star\"\nhosts = 3",
        "kind = \"fat-tree\"\nk = 4",
        "kind = \"parking-lot\"\nbottlenecks = 2",
    ] {
        for rtt in [50_000_000u64, 50_000_001, 77_777_777] {
            let g = graph(&format!("[topology]\n{shape}\nbase_rtt = \"{rtt}ps\""));
            let solved = g.base_rtt(Frames { full: 1500, ack: 40 }).ps();
            assert!(solved <= rtt && rtt - solved < 2 * g.longest(), "{shape} {rtt} {solved}");
        }
    }
}

#[test]
fn files_give_the_same_graph_in_every_format() {
    let dir = std::env::temp_dir().join(format!("thalweg-topology-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).expect("written");
    write("a.csv", "a,b,rate,delay\n0,3,10Gbps,1us\n1,3,10Gbps,1us\n2,3,10Gbps,1us\n");
    write("a.txt", "4 1 3\n3\n0 3 10Gbps 0.001ms 0\n1 3 10Gbps 1us 0\n2 3 10Gbps 1000ns 0\n");
    write("a.json", r#"{"hosts":3,"switches":1,"links":[{"a":0,"b":3},{"a":1,"b":3},{"a":2,"b":3}]}"#);
    write(
        "a.toml",
        "hosts = 3\nswitches = 1\nlinks = [{a=0,b=3,rate=\"10Gbps\"},{a=1,b=3,rate=\"10Gbps\"},{a=2,b=3,rate=\"10Gbps\"}]\n",
    );
    write(
        "a.graphml",
        "<graphml><graph><node id='x'/><node id='y'/><node id='z'/><node id='s'/>\
         <edge source='x' target='s'/><edge source='y' target='s'/><edge source='z' target='s'/></graph></graphml>",
    );
    let both = "rate = \"10Gbps\"\ndelay = \"1us\"";
    let graphs: Vec<Graph> = [
        ("a.csv", "links-csv", ""),
        ("a.txt", "hpcc", ""),
        ("a.json", "thalweg-json", both),
        ("a.toml", "thalweg-toml", "delay = \"1us\""),
        ("a.graphml", "graphml", both),
    ]
    .iter()
    .map(|(path, format, more)| {
        let text = format!(
            "[topology]\nkind = \"file\"\nfile = \"{path}\"\nformat = \"{format}\"\n{more}\n\
             [[traffic]]\nkind = \"permutation\"\nsize = \"1MB\"\n"
        );
        let s = crate::load(&text, "t.toml", &dir, &[]).unwrap_or_else(|e| panic!("{format}: {}", e[0]));
        s.graph().clone()
    })
    .collect();
    let network = |g: &Graph| (g.hosts, g.switches, g.links.clone());
    assert!(graphs.iter().all(|g| network(g) == network(&graphs[0])));
    let names = |g: &Graph| (0..4).map(|n| g.names.of(n)).collect::<Vec<_>>();
    assert_eq!(names(&graphs[0]), ["h0", "h1", "h2", "switch0"]);
    assert_eq!(names(&graphs[4]), ["x", "y", "z", "s"]);
    assert_eq!((graphs[0].hosts, graphs[0].switches), (3, 1));
    std::fs::remove_dir_all(&dir).expect("removed");
}

#[test]
fn an_odd_fat_tree_is_refused_where_it_is_written() {
    let origin = Origin::parse("[topology]\nkind = \"fat-tree\"\nk = 5\n", "f.toml", &[]).expect("parses");
    let stop = crate::Stop::default();
    let cx = Cx { origin: &origin, dir: Path::new("."), stop: &stop };
    let mut t = crate::schema::Topology {
        shape: Shape::FatTree(crate::schema::FatTree {
            k: 5,
            rate: Q::of("10Gbps"),
            delay: None,
            base_rtt: None,
        }),
        time_quantum: Q(Span::ZERO),
    };
    let e = build(&cx, &mut t, Frames { full: 1500, ack: 40 }, &Overlays::default()).expect_err("odd");
    assert_eq!(
        e.to_string(),
        "f.toml:3: `topology.k`: k = 5 is odd, half of a switch's ports go up; use 4 or 6"
    );
}
