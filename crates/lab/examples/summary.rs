//! Runs a scenario and prints its estimate and summary: `cargo run -p thalweg-lab --example summary -- FILE`.

use std::path::Path;
use thalweg_lab::Run;
use thalweg_scenario::load;

fn main() {
    let Some(file) = std::env::args().nth(1) else { return eprintln!("which scenario?") };
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let dir = Path::new(&file).parent().unwrap_or(Path::new("."));
    match load(&text, &file, dir, &[]) {
        Err(errors) => errors.iter().for_each(|e| eprintln!("{e}")),
        Ok(scenario) => {
            println!("{:?}", scenario.estimate());
            match Run::new(&scenario) {
                Err(e) => eprintln!("{e}"),
                Ok(mut run) => {
                    while run.step(1_000_000) {}
                    println!("{:#}", run.summary());
                }
            }
        }
    }
}
