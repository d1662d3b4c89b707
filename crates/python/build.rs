//! Names what the engine was made of, so that runs that are kept are used again by every build of the same
//! sources, and by no other.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What decides the outcome of a run: these crates, and the versions of all others.
const CRATES: [&str; 11] =
    ["units", "wire", "policy", "machines", "net", "record", "scenario", "sim", "lab", "theory", "python"];

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where"));
    let crates = here.parent().expect("next to the other crates");
    let mut files = Vec::new();
    for name in CRATES {
        let sources = crates.join(name).join("src");
        println!("cargo:rerun-if-changed={}", sources.display());
        collect(&sources, &mut files)?;
    }
    // Absent where the package was unpacked without its workspace.
    let lock = crates.join("../Cargo.lock");
    if lock.exists() {
        println!("cargo:rerun-if-changed={}", lock.display());
        files.push(lock);
    }
    files.sort();
    let mut hash = Fnv::default();
    for file in files {
        hash.add(file.strip_prefix(crates).unwrap_or(&file).to_string_lossy().as_bytes());
        hash.add(&fs::read(&file)?);
    }
    println!("cargo:rustc-env=THALWEG_SOURCES={:016x}", hash.0);
    Ok(())
}

/// All files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// FNV-1a of 64 bits: the same on every machine, whatever the compiler. It distinguishes changes and keeps no
/// secrets.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Length first: neighbours do not run together.
    fn add(&mut self, bytes: &[u8]) {
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
