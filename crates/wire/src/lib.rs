//! What travels, as data.
//!
//! A packet is one cache line of headers that every hop may touch ([`Packet`]); what few packets carry lies in a cold
//! header of its own ([`Side`]): selective acknowledgements, telemetry, explicit feedback, and what transports, host
//! agents and switches send to each other ([`Message`]), each with names and units. Frames ([`Frame`]) go between
//! neighbours, ahead of everything, and are no packets.
//!
//! Nothing here decides anything: who writes a field, and what follows from it, is in the machines.
#![forbid(unsafe_code)]

mod ecn;
mod explicit;
mod flags;
mod forecast;
mod frame;
mod hop;
mod message;
mod notice;
mod packet;
mod rank;
mod sack;
mod sets;
mod side;
mod signal;
mod telemetry;

pub use ecn::Ecn;
pub use explicit::{Explicit, ExplicitHeader, ExplicitKind, Load};
pub use flags::Flags;
pub use forecast::{Forecast, Reading};
pub use frame::Frame;
pub use hop::HopTag;
pub use message::{Message, Numbers64, PacketAck};
pub use notice::{Notice, NoticeBody, QueueReport, RoccLaw};
pub use packet::{Handle, Kind, NO_SIDE, Packet};
pub use rank::Meaning;
pub use sack::SackBlocks;
pub use sets::{Classes, QueueSet};
pub use side::Side;
pub use signal::Signal;
pub use telemetry::{IntHop, IntStack};
