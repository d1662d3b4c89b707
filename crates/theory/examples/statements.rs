//! Runs every statement and prints its numbers: `cargo run --release -p thalweg-theory --example statements -- full 3`
//! (quick or full, seed).

use thalweg_theory::{Scale, checks};

fn main() {
    let mut args = std::env::args().skip(1);
    let scale = if args.next().as_deref() == Some("full") { Scale::Full } else { Scale::Quick };
    let seed = args.next().map_or(1, |s| s.parse().expect("a seed"));
    println!(
        "{:<11} {:>6} {:>9} {:>9} {:>9} {:>9} {:>6} {:>6} {:>6}",
        "statement", "upheld", "instances", "packets", "simulator", "found", "late", "broken", "differ"
    );
    for check in checks() {
        let o = check.run(scale, seed);
        println!(
            "{:<11} {:>6} {:>9} {:>9} {:>9} {:>9} {:>6} {:>6} {:>6}",
            check.id,
            check.upheld(&o),
            o.instances,
            o.packets,
            o.engine_runs,
            o.found,
            o.overdue,
            o.violations,
            o.schedule_differences
        );
        if !check.upheld(&o) {
            println!("    {}: {}", check.statement, o.detail);
        }
    }
}
