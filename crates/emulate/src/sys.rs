//! System calls that std does not have, each wrapped as thinly as it can be.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use thalweg_units::Span;

/// An answer of −1 is the error.
pub fn check(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// An error with what was tried.
pub fn wrong(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// Takes the ownership of a new descriptor.
fn owned(fd: libc::c_int) -> io::Result<OwnedFd> {
    let fd = check(fd)?;
    // SAFETY: the kernel has just given us this descriptor; nothing else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// socket(2), closed on exec.
pub fn socket(family: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    // SAFETY: no memory is involved.
    owned(unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) })
}

/// A pipe, read end first, closed on exec.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    Ok((owned(ends[0])?, owned(ends[1])?))
}

/// setsockopt(2) with a plain value.
pub fn set_option<T: Copy>(fd: BorrowedFd<'_>, level: i32, name: i32, value: &T) -> io::Result<()> {
    let at: *const T = value;
    // SAFETY: the kernel reads `size_of::<T>()` bytes of `value`.
    let answer = unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, at.cast(), size_of::<T>() as u32) };
    check(answer).map(drop)
}

/// getsockopt(2) of a plain value of integers.
pub fn option<T: Copy>(fd: BorrowedFd<'_>, level: i32, name: i32, mut value: T) -> io::Result<T> {
    let mut length = size_of::<T>() as u32;
    let at: *mut T = &raw mut value;
    // SAFETY: the kernel writes at most `length` bytes into `value`, of which any are valid: callers pass integers.
    check(unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, at.cast(), &raw mut length) })?;
    Ok(value)
}

/// unshare(2).
pub fn unshare(flags: i32) -> io::Result<()> {
    // SAFETY: no memory is shared that was not; descriptors and memory stay.
    check(unsafe { libc::unshare(flags) }).map(drop)
}

/// setns(2) into a network namespace.
pub fn enter_net(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::setns(fd.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// mount(2) without data.
pub fn mount(source: &CStr, target: &CStr, kind: &CStr, flags: libc::c_ulong) -> io::Result<()> {
    // SAFETY: all strings end with a zero and live longer than the call.
    let answer =
        unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, std::ptr::null()) };
    check(answer).map(drop)
}

/// umount2(2), lazily.
pub fn unmount(target: &CStr) -> io::Result<()> {
    // SAFETY: the string ends with a zero and lives longer than the call.
    check(unsafe { libc::umount2(target.as_ptr(), libc::MNT_DETACH) }).map(drop)
}

/// The number of a device of this network namespace.
pub fn device(name: &str) -> io::Result<u32> {
    let name = CString::new(name)?;
    // SAFETY: the string ends with a zero and lives longer than the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}

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

/// Nothing can be read at the other end of this pipe any more.
pub fn is_widowed(pipe: BorrowedFd<'_>) -> bool {
    let mut fds = [libc::pollfd { fd: pipe.as_raw_fd(), events: 0, revents: 0 }];
    sleep(&mut fds, Some(Span::ZERO)).is_ok() && fds[0].revents & libc::POLLERR != 0
}

/// ioctl(SIOCETHTOOL) of a device with a command that sets one value.
pub fn set_offload(device: &str, command: u32, on: bool) -> io::Result<()> {
    const SIOCETHTOOL: libc::c_ulong = 0x8946;
    let socket = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    let mut value = [command, u32::from(on)]; // struct ethtool_value
    // SAFETY: an ifreq of zeros is valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name[..libc::IFNAMSIZ - 1].iter_mut().zip(device.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
    // SAFETY: `request` and the two words that it points to outlive the call, which reads and writes nothing else.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) }).map(drop)
}

/// What a descriptor is waited for.
pub fn readable(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

/// ppoll(2): sleeps until something can be read, or so long; `None`: for ever. Interruptions wake it too.
pub fn sleep(fds: &mut [libc::pollfd], most: Option<Span>) -> io::Result<()> {
    let timeout = most.map(|span| {
        let ns = span.ps() / 1000;
        libc::timespec { tv_sec: (ns / 1_000_000_000) as _, tv_nsec: (ns % 1_000_000_000) as _ }
    });
    let at = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the kernel writes `revents` of as many entries as `fds` has, and reads the timeout, which outlives it.
    match check(unsafe { libc::ppoll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, at, std::ptr::null()) }) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
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

/// send(2) of all bytes.
pub fn send(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: the kernel reads the bytes of the slice.
    let sent = unsafe { libc::send(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
    if sent == bytes.len() as isize { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// recv(2).
pub fn receive(fd: BorrowedFd<'_>, into: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the kernel writes at most the length of the slice.
    let got = unsafe { libc::recv(fd.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), 0) };
    if got < 0 { Err(io::Error::last_os_error()) } else { Ok(got as usize) }
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

/// The IPv4 addresses of this network namespace.
pub fn addresses() -> io::Result<Vec<std::net::Ipv4Addr>> {
    let mut first = std::ptr::null_mut();
    // SAFETY: the list that is made is freed below, and not used after that.
    check(unsafe { libc::getifaddrs(&raw mut first) })?;
    let (mut found, mut at) = (Vec::new(), first);
    // SAFETY: entries are valid until the list is freed, and their addresses are as large as their family says.
    unsafe {
        while let Some(entry) = at.as_ref() {
            if let Some(address) = entry.ifa_addr.as_ref()
                && i32::from(address.sa_family) == libc::AF_INET
            {
                let address = entry.ifa_addr.cast::<libc::sockaddr_in>().read_unaligned();
                found.push(std::net::Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)));
            }
            at = entry.ifa_next;
        }
        libc::freeifaddrs(first);
    }
    Ok(found)
}

/// write(2) of all bytes.
pub fn write(fd: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: the kernel reads the bytes of the slice.
        let wrote = unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
        match wrote {
            n if n > 0 => bytes = &bytes[n as usize..],
            _ => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error => return Err(error),
            },
        }
    }
    Ok(())
}

/// read(2): how many, 0 if none.
pub fn read(fd: RawFd, into: &mut [u8]) -> usize {
    // SAFETY: the kernel writes at most the length of the slice.
    unsafe { libc::read(fd, into.as_mut_ptr().cast(), into.len()) }.max(0) as usize
}

/// Standard error, without std's lock.
pub fn standard_error() -> BorrowedFd<'static> {
    // SAFETY: it is open as long as the process lives; if it is not, writing fails.
    unsafe { BorrowedFd::borrow_raw(libc::STDERR_FILENO) }
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
