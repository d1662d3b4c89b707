//! What a queue keeps of a packet.

use serde::{Deserialize, Serialize};
use thalweg_wire::{Ecn, Handle, Packet};

/// A waiting packet, as far as a queue must know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Which.
    pub handle: Handle,
    /// Bytes on the wire.
    pub wire: u32,
    /// Its [`Packet::route`], with which the packet can be forwarded without looking into it.
    pub route: u32,
    /// Its ECN bits: as it came, and once it is served as it leaves.
    pub ecn: Ecn,
    /// See [`Packet::is_control`].
    pub control: bool,
}

impl Entry {
    /// What is kept of `packet`.
    #[inline]
    pub fn new(packet: &Packet, handle: Handle) -> Self {
        let Packet { wire, route, ecn, .. } = *packet;
        Self { handle, wire, route, ecn, control: packet.is_control() }
    }
}
