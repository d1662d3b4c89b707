//! Loading is linear in what is loaded, and can be given up.

use std::path::Path;
use thalweg_lab::Run;
use thalweg_scenario::{Changes, Source, Stop, load, load_with};

const POISSON: &str = "[topology]\nkind = \"star\"\nhosts = 16\n[[traffic]]\nkind = \"poisson\"\nsizes = { fixed = \"1KB\" }\nload = 0.5\n[run]\nuntil = \"100ms\"\n";
const BUSIEST: &str = "routing = \"lowest\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 100\nspines = 2\nhosts_per_leaf = 50\n[[traffic]]\nkind = \"poisson\"\nsizes = { fixed = \"1KB\" }\nload = 0.5\nof = \"busiest-link\"\n[run]\nuntil = \"1ms\"\n";
const PODS: &str = "[topology]\nkind = \"fat-tree\"\nk = 16\n[[traffic]]\nkind = \"rpc\"\nload = 0.5\nservers = \"other-pods\"\n[run]\nuntil = \"1ms\"\n";
const INCAST: &str = "[topology]\nkind = \"star\"\nhosts = 16\n[[traffic]]\nkind = \"incast\"\nfan_in = 3\nsize = \"1KB\"\nat = \"1us\"\nperiod = \"1us\"\nrepeat = 100\n";

#[test]
fn loading_that_is_not_awaited_stops() {
    let stop = Stop::default();
    let here = Path::new(".");
    let source = |text| Source { text, file: "s.toml", dir: here };
    let s = load_with(&source(POISSON), &Changes::default(), &stop).expect("right");
    let incast = load(INCAST, "s.toml", here, &[]).expect("right");
    stop.raise();
    for text in [BUSIEST, PODS] {
        let errors = load_with(&source(text), &Changes::default(), &stop).expect_err("stopped");
        assert!(errors[0].to_string().contains("interrupted"), "{}", errors[0]);
    }
    for s in [&s, &incast] {
        let Err(error) = Run::new_unless(&stop, s) else { panic!("it was not stopped") };
        assert!(error.to_string().contains("interrupted"), "{error}");
    }
    assert!(s.network().is_ok(), "who does not stop it gets it");
}

/// 10 000 incasts of 2 among 41 000 hosts: once every event listed all hosts, 400 million of them.
#[test]
fn an_incast_costs_what_it_sends() {
    let text = INCAST.replace("hosts = 16", "hosts = 41000").replace("repeat = 100", "repeat = 10000");
    let s = load(&text, "s.toml", Path::new("."), &[("run.until".into(), "1s".into())]).expect("right");
    let flows = s.network().expect("a network").flows;
    assert_eq!(flows.len(), 30_000);
    for event in flows.chunks(3) {
        assert!(event.iter().all(|f| f.dst == event[0].dst && f.src != f.dst));
        assert!(event[0].src != event[1].src && event[1].src != event[2].src && event[0].src != event[2].src);
    }
}
