//! The hosts of a part: it has both ends of every flow of which it has seen a packet.

use super::Hosts;
use super::ends::{Receiving, Sending};

impl Hosts {
    /// From now on slots are freed at the barrier, not when a flow's last packet leaves this part.
    pub fn keep_slots(&mut self) {
        self.keeps = true;
    }

    /// Takes the decisions recorded in another part by controllers of flows that are over.
    pub fn take_logs_of(&mut self, other: &mut Self) {
        self.logs.append(&mut other.logs);
    }

    /// Takes the ends of all active flows, by slot.
    pub fn take_ends(&mut self) -> (Vec<Sending>, Vec<Receiving>) {
        (std::mem::take(&mut self.sending), std::mem::take(&mut self.receiving))
    }

    /// Sets the ends of the next slot.
    pub fn put_ends(&mut self, sending: Sending, receiving: Receiving) {
        self.sending.push(sending);
        self.receiving.push(receiving);
    }
}
