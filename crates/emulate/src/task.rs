//! Properties of this process and its thread: scheduling, signals, children, capabilities.

use crate::sys::{check, owned, read};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// Makes the kernel kill this process when its parent dies, unless that has already happened.
pub fn die_with_parent() -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) }).map(drop)
}

/// The parent of this process.
pub fn parent() -> i32 {
    // SAFETY: it cannot fail and touches no memory.
    unsafe { libc::getppid() }
}

/// CPUs that this thread may run on.
pub fn cpus() -> Vec<usize> {
    // SAFETY: a set of zeros is valid.
    let mut set: libc::cpu_set_t = unsafe { zeroed() };
    // SAFETY: the kernel writes at most the size of `set`.
    if unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) } != 0 {
        return Vec::new();
    }
    // SAFETY: the macro reads a bit of `set`, below its size.
    (0..libc::CPU_SETSIZE as usize).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) }).collect()
}

/// Keeps this thread on one CPU.
pub fn stay_on(cpu: usize) -> io::Result<()> {
    // SAFETY: a set of zeros is valid, and `cpu` is one of `cpus`.
    let set = unsafe {
        let mut set: libc::cpu_set_t = zeroed();
        libc::CPU_SET(cpu, &mut set);
        set
    };
    // SAFETY: the kernel reads the size of `set`.
    check(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) }).map(drop)
}

/// Gives this thread real-time priority if that is allowed, but not its children. It must sleep: the kernel stops a
/// real-time thread for the rest of a second after it has used 95 % of it.
pub fn real_time() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 10 };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the kernel reads `parameters`.
    check(unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) }).map(drop)
}

/// Makes timers of this thread as precise as possible.
pub fn exact_timers() {
    // SAFETY: no memory is involved.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}

/// The previous action of a signal.
pub struct Before(i32, libc::sighandler_t);

/// Ignores a signal.
pub fn ignore(signal: i32) -> Before {
    // SAFETY: no handler of ours is involved.
    Before(signal, unsafe { libc::signal(signal, libc::SIG_IGN) })
}

/// Restores the action of a signal.
pub fn restore(before: &Before) {
    // SAFETY: the handler is the one that was there.
    unsafe { libc::signal(before.0, before.1) };
}

/// Ends this process without the exit handlers of std and C, because it is a fork of a program that still runs.
pub fn exit(code: i32) -> ! {
    // SAFETY: it does not return.
    unsafe { libc::_exit(code) }
}

/// The id of this process.
pub fn process() -> u32 {
    std::process::id()
}

/// User and group.
pub fn ids() -> (u32, u32) {
    // SAFETY: they cannot fail and touch no memory.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

/// A descriptor that is readable when a child has ended.
pub fn child_signals() -> io::Result<OwnedFd> {
    // SAFETY: a set of zeros is valid, and made empty by the first call.
    unsafe {
        let mut set: libc::sigset_t = zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        check(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()))?;
        owned(libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC))
    }
}

/// Reads a signal from such a descriptor.
pub fn receive_signal(fd: BorrowedFd<'_>) {
    let mut info = [0; size_of::<libc::signalfd_siginfo>()];
    read(fd.as_raw_fd(), &mut info);
}

/// The id and the status of a child that has ended.
pub fn ended_child() -> Option<(i32, i32)> {
    let mut status = 0;
    // SAFETY: the kernel writes `status`.
    let child = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
    (child > 0).then_some((child, status))
}

/// Resets signals to the state that a program expects at its start.
pub fn default_signals() {
    // SAFETY: no handler of ours is involved; a set of zeros is valid.
    unsafe {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE, libc::SIGCHLD]
        {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut set: libc::sigset_t = zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
    }
}

/// Passes the capabilities of this process in its user namespace to the programs that it executes, whatever their user
/// is (capabilities(7), ambient).
pub fn keep_capabilities() {
    const VERSION_3: u32 = 0x2008_0522;
    let mut header = [VERSION_3, 0];
    let mut data = [0u32; 6]; // two of effective, permitted, inheritable
    // SAFETY: the kernel reads the header and reads or writes two structs of three words.
    unsafe {
        if libc::syscall(libc::SYS_capget, header.as_mut_ptr(), data.as_mut_ptr()) != 0 {
            return;
        }
        (data[2], data[5]) = (data[1], data[4]);
        libc::syscall(libc::SYS_capset, header.as_mut_ptr(), data.as_ptr());
        for capability in 0..64 {
            libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE, capability as libc::c_ulong, 0, 0);
        }
    }
}

/// Returns the terminal, if there is one, to this process group: a shell that has ended had taken it.
pub fn take_terminal_back() {
    // SAFETY: no memory is involved; the signal that this call gives to those who do not have the terminal is
    // ignored meanwhile.
    unsafe {
        if libc::isatty(libc::STDIN_FILENO) == 1 {
            let before = ignore(libc::SIGTTOU);
            libc::tcsetpgrp(libc::STDIN_FILENO, libc::getpgrp());
            restore(&before);
        }
    }
}

/// Sends a signal.
pub fn kill(process: i32, signal: i32) {
    // SAFETY: no memory is involved.
    unsafe { libc::kill(process, signal) };
}

/// Closes all descriptors but the standard ones and these. Only for a fork, whose memory has no other owners of these
/// descriptors.
pub fn close_others<const N: usize>(mut kept: [RawFd; N]) {
    kept.sort_unstable();
    let mut from = libc::STDERR_FILENO + 1;
    for next in kept.map(|fd| fd - 1).into_iter().chain([RawFd::MAX]) {
        if from <= next {
            // SAFETY: no memory is involved, and no owner of these descriptors runs in this process.
            unsafe { libc::syscall(libc::SYS_close_range, from, next, 0) };
        }
        from = next.saturating_add(2);
    }
}
