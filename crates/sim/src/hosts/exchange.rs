//! Hosts in parts: each part has both ends of every flow of which it has seen a packet.

use super::Hosts;
use super::ends::{Receiving, Sending};

impl Hosts {
    /// From now on slots are taken back by who sees all parts, not as a flow's last packet leaves this one.
    pub fn keep_slots(&mut self) {
        self.keeps = true;
    }

    /// What controllers have recorded in another part of flows that are over.
    pub fn take_logs_of(&mut self, other: &mut Self) {
        self.logs.append(&mut other.logs);
    }

    /// The ends of all active flows, by slot: none is left.
    pub fn take_ends(&mut self) -> (Vec<Sending>, Vec<Receiving>) {
        (std::mem::take(&mut self.sending), std::mem::take(&mut self.receiving))
    }

    /// The ends of the next slot.
    pub fn put_ends(&mut self, sending: Sending, receiving: Receiving) {
        self.sending.push(sending);
        self.receiving.push(receiving);
    }
}
