//! The bypass slot of an on-demand port: a place for one packet that the queue need not order.
//!
//! A packet that finds nothing waiting takes it (*single*): if it leaves before another comes, no order of
//! service would have made a difference, and the queue need not see it. When another comes, the slot is
//! spilled: the packet joins the queue, as of its own arrival. A packet that will go first whatever comes
//! (*control*: an ACK where control precedes data) takes it, too: the queue counts it, and orders the others.

use crate::port::flying::Flying;
use crate::port::{Bypass, Port};
use thalweg_units::Time;

impl Port {
    /// How long packets may be that take the slot because nothing else waits.
    pub fn set_bypass_limit(&mut self, up_to: u64) {
        self.room.bytes = up_to;
    }

    /// See [`Port::set_bypass_limit`].
    pub fn bypass_limit(&self) -> u64 {
        self.room.bytes
    }

    /// Nothing waits, and the queue need not see a packet of `wire` bytes that finds it so.
    #[inline(always)]
    pub fn may_bypass_single(&self, wire: u32) -> bool {
        self.waiting.packets == 0 && u64::from(wire) <= self.room.bytes
    }

    /// A packet finds nothing waiting.
    #[inline(always)]
    pub fn bypass_single(&mut self, now: Time, flying: Flying) {
        self.state.bypass = Bypass::Single;
        self.slot = flying;
        self.waited.since = now;
        self.waiting.packets = 1;
        self.waiting.bytes = u64::from(flying.wire);
        self.note_queue(self.waiting.bytes);
    }

    /// The slot is free, and no other part looks at what waits in between.
    #[inline(always)]
    pub fn may_bypass_control(&self) -> bool {
        self.state.bypass == Bypass::Empty && !self.state.eager && !self.mode.gated
    }

    /// A packet goes before all that waits.
    #[inline(always)]
    pub fn bypass_control(&mut self, now: Time, flying: Flying) {
        debug_assert_eq!(self.state.bypass, Bypass::Empty);
        self.state.bypass = Bypass::Control;
        self.slot = flying;
        self.now_waiting(now, self.waiting.packets + 1, self.waiting.bytes + u64::from(flying.wire));
        self.note_queue(self.waiting.bytes);
    }

    /// What the slot holds.
    #[inline(always)]
    pub fn bypass(&self) -> Bypass {
        self.state.bypass
    }

    /// The packet that was the only one waiting, and since when; it joins the queue.
    #[inline(always)]
    pub fn spill(&mut self) -> (Flying, Time) {
        debug_assert_eq!(self.state.bypass, Bypass::Single);
        self.state.bypass = Bypass::Empty;
        (self.slot, self.waited.since)
    }

    /// The packet in the slot leaves at `at`.
    #[inline(always)]
    pub fn take_bypass(&mut self, at: Time) -> Flying {
        self.state.bypass = Bypass::Empty;
        self.now_waiting(at, self.waiting.packets - 1, self.waiting.bytes - u64::from(self.slot.wire));
        self.slot
    }
}
