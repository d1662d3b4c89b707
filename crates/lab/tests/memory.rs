//! Idle flows and idle hosts are cheap: resident memory of built networks of two sizes.
//!
//! Alone in its process, because it looks at the process. Linux only; skipped visibly elsewhere.
#[path = "all/common/mod.rs"]
mod common;

use common::*;
use std::path::Path;
use thalweg_lab::Run;

fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kb| kb * 1024)
}

/// Bytes that a built run holds.
fn built(topology: &str, fan_in: u32, repeat: u32) -> Option<(u64, Run)> {
    let text = format!(
        "[topology]\n{topology}\n[[traffic]]\nkind = \"incast\"\nfan_in = {fan_in}\nsize = \"1KB\"\nreceiver = 0\nsenders = \"with-replacement\"\n\
         at = \"100ms\"\nperiod = \"1us\"\nrepeat = {repeat}\n"
    );
    let s = scenario(&text, Path::new("."), &[]);
    let before = resident()?;
    let run = Run::new(&s).unwrap_or_else(|e| panic!("{e}"));
    Some((resident()?.saturating_sub(before), run))
}

#[test]
fn an_idle_flow_takes_300_bytes_and_an_idle_host_1_kb() {
    let star = "kind = \"star\"\nhosts = 16";
    let Some((few, _one)) = built(star, 100, 10) else {
        eprintln!("SKIPPED: no /proc/self/status here");
        return;
    };
    let (many, _two) = built(star, 1000, 400).expect("as before");
    let per_flow = (many - few) as f64 / 399_000.0;
    println!("{per_flow:.0} bytes per idle flow");
    assert!(per_flow < 300.0, "{per_flow} bytes per idle flow");
    assert!(per_flow > 50.0, "{per_flow} bytes per idle flow: nothing was measured");

    // A host is its queue, its link, and the port at the other end of it.
    let (small, _three) = built("kind = \"star\"\nhosts = 1000", 10, 2).expect("as before");
    let (large, _four) = built("kind = \"star\"\nhosts = 41000", 10, 2).expect("as before");
    let per_host = (large - small) as f64 / 40_000.0;
    println!("{per_host:.0} bytes per idle host");
    assert!(per_host < 1000.0, "{per_host} bytes per idle host");
    assert!(per_host > 50.0, "{per_host} bytes per idle host: nothing was measured");

    // In a three-tier network every host comes with three links, six ports, and their routes.
    let (small, _five) = built("kind = \"fat-tree\"\nk = 8", 10, 2).expect("as before");
    let (large, _six) = built("kind = \"fat-tree\"\nk = 32", 10, 2).expect("as before");
    let share = (large - small) as f64 / (8192.0 - 128.0);
    println!("{share:.0} bytes per idle host of a fat-tree, its share of the network included");
    assert!(share < 3000.0, "{share} bytes per idle host of a fat-tree");
}
