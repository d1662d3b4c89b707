//! Records of ports for Python: replayed, what was found as JSON.

use crate::patience::interruptible;
use pyo3::prelude::*;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

/// Replays a record of a port, emulated or simulated; what was found as JSON text. `OSError` if it cannot be read.
#[pyfunction]
pub fn replay_port(py: Python<'_>, record: PathBuf) -> PyResult<String> {
    Ok(interruptible(py, move |_| replay(&record))??)
}

fn replay(record: &Path) -> io::Result<String> {
    let found = thalweg_record::replay::replay(BufReader::new(File::open(record)?))?;
    serde_json::to_string(&found).map_err(io::Error::other)
}
