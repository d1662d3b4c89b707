//! AF_XDP in copy mode (kernel documentation, networking/af_xdp.rst): a program of six instructions takes frames off
//! the device before the network stack sees them, and both directions use rings in shared memory.
//!
//! Needs CAP_BPF and CAP_NET_ADMIN on the machine, so it does not work in a user namespace. The program is attached by
//! a link that ends with its descriptor.

use super::{Received, Wire};
use crate::clock::Clock;
use crate::sys;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

/// Size of a frame's slot.
const CHUNK: usize = 2048;
/// Number of slots for receiving, and the same for sending.
const CHUNKS: u32 = 4096;
const MEMORY: usize = CHUNK * 2 * CHUNKS as usize;
/// Number of frames that the kernel sends per call.
const KICK: u32 = 32;

/// A device opened by AF_XDP.
pub struct Xdp {
    receive: Ring<libc::xdp_desc>,
    transmit: Ring<libc::xdp_desc>,
    fill: Ring<u64>,
    completed: Ring<u64>,
    free: Vec<u64>,
    memory: Mapping,
    socket: OwnedFd,
    _link: OwnedFd,
    _program: OwnedFd,
    _map: OwnedFd,
}

/// Memory shared with the kernel.
struct Mapping(*mut u8, usize);

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is a mapping that `map` made, and nothing refers to it any longer.
        unsafe { libc::munmap(self.0.cast(), self.1) };
    }
}

impl Mapping {
    /// Maps a socket's ring, or, without a socket, anonymous memory.
    fn new(length: usize, of: Option<(&OwnedFd, u64)>) -> io::Result<Self> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let (flags, fd, offset) = match of {
            Some((socket, offset)) => (libc::MAP_SHARED | libc::MAP_POPULATE, socket.as_raw_fd(), offset),
            None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE, -1, 0),
        };
        // SAFETY: a new mapping; the kernel picks the place.
        let at =
            unsafe { libc::mmap(std::ptr::null_mut(), length, rights, flags, fd, offset as libc::off_t) };
        if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Self(at.cast(), length)) }
    }
}

/// A ring between this process and the kernel.
struct Ring<T> {
    mapping: Mapping,
    offsets: libc::xdp_ring_offset,
    /// The position of this side: producer or consumer.
    ours: u32,
    _entries: std::marker::PhantomData<T>,
}

impl<T: Copy> Ring<T> {
    fn new(socket: &OwnedFd, page: u64, offsets: libc::xdp_ring_offset) -> io::Result<Self> {
        let length = offsets.desc as usize + CHUNKS as usize * size_of::<T>();
        let mapping = Mapping::new(length, Some((socket, page)))?;
        Ok(Self { mapping, offsets, ours: 0, _entries: std::marker::PhantomData })
    }

    fn word(&self, offset: u64) -> &AtomicU32 {
        // SAFETY: the word is in the mapping, aligned, and both sides access it atomically.
        unsafe { AtomicU32::from_ptr(self.mapping.0.add(offset as usize).cast()) }
    }

    fn entry(&self, at: u32) -> *mut T {
        let at = self.offsets.desc as usize + (at % CHUNKS) as usize * size_of::<T>();
        // SAFETY: the mapping holds CHUNKS entries behind that offset.
        unsafe { self.mapping.0.add(at).cast() }
    }

    /// Takes the next entry that the kernel has produced.
    fn take(&mut self) -> Option<T> {
        if self.word(self.offsets.producer).load(Ordering::Acquire) == self.ours {
            return None;
        }
        // SAFETY: an entry that was produced is ours until we say that it is consumed.
        let entry = unsafe { self.entry(self.ours).read() };
        self.ours = self.ours.wrapping_add(1);
        self.word(self.offsets.consumer).store(self.ours, Ordering::Release);
        Some(entry)
    }

    /// Entries that the kernel has not consumed.
    fn held(&self) -> u32 {
        self.ours.wrapping_sub(self.word(self.offsets.consumer).load(Ordering::Acquire))
    }

    /// Produces an entry. There is always room, because no ring is smaller than the number of its slots.
    fn put(&mut self, entry: T) {
        // SAFETY: an entry that the kernel has consumed is ours.
        unsafe { self.entry(self.ours).write(entry) };
        self.ours = self.ours.wrapping_add(1);
        self.word(self.offsets.producer).store(self.ours, Ordering::Release);
    }
}

fn set<T: Copy>(socket: &OwnedFd, name: i32, value: &T) -> io::Result<()> {
    sys::set_option(socket.as_fd(), libc::SOL_XDP, name, value)
}

