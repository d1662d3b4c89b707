//! Graphs and flow lists as their users have them: files that simulators come with, maps of the Internet. All are
//! made up, with the features of the public ones.

use crate::common::*;
use thalweg_scenario::load;

/// A topology from a file, and a flow from every host to another.
fn maps(dir: &Folder, file: &str, format: &str, more: &str) -> Result<thalweg_scenario::Scenario, String> {
    let text = format!(
        "[topology]\nkind = \"file\"\nfile = \"{file}\"\nformat = \"{format}\"\n{more}\n\
         [[traffic]]\nkind = \"permutation\"\nsize = \"10KB\"\n[run]\nuntil = \"1s\"\n"
    );
    load(&text, "s.toml", &dir.0, &[]).map_err(|errors| errors[0].to_string())
}

/// Nodes that are hosts, and routers, and links.
fn counts(s: &thalweg_scenario::Scenario) -> (u32, u32, usize) {
    (s.graph().hosts, s.graph().switches, s.graph().links.len())
}

#[test]
fn the_files_that_the_hpcc_simulator_comes_with_are_run() {
    let links = "0 4 100Gbps 0.001ms 0\n1 4 100Gbps 0.001ms 0\n2 5 100Gbps 0.001ms 0\n3 5 100Gbps 0.001ms 0\n\
                 4 5 100Gbps 0.001ms 0\n";
    let hpcc = format!("6 2 5\n4 5\n{links}1 4 25Gbps 0.001ms 0\n\nThe first line: nodes, switches, links\n");
    let power_tcp = format!("6 2 1 5\n4 5\n{}", links.replace("100Gbps", "100000000000.0"));
    let simai = format!("6 2 1 1 5 H20\n4 5 \n{links}");
    let flows = "2\n0 2 3 100 100000 2\n1 3 3 100 100000 2\n0 3 3 100 100000 2\n\nFlows come in the order of their starts!\n";
    let files = [("hpcc", &*hpcc), ("power-tcp", &*power_tcp), ("simai", &*simai), ("flow.txt", flows)];
    let dir = Folder::new("hpcc-files", &files);
    for file in ["hpcc", "power-tcp", "simai"] {
        let text = format!(
            "topology = {{ kind = \"file\", file = \"{file}\", format = \"hpcc\" }}\n\
             traffic = [{{ kind = \"list\", file = \"flow.txt\", format = \"hpcc\" }}]\nrun = {{ until = \"3s\" }}\n"
        );
        let run = finish(&scenario(&text, &dir.0, &[]));
        assert_eq!(
            (run.summary()["flows"]["completed"].as_u64(), column(&run, "flows", "fct_ps").len()),
            (Some(2), 2)
        );
    }
}

