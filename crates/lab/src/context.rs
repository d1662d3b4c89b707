//! What every stage after parsing needs: where keys were written, and where files are.

use crate::text::tree::Origin;
use crate::{Diagnostic, Stop};
use std::path::Path;

/// Largest file that is read, bytes.
const LARGEST_FILE: u64 = 2_000_000_000;
/// Most that is read of what is no file and tells no size (a pipe, a device that never ends), bytes.
const LARGEST_STREAM: u64 = 256_000_000;

pub(crate) struct Cx<'a> {
    pub origin: &'a Origin,
    pub dir: &'a Path,
    pub stop: &'a Stop,
}

impl Cx<'_> {
    /// For loops that may take long: an error once loading has been given up.
    pub fn proceed(&self) -> Result<(), Diagnostic> {
        if self.stop.is_raised() { Err(self.error("", "loading was interrupted", "")) } else { Ok(()) }
    }

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
            Ok(m) if !m.is_file() => {
                let bytes = read_at_most(&full, LARGEST_STREAM).map_err(|_| self.missing(key, path))?;
                return self.text(
                    key,
                    path,
                    bytes.ok_or_else(|| {
                        self.error(
                            key,
                            format!("`{path}` is no file and does not end within 256 MB"),
                            "name a file",
                        )
                    })?,
                );
            }
            _ => {}
        }
        let bytes = std::fs::read(&full).map_err(|_| self.missing(key, path))?;
        self.text(key, path, bytes)
    }

    fn text(&self, key: &str, path: &str, bytes: Vec<u8>) -> Result<String, Diagnostic> {
        String::from_utf8(bytes).map_err(|_| self.error(key, format!("`{path}` is not a text file"), ""))
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

/// All of a stream; `None`: it holds more than `limit` bytes.
fn read_at_most(path: &Path, limit: u64) -> std::io::Result<Option<Vec<u8>>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((read as u64 <= limit).then_some(bytes))
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(unix)]
    fn a_device_that_never_ends_is_given_up() {
        let read = |path: &str| super::read_at_most(std::path::Path::new(path), 1000).unwrap();
        assert_eq!(read("/dev/zero"), None);
        assert_eq!(read("/dev/null"), Some(vec![]));
    }
}
