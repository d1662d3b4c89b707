//! System calls that std does not have, with minimal wrappers.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use thalweg_units::Span;

/// Turns a result of −1 into the error.
pub fn check(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// An error with the failed step.
pub fn wrong(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// Takes ownership of a new descriptor.
pub(crate) fn owned(fd: libc::c_int) -> io::Result<OwnedFd> {
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
    open_pipe(0)
}

/// The same with further flags.
pub fn open_pipe(flags: i32) -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | flags) })?;
    Ok((owned(ends[0])?, owned(ends[1])?))
}

/// Keeps a descriptor open on exec.
pub fn keep_on_exec(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, 0) }).map(drop)
}

/// Sets standard input, output and error for the next program.
pub fn become_standard(fds: [BorrowedFd<'_>; 3]) -> io::Result<()> {
    for (number, fd) in fds.into_iter().enumerate() {
        // SAFETY: no memory is involved, and Rust owns no standard descriptor.
        check(unsafe { libc::dup2(fd.as_raw_fd(), number as libc::c_int) })?;
    }
    Ok(())
}

/// setsockopt(2) with a plain value.
pub fn set_option<T: Copy>(fd: BorrowedFd<'_>, level: i32, name: i32, value: &T) -> io::Result<()> {
    let at: *const T = value;
    // SAFETY: the kernel reads `size_of::<T>()` bytes of `value`.
    let answer = unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, at.cast(), size_of::<T>() as u32) };
    check(answer).map(drop)
}

/// Sets the send buffer to 16 MB, or as much as is allowed.
pub fn set_send_buffer(fd: BorrowedFd<'_>) -> io::Result<()> {
    let set = |name| set_option(fd, libc::SOL_SOCKET, name, &(16i32 << 20));
    set(libc::SO_SNDBUFFORCE).or_else(|_| set(libc::SO_SNDBUF))
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

/// True if the read end of this pipe is closed, so that nothing can be read from it any more.
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