/// Servers of two GPUs as SimAI's generator writes them: a link to an NVSwitch and one to the network for each GPU.
/// What stays in a server takes the first, all else the second; tables name hosts, and nodes by the file's numbers.
#[test]
fn gpus_with_two_links_take_the_one_that_is_nearer() {
    let links = "0 4 900Gbps 25ns 0\n0 6 200Gbps 1us 0\n1 4 900Gbps 25ns 0\n1 6 200Gbps 1us 0\n\
                 2 5 900Gbps 25ns 0\n2 6 200Gbps 1us 0\n3 5 900Gbps 25ns 0\n3 6 200Gbps 1us 0\n";
    let files = [
        ("simai", &*format!("7 2 2 1 8 A100\n4 5 6\n{links}")),
        ("flow.txt", "3\n0 1 3 100 9000000 0\n3 2 3 100 9000000 0\n1 2 3 100 2000000 0\n"),
    ];
    let dir = Folder::new("two-links", &files);
    let text = "topology = { kind = \"file\", file = \"simai\", format = \"hpcc\" }\n\
                traffic = [{ kind = \"list\", file = \"flow.txt\", format = \"hpcc\" }]\n\
                transport = { kind = \"udp\", payload = \"1000B\", header = \"0B\" }\n\
                switch = { buffer = \"10MB\" }\nrun = { until = \"1ms\" }\n";
    let s = scenario(text, &dir.0, &[]);
    let names: Vec<String> = (3..11).map(|node| s.graph().names.of(node)).collect();
    assert_eq!(names, ["h3", "h0.1", "h1.1", "h2.1", "h3.1", "n4", "n5", "n6"]);
    let run = finish(&s);
    // 9000 packets at 900 Gb/s, the last once more, and two links of 25 ns; 2000 at 200 Gb/s, and two of 1 us.
    let (inside, outside): (i128, i128) = (9001 * 8_000_000 / 900 + 50_000, 2001 * 40_000 + 2_000_000);
    let times = column(&run, "flows", "fct_ps");
    assert_eq!(times[2], outside);
    // Every packet's time is rounded up to a picosecond.
    assert!(times[..2].iter().all(|t| (inside..inside + 9001).contains(t)), "{times:?}, {inside}");
    let ends = ["src", "dst"].map(|name| column(&run, "flows", name));
    assert_eq!(ends, [[0, 3, 1], [1, 2, 2]]);
}

#[test]
fn trimmed_rocketfuel_maps_are_read_and_their_largest_part_stays() {
    let files = [
        (
            "r0.cch",
            "10 @N bb (5) &1 -> <11> <12> {-3} =a r0\n11 @S bb (2) -> <10> <12> =b r0\n12 @E (2) -> <10> <11> =c r0\n-3 =x r1\n",
        ),
        (
            "loop.cch",
            "10 @N bb (2) -> <11> <12> =a r0\n11 @S bb (2) -> <10> <12> =b r0\n12 @E (3) -> <10> <11> <12> =c r0\n",
        ),
        ("two-parts", "A1 B2 5\nB2 A1 5\nC3 D4 7\nD4 C3 7\nA1 E5 2\nE5 A1 2\n"),
    ];
    let dir = Folder::new("rocketfuel-files", &files);
    let links = "rate = \"10Gbps\"\ndelay = \"1ms\"\nhosts_per_router = 1";
    for file in ["r0.cch", "loop.cch"] {
        let s = maps(&dir, file, "rocketfuel", links).expect(file);
        assert_eq!(counts(&s), (3, 3, 3 + 3), "{file}");
        assert!(s.to_toml().contains("largest_part = true"), "the resolved scenario says so");
        assert_eq!(finish(&s).summary()["flows"]["completed"], 3);
    }
    let links = "rate = \"10Gbps\"\nhost_delay = \"1ms\"\nhosts_per_router = 1";
    let s = maps(&dir, "two-parts", "rocketfuel-latencies", links).expect("the larger part");
    assert_eq!(counts(&s), (3, 3, 3 + 2));
    assert_eq!(s.graph().names.find("C3"), None);
    let whole = format!("{links}\nlargest_part = false");
    let error = maps(&dir, "two-parts", "rocketfuel-latencies", &whole).expect_err("two parts");
    assert_eq!(
        error,
        "s.toml:3: `topology.file`: the graph of `two-parts` is not connected: no path from host 0 to host 2; add the \
         missing links, or write `largest_part = true` under [topology]"
    );
}

const RING: &str = "<graphml><graph><node id='0'/><node id='1'/><node id='2'/><edge source='0' target='1'/>\
                    <edge source='1' target='2'/><edge source='2' target='0'/></graph></graphml>";

