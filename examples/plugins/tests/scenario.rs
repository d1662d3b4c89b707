//! The plug-ins in a network: they run, matter, are deterministic, and can be saved and resumed.

use std::path::Path;
use thalweg_example_plugins::{SCENARIO, register};
use thalweg_lab::Run;
use thalweg_scenario::load;

fn scenario(set: &[(&str, &str)]) -> Run {
    register();
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Run::new(&load(SCENARIO, "scenario.toml", Path::new("."), &set).unwrap()).unwrap()
}

fn finished(mut run: Run) -> Run {
    while run.step(10_000) {}
    run
}

#[test]
fn every_flow_completes_and_no_law_is_broken() {
    let run = finished(scenario(&[("run.check", "true")]));
    assert_eq!(run.violation(), None);
    assert_eq!(run.progress().flows_done, 9);
}

#[test]
fn each_plug_in_and_each_parameter_changes_the_run() {
    let digest = |set: &[(&str, &str)]| finished(scenario(set)).digest();
    let plain = digest(&[]);
    assert_eq!(plain, digest(&[]));
    assert_ne!(plain, digest(&[("transport.congestion.params.increase", "2.0")]));
    assert_ne!(plain, digest(&[("transport.congestion.params.decrease", "0.7")]));
    assert_ne!(plain, digest(&[("switch.scheduler.params.buffer", "60000")]));
    assert_ne!(plain, digest(&[("switch.scheduler", "fifo")]));
    assert_ne!(plain, digest(&[("transport.congestion", "newreno")]));
}

#[test]
fn a_run_with_plug_ins_cut_anywhere_and_resumed_ends_as_the_straight_one() {
    let straight = finished(scenario(&[]));
    for cut in [1, 500, 3_000, 12_345] {
        let mut first = scenario(&[]);
        first.step(cut);
        let resumed = finished(Run::load(&first.save()).unwrap());
        assert_eq!(resumed.digest(), straight.digest(), "cut after {cut} events");
    }
}

#[test]
fn an_unknown_plug_in_and_a_refused_parameter_are_errors() {
    register();
    let refused = |set: &[(&str, &str)]| {
        let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        match load(SCENARIO, "scenario.toml", Path::new("."), &set) {
            Err(errors) => errors[0].to_string(),
            Ok(s) => Run::new(&s).err().map(|e| e.to_string()).unwrap_or_default(),
        }
    };
    assert!(refused(&[("switch.scheduler.name", "acks-frist")]).contains("acks-first"));
    let said = refused(&[("transport.congestion.params.decrease", "3.0")]);
    assert!(said.contains("decrease"), "{said:?}");
}
