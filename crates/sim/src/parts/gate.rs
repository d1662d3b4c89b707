//! A gate at which threads wait for each other: those that come early look on for a while, then sleep.

use super::sync::{AtomicUsize, Condvar, LOOKS, Mutex, Ordering, fence, spin_loop};
use std::sync::PoisonError;

/// It opens when all have come, and is then closed again.
#[derive(Debug)]
pub(super) struct Gate {
    threads: usize,
    waiting: AtomicUsize,
    /// How often it has opened.
    opened: AtomicUsize,
    asleep: AtomicUsize,
    bed: Mutex<()>,
    bell: Condvar,
}

impl Gate {
    /// For so many threads.
    pub fn new(threads: usize) -> Self {
        Self {
            threads,
            waiting: AtomicUsize::new(0),
            opened: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            bed: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    /// Waits for all others. What any has done before is seen by all afterwards.
    pub fn pass(&self) {
        let before = self.opened.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.waiting.store(0, Ordering::Relaxed);
            self.opened.store(before.wrapping_add(1), Ordering::Release);
            // In one order with the other side's: it is seen asleep, or sees the gate open.
            fence(Ordering::SeqCst);
            if self.asleep.load(Ordering::Relaxed) > 0 {
                drop(self.bed.lock().unwrap_or_else(PoisonError::into_inner));
                self.bell.notify_all();
            }
            return;
        }
        let is_open = || self.opened.load(Ordering::Acquire) != before;
        for _ in 0..LOOKS {
            if is_open() {
                return;
            }
            spin_loop();
        }
        let mut bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        self.asleep.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while !is_open() {
            bed = self.bell.wait(bed).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::Relaxed);
    }
}
