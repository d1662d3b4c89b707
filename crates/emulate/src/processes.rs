//! The processes of a run.
//!
//! ```text
//! caller ── emulator ── init (number 1 of a process namespace) ── command, in the application's namespace
//!                   │                                          └── peer, at the far end
//!                   └── slirp4netns, where there is a way out
//! ```
//!
//! Each process is killed when the one before it dies, and the kernel kills all processes of a process namespace when
//! its number 1 ends. So nothing survives, whichever process is killed.

use crate::resolver;
use crate::sys;
use crate::task;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// A program prepared for exec without further allocation.
pub(crate) struct Program {
    arguments: Vec<CString>,
    environment: Vec<CString>,
}

impl Program {
    /// A command with the caller's environment and these variables.
    ///
    /// # Errors
    /// If there is a zero byte in it.
    pub fn new(command: &[String], variables: &[(String, String)]) -> io::Result<Self> {
        use std::os::unix::ffi::OsStringExt;
        let arguments = command.iter().map(|word| CString::new(word.as_str())).collect::<Result<_, _>>()?;
        let kept =
            std::env::vars_os().filter(|(name, _)| variables.iter().all(|(new, _)| name != new.as_str()));
        let kept = kept.map(|(name, value)| [name.into_vec(), b"=".to_vec(), value.into_vec()].concat());
        let new = variables.iter().map(|(name, value)| format!("{name}={value}").into_bytes());
        let environment = kept.chain(new).map(CString::new).collect::<Result<_, _>>()?;
        Ok(Self { arguments, environment })
    }

    /// Executes the program; returns only if that fails.
    pub fn exec(&self) -> io::Error {
        let pointers = |words: &[CString]| -> Vec<*const libc::c_char> {
            words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect()
        };
        let (arguments, environment) = (pointers(&self.arguments), pointers(&self.environment));
        // SAFETY: both lists end with a null and their strings with a zero; they outlive the call.
        unsafe { libc::execvpe(arguments[0], arguments.as_ptr(), environment.as_ptr()) };
        io::Error::last_os_error()
    }
}

/// Forks; `None` in the child.
pub(crate) fn fork() -> io::Result<Option<i32>> {
    // SAFETY: the child has one thread and goes on with memory of its own. Locks that other threads held stay locked
    // there: children use no lock of std (no printing, no environment) and allocators are made for this.
    let child = sys::check(unsafe { libc::fork() })?;
    Ok((child > 0).then_some(child))
}

