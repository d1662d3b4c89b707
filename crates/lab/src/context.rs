//! What every stage after parsing needs: where keys were written, and where files are.

use crate::Diagnostic;
use crate::text::tree::Origin;
use std::path::Path;

/// Largest file that is read, bytes.
const LARGEST_FILE: u64 = 2_000_000_000;

pub(crate) struct Cx<'a> {
    pub origin: &'a Origin,
    pub dir: &'a Path,
}

impl Cx<'_> {
    /// About a key of the scenario.
    pub fn error(&self, key: &str, reason: impl Into<String>, hint: impl Into<String>) -> Diagnostic {
        let hint = hint.into();
        let mut d = self.origin.at(key, reason);
        d.hint = (!hint.is_empty()).then_some(hint);
        d
    }

    /// The text of a file that the scenario names under `key`.
    pub fn read(&self, key: &str, path: &str) -> Result<String, Diagnostic> {
        let full = self.dir.join(path);
        let meta = std::fs::metadata(&full);
        match &meta {
            Ok(m) if m.is_dir() => {
                return Err(self.error(key, format!("`{path}` is a folder"), "name a file"));
            }
            Ok(m) if m.len() > LARGEST_FILE => {
                return Err(self.error(key, format!("`{path}` holds more than 2 GB"), "split it"));
            }
            _ => {}
        }
        std::fs::read(&full).map_err(|_| self.missing(key, path)).and_then(|bytes| {
            String::from_utf8(bytes).map_err(|_| self.error(key, format!("`{path}` is not a text file"), ""))
        })
    }

    fn missing(&self, key: &str, path: &str) -> Diagnostic {
        let full = self.dir.join(path);
        let wanted = full.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = full.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .map(|entries| entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect())
            .unwrap_or_default();
        names.sort();
        let hint = match crate::diagnostic::nearest(&wanted, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`? (paths are relative to the scenario)"),
            None => "paths are relative to the scenario".to_owned(),
        };
        self.error(key, format!("there is no file `{path}`"), hint)
    }
}
