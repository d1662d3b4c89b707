//! The Read WQE buffer (§4.4.2): Reads and Atomics that have arrived, by read_WQE_SN modulo its size, until everything
//! before them has arrived too.

use super::accept::Wanted;
use crate::wire::Serial;
use thalweg_machines::transport::rdma::Psn;

/// A waiting request.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Its packet's number.
    pub psn: Psn,
    /// What it wants.
    pub wanted: Wanted,
}

/// Waiting requests.
#[derive(Clone, Debug)]
pub struct ReadBuffer {
    slots: Vec<Option<Slot>>,
    /// read_WQE_SN of the next to be executed.
    next: Serial,
}

impl ReadBuffer {
    /// Room for `size`, a power of two: serial numbers wrap.
    pub fn new(size: u32) -> Self {
        Self { slots: vec![None; size as usize], next: Serial::new(0) }
    }
    fn at(&self, sn: Serial) -> usize {
        sn.value() as usize & (self.slots.len() - 1)
    }
    /// Keeps a request; false if its number is not one that the requester may use now.
    pub fn keep(&mut self, sn: Serial, slot: Slot) -> bool {
        let ahead = sn.minus(self.next);
        let at = self.at(sn);
        let free = (0..self.slots.len() as i32).contains(&ahead) && self.slots[at].is_none();
        if free {
            self.slots[at] = Some(slot);
        }
        free
    }
    /// The request whose turn it is.
    pub fn next(&self) -> Option<(Serial, Slot)> {
        self.slots[self.at(self.next)].map(|slot| (self.next, slot))
    }
    /// It has been executed.
    pub fn executed(&mut self) {
        self.forget();
        self.next = self.next.plus(1);
    }
    /// It counts as not arrived.
    pub fn forget(&mut self) {
        let at = self.at(self.next);
        self.slots[at] = None;
    }
}
