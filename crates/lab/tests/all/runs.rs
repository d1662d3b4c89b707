//! A run as the face sees it: steps, tables, summary, save and resume.

use std::path::Path;
use thalweg_lab::{ColumnData, Run};
use thalweg_scenario::load;

const SCENARIO: &str = "scheme = \"dctcp+fifo\"\n[topology]\nkind = \"star\"\nhosts = 4\n[measure]\nqueues = { every = \"100us\" }\n\
    [[traffic]]\nkind = \"poisson\"\nsizes = { fixed = \"14600B\" }\nload = 0.3\nuntil = \"2ms\"\n\
    [[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 1\n[run]\nuntil = \"4ms\"\nstop_when_done = false\n";

fn run() -> Run {
    let s = load(SCENARIO, "s.toml", Path::new("."), &[]).unwrap_or_else(|e| panic!("{}", e[0]));
    Run::new(&s).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn tables_are_rectangular_and_the_summary_counts_every_flow() {
    let mut r = run();
    while r.step(10_000) {}
    assert!(!r.is_partial());
    let tables = r.tables();
    let names: Vec<&str> = tables.iter().map(|t| t.name).collect();
    assert_eq!(names, ["flows", "ports", "nodes", "queues"]);
    for t in &tables {
        assert!(t.columns.iter().all(|c| c.data.len() == t.columns[0].data.len()), "{}", t.name);
    }
    let flows = &tables[0];
    let columns: Vec<&str> = flows.columns.iter().map(|c| &*c.name).collect();
    for name in
        ["id", "src", "dst", "size", "start_ps", "fct_ps", "ideal_ps", "slowdown", "measured", "status"]
    {
        assert!(columns.contains(&name), "{name}");
    }
    let measured = flows.columns.iter().find(|c| c.name == "measured").map(|c| &c.data);
    let Some(ColumnData::Bool(measured)) = measured else { panic!("measured is a flag") };
    let n = flows.columns[0].data.len();
    let summary = r.summary();
    assert_eq!(summary["flows"]["total"], n);
    assert_eq!(summary["flows"]["measured"], measured.iter().filter(|m| **m == 1).count());
    assert_eq!(summary["flows"]["measured"], n - 1, "the endless flow does not count");
    assert_eq!(summary["partial"], false);
    assert_eq!(summary["digest"].as_str().map(str::len), Some(16));
    // 10 packets of 1500 B per flow, 4 hosts of 10 Gb/s, in the 2 ms in which flows arrive.
    let offered = summary["load"]["host_links"]["offered"].as_f64().expect("a number");
    assert!((offered - (n - 1) as f64 * 15_000.0 * 8.0 / (4.0 * 10e9 * 0.002)).abs() < 1e-9, "{offered}");
}

#[test]
fn a_run_cut_saved_and_resumed_ends_like_the_straight_run() {
    let mut straight = run();
    while straight.step(1_000_000) {}
    let mut cut = run();
    cut.step(5_000);
    let mut resumed = Run::load(&cut.save()).expect("resumes");
    while resumed.step(777) {}
    assert_eq!(resumed.digest(), straight.digest());
    // As text: not-a-number equals itself there.
    assert_eq!(format!("{:?}", resumed.tables()), format!("{:?}", straight.tables()));
    assert_eq!(resumed.summary(), straight.summary());
}

#[test]
fn what_is_not_a_saved_run_is_refused() {
    let bytes = run().save();
    assert!(Run::load(b"hello").is_err());
    for cut in [0, 7, 12, 20, bytes.len() / 2] {
        assert!(Run::load(&bytes[..cut]).is_err(), "{cut}");
    }
}

/// One packet per flow at 50 % for 20 ms, then a long silence: 133 000 flows, a standard error of 0.27 %.
#[test]
fn loads_are_those_of_the_interval_in_which_flows_arrive() {
    let text = "[topology]\nkind = \"star\"\nhosts = 16\n[[traffic]]\nkind = \"poisson\"\nsizes = { fixed = \"1460B\" }\n\
                load = 0.5\nuntil = \"20ms\"\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1B\"\nstart = \"60ms\"\n\
                [run]\nuntil = \"10s\"\n";
    let mut run = Run::new(&load(text, "s.toml", Path::new("."), &[]).expect("right")).expect("a network");
    while run.step(1 << 20) {}
    let summary = run.summary();
    let at = |pointer: &str| summary.pointer(pointer).and_then(serde_json::Value::as_f64).expect("a number");
    assert_eq!(at("/load/until_us"), 20_000.0);
    let offered = at("/load/host_links/offered");
    assert!((offered / 0.5 - 1.0).abs() < 0.01, "{offered}");
    // Every packet of 1500 B has an ACK of 40 B; a queue is left over at the end.
    let carried = at("/load/host_links/carried");
    assert!((carried / offered / (1540.0 / 1500.0) - 1.0).abs() < 0.001, "{carried} of {offered}");
}

/// Offered and carried are over the same: what was offered is what passed, but for the ACKs of 40 B. One way through a
/// dumbbell it is the load of the core's ports in one direction; on a leaf–spine a packet enters the core once; along
/// a chain of edge switches every link counts.
#[test]
fn the_core_carries_what_it_is_offered() {
    let between = |topology: &str, pairs: &str| {
        let text = format!(
            "[topology]\n{topology}\n[[traffic]]\nkind = \"poisson\"\nsizes = {{ fixed = \"1460B\" }}\nload = 0.4\n\
             of = \"core-links\"\n{pairs}until = \"5ms\"\n[run]\nuntil = \"1s\"\n"
        );
        let mut run =
            Run::new(&load(&text, "s.toml", Path::new("."), &[]).expect("right")).expect("a network");
        while run.step(1 << 20) {}
        let summary = run.summary();
        let at =
            |pointer: &str| summary.pointer(pointer).and_then(serde_json::Value::as_f64).expect("a number");
        (at("/load/core_links/offered"), at("/load/core_links/carried"))
    };
    let dumbbell = "kind = \"dumbbell\"\npairs = 8\nhost_rate = \"40Gbps\"";
    let one_way = between(dumbbell, "pairs = \"to-host-zero\"\n");
    assert!((one_way.0 / (0.4 * 8.0 / 15.0) - 1.0).abs() < 0.05, "8 of 15 senders are across: {one_way:?}");
    let both_ways = between(dumbbell, "pairs = \"inter-rack\"\n");
    assert!((both_ways.0 / 0.4 - 1.0).abs() < 0.05, "{both_ways:?}");
    let leaves = between("kind = \"leaf-spine\"\nleaves = 4\nspines = 2\nhosts_per_leaf = 4", "");
    let chain = between("kind = \"parking-lot\"\nbottlenecks = 4", "");
    for (offered, carried) in [one_way, both_ways, leaves, chain] {
        assert!((carried / offered / (1540.0 / 1500.0) - 1.0).abs() < 0.003, "{carried} of {offered}");
    }
}

/// The list's numbers stand next to those of the table, which are in the order of starts.
#[test]
fn flows_of_a_list_have_its_numbers_and_others_none() {
    let dir = std::env::temp_dir().join(format!("thalweg-listed-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    std::fs::write(dir.join("l.csv"), "id,src,dst,size_bytes,start_ns\n17,0,1,1000,500\n42,0,2,1000,100\n")
        .expect("a file");
    let text = "[topology]\nkind = \"star\"\nhosts = 3\n[[traffic]]\nkind = \"list\"\nfile = \"l.csv\"\n[[traffic]]\n\
                kind = \"flow\"\nsrc = 1\ndst = 2\nsize = \"1KB\"\nstart = \"1us\"\n[run]\nuntil = \"1ms\"\n";
    let mut run = Run::new(&load(text, "s.toml", &dir, &[]).expect("right")).expect("a network");
    std::fs::remove_dir_all(&dir).expect("it was there");
    while run.step(1 << 20) {}
    let run = Run::load(&run.save()).expect("resumes");
    let tables = run.tables();
    let listed = tables[0].columns.iter().find(|c| c.name == "listed").map(|c| &c.data);
    let Some(ColumnData::Maybe(listed)) = listed else { panic!("numbers, or none") };
    assert_eq!(listed[..], [Some(42), Some(17), None]);
}

/// A window that never binds fills the sender's queue; what waits there has not been carried.
#[test]
fn what_waits_is_not_carried() {
    let text = "[topology]\nkind = \"pair\"\n[switch]\nbuffer = \"unlimited\"\n[transport]\ninitial_window = \"10000pkts\"\n\
                [[traffic]]\nkind = \"backlogged\"\nsrc = 0\ndst = 1\n[measure]\nlinks = { every = \"10us\", ports = [0] }\n\
                [run]\nuntil = \"1ms\"\n";
    let mut run = Run::new(&load(text, "s.toml", Path::new("."), &[]).expect("right")).expect("a network");
    while run.step(1 << 20) {}
    for table in run.tables() {
        let named = |name: &str| table.columns.iter().find(|c| c.name == name).map(|c| c.data.clone());
        if let Some(ColumnData::F64(used)) = named("utilisation") {
            // 1 ms of 10 Gb/s, and the packet whose transmission has begun.
            assert!((used[0] - 1.0).abs() < 0.0015, "{used:?}");
        }
        if let (Some(ColumnData::U64(at)), Some(ColumnData::U64(bytes))) = (named("time_ps"), named("bytes"))
            && table.name == "links"
        {
            assert_eq!(at.len(), 101);
            for (at, bytes) in at.iter().zip(&bytes) {
                assert!(bytes.abs_diff(at / 800) <= 1500, "{bytes} B in {at} ps");
            }
        }
    }
}
