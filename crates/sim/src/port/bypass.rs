//! The bypass slot of an on-demand port: a place for one packet that the queue need not order.
//!
//! A packet that finds nothing waiting takes the slot (*single*): if it leaves before another comes, the order of
//! service makes no difference, and the queue need not see it. When another packet comes, the slot is spilled: its
//! packet joins the queue, as of its own arrival. A packet that goes first whatever comes (*control*: an ACK where
//! control precedes data) may take the slot, too: the queue counts it, and orders only the others.

use crate::port::flying::Flying;
use crate::port::{Bypass, Port};
use thalweg_units::Time;

impl Port {
    /// Sets the largest size of packets that take the slot because nothing else waits.
    pub fn set_bypass_limit(&mut self, up_to: u64) {
        self.limits.bytes = up_to;
    }

    /// See [`Port::set_bypass_limit`].
    pub fn bypass_limit(&self) -> u64 {
        self.limits.bytes
    }

    /// Whether a packet of `wire` bytes may take the slot because nothing waits.
    #[inline(always)]
    pub fn may_bypass_single(&self, wire: u32) -> bool {
        self.waiting.packets == 0 && u64::from(wire) <= self.limits.bytes
    }

    /// Puts a packet that finds nothing waiting into the slot.
    #[inline(always)]
    pub fn bypass_single(&mut self, now: Time, flying: Flying) {
        self.state.bypass = Bypass::Single;
        self.slot = flying;
        self.waited.since = now;
        self.waiting.packets = 1;
        self.waiting.bytes = u64::from(flying.wire);
        self.note_queue(self.waiting.bytes);
    }

    /// Whether a control packet may take the slot: it is free, and nothing observes the queue in between.
    #[inline(always)]
    pub fn may_bypass_control(&self) -> bool {
        self.state.bypass == Bypass::Empty && !self.state.eager && !self.mode.gated
    }

    /// Puts a control packet, which precedes all that waits, into the slot.
    #[inline(always)]
    pub fn bypass_control(&mut self, now: Time, flying: Flying) {
        debug_assert_eq!(self.state.bypass, Bypass::Empty);
        self.state.bypass = Bypass::Control;
        self.slot = flying;
        self.set_waiting(now, self.waiting.packets + 1, self.waiting.bytes + u64::from(flying.wire));
        self.note_queue(self.waiting.bytes);
    }

    /// What the slot holds.
    #[inline(always)]
    pub fn bypass(&self) -> Bypass {
        self.state.bypass
    }

    /// Takes the packet that was the only one waiting out of the slot, to join the queue; also its arrival time.
    #[inline(always)]
    pub fn spill(&mut self) -> (Flying, Time) {
        debug_assert_eq!(self.state.bypass, Bypass::Single);
        self.state.bypass = Bypass::Empty;
        (self.slot, self.waited.since)
    }

    /// Takes the packet that leaves at `at` out of the slot.
    #[inline(always)]
    pub fn take_bypass(&mut self, at: Time) -> Flying {
        self.state.bypass = Bypass::Empty;
        self.set_waiting(at, self.waiting.packets - 1, self.waiting.bytes - u64::from(self.slot.wire));
        self.slot
    }
}
