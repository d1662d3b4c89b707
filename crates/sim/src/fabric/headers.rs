//! Where packets meet the stages around a port's queue: what they carry is turned into the key that the queue
//! sorts by, and back (Mittal, Agarwal, Ratnasamy, Shenker, "Universal Packet Scheduling", NSDI 2016, §5).
//! The stages themselves are machines ([`thalweg_machines::stage::Carry`]); here they are shown packet, clock
//! and path. Those who follow packets on their way look on at the same places.

use crate::cx::Cx;
use crate::fabric::Fabric;
use crate::paths::travels_forward;
use crate::port::flying::{Flying, Load};
use thalweg_machines::stage::{Carry, View};
use thalweg_units::{PortId, Span, Time};
use thalweg_wire::{Handle, Kind, Meaning, NO_SIDE};

impl Fabric {
    /// A packet is about to join the queue of a port.
    pub(crate) fn note_arrival(&mut self, cx: &mut Cx, id: PortId, handle: Handle) {
        if self.ports[id.at()].place.from_host {
            return;
        }
        let Self { packets, stages, paths, ports, .. } = self;
        let packet = &mut packets[handle];
        let (route, wire) = (packet.route, packet.wire);
        stages.carried.on_arrival(cx.now, packet, handle, || paths.time_to_exit(ports, route, wire));
        if let Some(journal) = &mut cx.instruments.journal {
            journal.arrive(handle, id, cx.now);
        }
    }

    /// A packet begins its transmission at `at`, or, where transmissions are interrupted, would have begun it
    /// then had it not been.
    pub(crate) fn note_departure(&mut self, cx: &mut Cx, id: PortId, handle: Handle, at: Time) {
        if self.ports[id.at()].place.from_host {
            return self.enter(cx, handle, at);
        }
        let Self { packets, stages, paths, ports, .. } = self;
        let packet = &mut packets[handle];
        let (route, wire) = (packet.route, packet.wire);
        stages.carried.on_departure(at, packet, || paths.time_to_exit(ports, route, wire));
        if let Some(journal) = &mut cx.instruments.journal {
            journal.depart(handle, at);
        }
    }

    /// The transmission of a packet that waits no longer begins: what a switch port writes into it. (Into
    /// data with room for it; an ACK carries what the data saw.)
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

    /// Both, at a port whose departures are known on arrival.
    pub(crate) fn note_booked(&mut self, cx: &mut Cx, id: PortId, handle: Handle, begins: Time) {
        if self.ports[id.at()].place.from_host {
            return self.enter(cx, handle, begins);
        }
        self.stages.carried.on_booking(cx.now, begins, &mut self.packets[handle], handle);
        if let Some(journal) = &mut cx.instruments.journal {
            journal.arrive(handle, id, cx.now);
            journal.depart(handle, begins);
        }
    }

    /// A host's NIC begins to transmit a packet: it enters the network, and the header is written.
    fn enter(&mut self, cx: &mut Cx, handle: Handle, begins: Time) {
        if let Some(slack) = &cx.spec.slack {
            let packet = &self.packets[handle];
            let flow = &cx.spec.flows[packet.flow.at()];
            let slot = self.paths.slot(packet.flow) as usize;
            let clock = self.stages.clock(slot, !travels_forward(packet.kind));
            let initial = slack.initial(clock, flow.group, flow.size, packet, begins);
            let packet = &mut self.packets[handle];
            packet.carry(Meaning::Slack, initial);
            if packet.kind == Kind::Data && cx.spec.edge.is_some() {
                self.stages.begin_slack(handle, initial);
            }
        }
        if let Some(journal) = &mut cx.instruments.journal {
            journal.enter(handle, begins);
        }
    }
}
