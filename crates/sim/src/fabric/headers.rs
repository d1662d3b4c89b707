//! What ports do to the header of the packets they pass on: two hooks around any order of service.
//!
//! Mittal, Agarwal, Ratnasamy, Shenker, "Universal Packet Scheduling", NSDI 2016, §5: least slack time first is a
//! push-in first-out queue between an ingress stage, which turns the slack in the header into a priority that
//! does not change while the packet waits, and an egress stage, which turns it back into what slack is left when
//! transmission begins. Network-wide EDF and the omniscient timetable fit the same two stages. While a packet
//! waits at a switch port [`thalweg_machines::Packet::rank`] holds the priority, everywhere else the header.

use crate::cx::Cx;
use crate::events::Events;
use crate::fabric::Fabric;
use crate::paths::travels_forward;
use crate::port::flying::{Flying, Load};
use crate::spec::HopRule;
use thalweg_machines::stage::View;
use thalweg_machines::{Handle, Kind, NO_SIDE};
use thalweg_units::{PortId, Span, Time};

impl Fabric {
    /// Ingress stage: a packet is about to join the queue of a port.
    pub(crate) fn note_arrival<Q: Events>(&mut self, cx: &mut Cx<Q>, id: PortId, handle: Handle) {
        if self.ports[id.at()].place.from_host {
            return;
        }
        self.write_priority(cx, handle);
        if let Some(journal) = &mut cx.instruments.journal {
            journal.arrive(handle, cx.now);
        }
    }

    /// Egress stage: a packet begins its transmission at `at`, or, where transmissions are interrupted, would have
    /// begun it then had it not been.
    pub(crate) fn note_departure<Q: Events>(&mut self, cx: &mut Cx<Q>, id: PortId, handle: Handle, at: Time) {
        if self.ports[id.at()].place.from_host {
            return self.enter(cx, handle, at);
        }
        let packet = &self.packets[handle];
        let rank = match cx.spec.hop_rule {
            HopRule::Slack => packet.rank.saturating_sub(at.ps() as i64),
            HopRule::Deadline => packet
                .rank
                .saturating_add(self.paths.time_to_exit(&self.ports, packet.route, packet.wire).ps() as i64),
            HopRule::Timetable | HopRule::Plain => packet.rank,
        };
        self.packets[handle].rank = rank;
        if let Some(journal) = &mut cx.instruments.journal {
            journal.depart(handle, at);
        }
    }

    /// The transmission of a packet that waits no longer begins: what a switch port writes into it. (Into data with room for
    /// it; an ACK carries what the data saw.)
    #[inline]
    pub(crate) fn write_headers(&mut self, id: PortId, flying: Flying, at: Time) {
        let port = &self.ports[id.at()];
        if port.place.from_host || flying.load != Load::Data {
            return;
        }
        let packet = &mut self.packets[flying.handle];
        if packet.side == NO_SIDE {
            return;
        }
        let view = View {
            packets: port.waiting.packets,
            bytes: port.waiting.bytes,
            wire: flying.wire,
            rate: port.serializer.rate(),
            sent: port.sent.bytes,
            idle_for: Span::ZERO,
            waited: Span::ZERO,
        };
        let side = &mut self.sides[Handle(packet.side)];
        self.stages.write(id, at, &view, packet, side);
    }

    /// Both stages of a port whose departures are known on arrival.
    pub(crate) fn note_booked<Q: Events>(
        &mut self,
        cx: &mut Cx<Q>,
        id: PortId,
        handle: Handle,
        begins: Time,
    ) {
        if self.ports[id.at()].place.from_host {
            return self.enter(cx, handle, begins);
        }
        if cx.spec.hop_rule == HopRule::Slack {
            let packet = &mut self.packets[handle];
            packet.rank = packet.rank.saturating_sub((begins - cx.now).ps() as i64);
        }
        if let Some(timetables) = &mut self.stages.timetables {
            timetables.pass(handle);
        }
        if let Some(journal) = &mut cx.instruments.journal {
            journal.arrive(handle, cx.now);
            journal.depart(handle, begins);
        }
    }

    fn write_priority<Q: Events>(&mut self, cx: &mut Cx<Q>, handle: Handle) {
        let packet = &self.packets[handle];
        self.packets[handle].rank = match cx.spec.hop_rule {
            HopRule::Plain => packet.rank,
            HopRule::Slack => packet.rank.saturating_add(cx.now.ps() as i64),
            HopRule::Deadline => packet
                .rank
                .saturating_sub(self.paths.time_to_exit(&self.ports, packet.route, packet.wire).ps() as i64),
            HopRule::Timetable => self.stages.timetables.as_mut().map_or(packet.rank, |t| t.next(handle)),
        };
    }

    /// A host's NIC begins to transmit a packet: it enters the network, and the header is written.
    fn enter<Q: Events>(&mut self, cx: &mut Cx<Q>, handle: Handle, begins: Time) {
        if let Some(slack) = &cx.spec.slack {
            let packet = &self.packets[handle];
            let flow = &cx.spec.flows[packet.flow.at()];
            let slot = self.paths.slot(packet.flow) as usize;
            let clock = self.stages.clock(slot, !travels_forward(packet.kind));
            let initial = slack.initial(clock, flow.group, flow.size, packet, begins);
            let packet = &mut self.packets[handle];
            packet.rank = initial;
            if packet.kind == Kind::Data {
                packet.echo = initial as u64;
            }
        }
        if let Some(journal) = &mut cx.instruments.journal {
            journal.enter(handle, begins);
        }
    }
}
