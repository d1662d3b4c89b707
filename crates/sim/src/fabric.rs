//! The fabric: packets land, are passed on, and are lost.

use crate::events::{Events, Phase, Tag};
use crate::gate::is_frame;
use crate::port::{Booked, Flying};
use crate::prefetch::prefetch;
use crate::routing::Pick;
use crate::sim::Sim;
use crate::spec::RoutingSpec;
use thalweg_machines::{Handle, Kind, NO_SIDE, Packet};
use thalweg_units::{PortId, Span, Time};

impl<Q: Events> Sim<Q> {
    /// The packet at the head of a port's ring has reached the far end.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, id: PortId) {
        let port = &self.ports[id.at()];
        if port.is_ordered() && port.flight.len() == 1 {
            // What the port sent next has begun while this packet was on its way, and is the next to land.
            self.catch_up(id, self.now);
        }
        let port = &mut self.ports[id.at()];
        let (landed, next) = port.land();
        let to_host = port.to_host;
        let early = port.early(landed.wire);
        if let Some(next) = next {
            // The packet behind, where it will be read; else what is at hand. No branch: who lands where is hard to predict.
            let packet = self.packets.hint(next.handle).cast::<u8>();
            let here = std::ptr::from_ref(port).cast::<u8>();
            prefetch(if to_host | self.touching { packet } else { here });
            self.schedule(next.arrive, Phase::Arrive, id.0);
        } else if port.is_ordered() && !port.deciding && port.waiting > 0 {
            // Nothing on the wire will remind the port (no propagation delay): it needs an event.
            port.deciding = true;
            let at = port.free_at;
            self.schedule(at, Phase::Decide, id.0);
        }
        self.mark_digest(Tag::new(Phase::Arrive, id.0).word());
        if self.unreliable && self.is_doomed(id) {
            return self.lose_on_the_way(id, landed);
        }
        if is_frame(&landed) {
            return self.frame_lands(id, landed);
        }
        if to_host { self.deliver(landed.handle) } else { self.forward(id, landed, early) }
    }

    /// A switch passes a packet on. On a source route this does not touch the packet.
    #[inline(always)]
    pub(crate) fn forward(&mut self, from: PortId, landed: Flying, early: Span) {
        self.came_by = from;
        if self.spray.is_empty() {
            let out = self.paths[landed.route as usize];
            if self.unreliable && out == PortId::NONE {
                return self.lose(landed.handle);
            }
            self.enqueue::<true>(out, Flying { route: landed.route + 1, ..landed }, early);
        } else {
            let pick = match self.spec.routing {
                RoutingSpec::SprayRandom => Pick::Hash(u64::from(landed.route)),
                _ => Pick::Modulo(landed.route),
            };
            let node = self.ports[from.at()].peer;
            let Some(out) = self.routes.next(node, self.packets[landed.handle].dst, pick) else {
                return self.lose(landed.handle);
            };
            self.enqueue::<true>(out, landed, early);
        }
    }

    /// A packet joins the queue of a port; `LAST`: nothing else happens in this event.
    #[inline(always)]
    pub(crate) fn enqueue<const LAST: bool>(&mut self, id: PortId, flying: Flying, early: Span) {
        if self.unreliable && self.is_down(id) {
            self.ports[id.at()].dropped += 1;
            return self.lose(flying.handle);
        }
        let port = &mut self.ports[id.at()];
        if port.is_ordered() {
            return self.enqueue_ordered::<LAST>(id, flying);
        }
        let ready =
            if early.is_zero() { self.now } else { self.now + early.saturating_sub(port.span(flying.wire)) };
        match port.book(self.now, ready, flying, &mut self.packets[flying.handle]) {
            Booked::First(at) => self.schedule(at, Phase::Arrive, id.0),
            Booked::Behind => {}
            Booked::Dropped => return self.lose(flying.handle),
        }
        if self.watching {
            let port = &self.ports[id.at()];
            let begins = Time::from_ps(port.free_at.ps() - port.span(flying.wire).ps());
            self.note_booked(id, flying.handle, begins);
        }
    }

    /// A packet is dropped in a queue.
    #[cold]
    pub(crate) fn lose(&mut self, handle: Handle) {
        let packet = self.packets[handle];
        self.tally.dropped += 1;
        if let Some(journal) = &mut self.journal {
            journal.leave(handle);
        }
        self.services.forget(handle);
        self.records[packet.flow.at()].drops += 1;
        self.discard(handle, &packet);
        let slot = self.connections[packet.flow.at()] as usize;
        let balance = if travels_forward(packet.kind) {
            &mut self.sending[slot].balance
        } else {
            &mut self.receiving[slot].balance
        };
        *balance = balance.wrapping_sub(1);
        self.release_if_over(packet.flow);
    }

    /// Frees a packet's memory.
    #[inline(always)]
    pub(crate) fn discard(&mut self, handle: Handle, packet: &Packet) {
        if packet.side != NO_SIDE {
            self.sides.remove(Handle(packet.side));
        }
        self.packets.remove(handle);
    }
}

/// Data and set-up travel from the flow's sender to its receiver; everything else comes back.
#[inline(always)]
pub(crate) fn travels_forward(kind: Kind) -> bool {
    matches!(kind, Kind::Data | Kind::Syn)
}
