//! Deadlines in the header: network-wide earliest deadline first (Mittal et al., "Universal Packet
//! Scheduling", NSDI 2016). The header holds o(p), when the packet should have left the network; a port goes
//! by when it should have left that port: o(p) less the least time from there to the exit.

use super::carried::Carry;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};
use thalweg_wire::{Handle, Meaning, Packet};

/// It remembers nothing.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Deadline;

impl Deadline {
    pub(super) fn new(_longest_path: usize) -> Self {
        Self
    }
}

impl Carry for Deadline {
    #[inline]
    fn on_arrival(&mut self, _: Time, packet: &mut Packet, _: Handle, to_exit: impl FnOnce() -> Span) {
        let deadline = packet.carried(Meaning::Deadline);
        packet.carry(Meaning::Key, deadline.saturating_sub(to_exit().ps() as i64));
    }
    #[inline]
    fn on_departure(&mut self, _: Time, packet: &mut Packet, to_exit: impl FnOnce() -> Span) {
        let key = packet.carried(Meaning::Key);
        packet.carry(Meaning::Deadline, key.saturating_add(to_exit().ps() as i64));
    }
    #[inline]
    fn on_booking(&mut self, _: Time, _: Time, _: &mut Packet, _: Handle) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_thirty_from_the_exit_goes_by_a_deadline_thirty_earlier_and_passes_it_on_unchanged() {
        let (mut stage, mut packet) = (Deadline, Packet::default());
        packet.carry(Meaning::Deadline, 1000);
        stage.on_arrival(Time::from_ps(400), &mut packet, Handle(0), || Span::from_ps(30));
        assert_eq!(packet.rank, 970);
        stage.on_departure(Time::from_ps(500), &mut packet, || Span::from_ps(30));
        assert_eq!(packet.carried(Meaning::Deadline), 1000);
    }
}
