//! What this process and its thread are and may do: scheduling, signals, children, capabilities.

use crate::sys::{check, owned, read};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// This process is killed when its parent dies, unless that has happened already.
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

/// This thread goes before all that are not real-time, where that is allowed; what it starts does not. It must sleep:
/// a thread that takes 95 % of a second is stopped for the rest of it.
pub fn real_time() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 10 };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the kernel reads `parameters`.
    check(unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) }).map(drop)
}

/// Timers of this thread fire as exactly as they can.
pub fn exact_timers() {
    // SAFETY: no memory is involved.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}

/// What became of a signal before.
pub struct Before(i32, libc::sighandler_t);

/// Ignores a signal.
pub fn ignore(signal: i32) -> Before {
    // SAFETY: no handler of ours is involved.
    Before(signal, unsafe { libc::signal(signal, libc::SIG_IGN) })
}

/// A signal as it was.
pub fn restore(before: &Before) {
    // SAFETY: the handler is the one that was there.
    unsafe { libc::signal(before.0, before.1) };
}

/// Ends this process, without anything that std or C would do at exit: it is a fork of a program that still runs.
pub fn exit(code: i32) -> ! {
    // SAFETY: it does not return.
    unsafe { libc::_exit(code) }
}

/// This process' number.
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

/// Takes a signal out of such a descriptor.
pub fn receive_signal(fd: BorrowedFd<'_>) {
    let mut info = [0; size_of::<libc::signalfd_siginfo>()];
    read(fd.as_raw_fd(), &mut info);
}

/// A child that has ended, and how.
pub fn ended_child() -> Option<(i32, i32)> {
    let mut status = 0;
    // SAFETY: the kernel writes `status`.
    let child = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
    (child > 0).then_some((child, status))
}

/// Signals as a program expects them when it starts.
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

/// What this process may do in its user namespace, programs that it becomes may do, too, whatever their user is
/// (capabilities(7), ambient).
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

/// The terminal is this process group's again, if it has one: a shell that ended has taken it.
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

/// Closes all descriptors but the standard ones and these. Only for a process that shares no memory with those who
/// believe to own them: a fork.
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
