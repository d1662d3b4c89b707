use super::*;
use crate::text::origin::Origin;
use std::path::Path;
use thalweg_units::NodeId;

pub(super) fn graph(topology: &str) -> Graph {
    let doc = format!("{topology}\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n");
    let s = crate::load(&doc, "t.toml", Path::new("."), &[]).unwrap_or_else(|e| panic!("{}", e[0]));
    let g = s.graph().clone();
    let distance = g.distances(&g.adjacency(), NodeId(0));
    assert!(distance.iter().all(|d| *d < u32::MAX), "connected");
    g
}

pub(super) fn distance(g: &Graph, from: u32, to: u32) -> u32 {
    g.distances(&g.adjacency(), NodeId(from))[to as usize]
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
            let solved = g.base_rtt(PacketSizes { full: 1500, ack: 40 }).ps();
            assert!(solved <= rtt && rtt - solved < 2 * g.longest(), "{shape} {rtt} {solved}");
        }
    }
}

#[test]
fn a_forest_has_one_path_between_any_two_nodes() {
    for (shape, forest) in [
        ("kind = \"parking-lot\"\nbottlenecks = 3", true),
        ("kind = \"leaf-spine\"\nleaves = 3\nspines = 1\nhosts_per_leaf = 2", true),
        ("kind = \"leaf-spine\"\nleaves = 3\nspines = 1\nhosts_per_leaf = 2\nlinks_per_pair = 2", false),
        ("kind = \"rails\"\nservers = 2\ngpus = 2\nspines = 1", true),
        ("kind = \"rails\"\nservers = 2\ngpus = 2\nspines = 2", false),
    ] {
        let doc =
            format!("[topology]\n{shape}\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n");
        let s = crate::load(&doc, "t.toml", Path::new("."), &[]).unwrap_or_else(|e| panic!("{}", e[0]));
        assert_eq!(s.graph().is_forest(), forest, "{shape}");
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
    write(
        "a.gml",
        "graph [ node [ id 0 label \"x\" ] node [ id 1 label \"y\" ] node [ id 2 label \"z\" ] node [ id 3 label \"s\" ]\n\
         edge [ source 0 target 3 ] edge [ source 1 target 3 ] edge [ source 2 target 3 ] ]",
    );
    let both = "rate = \"10Gbps\"\ndelay = \"1us\"";
    let graphs: Vec<Graph> = [
        ("a.csv", "links-csv", ""),
        ("a.txt", "hpcc", ""),
        ("a.json", "thalweg-json", both),
        ("a.toml", "thalweg-toml", "delay = \"1us\""),
        ("a.graphml", "graphml", both),
        ("a.gml", "gml", both),
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
    assert_eq!(names(&graphs[5]), names(&graphs[4]));
    assert_eq!((graphs[0].hosts, graphs[0].switches), (3, 1));
    std::fs::remove_dir_all(&dir).expect("removed");
}

#[test]
fn an_odd_fat_tree_is_refused_where_it_is_written() {
    let origin = Origin::parse("[topology]\nkind = \"fat-tree\"\nk = 5\n", "f.toml", &[]).expect("parses");
    let stop = crate::Stop::default();
    let cx = Cx { origin: &origin, dir: Path::new("."), stop: &stop };
    let mut t = Topology {
        shape: Shape::FatTree(FatTree { k: 5, rate: Q::of("10Gbps"), delay: None, base_rtt: None }),
        time_quantum: Q(Span::ZERO),
    };
    let e = build(&cx, &mut t, PacketSizes { full: 1500, ack: 40 }, &Overlays::default()).expect_err("odd");
    assert_eq!(
        e.to_string(),
        "f.toml:3: `topology.k`: k = 5 is odd, and half of the k ports of a switch lead up; use 4 or 6"
    );
}
