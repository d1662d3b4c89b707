//! Code for a target, of a policy file: `cargo run -p thalweg-policy --example compile -- FILE --target TARGET`.

use std::process::ExitCode;
use thalweg_policy::target::{Target, compile};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, _, target] = &arguments[..] else {
        eprintln!("usage: compile FILE --target TARGET");
        return ExitCode::from(2);
    };
    let Some(target) = Target::ALL.into_iter().find(|one| one.name() == target) else {
        eprintln!("no target {target}");
        return ExitCode::from(2);
    };
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(why) => {
            eprintln!("{file}: {why}");
            return ExitCode::from(2);
        }
    };
    match thalweg_policy::check(&text, file).map(|policy| compile(&policy, target)) {
        Ok(Ok(code)) => {
            print!("{code}");
            ExitCode::SUCCESS
        }
        Ok(Err(refusals)) => {
            refusals.iter().for_each(|one| eprintln!("{one}"));
            ExitCode::from(2)
        }
        Err(wrong) => {
            eprintln!("{wrong}");
            ExitCode::from(2)
        }
    }
}
