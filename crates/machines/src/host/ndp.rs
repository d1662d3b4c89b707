//! NDP's pull queue: from which flow a host pulls next (Handley et al., SIGCOMM 2017, §3.2). The ends of a flow are in
//! [`crate::transport::ndp`].
//!
//! Every packet and every header that comes to a destination adds a pull of its flow to the host's one queue; they
//! leave no faster than the packets that they call for fit the link to the host, from flow to flow in turn. When all
//! packets of a flow have arrived, its remaining pulls are discarded.
//!
//! ```text
//! CHOICE NDP §3.3: the pulls of a flow take its paths in turn. Other reading: in a random order, as data does.
//! CHOICE NDP §3.2: flows take turns. The paper also lets a receiver give priorities to senders; that is left out.
//! ```

use super::flows::FlowSlots;
use super::{Came, End, HostAgent};
use crate::transport::{NdpSpec, Transmit};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{FlowId, Rate, Span, Time};
use thalweg_wire::{Flags, Kind, Message, Packet, Side};

/// A flow that ends here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Incoming {
    /// Pulls that wait.
    waiting: u64,
    /// Pulls that have left.
    number: u64,
    /// Its bytes, once its last packet has come.
    size: Option<u64>,
}

/// A host's agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NdpAgent {
    spacing: Span,
    /// The next pull leaves no earlier.
    next: Time,
    incoming: FlowSlots<Incoming>,
    /// Slots of flows with pulls that wait, each once, the next one first.
    turns: VecDeque<u32>,
}

impl NdpAgent {
    /// Of a host to which packets come at this rate.
    pub(super) fn new(spec: &NdpSpec, arrival_rate: Rate) -> Self {
        let (incoming, turns) = (FlowSlots::new(), VecDeque::new());
        Self { spacing: spec.spacing(arrival_rate), next: Time::ZERO, incoming, turns }
    }
}

impl HostAgent for NdpAgent {
    type Spec = NdpSpec;

    fn on_over(&mut self, _: &NdpSpec, _: Time, flow: FlowId, end: End) {
        if end == End::Destination
            && let Some((slot, _)) = self.incoming.remove(flow)
        {
            self.turns.retain(|other| *other != slot);
        }
    }

    fn on_packet(&mut self, _: &NdpSpec, _: Time, came: Came<'_>) {
        let packet = came.packet;
        if packet.kind != Kind::Data {
            return;
        }
        let slot = self.incoming.slot(packet.flow);
        let slot = slot.unwrap_or_else(|| self.incoming.insert(packet.flow, Incoming::default()));
        let Some((_, flow)) = self.incoming.at(slot) else { return };
        if packet.flags.has(Flags::LAST) && !packet.is_trimmed() {
            flow.size = Some(packet.seq + u64::from(packet.payload));
        }
        if flow.size.is_some_and(|size| came.arrived >= size) {
            return;
        }
        flow.waiting += 1;
        if flow.waiting == 1 {
            self.turns.push_back(slot);
        }
    }

    fn on_timer(&mut self, _: &NdpSpec, _: Time) {}

    fn poll_transmit(&mut self, spec: &NdpSpec, now: Time, packet: &mut Packet, side: &mut Side) -> Transmit {
        if self.turns.is_empty() {
            return Transmit::Idle;
        }
        if now < self.next {
            return Transmit::At(self.next);
        }
        let Some(slot) = self.turns.pop_front() else { return Transmit::Idle };
        let Some((id, flow)) = self.incoming.at(slot) else { return Transmit::Idle };
        (flow.waiting, flow.number) = (flow.waiting - 1, flow.number + 1);
        if flow.waiting > 0 {
            self.turns.push_back(slot);
        }
        *packet = side.packet_of(Message::Pull { number: flow.number }, now, id, spec.control);
        packet.route =
            (u64::from(id.0).wrapping_add(flow.number) % u64::from(spec.paths.unwrap_or(1))) as u32;
        self.next = now.saturating_add(self.spacing);
        Transmit::Packet
    }

