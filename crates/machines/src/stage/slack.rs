//! Slack in the header (Mittal et al., "Universal Packet Scheduling", NSDI 2016, §5): on arrival slack + now, which
//! keeps its order while packets wait; as transmission begins − now, so that what was waited is gone. The initial slack
//! is set in [`crate::slack`].

use super::carried::Carry;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};
use thalweg_wire::{Handle, Meaning, Packet};

/// It remembers nothing.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Slack;

impl Slack {
    pub(super) fn new(_longest_path: usize) -> Self {
        Self
    }
}

impl Carry for Slack {
    #[inline]
    fn on_arrival(&mut self, now: Time, packet: &mut Packet, _: Handle, _: impl FnOnce() -> Span) {
        let slack = packet.carried(Meaning::Slack);
        packet.carry(Meaning::Key, slack.saturating_add(now.ps() as i64));
    }
    #[inline]
    fn on_departure(&mut self, now: Time, packet: &mut Packet, _: impl FnOnce() -> Span) {
        let key = packet.carried(Meaning::Key);
        packet.carry(Meaning::Slack, key.saturating_sub(now.ps() as i64));
    }
    #[inline]
    fn on_booking(&mut self, now: Time, begins: Time, packet: &mut Packet, _: Handle) {
        let slack = packet.carried(Meaning::Slack);
        packet.carry(Meaning::Slack, slack.saturating_sub((begins - now).ps() as i64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_with_a_slack_of_ten_that_waits_for_three_has_seven_left() {
        let (mut stage, mut packet) = (Slack, Packet::default());
        packet.carry(Meaning::Slack, 10);
        let unasked = || -> Span { panic!("slack does not ask how far it is") };
        stage.on_arrival(Time::from_ps(100), &mut packet, Handle(0), unasked);
        assert_eq!(packet.rank, 110, "the key that queues sort by");
        stage.on_departure(Time::from_ps(103), &mut packet, unasked);
        assert_eq!(packet.carried(Meaning::Slack), 7);
        stage.on_booking(Time::from_ps(200), Time::from_ps(209), &mut packet, Handle(0));
        assert_eq!(packet.carried(Meaning::Slack), -2);
    }

    /// What a sender wrote is taken for slack; what another port left behind is not.
    #[test]
    #[should_panic(expected = "Key")]
    #[cfg(debug_assertions)]
    fn a_key_is_not_taken_for_slack() {
        let mut packet = Packet { rank: 5, ..Packet::default() };
        assert_eq!(packet.carried(Meaning::Slack), 5);
        Slack.on_arrival(Time::ZERO, &mut packet, Handle(0), || Span::ZERO);
        Slack.on_arrival(Time::ZERO, &mut packet, Handle(0), || Span::ZERO);
    }
}