/// Three routers in a ring, a fourth behind one of them: no leaf becomes a host where routers get hosts.
#[test]
fn routers_of_every_format_get_hosts() {
    let ring_and_tail = RING.replace(
        "<edge source='0' target='1'/>",
        "<node id='3'/><edge source='0' target='3'/><edge source='0' target='1'/>",
    );
    let files = [
        ("map.graphml", &*ring_and_tail),
        (
            "map.gml",
            "graph [ node [ id 0 ] node [ id 1 ] node [ id 2 ] node [ id 3 ] edge [ source 0 target 1 ]\n\
             edge [ source 1 target 2 ] edge [ source 2 target 0 ] edge [ source 0 target 3 ] ]",
        ),
        ("map.csv", "a,b\n0,1\n1,2\n2,0\n0,3\n"),
        ("named.csv", "a,b\nOslo,Rome\nRome,\"São Paulo\"\n\"São Paulo\",Oslo\nOslo,Bonn\n"),
        ("map.toml", "hosts = 0\nswitches = 4\nlinks = [{a=0,b=1},{a=1,b=2},{a=2,b=0},{a=0,b=3}]\n"),
        (
            "map.json",
            "{\"hosts\":0,\"switches\":4,\"links\":[{\"a\":0,\"b\":1},{\"a\":1,\"b\":2},{\"a\":2,\"b\":0},{\"a\":0,\"b\":3}]}",
        ),
        (
            "map.cch",
            "0 @A (3) -> <1> <2> <3> =a r0\n1 @B (2) -> <0> <2> =b r0\n2 @C (1) -> <0> =c r0\n3 @D (1) -> <0> =d r0\n",
        ),
        ("map.weights", "a b 1\nb c 1\nc a 1\na d 1\n"),
        ("map.latencies", "a b 1\nb c 1\nc a 1\na d 1\n"),
        (
            "map.txt",
            "4 4 4\n0 1 2 3\n0 1 10Gbps 1ms 0\n1 2 10Gbps 1ms 0\n2 0 10Gbps 1ms 0\n0 3 10Gbps 1ms 0\n",
        ),
    ];
    let dir = Folder::new("routers", &files);
    let formats = [
        "graphml",
        "gml",
        "links-csv",
        "links-csv",
        "thalweg-toml",
        "thalweg-json",
        "rocketfuel",
        "rocketfuel-weights",
        "rocketfuel-latencies",
        "hpcc",
    ];
    for ((file, _), format) in files.into_iter().zip(formats) {
        let own = if format == "hpcc" { "host_rate" } else { "rate" };
        let delay = if matches!(format, "hpcc" | "rocketfuel-latencies") { "host_delay" } else { "delay" };
        let links = format!("{own} = \"10Gbps\"\n{delay} = \"1ms\"\n");
        let s = maps(&dir, file, format, &format!("{links}hosts_per_router = 2")).expect(file);
        assert_eq!(counts(&s), (8, 4, 8 + 4), "{file}");
        assert_eq!(s.graph().links[7].b.0, 8 + 3, "{file}: host 7 is on router 3");
        assert_eq!(finish(&s).summary()["flows"]["completed"], 8, "{file}");
    }
    // What a file has of its own is not added to, and keys of hosts need them.
    let dir = Folder::new(
        "own-hosts",
        &[("net.toml", "hosts = 2\nswitches = 1\nlinks = [{a=0,b=2},{a=1,b=2}]\n"), ("ring.graphml", RING)],
    );
    let links = "rate = \"10Gbps\"\ndelay = \"1ms\"\n";
    let message =
        |file, format, more: &str| maps(&dir, file, format, &format!("{links}{more}")).expect_err(more);
    assert_eq!(
        message("net.toml", "thalweg-toml", "hosts_per_router = 1"),
        "s.toml:7: `topology.hosts_per_router`: `net.toml` has 2 hosts of its own; remove the key: it is for maps of routers without hosts"
    );
    assert!(
        message("net.toml", "thalweg-toml", "host_rate = \"1Gbps\"")
            .contains("`topology.host_rate`: it has no effect")
    );
    assert_eq!(
        message("ring.graphml", "graphml", ""),
        "s.toml:3: `topology.file`: `ring.graphml` is a map of routers without hosts; write `hosts_per_router = 1` under [topology]"
    );
}

