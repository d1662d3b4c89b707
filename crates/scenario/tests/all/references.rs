//! The inputs of independent simulators load: their graphs, paths, spraying offsets and flow lists.
//! Skipped, visibly, where the reference data is not next to the repository.

use std::path::PathBuf;
use thalweg_net::spec::{Given, NetworkSpec};
use thalweg_scenario::load;
use thalweg_units::Span;

fn reference(set: &str) -> Option<PathBuf> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference").join(set);
    if !dir.is_dir() {
        eprintln!("SKIPPED: no reference data `{set}` next to the repository");
        return None;
    }
    Some(dir)
}

fn network(dir: &std::path::Path, text: &str) -> NetworkSpec {
    let s = load(text, "reference.toml", dir, &[]).unwrap_or_else(|e| panic!("{}", e[0]));
    s.network().unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_fat_trees_of_htsim_with_pinned_paths() {
    let Some(dir) = reference("htsim-permutation") else { return };
    for (set, k, rate, hosts) in [("k4_10g", 4, 10, 16), ("k4_100g", 4, 100, 16), ("k8_100g", 8, 100, 128)] {
        let text = format!(
            "[topology]\nkind = \"file\"\nformat = \"links-csv\"\nfile = \"links_k{k}.csv\"\nrate = \"{rate}Gbps\"\ndelay = \"1us\"\n\
             [routing]\nkind = \"pinned\"\nfile = \"paths_{set}.csv\"\n\
             [transport]\nmss = \"1500B\"\nheader = \"0B\"\nsack = \"off\"\ninitial_threshold = \"100pkts\"\nhandshake = true\n\
             [[traffic]]\nkind = \"list\"\nfile = \"flows_{set}.csv\"\n"
        );
        let spec = network(&dir, &text);
        assert_eq!(
            (spec.hosts, spec.switches, spec.links.len() as u32),
            (hosts, 5 * k * k / 4, 3 * k * k * k / 4)
        );
        assert_eq!(spec.flows.len() as u32, hosts);
        let paths = spec.routing.paths().expect("pinned");
        assert!(paths.iter().all(|p| p.data.len() == p.ack.len() && p.data.len() <= 5));
    }
}

#[test]
fn the_leaf_spine_of_netsys_with_its_spraying_offsets() {
    let Some(dir) = reference("pfabric") else { return };
    for (list, flows) in [("aditya_60", 20_000), ("dctcp_80", 10_000)] {
        let text = format!(
            "scheme = \"mintcp+srpt\"\n\
             [topology]\nkind = \"leaf-spine\"\nleaves = 9\nspines = 4\nhosts_per_leaf = 16\ndelay = \"200ns\"\n\
             [routing]\nkind = \"spray-round-robin\"\noffsets = \"spray_offsets.csv\"\n\
             [switch]\nbuffer = \"36864B\"\n[transport]\nrto = {{ fixed = \"45us\" }}\ninitial_window = \"12pkts\"\nmax_window = \"15pkts\"\n\
             [measure]\nfct = \"sender\"\n[[traffic]]\nkind = \"list\"\nfile = \"flows_{list}.csv\"\n"
        );
        let spec = network(&dir, &text);
        assert_eq!(spec.flows.len(), flows);
        let Given::Offsets(offsets) = &spec.routing.given else { panic!("sprayed") };
        assert_eq!((offsets.len(), offsets[0], offsets[1]), (144, 3, 2));
        assert!(spec.flows.iter().all(|f| f.size % 1460 == 0 && f.measured));
    }
}

#[test]
fn the_star_of_hpcc_with_its_nanosecond_clock() {
    let Some(dir) = reference("hpcc-star") else { return };
    for (list, flows) in [("websearch", 3008), ("hadoop", 3008), ("lone", 14)] {
        let text = format!(
            "[topology]\nkind = \"star\"\nhosts = 16\nrate = \"100Gbps\"\ndelay = \"1us\"\ntime_quantum = \"1ns\"\n\
             [switch]\nbuffer = \"unlimited\"\nmarking = {{ kind = \"step\", threshold = \"300KB\", at = \"departure\" }}\n\
             [nic]\nmarking = \"none\"\n[transport]\nmss = \"1000B\"\nheader = \"48B\"\nack_size = \"60B\"\ncongestion = \"dctcp\"\n\
             [[traffic]]\nkind = \"list\"\nfile = \"flows_{list}.csv\"\n"
        );
        let spec = network(&dir, &text);
        assert_eq!(spec.flows.len(), flows);
        assert_eq!(spec.links[0].quantum(), Span::from_ns(1));
        assert_eq!(spec.disciplines.len(), 2, "NICs do not mark");
    }
}
