//! Name resolution on a path with a way out: programs use the resolver beyond it, so that queries and answers take the
//! path.

use crate::sys::{self, wrong};
use std::ffi::CStr;
use std::fs;
use std::io;
use std::path::Path;

/// The contents of `resolv.conf` there: the resolver of the way out.
const TEXT: &str = "nameserver 100.64.0.3\n";
const FILE: &CStr = c"/etc/resolv.conf";
/// Sockets through which the C library would resolve names outside of the path.
const ASIDE: [(&str, &CStr); 2] = [
    ("/run/systemd/resolve/io.systemd.Resolve", c"/run/systemd/resolve/io.systemd.Resolve"),
    ("/run/nscd/socket", c"/run/nscd/socket"),
];

/// True if `resolv.conf` exists. Without it the C library has no resolver, and none can be set.
pub(crate) fn is_there() -> bool {
    Path::new("/etc/resolv.conf").is_file()
}

/// True if programs here resolve names beyond a path.
pub(crate) fn is_beyond() -> bool {
    fs::read_to_string("/etc/resolv.conf").is_ok_and(|text| text == TEXT)
}

/// Makes programs in this mount namespace, which must be the caller's own, resolve names beyond the path.
///
/// # Errors
/// If something cannot be mounted.
pub(crate) fn look_beyond() -> io::Result<()> {
    for (path, socket) in ASIDE {
        // A file that is not a socket refuses connections, and the C library continues with `resolv.conf`.
        if Path::new(path).exists() {
            sys::mount(c"/dev/null", socket, c"", libc::MS_BIND).map_err(|error| wrong(path, &error))?;
        }
    }
    if !is_there() {
        return Ok(());
    }
    // A new file in memory. Its first place is needed only until the file is bound over `resolv.conf`.
    const PLACE: (&CStr, &CStr, &str) = (c"/sys", c"/sys/resolv.conf", "/sys/resolv.conf");
    let bind = || {
        fs::write(PLACE.2, TEXT)?;
        sys::mount(PLACE.1, FILE, c"", libc::MS_BIND)
    };
    sys::mount(c"none", PLACE.0, c"tmpfs", 0)
        .and_then(|()| bind().and_then(|()| sys::unmount(PLACE.0)))
        .map_err(|error| wrong("/etc/resolv.conf", &error))
}
