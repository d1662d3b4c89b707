//! Nodes have names, from the file or the shape, everywhere a number can be written, and in every table.

use crate::common::{Folder, finish};
use std::path::Path;
use thalweg_lab::{ColumnData, Pair, Run};
use thalweg_scenario::{Scenario, Stop, load};

const RACKS: &str = "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n";

fn scenario(text: &str, dir: &Path) -> Result<Scenario, String> {
    load(text, "s.toml", dir, &[]).map_err(|e| e[0].to_string())
}

fn names(run: &Run) -> Vec<String> {
    let tables = run.tables();
    let nodes = tables.iter().find(|t| t.name == "nodes").expect("a table of nodes");
    match &nodes.columns[1].data {
        ColumnData::Text(names) => names.clone(),
        _ => panic!("names are words"),
    }
}

/// The same scenario with numbers and with names.
#[test]
fn every_key_that_takes_a_node_takes_its_name() {
    let text = |h: [&str; 4], leaf: &str, spine: &str| {
        format!(
            "{RACKS}[routing]\nconvergence = \"10us\"\n[switch]\nmix = {{ scheduler = \"lifo\", nodes = {{ listed = [{leaf}] }} }}\n\
             [[traffic]]\nkind = \"incast\"\nfan_in = 3\nsize = \"64KB\"\nreceiver = {}\n\
             [[traffic]]\nkind = \"flow\"\nsrc = {}\ndst = {}\nsize = \"1MB\"\n\
             [[traffic]]\nkind = \"backlogged\"\nsrc = {}\ndst = {}\n\
             [[traffic]]\nkind = \"request-response\"\nclient = {}\nserver = {}\nrequest = \"1KB\"\nresponse = \"1KB\"\n\
             [[traffic]]\nkind = \"udp\"\nsrc = {}\ndst = {}\nrate = \"1Gbps\"\n\
             [[incident]]\nkind = \"link-failure\"\nat = \"1ms\"\nlink = [{leaf}, {spine}]\n[run]\nuntil = \"2ms\"\n",
            h[3], h[0], h[2], h[1], h[3], h[2], h[0], h[3], h[1]
        )
    };
    let numbers = scenario(&text(["0", "1", "2", "3"], "5", "6"), Path::new(".")).expect("numbers");
    let quoted = ["\"h0\"", "\"h1\"", "\"h2\"", "\"h3\""];
    let named = scenario(&text(quoted, "\"leaf1\"", "\"spine0\""), Path::new(".")).expect("names");
    assert!(numbers == named);
    assert_eq!(numbers.to_toml(), named.to_toml());
    let set = [("traffic.0.receiver".to_owned(), "h2".to_owned())];
    assert!(load(&text(quoted, "5", "6"), "s.toml", Path::new("."), &set).is_ok(), "overrides take them too");
}

#[test]
fn an_unknown_name_is_refused_with_the_names_that_there_are() {
    let flow = |dst: &str| {
        scenario(
            &format!("{RACKS}[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = {dst}\nsize = \"1MB\"\n"),
            Path::new("."),
        )
    };
    let message = |dst: &str| flow(dst).expect_err("refused");
    let hint = "hosts are `h0` to `h3`, or by number 0 to 3";
    assert_eq!(message("\"h4\""), format!("s.toml:9: `traffic.0.dst`: there is no host `h4`; {hint}"));
    assert_eq!(message("\"leaf0\""), format!("s.toml:9: `traffic.0.dst`: `leaf0` is a switch; {hint}"));
    assert_eq!(
        message("\"h0\""),
        "s.toml:9: `traffic.0.dst`: the flow goes from host 0 to itself; choose another `dst`"
    );
    assert_eq!(
        message("1.5"),
        "s.toml:9: `traffic.0.dst`: expected the number or the name of a node, found a number; for example `1`"
    );
    assert!(flow("\"3\"").is_ok(), "a number in quotes is a number");
}

#[test]
fn shapes_name_their_tiers() {
    let of = |topology: &str| {
        let text =
            format!("topology = {topology}\ntraffic = [{{ kind = \"permutation\", size = \"1KB\" }}]\n");
        names(&Run::new(&scenario(&text, Path::new(".")).expect("loads")).expect("runs"))
    };
    assert_eq!(of("{ kind = \"star\", hosts = 2 }"), ["h0", "h1", "switch0"]);
    assert_eq!(
        of("{ kind = \"leaf-spine\", leaves = 1, spines = 2, hosts_per_leaf = 2 }"),
        ["h0", "h1", "leaf0", "spine0", "spine1"]
    );
    assert_eq!(of("{ kind = \"fat-tree\", k = 2 }"), ["h0", "h1", "edge0", "edge1", "agg0", "agg1", "core0"]);
    let backbone = of("{ kind = \"backbone\", routers = 3, links = 3, edges_per_router = 1 }");
    assert_eq!(backbone[3..], ["core0", "core1", "core2", "edge0", "edge1", "edge2"]);
    let internet2 = of("\"internet2\"");
    assert_eq!((internet2[100].as_str(), internet2[110].as_str()), ("core0", "edge0"));
}

