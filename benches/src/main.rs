//! The fixed workloads from the shell:
//! `cargo run --release -p thalweg-bench -- [--quick] [--repeat N] [--threads N] [W0 W2 …]`;
//! the orders of service by themselves: `… -- orders [--quick]`, in nanoseconds and in counted operations.

use thalweg_allocator as _;
use thalweg_bench::{Effort, WORKLOADS, run};

fn main() -> Result<(), String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let numbers = ["--repeat", "--threads"];
    let is_count = |at: usize| at > 0 && numbers.contains(&args[at - 1].as_str());
    let known = |a: &str| a == "orders" || a == "--quick" || numbers.contains(&a) || WORKLOADS.contains(&a);
    if let Some((_, a)) = args.iter().enumerate().find(|(at, a)| !is_count(*at) && !known(a)) {
        let usage = "[--quick] [--repeat N] [--threads N] [orders | W0 W2 ...]";
        return Err(format!("`{a}` is none of {usage}; workloads: {}", WORKLOADS.join(", ")));
    }
    let quick = args.iter().any(|a| a == "--quick");
    if args.iter().any(|a| a == "orders") {
        println!("{}\n\n{}", thalweg_bench::orders::table(quick)?, thalweg_bench::counts::table(quick));
        return Ok(());
    }
    let number = |name: &str, default: u32| match args.iter().position(|a| a == name) {
        None => Ok(default),
        Some(at) => {
            let n = args.get(at + 1).map_or("", String::as_str);
            n.parse().map_err(|_| format!("{name} wants a number, not `{n}`"))
        }
    };
    let effort = Effort { quick, repeat: number("--repeat", 3)?, threads: number("--threads", 1)? as usize };
    let chosen: Vec<&str> = args.iter().map(String::as_str).filter(|a| a.starts_with('W')).collect();
    let w0 = run("W0", effort, None)?;
    let yardstick = 1e9 / w0.hops_per_second;
    println!(
        "workload           packet-hops   Mhops/s   ns/hop  events/hop  ratio to W0  setup s  peak MB  KB/host            digest"
    );
    for workload in WORKLOADS.iter().filter(|w| chosen.is_empty() || chosen.contains(w)) {
        let row = if *workload == "W0" { w0.clone() } else { run(workload, effort, Some(yardstick))? };
        println!(
            "{:<17} {:>12} {:>9.2} {:>8.1} {:>11.2} {:>12.2} {:>8.2} {:>8.0} {:>8.1}  {:016x}",
            row.workload,
            row.packet_hops,
            row.hops_per_second * 1e-6,
            1e9 / row.hops_per_second,
            row.events as f64 / row.packet_hops as f64,
            row.ratio_to_w0,
            row.setup_seconds,
            row.peak_bytes as f64 * 1e-6,
            row.peak_bytes as f64 * 1e-3 / f64::from(row.hosts),
            row.digest
        );
    }
    Ok(())
}
