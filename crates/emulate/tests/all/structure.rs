//! The shape of the emulator's source, and what it may not know of.

#[path = "../../../../tests/structure.rs"]
mod source;

use source::{Exempt, Source, keeps_the_laws};
use std::fs;
use std::path::Path;

const SRC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

#[test]
fn the_emulator_has_no_circles_of_imports_and_no_large_or_spread_structs() {
    let source = Source::of(env!("CARGO_MANIFEST_DIR"));
    assert!(source.imports()["direction"].contains("chain"));
    // What is counted is a table.
    keeps_the_laws(&source, &Exempt { tables: &["Statistics"], ..Exempt::default() });
}

#[test]
fn what_decides_touches_no_kernel() {
    let source = Source::of(env!("CARGO_MANIFEST_DIR"));
    let imports = source.imports();
    for pure in ["chain", "way", "header", "port", "histogram", "lateness", "flows", "statistics"] {
        for kernel in ["sys", "clock", "netlink", "namespaces", "ports", "processes", "signals", "task"] {
            assert!(!imports[pure].contains(kernel), "{pure} imports {kernel}");
        }
    }
}

#[test]
fn unsafe_stands_where_the_kernel_is_called_with_why_it_is_sound() {
    let mut files = vec![Path::new(SRC).to_path_buf()];
    let mut found = Vec::new();
    while let Some(at) = files.pop() {
        if at.is_dir() {
            files.extend(fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = fs::read_to_string(&at).unwrap();
        let name = at.strip_prefix(SRC).unwrap().to_str().unwrap().to_owned();
        let lines: Vec<&str> = text.lines().collect();
        for (n, line) in lines.iter().enumerate() {
            if line.trim_start().starts_with("//") || !line.contains("unsafe {") {
                continue;
            }
            assert!(
                lines[n.saturating_sub(4)..n].iter().any(|before| before.contains("// SAFETY:")),
                "{name}:{}",
                n + 1
            );
            found.push(name.clone());
        }
    }
    found.sort_unstable();
    found.dedup();
    let allowed = |name: &String| {
        name.starts_with("ports/")
            || ["clock.rs", "processes.rs", "signals.rs", "sys.rs", "task.rs"].contains(&name.as_str())
    };
    assert!(!found.is_empty() && found.iter().all(allowed), "{found:?}");
}

#[test]
fn the_simulator_and_the_laboratory_are_not_needed() {
    let manifest = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
    assert!(
        !manifest.contains("thalweg-sim")
            && !manifest.contains("thalweg-lab")
            && manifest.contains("thalweg-net")
    );
}
