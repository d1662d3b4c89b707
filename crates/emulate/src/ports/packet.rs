//! AF_PACKET (packet(7)): a ring of received frames in shared memory (TPACKET_V2), and `sendmmsg` to send.
//!
//! There is no ring for sending, because the kernel lends its frames to the receiver, whose TCP releases them (by
//! `skb_orphan`) before the application has read them. The application would then read the next frame in that slot.

use super::{Received, Wire};
use crate::clock::Clock;
use crate::sys;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

/// Size of a slot of the ring, including its header.
const SLOT: usize = 2048;
const BLOCK: usize = 1 << 16;
const BLOCKS: usize = 256;
const SLOTS: usize = BLOCK / SLOT * BLOCKS;
/// Largest number of frames that one call sends.
const BATCH: usize = 64;

const TPACKET_V2: i32 = 1;

/// A device opened by AF_PACKET.
pub struct Packet {
    socket: OwnedFd,
    ring: Ring,
    next: usize,
    scratch: Vec<u8>,
}

/// The received frames, shared with the kernel.
struct Ring(*mut u8);

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `map` made, and nothing refers to it any longer.
        unsafe { libc::munmap(self.0.cast(), SLOTS * SLOT) };
    }
}

impl Ring {
    fn map(socket: &OwnedFd) -> io::Result<Self> {
        let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a new mapping of the ring's size; the kernel picks the place.
        let at =
            unsafe { libc::mmap(std::ptr::null_mut(), SLOTS * SLOT, rights, flags, socket.as_raw_fd(), 0) };
        if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Self(at.cast())) }
    }

    fn header(&self, slot: usize) -> *mut libc::tpacket2_hdr {
        debug_assert!(slot < SLOTS);
        // SAFETY: slots are below the mapping's size, and aligned far more strictly than the header.
        unsafe { self.0.add(slot * SLOT).cast() }
    }

    /// The owner of a slot.
    fn status(&self, slot: usize) -> &AtomicU32 {
        // SAFETY: the word is in the mapping, aligned, and kernel and program access it atomically only.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.header(slot)).tp_status) }
    }
}

fn set<T: Copy>(socket: &OwnedFd, name: i32, value: &T) -> io::Result<()> {
    sys::set_option(socket.as_fd(), libc::SOL_PACKET, name, value)
}

impl Wire for Packet {
    const STAMPED: bool = true;

    fn open(device: &str) -> io::Result<Self> {
        // Protocol 0: nothing is received before the ring exists.
        let socket = sys::socket(libc::AF_PACKET, libc::SOCK_RAW, 0)?;
        set(&socket, libc::PACKET_VERSION, &TPACKET_V2)?;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK as u32,
            tp_block_nr: BLOCKS as u32,
            tp_frame_size: SLOT as u32,
            tp_frame_nr: SLOTS as u32,
        };
        set(&socket, libc::PACKET_RX_RING, &request)?;
        set(&socket, PACKET_IGNORE_OUTGOING, &1i32)?;
        set(&socket, libc::PACKET_QDISC_BYPASS, &1i32)?;
        sys::set_send_buffer(socket.as_fd())?;
        let ring = Ring::map(&socket)?;
        // SAFETY: an address of zeros is valid.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = sys::device(device)? as i32;
        let (at, length) = ((&raw const address).cast(), size_of::<libc::sockaddr_ll>() as u32);
        // SAFETY: the kernel reads `length` bytes of `address`.
        sys::check(unsafe { libc::bind(socket.as_raw_fd(), at, length) })?;
        Ok(Self { socket, ring, next: 0, scratch: Vec::with_capacity(SLOT) })
    }

    fn receive(&mut self, clock: &Clock, most: usize, mut each: impl FnMut(&Received<'_>)) -> usize {
        let wall = clock.wall();
        for got in 0..most {
            let status = self.ring.status(self.next);
            let flags = status.load(Ordering::Acquire);
            if flags & libc::TP_STATUS_USER == 0 {
                return got;
            }
            let header = self.ring.header(self.next);
            // SAFETY: the slot is ours until its status is set; the kernel has written the header.
            let header = unsafe { header.read() };
            let from = usize::from(header.tp_mac).min(SLOT);
            let length = (header.tp_snaplen as usize).min(SLOT - from);
            // SAFETY: the frame lies within its slot, which the kernel does not write to while it is ours.
            let bytes =
                unsafe { std::slice::from_raw_parts(self.ring.0.add(self.next * SLOT + from), length) };
            let stamp = u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec);
            let mut received = Received {
                at: wall.time(stamp),
                bytes,
                cut: header.tp_len > header.tp_snaplen,
                unfinished: flags & libc::TP_STATUS_CSUMNOTREADY != 0,
            };
            if flags & libc::TP_STATUS_VLAN_VALID != 0 && length >= 12 {
                // The kernel has removed the VLAN tag.
                self.scratch.clear();
                self.scratch.extend(&bytes[..12]);
                let tpid =
                    if flags & libc::TP_STATUS_VLAN_TPID_VALID != 0 { header.tp_vlan_tpid } else { 0x8100 };
                self.scratch.extend(tpid.to_be_bytes());
                self.scratch.extend(header.tp_vlan_tci.to_be_bytes());
                self.scratch.extend(&bytes[12..]);
                received.bytes = &self.scratch;
            }
            each(&received);
            status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % SLOTS;
        }
        most
    }

    fn send(&mut self, frames: &[&[u8]]) -> usize {
        let mut sent = 0;
        for batch in frames.chunks(BATCH) {
            // SAFETY: both are valid as zeros.
            let (mut pieces, mut messages): ([libc::iovec; BATCH], [libc::mmsghdr; BATCH]) =
                unsafe { (zeroed(), zeroed()) };
            for ((frame, piece), message) in batch.iter().zip(&mut pieces).zip(&mut messages) {
                // The kernel only reads what it sends.
                *piece = libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() };
                message.msg_hdr.msg_iov = piece;
                message.msg_hdr.msg_iovlen = 1;
            }
            let (at, count) = (messages.as_mut_ptr(), batch.len() as u32);
            // SAFETY: `count` messages point to pieces, and these to frames, that outlive the call.
            let answer = unsafe { libc::sendmmsg(self.socket.as_raw_fd(), at, count, libc::MSG_DONTWAIT) };
            sent += answer.max(0) as usize;
            if answer < count as i32 {
                break;
            }
        }
        sent
    }

    fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    fn overrun(&mut self) -> u64 {
        // struct tpacket_stats: packets, drops; reading resets them.
        sys::option(self.socket.as_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS, [0u32; 2])
            .map_or(0, |[_, drops]| u64::from(drops))
    }
}

const PACKET_IGNORE_OUTGOING: i32 = 23;
