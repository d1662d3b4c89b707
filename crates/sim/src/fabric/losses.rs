//! Losses: packets that ports drop, that find no route, or that links lose.

use super::{Fabric, Fate, Lost};
use crate::cx::Cx;
use crate::instruments::recording::End;
use thalweg_units::{PortId, Span, Time};
use thalweg_wire::{Handle, Kind, NO_SIDE, Packet};

impl Fabric {
    /// Loses a packet that a port drops, or for which no route leads on from the port's far end, by a decision that
    /// fell due at `at`.
    #[cold]
    pub(crate) fn lose(&mut self, cx: &mut Cx, id: PortId, handle: Handle, at: Time) {
        cx.instruments.tally.dropped += 1;
        let packet = &self.packets[handle];
        cx.instruments.tally.payload.dropped += packet.data_bytes();
        let notified = cx.features.drop_notices && packet.kind == Kind::Data;
        let (port, wire) = (&self.ports[id.at()], packet.wire);
        let fate = if !notified {
            Fate::Gone
        } else if port.place.from_host {
            Fate::Notified(self.lost.own.notice_delay(id, cx.now, port.span(wire)))
        } else {
            // If the propagation delay is zero, the packet's transmission time: else a sender would retry for ever
            // at one instant.
            let delay = self.delay_to_source(packet.route);
            Fate::Notified(if delay.is_zero() { port.span(wire) } else { delay })
        };
        self.report_lost(cx, End::Dropped(at, id), handle, fate);
    }

    /// Loses a packet for which no route is left at the far end of the port `from`, because links have failed.
    #[cold]
    pub(super) fn lose_without_way(&mut self, cx: &mut Cx, from: PortId, handle: Handle) {
        self.outages.lost += 1;
        self.ports[from.at()].cold.dropped += 1;
        self.lose(cx, from, handle, cx.now);
    }

    /// Loses a packet on the link of a port.
    #[cold]
    pub(crate) fn lose_on_link(&mut self, cx: &mut Cx, id: PortId, handle: Handle) {
        cx.instruments.tally.lost += 1;
        cx.instruments.tally.payload.dropped += self.packets[handle].data_bytes();
        self.report_lost(cx, End::LostOnLink(cx.now, id), handle, Fate::Gone);
    }

    /// Sum of the propagation delays from the node reached at position `route` of a path back to the flow's source.
    fn delay_to_source(&self, route: u32) -> Span {
        let mut sum = Span::ZERO;
        let mut at = route as usize;
        // The entry before `route` is the port at which the packet is now: it has not been passed.
        while at >= 2 && !self.ports[self.paths.port(at - 1).at()].place.from_host {
            at -= 1;
            sum += self.ports[self.paths.port(at - 1).reverse().at()].timing.delay;
        }
        sum
    }

    /// Frees a lost packet, and keeps what its host and the instruments have to know.
    fn report_lost(&mut self, cx: &mut Cx, end: End, handle: Handle, fate: Fate) {
        let packet = self.packets[handle];
        if cx.instruments.firsts.pending > 0 {
            cx.instruments.firsts.done(handle, None);
        }
        cx.instruments.record(handle, &packet, end, cx.now);
        self.preempted.forget(handle);
        self.discard(handle, &packet);
        self.lost.now.push(Lost { packet, fate });
    }

    /// Frees a packet's slot, and that of its cold headers.
    #[inline(always)]
    pub(crate) fn discard(&mut self, handle: Handle, packet: &Packet) {
        if packet.side != NO_SIDE {
            self.sides.remove(Handle(packet.side));
        }
        self.packets.remove(handle);
    }
}
