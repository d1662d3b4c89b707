//! The fabric: switches, ports, wires and the packets in them. Packets land, are passed on, and are lost.
//!
//! What a hop touches is the state of one node: a port, its queue, its gate, its switch's memory. Between nodes travel
//! packets and frames, on wires; what else looks further is listed in docs/architecture.md.

mod backpressure;
mod build;
pub(crate) mod carried;
pub(crate) mod crossbar;
pub(crate) mod deadlock;
pub(crate) mod egress;
mod entry;
mod exchange;
pub(crate) mod failures;
pub(crate) mod gate;
mod gated;
mod headers;
mod ingress;
pub(crate) mod memory;
mod next_hop;
pub(crate) mod on_demand;
pub(crate) mod outages;
mod own_drops;
pub(crate) mod points;
pub(crate) mod preemption;
pub(crate) mod programs;
pub(crate) mod promises;
mod read;
mod reference;
pub(crate) mod releases;
pub(crate) mod relief;
pub(crate) mod reliefs;
pub(crate) mod settling;
mod sharing;
pub(crate) mod stages;
mod trimming;
pub(crate) mod withdrawal;

use crate::arena::{Arena, Packets};
use crate::cx::Cx;
use crate::events::{Phase, Tag};
use crate::instruments::recording::End;
use crate::paths::Paths;
use crate::port::flying::Flying;
use crate::port::{Booked, Lane, Port, PortTotals};
use crate::prefetch::prefetch;
use egress::Reference;
use gate::Gates;
use memory::Memory;
use outages::Outages;
use own_drops::OwnDrops;
use preemption::Preempted;
use serde::{Deserialize, Serialize};
use stages::Stages;
use thalweg_machines::route::Back;
use thalweg_machines::schedule::{Discipline, Queue};
use thalweg_net::routing::{Routes, flow_pick};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{FlowId, PortId, Span, Time};
use thalweg_wire::{Handle, Kind, NO_SIDE, Packet, Side};

/// Switches, ports, wires and routes, and every packet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Fabric {
    ports: Vec<Port>,
    /// Disciplines of the on-demand ports, by [`Port::queue`]; express ports have none.
    queues: Vec<Queue>,
    /// Machines of the ports on the reference lane, by [`Port::queue`].
    egresses: Vec<Reference>,
    /// What gated ports have besides their queues.
    gates: Gates,
    /// Switch memory.
    memory: Memory,
    packets: Packets,
    sides: Arena<Side>,
    #[serde(skip)]
    routes: Routes,
    paths: Paths,
    /// What header stages remember.
    stages: Stages,
    preempted: Preempted,
    outages: Outages,
    /// Idle ports that decide at the end of this instant, the first one last.
    tx_ready: Vec<PortId>,
    /// Within an event: packets that a queue pushed out.
    #[serde(skip)]
    pushed_out: Vec<Handle>,
    lost: Losses,
}

/// Packets that hosts miss.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Losses {
    /// Within an event: those that have been lost, or trimmed, for their hosts' accounts.
    #[serde(skip)]
    pub now: Vec<Lost>,
    /// What their own NICs have dropped.
    pub own: OwnDrops,
}

/// A packet that does not arrive as it was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub packet: Packet,
    pub fate: Fate,
}

/// What became of it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    /// It is no more.
    Gone,
    /// Likewise, and the sender of its flow is notified after this propagation delay.
    Notified(Span),
    /// Its header goes on.
    Trimmed,
}

/// Where a packet has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Landing {
    /// Not to a host.
    Passed,
    /// To the host it is for.
    Host(Handle),
}

