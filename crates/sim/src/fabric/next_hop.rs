//! The next hop without a source route: the routing rule of each switch chooses, packet by packet.

use crate::cx::Cx;
use crate::fabric::Fabric;
use crate::port::flying::Flying;
use crate::port::{Lane, Port};
use thalweg_machines::route::{Candidates, Load, Passing, RouteRule};
use thalweg_machines::schedule::Limit;
use thalweg_net::routing::Hop;
use thalweg_units::{HostId, NodeId, PortId, Rate};

/// Finds the next hop of a packet that has landed at a switch.
pub(crate) struct Router<'a> {
    pub fabric: &'a mut Fabric,
    pub cx: &'a mut Cx,
}

impl Router<'_> {
    /// The port by which a packet that came through the port `from` leaves; `None`: no working link leads to its
    /// host. The value that it carries for rules is in [`Flying::route`].
    #[inline]
    pub fn next_hop(self, from: PortId, landed: &mut Flying) -> Option<PortId> {
        let fabric = &mut *self.fabric;
        let (flow, dst, wire) = {
            let packet = &fabric.packets[landed.handle];
            (packet.flow, packet.dst, packet.wire)
        };
        let place = fabric.ports[from.at()].place;
        if place.from_host {
            // The host is at the far end of the link's other direction.
            let host = HostId(fabric.ports[from.reverse().at()].place.peer.0);
            let choice = !fabric.routes.same_attachment(host, dst);
            landed.route = fabric.paths.rules.stamp(host, landed.route, choice);
            fabric.packets[landed.handle].route = landed.route;
        }
        let hop = fabric.routes.hop(place.peer, dst);
        let everywhere = fabric.paths.rules.everywhere();
        match hop {
            Hop::Nowhere => None,
            Hop::Only(port) if !everywhere => Some(port),
            Hop::Only(_) | Hop::Among(..) => {
                let switch = fabric.routes.switch(place.peer);
                let leaf = if everywhere { fabric.routes.leaf(dst) } else { 0 };
                let value = landed.route;
                let mut packet = Passing { flow, dst, value, wire, leaf, enters: place.from_host };
                let port = self.choose_among(switch, place.peer, &mut packet, hop);
                landed.route = packet.value;
                Some(port)
            }
        }
    }

    /// The switch's machine chooses among its candidates. Not inlined: it contains every rule.
    #[inline(never)]
    fn choose_among(self, switch: usize, at: NodeId, packet: &mut Passing, hop: Hop) -> PortId {
        let Self { fabric, cx } = self;
        let mut machine = fabric.paths.rules.take(switch);
        let now = cx.now;
        let mut ports = Ports { fabric, cx, at, dst: packet.dst, home: hop, hop, group: None };
        let chosen = machine.choose(now, packet, &mut ports);
        let port = ports.port(chosen);
        fabric.paths.rules.put_back(switch, machine);
        port
    }
}

impl Ports<'_> {
    /// A port whose backlog is up to date just before now.
    #[inline]
    fn caught_up(&mut self, id: PortId) -> &Port {
        if self.fabric.ports[id.at()].on_demand() {
            self.fabric.catch_up(self.cx, id);
        }
        let (now, port) = (self.cx.now, &mut self.fabric.ports[id.at()]);
        if port.mode.lane == Lane::Express {
            port.waits_before(now);
        }
        port
    }
}

/// A switch's candidates, as its rule sees them.
struct Ports<'a> {
    fabric: &'a mut Fabric,
    cx: &'a mut Cx,
    at: NodeId,
    dst: HostId,
    /// To the destination.
    home: Hop,
    /// To where they lead now: this group, or the destination.
    hop: Hop,
    group: Option<u32>,
}

impl Candidates for Ports<'_> {
    #[inline]
    fn count(&self) -> usize {
        match self.hop {
            Hop::Nowhere => 0,
            Hop::Only(_) => 1,
            Hop::Among(_, count) => count as usize,
        }
    }

    #[inline]
    fn port(&self, candidate: usize) -> PortId {
        match self.hop {
            Hop::Nowhere => PortId::NONE,
            Hop::Only(port) => port,
            Hop::Among(first, _) => self.fabric.routes.candidate(first as usize + candidate),
        }
    }

    fn rate(&self, candidate: usize) -> Rate {
        let id = self.port(candidate);
        let link = &self.cx.spec.links[id.link().at()];
        if id.0.is_multiple_of(2) { link.ab.mean_rate() } else { link.ba.mean_rate() }
    }

    /// As of just before now on every lane: decisions that fall due at this instant come after all arrivals.
    #[inline]
    fn waiting(&mut self, candidate: usize) -> u64 {
        let (now, id) = (self.cx.now, self.port(candidate));
        let port = self.caught_up(id);
        if port.waiting.bytes == 0 { u64::from(port.free_at > now) } else { port.waiting.bytes }
    }

    #[inline]
    fn load(&mut self, candidate: usize) -> Load {
        let (now, id) = (self.cx.now, self.port(candidate));
        let kind = usize::from(self.cx.spec.port_discipline[id.at()]);
        let limit = self.cx.spec.disciplines[kind].limit;
        let port = self.caught_up(id);
        let left = port.remaining_bytes(now);
        let bytes = |of| Load { used: port.waiting.bytes + left, of };
        match limit {
            Limit::Bytes(most) => bytes(most.get()),
            Limit::Unlimited => bytes(u64::MAX),
            Limit::Packets(most) => {
                Load { used: u64::from(port.waiting.packets) + u64::from(left > 0), of: u64::from(most) }
            }
        }
    }

    fn groups(&self) -> u32 {
        self.fabric.routes.groups()
    }

    fn here(&self) -> Option<u32> {
        self.fabric.routes.group_of(self.at)
    }

    fn there(&self) -> Option<u32> {
        self.fabric.routes.group_of_host(self.dst)
    }

    fn lead_to(&mut self, group: u32) -> bool {
        match self.fabric.routes.hop_to_group(self.at, group) {
            Hop::Nowhere => false,
            hop => {
                (self.hop, self.group) = (hop, Some(group));
                true
            }
        }
    }

    fn lead_home(&mut self) {
        (self.hop, self.group) = (self.home, None);
    }

    fn hops(&self) -> u32 {
        self.fabric.routes.hops(self.at, self.dst, self.group)
    }
}
