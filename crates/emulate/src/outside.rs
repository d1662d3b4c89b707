//! A way out: `slirp4netns` between the far end and the network in which the path was started. It needs no privileges
//! there and changes nothing: for that network it is a program with sockets.
//!
//! ```text
//! far end: tap0 100.64.0.100  <-->  slirp4netns: 100.64.0.2 (the machine's own 127.0.0.1), 100.64.0.3 (its resolver)
//! ```
//!
//! It lives as long as a pipe that the emulator holds, so it ends with the emulator, however that happens.

use crate::processes::{self, Program};
use crate::sys::{self, wrong};
use crate::task;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use thalweg_units::{Rate, Span};

/// The device at the far end.
pub(crate) const DEVICE: &str = "tap0";
const PROGRAM: &str = "slirp4netns";
/// The device file from which its device is made.
const TUN: &str = "/dev/net/tun";
/// Below the addresses of paths, which begin at level 1 (100.65), so it hides only this network of RFC 6598.
const NETWORK: &str = "100.64.0.0/24";
/// Its TCP has no window scaling (RFC 7323).
const WINDOW: u64 = 65_535;
/// Timeout for its start.
const PATIENCE: Span = Span::from_ms(20_000);

/// The process, which is killed when this value is dropped.
pub(crate) struct Outside {
    child: i32,
    /// The process first reads from this pipe, and then lives as long as it is open.
    life: OwnedFd,
    /// Readable when it is ready.
    ready: OwnedFd,
    /// The output of the process.
    said: OwnedFd,
}

impl Outside {
    /// Starts the process that later becomes the program, while it is still in the network that it is to lead to.
    ///
    /// # Errors
    /// If the program or the device is missing, with a hint.
    pub fn begin() -> io::Result<Self> {
        let installed = std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(PROGRAM).is_file()));
        if !installed {
            return Err(io::Error::other(format!(
                "a way out needs the program `{PROGRAM}`, which is not installed: install the package {PROGRAM} \
                 (Debian: apt-get install {PROGRAM}), or do without a way out"
            )));
        }
        // Checked here, because the program's own message has no hint.
        File::options().read(true).write(true).open(TUN).map_err(|error| {
            let way_out =
                "a way out needs it (modprobe tun; chmod 666 /dev/net/tun, as is usual), or do without one";
            io::Error::new(error.kind(), format!("{TUN}: {error}; {way_out}"))
        })?;
        let emulator = task::process();
        let (waits, life) = sys::pipe()?;
        let (ready, is_ready) = sys::pipe()?;
        // Not read while packets pass: output that does not fit is lost, and nothing blocks.
        let (said, says) = sys::open_pipe(libc::O_NONBLOCK)?;
        if let Some(child) = processes::fork()? {
            return Ok(Self { child, life, ready, said });
        }
        drop((life, ready, said));
        let error = become_program(emulator, &waits, &is_ready, &says);
        let _ = sys::write(says.as_fd(), format!("{error}\n").as_bytes());
        task::exit(1)
    }

    /// Connects this namespace to the way out, and waits until it is ready.
    ///
    /// # Errors
    /// The program's message.
    pub fn lead(&self, far: &OwnedFd) -> io::Result<()> {
        sys::write(self.life.as_fd(), &far.as_raw_fd().to_ne_bytes())?;
        let mut fds = [sys::readable(self.ready.as_raw_fd())];
        sys::sleep(&mut fds, Some(PATIENCE))?;
        if fds[0].revents & libc::POLLIN != 0 {
            return Ok(());
        }
        let why = if fds[0].revents == 0 { "it does not become ready".into() } else { self.last_words() };
        Err(io::Error::other(format!("the way out: {PROGRAM}: {why}")))
    }

    /// A message at the end of a run if the way out ended early.
    pub fn doubt(&self) -> Option<String> {
        let mut fds = [sys::readable(self.said.as_raw_fd())];
        let ended = sys::sleep(&mut fds, Some(Span::ZERO)).is_ok() && fds[0].revents & libc::POLLHUP != 0;
        ended.then(|| format!("the way out ended before the command did: {PROGRAM}: {}", self.last_words()))
    }

    fn last_words(&self) -> String {
        let mut text = vec![0; 1 << 16];
        let length = sys::read(self.said.as_raw_fd(), &mut text);
        let text = String::from_utf8_lossy(&text[..length]).into_owned();
        // The rest is the program's usage text.
        let usage = text.lines().position(|line| line.starts_with("Usage:")).unwrap_or(usize::MAX);
        let lines: Vec<&str> =
            text.lines().take(usage).map(str::trim).filter(|line| !line.is_empty()).collect();
        if lines.is_empty() { "it was killed".into() } else { lines.join("; ") }
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        task::kill(self.child, libc::SIGKILL);
        let _ = processes::wait(self.child);
    }
}

/// Waits for the number of the emulator's descriptor of a network namespace, and executes the program for it. The
/// descriptor cannot be inherited, because this process is made before the namespace is.
fn become_program(emulator: u32, waits: &OwnedFd, ready: &OwnedFd, says: &OwnedFd) -> io::Error {
    let mut far = [0; 4];
    if sys::read(waits.as_raw_fd(), &mut far) != far.len() {
        return io::Error::other("the emulator is gone");
    }
    let prepare = || {
        let open = |path: &str| File::open(path).map_err(|error| wrong(path, &error));
        let (nothing, far) =
            (open("/dev/null")?, open(&format!("/proc/{emulator}/fd/{}", i32::from_ne_bytes(far)))?);
        sys::become_standard([nothing.as_fd(), says.as_fd(), says.as_fd()])?;
        for kept in [waits.as_fd(), ready.as_fd(), far.as_fd()] {
            sys::keep_on_exec(kept)?;
        }
        if task::ids().0 != 0 {
            task::keep_capabilities();
        }
        let words = [
            PROGRAM,
            "--configure",
            &format!("--cidr={NETWORK}"),
            &format!("--exit-fd={}", waits.as_raw_fd()),
            &format!("--ready-fd={}", ready.as_raw_fd()),
            "--netns-type=path",
            &format!("/proc/self/fd/{}", far.as_raw_fd()),
            DEVICE,
        ];
        Ok::<_, io::Error>(Program::new(&words.map(str::to_owned), &[])?.exec())
    };
    prepare().unwrap_or_else(|error| error)
}

/// What TCP through the way out cannot do on a path with this rate and round trip, if anything.
pub(crate) fn limit(rate: Rate, round_trip: Span) -> Option<String> {
    let most = u128::from(WINDOW) * 8 * 1_000_000_000_000 / u128::from(round_trip.ps().max(1));
    (most < u128::from(rate.bps())).then(|| {
        let mbps = most as f64 / 1e6;
        format!(
            "TCP to the outside has windows of 64 KB: at most {mbps:.3} Mb/s for each connection on this path"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_64_kb_limit_what_is_long_and_fat_only() {
        let said = limit(Rate::from_bps(100_000_000), Span::from_ms(40)).expect("13.1 of 100 Mb/s");
        assert!(said.contains("at most 13.107 Mb/s"), "{said}");
        assert_eq!(limit(Rate::from_bps(12_000_000), Span::from_ms(40)), None);
        assert_eq!(limit(Rate::from_bps(10_000_000_000), Span::ZERO), None);
    }
}