    fn timer(&self, _: &NdpSpec) -> Option<Time> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_wire::NO_SIDE;

    const US: fn(u64) -> Time = Time::from_us;

    /// Packets of 1000 B on a link of 8 Gb/s: a pull every microsecond.
    const SPEC: NdpSpec = NdpSpec {
        payload: 960,
        header: 40,
        control: 40,
        window: 4,
        pull_share: 1.0,
        retry: Span::from_ms(1),
        paths: Some(4),
    };

    fn agent() -> NdpAgent {
        NdpAgent::new(&SPEC, Rate::from_gbps(8))
    }
    fn comes(a: &mut NdpAgent, now: Time, flow: u32, packet: Packet, arrived: u64) {
        let packet = Packet { flow: FlowId(flow), side: NO_SIDE, ..packet };
        a.on_packet(&SPEC, now, Came { packet: &packet, side: None, end: End::Destination, arrived });
    }
    fn data(index: u64) -> Packet {
        Packet { seq: index * 960, payload: 960, wire: 1000, ..Packet::default() }
    }
    /// Pulls that leave up to an instant: (when, flow, number).
    fn pulls(a: &mut NdpAgent, from: Time, end: Time) -> Vec<(u64, u32, u64)> {
        let (mut all, mut now) = (vec![], from);
        let (mut packet, mut side) = (Packet::default(), Side::Empty);
        while now <= end {
            match a.poll_transmit(&SPEC, now, &mut packet, &mut side) {
                Transmit::Packet => {
                    let Some(&Message::Pull { number }) = side.message() else { panic!("a pull") };
                    assert_eq!((packet.kind, packet.wire), (Kind::Control, 40));
                    all.push((now.ps() / 1_000_000, packet.flow.0, number));
                }
                Transmit::At(at) => now = at,
                Transmit::Idle => break,
            }
        }
        all
    }

    #[test]
    fn the_first_pull_leaves_at_once_and_the_others_a_packet_time_apart_from_flow_to_flow_in_turn() {
        let mut a = agent();
        (0..3).for_each(|index| comes(&mut a, US(5), 1, data(index), 960 * (index + 1)));
        assert_eq!(pulls(&mut a, US(5), US(5)), [(5, 1, 1)]);
        let mut header = data(0);
        header.trim();
        (0..2).for_each(|_| comes(&mut a, US(5), 2, header, 0));
        assert_eq!(pulls(&mut a, US(5), US(20)), [(6, 1, 2), (7, 2, 1), (8, 1, 3), (9, 2, 2)]);
        comes(&mut a, US(30), 1, data(3), 3840);
        assert_eq!(pulls(&mut a, US(30), US(40)), [(30, 1, 4)], "no pull is saved up for");
    }

    #[test]
    fn pulls_call_for_the_share_of_the_link_that_they_are_given() {
        let spec = NdpSpec { pull_share: 0.5, ..SPEC };
        assert_eq!(NdpAgent::new(&spec, Rate::from_gbps(8)).spacing, Span::from_us(2));
    }

    #[test]
    fn a_flow_that_is_whole_is_pulled_from_no_more() {
        let mut a = agent();
        let last = Packet { flags: Flags::LAST, payload: 100, ..data(2) };
        (0..2).for_each(|index| comes(&mut a, US(0), 1, data(index), 960 * (index + 1)));
        comes(&mut a, US(0), 2, data(0), 960);
        assert_eq!(pulls(&mut a, US(0), US(0)), [(0, 1, 1)]);
        comes(&mut a, US(0), 1, last, 2020);
        a.on_over(&SPEC, US(0), FlowId(1), End::Destination);
        assert_eq!(pulls(&mut a, US(0), US(20)), [(1, 2, 1)]);
        // Its last packet is there, but not all of it.
        comes(&mut a, US(30), 3, last, 100);
        assert_eq!(pulls(&mut a, US(30), US(40)), [(30, 3, 1)]);
    }
}
