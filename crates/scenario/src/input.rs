//! Files that users name: regular files only, never more bytes than the limit; texts are UTF-8, without a byte-order
//! mark.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use thalweg_units::Bytes;

/// The environment variable that changes the limit.
pub const LIMIT: &str = "THALWEG_MAX_INPUT";
/// The default limit: a flow list of some ten million flows.
const LARGEST: Bytes = Bytes::kb(256_000);

/// Why a file is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The file does not exist.
    Missing,
    /// The reason, and a hint (may be empty).
    Unfit(String, String),
}

fn unfit(reason: impl Into<String>, hint: impl Into<String>) -> Refusal {
    Refusal::Unfit(reason.into(), hint.into())
}

/// The largest number of bytes that are read.
fn limit() -> Result<Bytes, Refusal> {
    let Ok(text) = std::env::var(LIMIT) else { return Ok(LARGEST) };
    text.parse().map_err(|_| {
        unfit(format!("{LIMIT} is not a size"), format!("for example {LIMIT}=2GB in the environment"))
    })
}

/// The text of a file.
pub(crate) fn text(path: &Path) -> Result<String, Refusal> {
    bounded(path, limit()?)
}

/// The bytes of a file.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Refusal> {
    whole(path, limit()?)
}

fn bounded(path: &Path, limit: Bytes) -> Result<String, Refusal> {
    let bytes = whole(path, limit)?;
    let packed = bytes.starts_with(&[0x1f, 0x8b]);
    let text = String::from_utf8(bytes)
        .map_err(|_| unfit("is not a text file (UTF-8)", if packed { "unpack it: `gunzip`" } else { "" }))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

fn whole(path: &Path, limit: Bytes) -> Result<Vec<u8>, Refusal> {
    let failed = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Refusal::Missing,
        std::io::ErrorKind::InvalidInput => unfit("is not the name of a file", ""),
        kind => unfit(format!("cannot be read: {kind}"), ""),
    };
    // Checked before the file is opened, because opening a pipe blocks until the other end is opened.
    let regular = |meta: &std::fs::Metadata| match meta {
        m if m.is_dir() => Err(unfit("is a folder", "name a file")),
        m if !m.is_file() => {
            Err(unfit("is not a regular file", "pipes and devices are not read: copy it to a file"))
        }
        m => Ok(m.len()),
    };
    regular(&std::fs::metadata(path).map_err(failed)?)?;
    let file = File::open(path).map_err(failed)?;
    let size = regular(&file.metadata().map_err(failed)?)?;
    // The size that the file system reports may be wrong (`/proc`).
    let mut bytes = Vec::new();
    if size <= limit.get() {
        file.take(limit.get().saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    }
    if size > limit.get() || bytes.len() as u64 > limit.get() {
        return Err(unfit(
            format!("holds more than {limit}"),
            format!("split it, or set {LIMIT}=4GB in the environment"),
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(path: &Path, limit: u64) -> String {
        match bounded(path, Bytes::new(limit)) {
            Ok(text) => format!("{} bytes", text.len()),
            Err(Refusal::Missing) => "missing".into(),
            Err(Refusal::Unfit(reason, _)) => reason,
        }
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_pipes_are_refused_at_once() {
        assert_eq!(outcome(Path::new("/dev/zero"), 1 << 40), "is not a regular file");
        let pipe = std::env::temp_dir().join(format!("thalweg-pipe-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|s| s.success());
        if made {
            assert_eq!(outcome(&pipe, 10), "is not a regular file");
            let _ = std::fs::remove_file(&pipe);
        }
        assert_eq!(outcome(Path::new("/"), 10), "is a folder");
        assert_eq!(outcome(Path::new("/nowhere/x"), 10), "missing");
        assert_eq!(outcome(Path::new("a\0b"), 10), "is not the name of a file");
    }

    #[test]
    fn the_limit_holds_for_what_is_read_and_a_mark_is_dropped() {
        let file = std::env::temp_dir().join(format!("thalweg-input-{}", std::process::id()));
        std::fs::write(&file, "\u{feff}a,b\n").expect("written");
        assert_eq!(bounded(&file, Bytes::new(7)), Ok("a,b\n".into()));
        assert_eq!(outcome(&file, 6), "holds more than 6B");
        std::fs::write(&file, [0xff, 0xfe]).expect("written");
        assert_eq!(outcome(&file, 6), "is not a text file (UTF-8)");
        let _ = std::fs::remove_file(&file);
        // Files of the kernel report a size of zero.
        if Path::new("/proc/self/status").exists() {
            assert_eq!(outcome(Path::new("/proc/self/status"), 20), "holds more than 20B");
        }
    }
}