/// Like the Topology Zoo's: rates on some links, several parts, a loop, a parallel link, two nodes of one label,
/// places.
#[test]
fn maps_of_the_topology_zoo_are_read() {
    let node = |id: u32, label: &str, place: &str| {
        format!("<node id='{id}'><data key='l'>{label}</data>{place}</node>\n")
    };
    let place = |lat, long| format!("<data key='Latitude'>{lat}</data><data key='Longitude'>{long}</data>");
    let edge = |a, b, data: &str| format!("<edge source='{a}' target='{b}'>{data}</edge>\n");
    let nodes = [
        node(0, "New York", &place("0", "0")),
        node(1, "Zürich", &place("0", "90")),
        node(2, "None", ""),
        node(3, "None", "<data key='Internal'>0</data>"),
        node(4, "Lost", ""),
        node(5, "Found", ""),
    ];
    let edges = [
        edge(0, 1, "<data key='LinkSpeedRaw'>10000000000.0</data><data key='LinkLabel'>10 Gbps</data>"),
        edge(0, 1, "<data key='LinkSpeed'>2.5</data><data key='LinkSpeedUnits'>G</data>"),
        edge(1, 2, "<data key='LinkLabel'>OC-192c</data>"),
        edge(2, 3, ""),
        edge(3, 3, ""),
        edge(4, 5, ""),
    ];
    let text = format!(
        "<?xml version=\"1.0\"?><graphml><key attr.name=\"label\" for=\"node\" id=\"l\"/><graph edgedefault=\"undirected\">{}{}</graph></graphml>",
        nodes.concat(),
        edges.concat()
    );
    let dir = Folder::new("zoo", &[("zoo.graphml", &*text)]);
    let links = "rate = \"1Gbps\"\ndelay = \"1ms\"\nhosts_per_router = 1\n";
    let s = maps(&dir, "zoo.graphml", "graphml", links).expect("a map");
    assert_eq!(counts(&s), (4, 4, 4 + 4));
    assert_eq!([4, 5, 6, 7].map(|node| s.graph().names.of(node)), ["New York", "Zürich", "n2", "n3"]);
    let rates: Vec<u64> = s.graph().links[4..].iter().map(|l| l.rate().bps() / 100_000_000).collect();
    assert_eq!(rates, [100, 25, 10, 10]);
    let s = maps(&dir, "zoo.graphml", "graphml", &format!("{links}geographic = true")).expect("with places");
    // A quarter of the equator at 200 000 km/s.
    let delays: Vec<u64> = s.graph().links[4..].iter().map(|l| l.delay().ps() / 1000).collect();
    assert_eq!(delays, [50_037_717, 50_037_717, 1_000_000, 1_000_000]);
    let dir = Folder::new("nowhere", &[("ring.graphml", RING)]);
    let error =
        maps(&dir, "ring.graphml", "graphml", &format!("{links}geographic = true")).expect_err("no places");
    assert!(error.starts_with("s.toml:8: `topology.geographic`: it has no effect"), "{error}");
}

/// A graph that was written by hand is refused if a part of it hangs loose, with the key; a map keeps the largest part.
#[test]
fn a_graph_in_two_parts_is_refused_with_the_key_that_takes_the_larger() {
    let links = "rate = \"1Gbps\"\ndelay = \"1ms\"\n";
    let dir = Folder::new("parts", &[("split.csv", "a,b\nx,s\ny,s\nz,s\nu,t\nv,t\n")]);
    let error = maps(&dir, "split.csv", "links-csv", links).expect_err("two parts");
    assert!(error.ends_with("or write `largest_part = true` under [topology]"), "{error}");
    let s = maps(&dir, "split.csv", "links-csv", &format!("{links}largest_part = true"))
        .expect("the larger part");
    assert_eq!((counts(&s), s.graph().names.of(2)), ((3, 1, 3), "z".into()));
}
