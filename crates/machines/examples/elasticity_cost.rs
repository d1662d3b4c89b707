//! What the detector of elastic cross traffic costs per evaluation: a sample of ẑ and R, and η of the last five
//! seconds of them, as NimbusCC does a hundred times per second.
//!
//! `cargo run --release -p thalweg-machines --example elasticity_cost`
#![allow(clippy::disallowed_methods)] // a benchmark looks at the clock

use std::hint::black_box;
use std::time::Instant;
use thalweg_machines::elasticity::{Detector, DetectorSpec};

const EVALUATIONS: u32 = 200_000;
/// B/s.
const LINK: f64 = 12e6;

fn main() {
    println!("{:<44}{:>10}", "profile", "ns");
    for (name, spec) in
        [("the thesis", DetectorSpec::PAPER), ("the authors' implementation", DetectorSpec::ARTIFACT)]
    {
        let mut detector = Detector::new(spec);
        let mut evaluate = |n: u32| {
            for sample in 0..n {
                let phase = f64::from(sample) * spec.spacing * 5.0 * std::f64::consts::TAU;
                let cross = LINK * (0.5 + 0.1 * phase.sin());
                detector.push(black_box(cross), black_box(LINK - cross), 0.05);
                black_box(detector.evaluate(5.0, LINK));
            }
        };
        evaluate(EVALUATIONS / 4);
        let start = Instant::now();
        evaluate(EVALUATIONS);
        println!("{name:<44}{:>10.1}", start.elapsed().as_secs_f64() * 1e9 / f64::from(EVALUATIONS));
    }
}
