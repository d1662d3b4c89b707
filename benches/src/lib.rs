//! Fixed workloads: packet-hops per second, and the distance from a bare fabric model.
//!
//! A *packet-hop* is one transmission of a packet, data or ACK, on one link. Every row is measured
//! in the same process, one after the other, with W0 first: the yardstick.

pub mod bare;
pub mod counts;
mod memory;
pub mod orders;
mod traced;
pub mod yardstick;

use std::path::Path;
use std::time::Instant;
use thalweg_lab::Run;
use thalweg_scenario::load;
use thalweg_sim::events::{Calendar, Events, Heap};
use yardstick::Yardstick;

/// Names of the workloads, in the order in which they run.
pub const WORKLOADS: &[&str] = &[
    "W0",
    "W0-engine",
    "W0-heap",
    "W1",
    "W2",
    "W3-dctcp",
    "W3-srpt",
    "W3-lstf",
    "W4",
    "W5",
    "W6",
    "W7-roce+pfc",
    "W7-roce+pfc+dcqcn",
    "W7-irn",
    "W7-irn+dcqcn",
    "W7-irn+timely",
    "W7-hpcc+pfc",
    "W8-bfc",
    "W8-hpcc+pfc",
    "W8-expresspass",
    "W8-homa",
    "W9-traced",
    "W9-rocc",
    "W9-pfc",
    "W9-escape",
    "W10-wan",
    "W11",
    "W12",
    "W13-lossy",
    "W13-lossy-rack",
];

/// The scenario of a workload other than W0.
fn scenario(workload: &str) -> Option<&'static str> {
    Some(match workload {
        "W1" => include_str!("../scenarios/w1-bottleneck.toml"),
        "W2" => include_str!("../scenarios/w2-fat-tree-128.toml"),
        "W3-dctcp" => include_str!("../scenarios/w3-leaf-spine-dctcp.toml"),
        "W3-srpt" => include_str!("../scenarios/w3-leaf-spine-srpt.toml"),
        "W3-lstf" => include_str!("../scenarios/w3-leaf-spine-lstf.toml"),
        "W4" => include_str!("../scenarios/w4-fat-tree-1024.toml"),
        "W5" => include_str!("../scenarios/w5-fat-tree-8192.toml"),
        "W6" => include_str!("../scenarios/w6-internet2-lstf.toml"),
        _ if workload.starts_with("W7-") => include_str!("../scenarios/w7-rdma.toml"),
        "W8-expresspass" | "W8-homa" => include_str!("../scenarios/w8-receivers.toml"),
        _ if workload.starts_with("W8-") => include_str!("../scenarios/w8-backpressure.toml"),
        "W9-rocc" => include_str!("../scenarios/w9-rocc.toml"),
        "W9-pfc" | "W9-escape" => include_str!("../scenarios/w9-relief.toml"),
        "W10-wan" => include_str!("../scenarios/w10-wan.toml"),
        "W11" => include_str!("../scenarios/w11-fat-tree-8192-reno.toml"),
        "W12" => include_str!("../scenarios/w12-fat-tree-65536.toml"),
        "W13-lossy" | "W13-lossy-rack" => include_str!("../scenarios/w13-lossy.toml"),
        _ => return None,
    })
}

/// What a workload sets on top of its scenario.
fn settings(workload: &str) -> Vec<(String, String)> {
    let scheme = match workload {
        "W7-roce+pfc" => "roce+voq-pfc",
        "W7-roce+pfc+dcqcn" => "roce-dcqcn+voq-pfc",
        "W7-irn+dcqcn" => "irn-dcqcn+voq",
        "W7-irn+timely" => "irn-timely+voq",
        "W7-hpcc+pfc" => "hpcc+voq-pfc",
        "W8-bfc" => "roce+bfc",
        "W8-hpcc+pfc" => "hpcc+pfc",
        "W8-expresspass" => "expresspass+credits",
        "W8-homa" => "homa+spray",
        "W13-lossy-rack" => return vec![("transport.loss".to_owned(), "rack".to_owned())],
        "W9-escape" => {
            return vec![("switch.relief".to_owned(), r#"{ kind = "escape", pool = 16 }"#.to_owned())];
        }
        _ => return Vec::new(),
    };
    vec![("scheme".to_owned(), format!("\"{scheme}\""))]
}

/// What a workload measured.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchRow {
    /// Its name.
    pub workload: String,
    /// Packet-hops simulated.
    pub packet_hops: u64,
    /// Events processed.
    pub events: u64,
    /// Wall-clock seconds of the run itself, without building the network: the best of the repetitions.
    pub seconds: f64,
    /// Wall-clock seconds until the network could run: reading the scenario, routes, flows, parts.
    pub setup_seconds: f64,
    /// Hosts of the network.
    pub hosts: u32,
    /// Packet-hops per second.
    pub hops_per_second: f64,
    /// Time per packet-hop as a multiple of W0's.
    pub ratio_to_w0: f64,
    /// Peak resident memory of the process during the workload, in bytes; 0 where the system does not report
    /// it.
    pub peak_bytes: u64,
    /// Digest of the run: two builds with the same digests have simulated the same. 0 for W0, which has none.
    pub digest: u64,
}

/// How much is measured, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Simulates less.
    pub quick: bool,
    /// Times each workload is run; the fastest counts.
    pub repeat: u32,
    /// Threads for each run. A network that cannot be divided has one.
    pub threads: usize,
}