/// Names of a CSV file, in a flow list as a spreadsheet writes it, in messages, in the table, and after a snapshot.
#[test]
fn names_of_files_are_kept_to_the_end() {
    let dir = Folder::new(
        "names",
        &[
            (
                "links.csv",
                "a,b,rate,delay\nweb,\"tor, left\",10Gbps,1us\n\"db\",\"tor, left\",10Gbps,1us\n17,\"tor, left\",10Gbps,1us\n",
            ),
            (
                "flows.csv",
                "\u{feff}id,src,dst,size_bytes,start_ns\r\n0,web,\"db\",1000,0\r\n1,n17,0,1000,0\r\n",
            ),
            ("typo.csv", "id,src,dst,size_bytes,start_ns\n0,wbe,db,1000,0\n"),
            ("self.csv", "id,src,dst,size_bytes,start_ns\n0,db,1,1000,0\n"),
            ("endless.csv", "id,src,dst,size_bytes,start_ns\n0,web,db,18446744073709551615,0\n"),
        ],
    );
    let with = |flows: &str| {
        let text = format!(
            "[topology]\nkind = \"file\"\nformat = \"links-csv\"\nfile = \"links.csv\"\n\
             [[traffic]]\nkind = \"list\"\nfile = \"{flows}\"\n"
        );
        scenario(&text, &dir.0)
    };
    let s = with("flows.csv").expect("loads");
    let spec = s.network().expect("a network");
    assert_eq!(spec.flows.iter().map(|f| (f.src.0, f.dst.0)).collect::<Vec<_>>(), [(0, 1), (2, 0)]);
    let run = finish(&s);
    assert_eq!(names(&run), ["web", "db", "n17", "tor, left"]);
    assert_eq!(names(&Run::load(&run.save()).expect("loads")), names(&run));
    let message = |flows: &str| with(flows).expect_err("refused");
    assert_eq!(message("typo.csv"), "typo.csv:2: there is no host `wbe`; did you mean `web`?");
    assert_eq!(
        message("self.csv"),
        "self.csv:2: the flow goes from host 1 (`db`) to itself; name two different hosts"
    );
    assert_eq!(
        message("endless.csv"),
        "endless.csv:2: a flow of 18446744073709551615 bytes is too large; at most 9223372036854775807; flows without end are traffic of kind \"backlogged\""
    );
}

#[test]
fn two_nodes_of_one_name_are_refused() {
    let net = "hosts = 2\nswitches = 1\nnames = [\"web\", \"web\", \"tor\"]\nlinks = [{a=0,b=2},{a=1,b=2}]\n";
    let dir = Folder::new("twins", &[("net.toml", net)]);
    let text = "traffic = [{ kind = \"permutation\", size = \"1KB\" }]\n[topology]\nkind = \"file\"\nformat = \"thalweg-toml\"\nfile = \"net.toml\"\nrate = \"1Gbps\"\ndelay = \"1us\"\n";
    assert_eq!(
        scenario(text, &dir.0).expect_err("twins"),
        "s.toml:5: `topology.file`: `net.toml` has two nodes called `web`; give every node a name of its own"
    );
}

/// Two runs part on the link of host 1 to its server's switch, where the host is a further node, of number 5.
#[test]
fn a_further_nic_is_called_by_its_host() {
    let with = |delay: &str| {
        let text = format!(
            "transport = \"udp\"\n\
             topology = {{ kind = \"rails\", servers = 2, gpus = 2, spines = 2, nvlink_delay = \"{delay}\" }}\n\
             traffic = [{{ kind = \"flow\", src = 1, dst = 0, size = \"1KB\" }}]\n"
        );
        scenario(&text, Path::new(".")).expect("loads")
    };
    let mut pair = Pair::new_unless(&Stop::default(), &with("25ns"), &with("40ns")).expect("runs");
    let found =
        std::iter::repeat_with(|| pair.step()).flatten().next().expect("an end").expect("a difference");
    assert!(found.contains("a packet arrives over host 1 (h1.1) -> switch 12 (nv0)"), "{found}");
}
