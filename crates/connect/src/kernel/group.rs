//! Which sockets use the algorithm: those of the processes in a cgroup made for this.
//!
//! The alternatives: a namespace would take the command's network away, a route's `congctl` applies to the whole host,
//! and static programs and Go ignore LD_PRELOAD. A BPF program of the cgroup is called when one of its sockets is
//! connected, and sets the algorithm.

use super::Error;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Mount points of cgroup v2: the usual one, and that of hybrid systems.
const PLACES: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
const PREFIX: &str = "thalweg-";

/// A cgroup, which is removed when this value is dropped.
#[derive(Debug)]
pub struct Group {
    path: PathBuf,
    file: File,
}

impl Group {
    /// Makes a cgroup without processes. Also removes cgroups of earlier owners that were killed.
    ///
    /// # Errors
    /// If cgroup v2 is not mounted, or not writable.
    pub fn new() -> Result<Self, Error> {
        let root = PLACES.iter().map(Path::new).find(|place| place.join("cgroup.procs").exists());
        let refused = |place: &Path| {
            let place = place.display().to_string();
            move |source| Error::Group { place, source }
        };
        let root = root.ok_or_else(|| refused(Path::new(PLACES[0]))(io::ErrorKind::NotFound.into()))?;
        clear(root);
        let mut number = 0;
        let path = loop {
            let path = root.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => break path,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(refused(root)(error)),
            }
        };
        let file = File::open(&path).map_err(refused(root))?;
        Ok(Self { path, file })
    }

    /// The cgroup's folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder, open.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// A command that runs `program` in the group: a shell joins it and then executes the program.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", "echo 0 > \"$0\" && exec \"$@\""])
            .arg(self.path.join("cgroup.procs"))
            .arg(program);
        command
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // If processes are left in it, the next group's `clear` removes it.
        let _ = fs::remove_dir(&self.path);
    }
}

/// Removes groups whose owners are gone. (The kernel refuses those that still have processes.)
fn clear(root: &Path) {
    let Ok(entries) = fs::read_dir(root) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner =
            name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse::<u32>().ok());
        if owner.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}