/// Runs one workload and reports the fastest of its runs. `w0` is W0's time per packet-hop in nanoseconds.
///
/// # Errors
/// If the name is unknown or its scenario does not run: a defect of this crate.
pub fn run(workload: &str, effort: Effort, w0: Option<f64>) -> Result<BenchRow, String> {
    let Effort { quick, repeat, threads } = effort;
    memory::reset_peak();
    let mut best: Option<Once> = None;
    for _ in 0..repeat.max(1) {
        let once = match workload {
            "W0" => bare_once::<Yardstick>(quick),
            "W0-engine" => bare_once::<Calendar>(quick),
            "W0-heap" => bare_once::<Heap>(quick),
            "W9-traced" => traced_once(quick)?,
            _ => scenario_once(workload, quick, threads)?,
        };
        if best.as_ref().is_none_or(|b| once.seconds < b.seconds) {
            best = Some(once);
        }
    }
    let Some(best) = best else { return Err("nothing was measured".to_owned()) };
    let hops_per_second = best.packet_hops as f64 / best.seconds;
    Ok(BenchRow {
        workload: workload.to_owned(),
        packet_hops: best.packet_hops,
        events: best.events,
        seconds: best.seconds,
        setup_seconds: best.setup_seconds,
        hosts: best.hosts,
        hops_per_second,
        ratio_to_w0: w0.map_or(1.0, |w0| 1e9 / hops_per_second / w0),
        peak_bytes: memory::peak(),
        digest: best.digest,
    })
}

/// What one run of a workload measured.
struct Once {
    packet_hops: u64,
    events: u64,
    setup_seconds: f64,
    seconds: f64,
    hosts: u32,
    digest: u64,
}

#[allow(clippy::disallowed_methods)] // a benchmark is what looks at a clock
fn bare_once<Q: Events>(quick: bool) -> Once {
    let begun = Instant::now();
    let mut model = bare::Bare::<Q>::new(8, if quick { 2_000 } else { 15_000 }, 60);
    let start = Instant::now();
    let hops = model.run();
    Once {
        packet_hops: hops,
        events: hops,
        setup_seconds: (start - begun).as_secs_f64(),
        seconds: start.elapsed().as_secs_f64(),
        hosts: 128,
        digest: 0,
    }
}

#[allow(clippy::disallowed_methods)]
fn traced_once(quick: bool) -> Result<Once, String> {
    let begun = Instant::now();
    let mut sim = traced::network()?;
    let start = Instant::now();
    sim.run(if quick { 2_000_000 } else { u64::MAX });
    let seconds = start.elapsed().as_secs_f64();
    let counters = sim.counters();
    Ok(Once {
        packet_hops: counters.packet_hops,
        events: counters.events,
        setup_seconds: (start - begun).as_secs_f64(),
        seconds,
        hosts: 64,
        digest: sim.digest(),
    })
}

#[allow(clippy::disallowed_methods)]
fn scenario_once(workload: &str, quick: bool, threads: usize) -> Result<Once, String> {
    let text = scenario(workload)
        .ok_or_else(|| format!("no workload is called `{workload}` (known: {})", WORKLOADS.join(", ")))?;
    let file = format!("{workload}.toml");
    let begun = Instant::now();
    let scenario = load(text, &file, Path::new("."), &settings(workload))
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    let mut run = Run::new(&scenario).map_err(|e| e.to_string())?;
    if threads > 1
        && let Err(why) = run.set_threads(threads)
    {
        eprintln!("{workload}: one thread, {why}");
    }
    let start = Instant::now();
    run.step(if quick { 2_000_000 } else { u64::MAX });
    let seconds = start.elapsed().as_secs_f64();
    let progress = run.progress();
    Ok(Once {
        packet_hops: progress.packet_hops,
        events: progress.events,
        setup_seconds: (start - begun).as_secs_f64(),
        seconds,
        hosts: run.spec().hosts,
        digest: run.digest(),
    })
}
