//! The files that situations name, laid down for as long as an exam needs them.

use crate::situations::FILES;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A folder with them, removed when this is dropped.
pub(crate) struct Files(PathBuf);

impl Files {
    /// # Errors
    /// The folder cannot be made, or written to.
    pub fn new() -> std::io::Result<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("thalweg-exam-{}-{number}", std::process::id()));
        // A process of the same number may have left one behind.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder)?;
        let files = Self(folder);
        for (name, text) in FILES {
            std::fs::write(files.0.join(name), text)?;
        }
        Ok(files)
    }

    pub fn folder(&self) -> &Path {
        &self.0
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
