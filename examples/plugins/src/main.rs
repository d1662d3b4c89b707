//! `cargo run -p thalweg-example-plugins`: runs the scenario and prints its summary.

use std::path::Path;
use thalweg_example_plugins::{SCENARIO, register};
use thalweg_lab::Run;
use thalweg_scenario::load;

fn main() {
    register();
    let scenario = match load(SCENARIO, "scenario.toml", Path::new("."), &[]) {
        Ok(scenario) => scenario,
        Err(errors) => return errors.iter().for_each(|e| eprintln!("{e}")),
    };
    match Run::new(&scenario) {
        Ok(mut run) => {
            while run.step(1_000_000) {}
            println!("{:#}\ndigest {:016x}", run.summary(), run.digest());
        }
        Err(e) => eprintln!("{e}"),
    }
}
