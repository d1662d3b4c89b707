//! Scenarios given as text, and the files next to them.
#![allow(dead_code, missing_docs)]

use std::path::{Path, PathBuf};
use thalweg_scenario::{Scenario, load};

/// Loads a scenario; panics with its errors.
#[track_caller]
pub fn scenario(text: &str, dir: &Path, set: &[(String, String)]) -> Scenario {
    load(text, "s.toml", dir, set).unwrap_or_else(|e| {
        let all: Vec<String> = e.iter().map(ToString::to_string).collect();
        panic!("{}\n{text}", all.join("\n"))
    })
}

/// A folder with files, removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let dir = std::env::temp_dir().join(format!("thalweg-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a folder");
        for (file, text) in files {
            std::fs::write(dir.join(file), text).expect("written");
        }
        Self(dir)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