/// The status of a child in the encoding of `waitpid`.
pub(crate) fn wait(child: i32) -> io::Result<i32> {
    let mut status = 0;
    loop {
        // SAFETY: the kernel writes `status`.
        match sys::check(unsafe { libc::waitpid(child, &raw mut status, 0) }) {
            Ok(_) => return Ok(status),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The state that number 1 needs.
pub(crate) struct Init {
    pub command: Program,
    pub peer: Option<Program>,
    pub application: OwnedFd,
    pub far: OwnedFd,
    /// A pipe with signals for the command.
    pub signals: RawFd,
    /// A pipe for the command's status in the encoding of `waitpid`.
    pub status: OwnedFd,
    /// True if capabilities of the current user namespace are passed to the command, because the user is the same
    /// there.
    pub ambient: bool,
    /// True if there is a way out, so names are looked up beyond it.
    pub outside: bool,
}

/// The status of a command that could not be run, as in shells.
const NOT_FOUND: i32 = 127;

impl Init {
    /// Closes the emulator's other descriptors in this process. A pipe ends when all its holders are gone, and with the
    /// read end of `status` open here, this process would not notice that the emulator is gone.
    pub fn close_others(&self) {
        let [application, far, status] = [&self.application, &self.far, &self.status].map(AsRawFd::as_raw_fd);
        task::close_others([application, far, status, self.signals]);
    }

    /// Makes the kernel kill this process when the emulator dies. Within the namespace it cannot see its parent: if
    /// that is already gone, no process reads the command's status.
    pub fn die_with_emulator(&self) -> io::Result<()> {
        task::die_with_parent()?;
        if sys::is_widowed(self.status.as_fd()) {
            Err(io::Error::other("the emulator is gone"))
        } else {
            Ok(())
        }
    }

    /// Runs as number 1 of a process namespace: starts the programs, passes signals on, waits for the command.
    pub fn run(self) -> ! {
        let status = self.serve().unwrap_or(NOT_FOUND << 8);
        let _ = sys::write(self.status.as_fd(), &status.to_ne_bytes());
        // All other processes of the namespace end with this one.
        task::exit(0)
    }

    fn serve(&self) -> io::Result<i32> {
        let ended = task::child_signals()?;
        if let Some(peer) = &self.peer {
            self.start(peer, &self.far)?;
            wait_for_listener(self.far.as_fd());
        }
        let command = self.start(&self.command, &self.application)?;
        let mut fds = [ended.as_raw_fd(), self.signals].map(sys::readable);
        loop {
            sys::sleep(&mut fds, None)?;
            if fds[0].revents != 0 {
                task::receive_signal(ended.as_fd());
                while let Some((child, status)) = task::ended_child() {
                    if child == command {
                        return Ok(status);
                    }
                }
            }
            if fds[1].revents & libc::POLLIN != 0 {
                let mut byte = [0];
                if sys::read(self.signals, &mut byte) == 1 {
                    // SAFETY: the command is a child that has not been waited for.
                    unsafe { libc::kill(command, i32::from(byte[0])) };
                }
            } else if fds[1].revents != 0 {
                return Err(io::Error::other("the caller is gone"));
            }
        }
    }

    fn start(&self, program: &Program, namespace: &OwnedFd) -> io::Result<i32> {
        if let Some(child) = fork()? {
            return Ok(child);
        }
        let error = match self.prepare(namespace) {
            Ok(()) => program.exec(),
            Err(error) => error,
        };
        let name = program.arguments[0].to_string_lossy();
        let _ = sys::write(sys::standard_error(), format!("thalweg: {name}: {error}\n").as_bytes());
        task::exit(NOT_FOUND)
    }

    /// Prepares a child before it executes another program.
    fn prepare(&self, namespace: &OwnedFd) -> io::Result<()> {
        sys::enter_net(namespace.as_fd())?;
        // The contents of these depend on the namespaces; if mounting is refused, they show the caller's.
        if sys::unshare(libc::CLONE_NEWNS).is_ok() {
            let _ = sys::mount(c"proc", c"/proc", c"proc", 0);
            let _ = sys::mount(c"sysfs", c"/sys", c"sysfs", 0);
            // This hides the caller's groups of processes (`thalweg attach` on a path).
            let _ = sys::mount(c"cgroup2", c"/sys/fs/cgroup", c"cgroup2", 0);
            if self.outside {
                resolver::look_beyond()?;
            }
        } else if self.outside {
            return Err(io::Error::other("a way out needs a mount namespace, which is not allowed here"));
        }
        if self.ambient {
            task::keep_capabilities();
        }
        task::default_signals();
        Ok(())
    }
}

/// Waits until a socket listens at the far end, at most a second: otherwise a client started with its server would be
/// refused.
fn wait_for_listener(far: BorrowedFd<'_>) {
    const LISTENS: &str = " 0A ";
    if sys::enter_net(far).is_err() {
        return;
    }
    for _ in 0..100 {
        let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].map(std::fs::read_to_string);
        if tables.into_iter().flatten().any(|table| table.contains(LISTENS)) {
            return;
        }
        let _ = sys::sleep(&mut [], Some(thalweg_units::Span::from_ms(10)));
    }
}

/// Exit code and signal from the encoding of `waitpid`.
pub(crate) fn ended(status: i32) -> (i32, Option<i32>) {
    if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        return (128 + signal, Some(signal));
    }
    (libc::WEXITSTATUS(status), None)
}