impl Fabric {
    /// The packet at the head of a port's ring has reached the far end.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, cx: &mut Cx, id: PortId) -> Landing {
        let port = &self.ports[id.at()];
        if port.on_demand() && (port.flight.len() == 1 || port.mode.lane == Lane::Reference) {
            if port.is_overtaken(cx.now) {
                // This was the event of a packet that another one, with an event of its own, has overtaken.
                return Landing::Passed;
            }
            // What the port sent next has begun while this packet was on its way, and is the next to land.
            self.catch_up(cx, id);
        }
        let port = &mut self.ports[id.at()];
        let (landed, next) = port.land();
        let to_host = port.leads_to_host();
        let early = port.early(landed.wire);
        if let Some(next) = next {
            // The packet behind, where it will be read; else what is at hand. No branch: who lands where is
            // hard to predict.
            let packet = self.packets.hint(next.handle).cast::<u8>();
            let here = std::ptr::from_ref(port).cast::<u8>();
            prefetch(if to_host | cx.features.prefetch { packet } else { here });
            cx.schedule(next.arrive, Phase::Arrive, id.0);
        } else if port.on_demand()
            && !port.state.tx_pending
            && port.waiting.packets > 0
            && !(cx.features.crossbar && port.state.eager)
        {
            // Nothing on the wire will remind the port (no propagation delay): it needs an event. (An output
            // that waits for an input is reminded by what that input sends.)
            port.state.tx_pending = true;
            let at = port.free_at;
            cx.schedule(at, Phase::Decide, id.0);
        }
        cx.mark_digest(Tag::new(Phase::Arrive, id.0).word());
        if cx.features.detours {
            self.go_on_with_detours(cx, id, landed, early)
        } else {
            self.go_on::<false>(cx, id, landed, early)
        }
    }

    /// Not inlined: few networks have them.
    #[inline(never)]
    fn go_on_with_detours(&mut self, cx: &mut Cx, id: PortId, landed: Flying, early: Span) -> Landing {
        self.go_on::<true>(cx, id, landed, early)
    }

    /// Where what has landed goes; `DETOURS`: see [`Features::detours`](crate::features::Features::detours).
    #[inline(always)]
    fn go_on<const DETOURS: bool>(
        &mut self,
        cx: &mut Cx,
        id: PortId,
        landed: Flying,
        early: Span,
    ) -> Landing {
        if DETOURS && cx.features.failures && self.outages.failed_in_flight(id) {
            if self.outages.lose_on_the_way(&landed) {
                self.ports[id.at()].verdicts.dropped += 1;
                self.lose(cx, id, landed.handle, cx.now);
            } else {
                self.gates.frames.remove(landed.handle);
            }
            return Landing::Passed;
        }
        if landed.is_frame() {
            self.frame_lands(cx, id, landed.handle);
            return Landing::Passed;
        }
        if self.ports[id.at()].leads_to_host() {
            return Landing::Host(landed.handle);
        }
        self.forward::<DETOURS>(cx, id, landed, early);
        Landing::Passed
    }

    /// A switch passes a packet on. On a source route this does not touch the packet.
    #[inline(always)]
    fn forward<const DETOURS: bool>(&mut self, cx: &mut Cx, from: PortId, landed: Flying, early: Span) {
        if DETOURS && cx.features.points && points::is_looked_up(&landed) {
            let here = self.ports[from.at()].place.peer;
            return points::forward(self, cx, from, here, landed);
        }
        if !(DETOURS && cx.features.per_hop) {
            let out = self.paths.port(landed.route as usize);
            if DETOURS && cx.features.failures && out == PortId::NONE {
                return self.lose_without_way(cx, from, landed.handle);
            }
            let flying = Flying { route: landed.route + 1, ..landed };
            self.enqueue::<true, DETOURS>(cx, from, out, flying, early);
        } else {
            let mut flying = landed;
            let router = next_hop::Router { fabric: self, cx };
            let Some(out) = router.next_hop(from, &mut flying) else {
                return self.lose_without_way(cx, from, landed.handle);
            };
            self.enqueue::<true, DETOURS>(cx, from, out, flying, early);
        }
    }

    /// A packet that has come through the port `from` (none: from a host) joins the queue of the port `id`;
    /// `LAST`: nothing else happens in this event; `DETOURS`: as the feature of this name states.
    #[inline(always)]
    pub(crate) fn enqueue<const LAST: bool, const DETOURS: bool>(
        &mut self,
        cx: &mut Cx,
        from: PortId,
        id: PortId,
        flying: Flying,
        early: Span,
    ) {
        if from != PortId::NONE {
            cx.instruments.contests.note_joining(id, cx.now);
        }
        if DETOURS && cx.features.failures && self.outages.is_down(id) {
            self.ports[id.at()].verdicts.dropped += 1;
            self.outages.lost += 1;
            if cx.features.relief {
                relief::finds_no_link(self, id, flying.handle);
            }
            if cx.features.headers {
                self.note_arrival(cx, id, flying.handle);
            }
            return self.lose(cx, id, flying.handle, cx.now);
        }
        if DETOURS && cx.features.drop_notices {
            self.packets[flying.handle].route = flying.route;
        }
        let port = &mut self.ports[id.at()];
        if port.on_demand() {
            return self.enqueue_on_demand::<LAST>(cx, id, from, flying);
        }
        let ready =
            if early.is_zero() { cx.now } else { cx.now + early.saturating_sub(port.span(flying.wire)) };
        let booked = port.book(cx.now, ready, flying, &mut self.packets[flying.handle]);
        if booked == Booked::Dropped {
            if cx.features.headers {
                self.note_arrival(cx, id, flying.handle);
            }
            return self.lose(cx, id, flying.handle, cx.now);
        }
        cx.put_on_wire(port, id, booked);
        if cx.features.headers {
            let port = &self.ports[id.at()];
            let begins = Time::from_ps(port.free_at.ps() - port.span(flying.wire).ps());
            self.note_booked(cx, id, flying.handle, begins);
        }
    }

    /// A packet is dropped in a port's queue, or there is no way on from that port's far end; by a decision that fell
    /// due at `at`.
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
            Fate::Notified(self.lost.own.way(id, cx.now, port.span(wire)))
        } else {
            // Over links that take no time a sender would try again for ever at one instant.
            let way = self.way_back(packet.route);
            Fate::Notified(if way.is_zero() { port.span(wire) } else { way })
        };
        self.miss(cx, End::Lost(at, id), handle, fate);
    }

    /// Links have failed, and none that leads on from a port's far end is left.
    #[cold]
    fn lose_without_way(&mut self, cx: &mut Cx, from: PortId, handle: Handle) {
        self.outages.lost += 1;
        self.ports[from.at()].verdicts.dropped += 1;
        self.lose(cx, from, handle, cx.now);
    }

    /// A packet leaves a port, whose link loses it.
    #[cold]
    pub(crate) fn lose_on_link(&mut self, cx: &mut Cx, id: PortId, handle: Handle) {
        cx.instruments.tally.lost += 1;
        cx.instruments.tally.payload.dropped += self.packets[handle].data_bytes();
        self.miss(cx, End::Lost(cx.now, id), handle, Fate::Gone);
    }

    /// Propagation from the node at which the position `route` of a path was reached back to the flow's source.
    fn way_back(&self, route: u32) -> Span {
        let mut sum = Span::ZERO;
        let mut at = route as usize;
        // The port before `route` has not been passed.
        while at >= 2 && !self.ports[self.paths.port(at - 1).at()].place.from_host {
            at -= 1;
            sum += self.ports[self.paths.port(at - 1).reverse().at()].timing.delay;
        }
        sum
    }

    fn miss(&mut self, cx: &mut Cx, end: End, handle: Handle, fate: Fate) {
        let packet = self.packets[handle];
        if cx.instruments.firsts.pending > 0 {
            cx.instruments.firsts.done(handle, None);
        }
        cx.instruments.record(handle, &packet, end, cx.now);
        self.preempted.forget(handle);
        self.discard(handle, &packet);
        self.lost.now.push(Lost { packet, fate });
    }

    /// Frees a packet's memory.
    #[inline(always)]
    pub(crate) fn discard(&mut self, handle: Handle, packet: &Packet) {
        if packet.side != NO_SIDE {
            self.sides.remove(Handle(packet.side));
        }
        self.packets.remove(handle);
    }

    /// The first wake-up of every control plane. The queue of a NIC that pulls holds nothing.
    pub fn arm(&self, cx: &mut Cx) {
        let queues = |(_, port): &(usize, &Port)| port.on_demand() && !port.place.pulls;
        for (id, port) in self.ports.iter().enumerate().filter(queues) {
            let at = port.queue as usize;
            let wake = match port.mode.lane {
                Lane::Reference => self.egresses[at].egress.wake_control_plane(),
                _ => self.queues[at].wake(),
            };
            if let Some(at) = wake {
                cx.schedule(at, Phase::Tick, id as u32);
            }
        }
        points::arm(self, cx);
    }

    /// The ports that a flow's packets pass: as many as [`Paths::stride`] is, data first, ACKs from the middle on.
    pub fn lay_path(&self, spec: &NetworkSpec, flow: FlowId) -> Vec<PortId> {
        let ends = &spec.flows[flow.at()];
        let (stride, middle) = (self.paths.stride(), self.paths.middle());
        let mut path = Vec::with_capacity(stride);
        match spec.routing.paths() {
            Some(paths) => {
                let pinned = &paths[flow.at()];
                let routes = &self.routes;
                // Checked when the network was built.
                routes.pinned(flow.0, ends.src, ends.dst, &pinned.data, &mut path).expect("checked path");
                path.resize(middle, PortId::NONE);
                routes.pinned(flow.0, ends.dst, ends.src, &pinned.ack, &mut path).expect("checked path");
            }
            None => {
                let rule = &spec.routing.rule;
                let pick = flow_pick(rule, flow, ends, false);
                self.routes.path(ends.src, ends.dst, pick, &mut path);
                let back = path.len();
                end_path(&mut path, middle);
                if rule.needs().back == Back::Reverse {
                    // Both directions of a link are neighbours.
                    (0..back).rev().for_each(|at| path.push(path[at].reverse()));
                } else {
                    let pick = flow_pick(rule, flow, ends, true);
                    self.routes.path(ends.dst, ends.src, pick, &mut path);
                }
            }
        }
        end_path(&mut path, stride);
        path
    }

    /// An active flow's slot, with its path.
    pub fn open_path(&mut self, cx: &Cx, flow: FlowId, path: &[PortId]) -> usize {
        let slot = self.paths.open(flow, path, cx.features.failures);
        self.stages.reset(slot);
        slot
    }

    /// Packets and bytes waiting at a port, without the one being transmitted.
    pub fn backlog(&self, id: PortId, now: Time) -> (u32, u64) {
        let port = &self.ports[id.at()];
        match port.mode.lane {
            Lane::Express => port.express_backlog(now),
            Lane::OnDemand | Lane::Reference => (port.waiting.packets, port.waiting.bytes),
        }
    }

    /// A port's counters, pauses included.
    pub fn totals(&self, id: PortId, now: Time) -> PortTotals {
        let mut totals = self.ports[id.at()].totals(now);
        if let Some(gate) = self.gates.get(id.at()) {
            totals.pauses = gate.paused.count();
            totals.paused = gate.paused.lasted(now).ps();
        }
        totals.trimmed = self.memory.trimmed.get(id.at()).copied().unwrap_or(0);
        if let Some(reference) = self.reference(id) {
            totals.lost = reference.lost;
            totals.unused = reference.egress.totals().unused;
        }
        totals
    }

    /// A port's machine, if it is on the reference lane.
    pub fn reference(&self, id: PortId) -> Option<&Reference> {
        let port = &self.ports[id.at()];
        (port.mode.lane == Lane::Reference).then(|| &self.egresses[port.queue as usize])
    }

    /// The queue of a port that has one.
    pub fn queue(&self, id: PortId) -> Option<&Queue> {
        egress::queue_of(&self.ports[id.at()], &self.queues, &self.egresses)
    }

    /// Takes the place of this freshly built fabric: what follows from the specification is kept.
    pub fn resume(self, saved: Self, spec: &NetworkSpec) -> Result<Self, String> {
        let fits = saved.ports.len() == self.ports.len()
            && saved.queues.len() == self.queues.len()
            && saved.egresses.len() == self.egresses.len()
            && saved.memory.trimmed.len() == self.memory.trimmed.len()
            && saved.gates.len() == self.gates.len()
            && saved.memory.crossbars.len() == self.memory.crossbars.len()
            && saved.stages.points.len() == self.stages.points.len()
            && saved.stages.relief.machines.len() == self.stages.relief.machines.len()
            && saved.paths.fits(&self.paths);
        if !fits {
            return Err("its tables do not fit its network".into());
        }
        let mut next = Self { routes: self.routes, ..saved };
        next.stages.relief.resume(self.stages.relief);
        next.memory.links = self.memory.links;
        next.memory.stride = self.memory.stride;
        next.memory.elided = self.memory.elided;
        if !spec.incidents.is_empty() {
            let routes = next.outages.remaining_routes(spec);
            next.outages.intact = Some(Box::new(std::mem::replace(&mut next.routes, routes)));
        }
        Ok(next)
    }
}

/// Fills a path's place up. A path around failures that is too long for it ends in nowhere.
fn end_path(path: &mut Vec<PortId>, len: usize) {
    if path.len() > len {
        path.truncate(len - 1);
    }
    path.resize(len, PortId::NONE);
}
