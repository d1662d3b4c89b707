//! The barrier with real threads. Every interleaving is explored in `crates/sim/tests/all/barrier.rs`.

use super::barrier::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Threads count rounds; none is ahead or behind, whether it spins or sleeps.
#[test]
fn no_thread_passes_before_all_have_come() {
    for slow in [false, true] {
        let (barrier, rounds) = (Barrier::new(3), if slow { 20 } else { 2000 });
        let counts = [const { AtomicUsize::new(0) }; 3];
        std::thread::scope(|scope| {
            for me in 0..3 {
                let (barrier, counts) = (&barrier, &counts);
                scope.spawn(move || {
                    for round in 1..=rounds {
                        if slow && round % 3 == me {
                            std::thread::sleep(Duration::from_millis(2));
                        }
                        counts[me].fetch_add(1, Ordering::Relaxed);
                        barrier.wait();
                        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == round));
                        barrier.wait();
                    }
                });
            }
        });
    }
}