/// bpf(2) with 32-bit words as arguments, followed by zeros.
fn bpf(command: u32, words: &[u32]) -> io::Result<OwnedFd> {
    let mut attributes = [0u32; 32];
    attributes[..words.len()].copy_from_slice(words);
    let (at, length) = (attributes.as_mut_ptr(), size_of::<[u32; 32]>());
    // SAFETY: the kernel reads `length` bytes of the attributes, and what they point to outlives the call.
    let fd = sys::check(unsafe { libc::syscall(libc::SYS_bpf, command, at, length) } as i32)?;
    // SAFETY: the kernel has just given us this descriptor; nothing else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A map of sockets by queue; one entry.
fn map() -> io::Result<OwnedFd> {
    const MAP_CREATE: u32 = 0;
    const XSKMAP: u32 = 17;
    bpf(MAP_CREATE, &[XSKMAP, 4, 4, 1])
}

fn split(address: *const u8) -> [u32; 2] {
    let address = address as u64;
    let halves = [address as u32, (address >> 32) as u32];
    if cfg!(target_endian = "big") { [halves[1], halves[0]] } else { halves }
}

/// `return bpf_redirect_map(&map, ctx->rx_queue_index, XDP_PASS)`.
fn program(map: &OwnedFd) -> io::Result<OwnedFd> {
    const PROG_LOAD: u32 = 5;
    const XDP: u32 = 6;
    // struct bpf_insn: code, registers (source high), offset, immediate; see the kernel's instruction-set.rst.
    let instruction = |code: u8, registers: u8, offset: u16, immediate: i32| {
        let mut bytes = [code, registers, 0, 0, 0, 0, 0, 0];
        bytes[2..4].copy_from_slice(&offset.to_ne_bytes());
        bytes[4..].copy_from_slice(&immediate.to_ne_bytes());
        u64::from_ne_bytes(bytes)
    };
    let instructions = [
        instruction(0x61, 0x12, 16, 0),              // r2 = *(u32 *)(r1 + 16)
        instruction(0x18, 0x11, 0, map.as_raw_fd()), // r1 = map, ..
        instruction(0, 0, 0, 0),                     // .. in two words
        instruction(0xb7, 0x03, 0, 2),               // r3 = XDP_PASS
        instruction(0x85, 0, 0, 51),                 // call bpf_redirect_map
        instruction(0x95, 0, 0, 0),                  // exit
    ];
    let [low, high] = split(instructions.as_ptr().cast());
    let [license_low, license_high] = split(c"MIT".as_ptr().cast());
    bpf(PROG_LOAD, &[XDP, instructions.len() as u32, low, high, license_low, license_high])
}

/// Attaches the program to the device as long as the link is open.
fn attach(program: &OwnedFd, device: u32) -> io::Result<OwnedFd> {
    const LINK_CREATE: u32 = 28;
    const BPF_XDP: u32 = 37;
    const IN_DRIVER: u32 = 1 << 2;
    bpf(LINK_CREATE, &[program.as_raw_fd() as u32, device, BPF_XDP, IN_DRIVER])
}

/// Sets the socket of queue 0 in the map.
fn point(map: &OwnedFd, socket: &OwnedFd) -> io::Result<()> {
    const UPDATE: u32 = 2;
    let (key, value) = (0u32, socket.as_raw_fd());
    let [key_low, key_high] = split((&raw const key).cast());
    let [value_low, value_high] = split((&raw const value).cast());
    let mut attributes = [0u32; 32];
    let words = [map.as_raw_fd() as u32, 0, key_low, key_high, value_low, value_high];
    attributes[..words.len()].copy_from_slice(&words);
    let (at, length) = (attributes.as_mut_ptr(), size_of::<[u32; 32]>());
    // SAFETY: the kernel reads `length` bytes of the attributes, and key and value outlive the call.
    sys::check(unsafe { libc::syscall(libc::SYS_bpf, UPDATE, at, length) } as i32).map(drop)
}

impl Xdp {
    /// Makes the kernel send the entries of the ring. It sends a limited number at a time; entries that it does not
    /// send now, because the receiver is slow, follow in the next round.
    fn kick(&mut self) {
        for _ in 0..self.transmit.held().div_ceil(KICK) {
            let none = std::ptr::null();
            // SAFETY: nothing is read: what is sent stands in the ring.
            unsafe { libc::sendto(self.socket.as_raw_fd(), none, 0, libc::MSG_DONTWAIT, none.cast(), 0) };
        }
    }
}

impl Wire for Xdp {
    const STAMPED: bool = false;

    fn open(device: &str) -> io::Result<Self> {
        let socket = sys::socket(libc::AF_XDP, libc::SOCK_RAW, 0)?;
        sys::set_send_buffer(socket.as_fd())?;
        let memory = Mapping::new(MEMORY, None)?;
        // SAFETY: valid as zeros.
        let mut umem: libc::xdp_umem_reg_v1 = unsafe { zeroed() };
        (umem.addr, umem.len, umem.chunk_size) = (memory.0 as u64, MEMORY as u64, CHUNK as u32);
        set(&socket, libc::XDP_UMEM_REG, &umem)?;
        // SAFETY: offsets are integers, valid as zeros.
        let offsets: libc::xdp_mmap_offsets = unsafe { zeroed() };
        for ring in
            [libc::XDP_UMEM_FILL_RING, libc::XDP_UMEM_COMPLETION_RING, libc::XDP_RX_RING, libc::XDP_TX_RING]
        {
            set(&socket, ring, &CHUNKS)?;
        }
        let at = sys::option(socket.as_fd(), libc::SOL_XDP, libc::XDP_MMAP_OFFSETS, offsets)?;
        let mut fill = Ring::new(&socket, libc::XDP_UMEM_PGOFF_FILL_RING, at.fr)?;
        let completed = Ring::new(&socket, libc::XDP_UMEM_PGOFF_COMPLETION_RING, at.cr)?;
        let receive = Ring::new(&socket, libc::XDP_PGOFF_RX_RING as u64, at.rx)?;
        let transmit = Ring::new(&socket, libc::XDP_PGOFF_TX_RING as u64, at.tx)?;
        (0..u64::from(CHUNKS)).for_each(|chunk| fill.put(chunk * CHUNK as u64));
        let free = (u64::from(CHUNKS)..2 * u64::from(CHUNKS)).map(|chunk| chunk * CHUNK as u64).collect();
        let index = sys::device(device)?;
        // SAFETY: an address of zeros is valid.
        let mut address: libc::sockaddr_xdp = unsafe { zeroed() };
        (address.sxdp_family, address.sxdp_flags) = (libc::AF_XDP as u16, libc::XDP_COPY);
        address.sxdp_ifindex = index;
        let (place, length) = ((&raw const address).cast(), size_of::<libc::sockaddr_xdp>() as u32);
        // SAFETY: the kernel reads `length` bytes of the address.
        sys::check(unsafe { libc::bind(socket.as_raw_fd(), place, length) })?;
        let map = map()?;
        point(&map, &socket)?;
        let program = program(&map)?;
        let link = attach(&program, index)?;
        Ok(Self {
            receive,
            transmit,
            fill,
            completed,
            free,
            memory,
            socket,
            _link: link,
            _program: program,
            _map: map,
        })
    }

    fn receive(&mut self, clock: &Clock, most: usize, mut each: impl FnMut(&Received<'_>)) -> usize {
        self.kick();
        let at = clock.now();
        for got in 0..most {
            let Some(frame) = self.receive.take() else { return got };
            let (from, length) = (frame.addr as usize, frame.len as usize);
            debug_assert!(from + length <= MEMORY);
            // SAFETY: the frame lies in a place that is ours until it is put back.
            let bytes = unsafe { std::slice::from_raw_parts(self.memory.0.add(from), length) };
            each(&Received { at, bytes, cut: false, unfinished: false });
            self.fill.put(frame.addr & !(CHUNK as u64 - 1));
        }
        most
    }

    fn send(&mut self, frames: &[&[u8]]) -> usize {
        while let Some(place) = self.completed.take() {
            self.free.push(place);
        }
        let mut sent = 0;
        for frame in frames {
            let Some(place) = self.free.pop().filter(|_| frame.len() <= CHUNK) else { break };
            // SAFETY: the place is ours until it is handed over, and the frame fits.
            unsafe {
                std::ptr::copy_nonoverlapping(frame.as_ptr(), self.memory.0.add(place as usize), frame.len());
            }
            self.transmit.put(libc::xdp_desc { addr: place, len: frame.len() as u32, options: 0 });
            sent += 1;
        }
        self.kick();
        sent
    }

    fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    fn overrun(&mut self) -> u64 {
        // struct xdp_statistics: dropped, invalid (both ways), ring full, no place to receive into, nothing to send.
        let counted = sys::option(self.socket.as_fd(), libc::SOL_XDP, libc::XDP_STATISTICS, [0u64; 6]);
        counted.map_or(0, |[dropped, _, _, full, ..]| dropped + full)
    }
}
