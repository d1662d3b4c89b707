//! A barrier between windows: threads that arrive early spin for a while, then sleep.

use super::sync::{AtomicUsize, Condvar, LOOKS, Mutex, Ordering, fence, spin_loop};
use std::sync::PoisonError;

/// A reusable barrier: it opens when all threads have arrived, and closes again.
#[derive(Debug)]
pub(super) struct Barrier {
    threads: usize,
    /// Threads that have arrived since it opened last.
    waiting: AtomicUsize,
    /// Number of times that it has opened.
    opened: AtomicUsize,
    /// Threads that wait on `wakeup`.
    asleep: AtomicUsize,
    sleepers: Mutex<()>,
    wakeup: Condvar,
}

impl Barrier {
    /// A barrier for `threads` threads.
    pub fn new(threads: usize) -> Self {
        Self {
            threads,
            waiting: AtomicUsize::new(0),
            opened: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            sleepers: Mutex::new(()),
            wakeup: Condvar::new(),
        }
    }

    /// Waits for all other threads. What any thread has written before is visible to all afterwards.
    pub fn wait(&self) {
        let before = self.opened.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.waiting.store(0, Ordering::Relaxed);
            self.opened.store(before.wrapping_add(1), Ordering::Release);
            // Pairs with the fence of a thread that falls asleep: either it is counted in `asleep` here, or it sees
            // the barrier open.
            fence(Ordering::SeqCst);
            if self.asleep.load(Ordering::Relaxed) > 0 {
                drop(self.sleepers.lock().unwrap_or_else(PoisonError::into_inner));
                self.wakeup.notify_all();
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
        let mut sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        self.asleep.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while !is_open() {
            sleepers = self.wakeup.wait(sleepers).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::Relaxed);
    }
}
