//! A gate at which threads wait for each other: those that come early look on for a while, then sleep.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// How often a thread looks before it sleeps: some tens of microseconds, which is what windows differ by.
const LOOKS: u32 = 10_000;

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
            // In one order with the other side's: it is seen asleep, or sees the gate open.
            self.opened.store(before.wrapping_add(1), Ordering::SeqCst);
            if self.asleep.load(Ordering::SeqCst) > 0 {
                drop(self.bed.lock().unwrap_or_else(PoisonError::into_inner));
                self.bell.notify_all();
            }
            return;
        }
        let is_open = |order| self.opened.load(order) != before;
        for _ in 0..LOOKS {
            if is_open(Ordering::Acquire) {
                return;
            }
            spin_loop();
        }
        let mut bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while !is_open(Ordering::SeqCst) {
            bed = self.bell.wait(bed).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Threads count rounds; none is ahead or behind, whether it looks on or sleeps.
    #[test]
    fn no_thread_passes_before_all_have_come() {
        for slow in [false, true] {
            let (gate, rounds) = (Gate::new(3), if slow { 20 } else { 2000 });
            let counts = [const { AtomicUsize::new(0) }; 3];
            std::thread::scope(|scope| {
                for me in 0..3 {
                    let (gate, counts) = (&gate, &counts);
                    scope.spawn(move || {
                        for round in 1..=rounds {
                            if slow && round % 3 == me {
                                std::thread::sleep(Duration::from_millis(2));
                            }
                            counts[me].fetch_add(1, Ordering::Relaxed);
                            gate.pass();
                            assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == round));
                            gate.pass();
                        }
                    });
                }
            });
        }
    }
}
