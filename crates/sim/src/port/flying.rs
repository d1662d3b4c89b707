//! Entries of a wire: packets, and frames between neighbours.

use serde::{Deserialize, Serialize};
use thalweg_machines::schedule::Entry;
use thalweg_units::Time;
use thalweg_wire::{Handle, Packet};

/// What an entry of a wire is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Load {
    /// A packet of data.
    Data,
    /// A control packet ([`Packet::is_control`]).
    Control,
    /// A pause frame: [`Flying::handle`] is its slot among the frames ([`crate::fabric`], gates).
    Frame,
}

/// Something on the wire, or (express) booked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flying {
    /// Which packet, or which frame.
    pub handle: Handle,
    /// Its bytes on the wire.
    pub wire: u32,
    /// When it reaches the far end.
    pub arrive: Time,
    /// Its [`Packet::route`] at the far end: copied, so that a hop need not touch the packet.
    pub route: u32,
    /// What it is: copied for the same reason.
    pub load: Load,
}

const _: () = assert!(size_of::<Flying>() == 24);

impl Flying {
    /// An unused entry.
    pub const EMPTY: Flying =
        Flying { handle: Handle::NONE, wire: 0, arrive: Time::MAX, route: 0, load: Load::Data };

    /// A packet that is not on the wire yet.
    #[inline(always)]
    pub fn new(handle: Handle, packet: &Packet) -> Self {
        let Packet { wire, route, .. } = *packet;
        Self { handle, wire, route, load: Load::of(packet.is_control()), arrive: Time::MAX }
    }

    /// A frame that is not on the wire yet.
    pub fn of_frame(handle: Handle, wire: u32) -> Self {
        Self { handle, wire, load: Load::Frame, ..Self::EMPTY }
    }

    /// Whether it is a frame.
    #[inline(always)]
    pub fn is_frame(&self) -> bool {
        self.load == Load::Frame
    }
}

impl Load {
    #[inline(always)]
    fn of(control: bool) -> Self {
        if control { Self::Control } else { Self::Data }
    }
}

impl From<Entry> for Flying {
    #[inline(always)]
    fn from(Entry { handle, wire, route, control, .. }: Entry) -> Self {
        Self { handle, wire, route, load: Load::of(control), arrive: Time::MAX }
    }
}
