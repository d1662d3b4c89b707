//! Reliability, apart from congestion control: a sender and a receiver machine per flow.
//!
//! Both are driven alike: [`Endpoint::on_packet`] and [`Endpoint::on_timer`] feed observations in,
//! [`Endpoint::poll_transmit`] hands packets out one by one until it says why it stops, and
//! [`Endpoint::timer`] names the next deadline (the owner re-arms lazily). The owner adds what only
//! the network knows: destination, route, entropy.

mod spec;

pub use spec::*;

use crate::packet::{Packet, Side};
use thalweg_units::Time;

/// The answer to "anything to send?".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transmit {
    /// The packet was filled in; ask again.
    Packet,
    /// Nothing until something arrives or a timer fires.
    Idle,
    /// Nothing before this instant: the pace does not allow it.
    At(Time),
}

/// One end of one flow.
pub trait Endpoint {
    /// A packet for this end has arrived; `side` holds its cold headers, if it carried any.
    fn on_packet(&mut self, now: Time, packet: &Packet, side: Option<&Side>);
    /// The instant named by [`Endpoint::timer`] has come (calls before it are ignored).
    fn on_timer(&mut self, now: Time);
    /// Fills in the next packet. To send cold headers, fill `side` and set `packet.side` to anything
    /// but [`NO_SIDE`](crate::NO_SIDE).
    fn poll_transmit(&mut self, now: Time, packet: &mut Packet, side: &mut Side) -> Transmit;
    /// The next instant at which [`Endpoint::on_timer`] must be called.
    fn timer(&self) -> Option<Time>;
    /// Sender: every byte is acknowledged. Receiver: every byte has arrived.
    fn is_done(&self) -> bool;
}
