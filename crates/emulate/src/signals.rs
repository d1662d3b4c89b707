//! Signals that the caller of a run receives are passed to the command through a pipe.

use std::mem::zeroed;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, Ordering};

/// The pipe; −1: none.
static TO: AtomicI32 = AtomicI32::new(-1);

/// The signals that are passed on: those that ask a command to end.
const PASSED: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

extern "C" fn pass_on(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel hands over a valid pointer.
    let code = unsafe { (*info).si_code };
    // A terminal has sent the signal to the command, too.
    if code == libc::SI_KERNEL {
        return;
    }
    let byte = signal as u8;
    // SAFETY: write(2) may be called in a handler; errno is of no use to what was interrupted only if it failed.
    unsafe { libc::write(TO.load(Ordering::Relaxed), (&raw const byte).cast(), 1) };
}

/// Passes signals to the pipe until it is dropped.
pub(crate) struct Passing(Vec<(i32, libc::sigaction)>);

impl Passing {
    /// Passes signals to this pipe. Only one value may exist at a time.
    pub fn to(pipe: RawFd) -> Self {
        TO.store(pipe, Ordering::Relaxed);
        let of = |signal: i32| {
            // SAFETY: actions of zeros are valid; the handler only does what handlers may.
            unsafe {
                let mut before: libc::sigaction = zeroed();
                let mut action: libc::sigaction = zeroed();
                action.sa_sigaction = pass_on as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
                libc::sigaction(signal, &raw const action, &raw mut before);
                (signal, before)
            }
        };
        Self(PASSED.map(of).into())
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        for (signal, before) in &self.0 {
            // SAFETY: the action is the one that was there.
            unsafe { libc::sigaction(*signal, before, std::ptr::null_mut()) };
        }
        TO.store(-1, Ordering::Relaxed);
    }
}
