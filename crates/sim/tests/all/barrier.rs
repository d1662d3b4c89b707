//! The barrier between windows under every order in which its threads may run, and see each other's writes (loom).

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// What the barrier waits with: a model.
mod sync {
    pub use loom::hint::spin_loop;
    pub use loom::sync::atomic::{AtomicUsize, Ordering, fence};
    pub use loom::sync::{Condvar, Mutex};
    /// One look, then sleep: both ways are taken.
    pub const LOOKS: u32 = 1;
}

/// The barrier itself, from the sources.
#[path = "../../src/parts/barrier.rs"]
mod source;

/// What one thread writes in a window the other reads in the next: loom finds a race if the barrier lets it, a thread
/// that is never woken, and a barrier that opens too early.
#[test]
fn windows_of_two_threads_never_overlap() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let shared = Arc::new((source::Barrier::new(2), UnsafeCell::new(0u32)));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let (barrier, cell) = &*other;
            barrier.wait();
            cell.with_mut(|cell| unsafe { *cell += 1 });
            barrier.wait();
        });
        let (barrier, cell) = &*shared;
        cell.with_mut(|cell| unsafe { *cell += 1 });
        barrier.wait();
        barrier.wait();
        assert_eq!(cell.with(|cell| unsafe { *cell }), 2);
        thread.join().unwrap();
    });
}
