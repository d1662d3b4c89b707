//! Decisions in memory shared with the kernel: `struct decision` of `datapath.bpf.c`, one slot for each connection.
//!
//! The only unsafe code of this crate. The array is mapped as long as this value lives, and is accessed by atomic
//! operations only, because the kernel may read at any time.
#![allow(unsafe_code)]

use super::Decision;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of slots of the datapath.
const SLOTS: usize = 4096;
/// Words of a slot: time, pace, window and threshold, connection.
const WORDS: usize = 4;
const LENGTH: usize = SLOTS * WORDS * 8;

/// The kernel's array of decisions.
pub(super) struct Decisions {
    words: *const AtomicU64,
}

// SAFETY: the pointer is to shared memory that is accessed by atomic operations only, whatever thread does it.
unsafe impl Send for Decisions {}

impl Decisions {
    /// Maps the array behind a file descriptor, which must be a BPF array of that size made with BPF_F_MMAPABLE: of
    /// anything else the kernel refuses the mapping, or the length.
    pub(super) fn map(array: impl AsFd) -> io::Result<Self> {
        let (protection, shared) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a fresh mapping at an address of the kernel's choice aliases nothing of ours.
        let memory = unsafe { mmap(std::ptr::null_mut(), LENGTH, protection, shared, array, 0) }?;
        Ok(Self { words: memory.cast() })
    }

    fn word(&self, connection: u32, word: usize) -> &AtomicU64 {
        let at = connection as usize % SLOTS * WORDS + word;
        // SAFETY: `at` is less than SLOTS × WORDS, all of which are mapped and aligned while `self` lives.
        unsafe { &*self.words.add(at) }
    }

    /// Writes the decision for a connection. The kernel follows it from the next ACK on.
    pub(super) fn write(&self, connection: u32, decision: &Decision) {
        let windows = u64::from(decision.cwnd) | u64::from(decision.threshold) << 32;
        self.word(connection, 3).store(u64::from(connection), Ordering::Relaxed);
        self.word(connection, 1).store(decision.pace, Ordering::Relaxed);
        self.word(connection, 2).store(windows, Ordering::Relaxed);
        // The time is written last, because it makes the decision valid.
        self.word(connection, 0).store(decision.time_ns, Ordering::Release);
    }
}

impl Drop for Decisions {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with that length, and nothing borrows from it any more.
        let _ = unsafe { munmap(self.words.cast_mut().cast(), LENGTH) };
    }
}
