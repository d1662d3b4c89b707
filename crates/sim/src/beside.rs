//! The place beside the queue of an ordered port: for one packet that the queue need not order.
//!
//! A packet that finds nothing waiting waits *alone*: if it leaves before another comes, no order of service would have
//! made a difference, and the queue need not see it. Another one that comes makes it join, as of its own arrival. A packet
//! that will go first whatever comes (an ACK where control precedes data) waits *ahead*: the queue counts it, and orders
//! the others.

use crate::port::{Flying, Port};
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// Who waits beside the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Beside {
    /// All that waits is in the queue.
    Nobody,
    /// A packet that found nothing waiting; the queue does not know of it.
    Alone,
    /// A packet that goes first whatever comes; the queue only counts it.
    Ahead,
}

impl Port {
    /// How long packets may be that wait alone.
    pub fn let_wait_alone(&mut self, up_to: u64) {
        self.limit_bytes = up_to;
    }

    /// Nothing waits, and the queue need not see a packet of `wire` bytes that finds it so.
    #[inline(always)]
    pub fn lets_wait_alone(&self, wire: u32) -> bool {
        self.waiting == 0 && u64::from(wire) <= self.limit_bytes
    }

    /// A packet finds nothing waiting.
    #[inline(always)]
    pub fn wait_alone(&mut self, now: Time, flying: Flying) {
        self.beside = Beside::Alone;
        self.aside = flying;
        self.changed = now;
        self.waiting = 1;
        self.waiting_bytes = u64::from(flying.wire);
        self.note_queue(self.waiting_bytes);
    }

    /// The place beside the queue is free, and nobody looks at what waits in between.
    #[inline(always)]
    pub fn lets_wait_ahead(&self) -> bool {
        self.beside == Beside::Nobody && !self.eager && !self.gated
    }

    /// A packet goes before all that waits.
    #[inline(always)]
    pub fn wait_ahead(&mut self, now: Time, flying: Flying) {
        debug_assert_eq!(self.beside, Beside::Nobody);
        self.beside = Beside::Ahead;
        self.aside = flying;
        self.now_waiting(now, self.waiting + 1, self.waiting_bytes + u64::from(flying.wire));
        self.note_queue(self.waiting_bytes);
    }

    /// Whether a packet waits beside the queue, and why.
    #[inline(always)]
    pub fn beside(&self) -> Beside {
        self.beside
    }

    /// The packet that has waited alone; it joins the queue.
    #[inline(always)]
    pub fn end_solitude(&mut self) -> Flying {
        debug_assert_eq!(self.beside, Beside::Alone);
        self.beside = Beside::Nobody;
        self.aside
    }

    /// The packet that waits beside the queue leaves at `at`.
    #[inline(always)]
    pub fn leave_side(&mut self, at: Time) -> Flying {
        self.beside = Beside::Nobody;
        self.now_waiting(at, self.waiting - 1, self.waiting_bytes - u64::from(self.aside.wire));
        self.aside
    }

    /// Since when its queue has had its length.
    #[inline(always)]
    pub fn unchanged_since(&self) -> Time {
        self.changed
    }
}
