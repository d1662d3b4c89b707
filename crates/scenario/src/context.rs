//! The context of every stage after parsing: the positions of keys, and the folder of files.

use crate::diagnostic::quoted;
use crate::input::{self, Refusal};
use crate::text::origin::Origin;
use crate::{Diagnostic, Stop};
use std::path::Path;

pub(crate) struct Cx<'a> {
    pub origin: &'a Origin,
    pub dir: &'a Path,
    pub stop: &'a Stop,
}

impl Cx<'_> {
    /// Called in loops that may take long: an error once loading has been interrupted.
    pub fn proceed(&self) -> Result<(), Diagnostic> {
        if self.stop.is_raised() { Err(self.error("", "loading was interrupted", "")) } else { Ok(()) }
    }

    /// A diagnostic about a key of the scenario.
    pub fn error(&self, key: &str, reason: impl Into<String>, hint: impl Into<String>) -> Diagnostic {
        let hint = hint.into();
        let mut d = self.origin.at(key, reason);
        d.hint = (!hint.is_empty()).then_some(hint);
        d
    }

    /// The text of a file that the key `key` names.
    pub fn read(&self, key: &str, path: &str) -> Result<String, Diagnostic> {
        input::text(&self.dir.join(path)).map_err(|refusal| self.refused(key, path, refusal))
    }

    /// The bytes of a file that the key `key` names.
    pub fn read_bytes(&self, key: &str, path: &str) -> Result<Vec<u8>, Diagnostic> {
        input::bytes(&self.dir.join(path)).map_err(|refusal| self.refused(key, path, refusal))
    }

    fn refused(&self, key: &str, path: &str, refusal: Refusal) -> Diagnostic {
        match refusal {
            Refusal::Missing => self.missing(key, path),
            Refusal::Unfit(reason, hint) => self.error(key, format!("`{}` {reason}", quoted(path)), hint),
        }
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
        self.error(key, format!("there is no file `{}`", quoted(path)), hint)
    }
}
