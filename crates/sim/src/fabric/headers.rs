//! Header stages around a port's queue: what packets carry is turned into the key by which the queue sorts, and
//! back (Mittal, Agarwal, Ratnasamy, Shenker, "Universal Packet Scheduling", NSDI 2016, §5). The stages are
//! machines ([`thalweg_machines::stage::Carry`]); they are called here with packet, clock and path. Recorders of
//! packets observe at the same places.

use crate::cx::Cx;
use crate::fabric::Fabric;
use crate::paths::travels_forward;
use crate::port::flying::{Flying, Load};
use thalweg_machines::stage::{Carry, View};
use thalweg_units::{PortId, Span, Time};
use thalweg_wire::{Handle, Kind, Meaning, NO_SIDE};

impl Fabric {
    /// Runs the stages for a packet that is about to join a port.
    pub(crate) fn note_arrival(&mut self, cx: &mut Cx, id: PortId, handle: Handle) {
        if self.ports[id.at()].place.from_host {
            return;
        }
        let Self { packets, mechanisms, paths, ports, .. } = self;
        let packet = &mut packets[handle];
        let (route, wire) = (packet.route, packet.wire);
        mechanisms
            .headers
            .carried
            .on_arrival(cx.now, packet, handle, || paths.time_to_exit(ports, route, wire));
        if let Some(journal) = &mut cx.instruments.journal {
            journal.arrive(handle, id, cx.now);
        }
    }

    /// Runs the stages for a packet whose transmission begins at `at`, or, where it was interrupted, would have
    /// begun then without interruption.
    pub(crate) fn note_departure(&mut self, cx: &mut Cx, id: PortId, handle: Handle, at: Time) {
        if self.ports[id.at()].place.from_host {
            return self.enter(cx, handle, at);
        }
        let Self { packets, mechanisms, paths, ports, .. } = self;
        let packet = &mut packets[handle];
        let (route, wire) = (packet.route, packet.wire);
        mechanisms.headers.carried.on_departure(at, packet, || paths.time_to_exit(ports, route, wire));
        if let Some(journal) = &mut cx.instruments.journal {
            journal.depart(handle, at);
        }
    }

    /// Lets the stages of a switch port write into a packet whose transmission begins: into data packets that have
    /// room for it. (An ACK carries what its data packet has collected.)
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
        self.mechanisms.headers.write(id, at, &view, packet, side);
    }

    /// Runs the stages for arrival and departure at once, at a port whose departures are known on arrival.
    pub(crate) fn note_booked(&mut self, cx: &mut Cx, id: PortId, handle: Handle, begins: Time) {
        if self.ports[id.at()].place.from_host {
            return self.enter(cx, handle, begins);
        }
        self.mechanisms.headers.carried.on_booking(cx.now, begins, &mut self.packets[handle], handle);
        if let Some(journal) = &mut cx.instruments.journal {
            journal.arrive(handle, id, cx.now);
            journal.depart(handle, begins);
        }
    }

    /// A host's NIC begins to transmit a packet: the packet enters the network, and its header is written.
    fn enter(&mut self, cx: &mut Cx, handle: Handle, begins: Time) {
        if let Some(slack) = &cx.spec.slack {
            let packet = &self.packets[handle];
            let flow = &cx.spec.flows[packet.flow.at()];
            let slot = self.paths.slot(packet.flow) as usize;
            let clock = self.mechanisms.headers.clock(slot, !travels_forward(packet.kind));
            let initial = slack.initial(clock, flow.group, flow.size, packet, begins);
            let packet = &mut self.packets[handle];
            packet.carry(Meaning::Slack, initial);
            if packet.kind == Kind::Data && cx.spec.edge.is_some() {
                self.mechanisms.headers.begin_slack(handle, initial);
            }
        }
        if let Some(journal) = &mut cx.instruments.journal {
            journal.enter(handle, begins);
        }
    }
}
