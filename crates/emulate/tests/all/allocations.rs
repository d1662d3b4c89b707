//! Nothing is allocated per packet once a chain has seen as many packets as it holds.

use crate::common::{arrival, row, scenario};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use thalweg_emulate::chain::{Chain, Passed, Watch};
use thalweg_emulate::path::{Arrival, Decision};
use thalweg_units::{Span, Time};

/// The system's memory, with a count of what a thread takes of it.
struct Counting;

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that ends has no count any more.
    let _ = TAKEN.try_with(|taken| taken.set(taken.get() + 1));
}

// SAFETY: it is the system's, unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static MEMORY: Counting = Counting;

/// Frees labels, as the frames' memory does.
struct Labels(Vec<u32>);

impl Watch for Labels {
    fn arrival(&mut self, _: usize, _: &Arrival) {}
    fn decision(&mut self, _: usize, _: &Decision) {}
    fn over(&mut self, passed: &Passed) {
        self.0.push(passed.decision.label);
    }
}

#[test]
fn packets_on_a_chain_take_no_memory_of_their_own() {
    let way = row(&[&scenario("8Mbps", "5ms", ""), &scenario("5Mbps", "3ms", "")]);
    let (mut chain, mut labels) = (Chain::new(&way).unwrap(), Labels((0..2000).collect()));
    let mut at = Time::ZERO;
    let mut pass = |packets: u32| {
        for _ in 0..packets {
            // As many as the second port sends, in pairs.
            at += Span::from_us(3200);
            for flow in 0..2 {
                let label = labels.0.pop().unwrap();
                chain.arrive(&arrival(at, flow, 1000), 0, label, &mut labels);
            }
        }
        TAKEN.get()
    };
    let before = pass(2000);
    assert_eq!(pass(2000) - before, 0);
}
