//! First come, first served; a packet that does not fit is dropped.

use super::{Entry, Order};
use crate::packet::{Handle, Packet};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::Time;

/// One ring.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Fifo {
    ring: VecDeque<Entry>,
}

impl Order for Fifo {
    #[inline]
    fn pushes_out(&self) -> bool {
        false
    }
    fn is_transparent(&self) -> bool {
        true
    }
    #[inline]
    fn push(&mut self, _now: Time, packet: &Packet, handle: Handle) {
        self.ring.push_back(Entry::new(packet, handle));
    }
    #[inline]
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        self.ring.pop_front()
    }
    fn shed(&mut self, _arriving: Handle) -> Option<Entry> {
        self.ring.pop_back()
    }
}
