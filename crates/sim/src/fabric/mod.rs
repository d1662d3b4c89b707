//! The fabric: switches, ports, wires and the packets in them. Packets land, are forwarded, and are lost.
//!
//! A hop touches the state of one node: a port, its queue, its gate, its switch's memory. Between nodes, packets
//! and frames travel on wires; the exceptions are listed in docs/architecture.md.

mod backpressure;
mod build;
pub(crate) mod carried;
pub(crate) mod crossbar;
pub(crate) mod deadlock;
mod deciders;
mod deciding;
pub(crate) mod egress;
mod entry;
mod exchange;
pub(crate) mod failures;
pub(crate) mod gate;
mod gated;
mod headers;
mod ingress;
mod joining;
pub(crate) mod late_departures;
mod losses;
pub(crate) mod mechanisms;
pub(crate) mod memory;
mod moments;
mod next_hop;
pub(crate) mod on_demand;
pub(crate) mod outages;
mod own_drops;
mod pausing;
pub(crate) mod points;
pub(crate) mod preemption;
mod preemptive;
pub(crate) mod programs;
pub(crate) mod promises;
mod read;
mod reference;
pub(crate) mod releases;
pub(crate) mod relief;
pub(crate) mod relief_checks;
pub(crate) mod reliefs;
mod sharing;
mod trimming;
pub(crate) mod withdrawal;

use crate::arena::{Arena, Packets};
use crate::cx::Cx;
use crate::events::{Phase, Tag};
use crate::paths::Paths;
use crate::port::flying::Flying;
use crate::port::{Backlog, Booked, Lane, Port, PortTotals};
use crate::prefetch::prefetch;
use deciders::Deciders;
use egress::Reference;
use gate::Gates;
use mechanisms::Mechanisms;
use memory::Memory;
use outages::Outages;
use own_drops::OwnDrops;
use preemption::Preempted;
use serde::{Deserialize, Serialize};
use thalweg_machines::route::Back;
use thalweg_machines::schedule::{Discipline, Queue};
use thalweg_net::routing::{Routes, flow_pick};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{FlowId, PortId, Span, Time};
use thalweg_wire::{Handle, Packet, Side};

/// Switches, ports, wires and routes, and every packet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Fabric {
    ports: Vec<Port>,
    /// Queues of the on-demand ports, by [`Port::queue`]; express ports have none.
    queues: Vec<Queue>,
    /// Machines of the ports on the reference lane, by [`Port::queue`].
    egresses: Vec<Reference>,
    /// The state of gated ports besides their queues.
    gates: Gates,
    /// Switch memory.
    memory: Memory,
    packets: Packets,
    sides: Arena<Side>,
    #[serde(skip)]
    routes: Routes,
    paths: Paths,
    /// The state of header stages, congestion points and reliefs.
    mechanisms: Mechanisms,
    preempted: Preempted,
    outages: Outages,
    /// Idle ports that decide at the end of this instant.
    deciders: Deciders,
    /// Within an event: the packets that a queue has pushed out.
    #[serde(skip)]
    pushed_out: Vec<Handle>,
    lost: Losses,
}

/// Packets that were lost or trimmed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Losses {
    /// Packets lost or trimmed in this event, not yet reported to their hosts.
    #[serde(skip)]
    pub now: Vec<Lost>,
    /// When senders are notified of drops at their own NICs.
    pub own: OwnDrops,
}

/// A packet that was lost or trimmed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub packet: Packet,
    pub fate: Fate,
}

/// What became of a lost or trimmed packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    /// Lost; the sender is not notified.
    Gone,
    /// Lost; the sender of its flow is notified after this delay.
    Notified(Span),
    /// Trimmed: its header is forwarded.
    Trimmed,
}

/// Where a packet has landed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Landing {
    /// Not at a host: it was forwarded or lost, or it was a frame.
    Passed,
    /// At its destination host.
    Host(Handle),
}

impl Fabric {
    /// Handles the arrival of the packet at the head of a port's ring at the far end.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, cx: &mut Cx, id: PortId) -> Landing {
        let port = &self.ports[id.at()];
        if port.on_demand() && (port.flight.len() == 1 || port.mode.lane == Lane::Reference) {
            if port.is_overtaken(cx.now) {
                // Another packet, with an event of its own, has overtaken the one that this event was scheduled
                // for.
                return Landing::Passed;
            }
            // The port's next transmission may have begun while this packet was on its way; it is the next to land.
            self.catch_up(cx, id);
        }
        let port = &mut self.ports[id.at()];
        let (landed, next) = port.land();
        let to_host = port.leads_to_host();
        let early = port.early(landed.wire);
        if let Some(next) = next {
            // Prefetch the packet behind, where it will be read; else something that is cached. No branch: where
            // packets land is hard to predict.
            let packet = self.packets.hint(next.handle).cast::<u8>();
            let here = std::ptr::from_ref(port).cast::<u8>();
            prefetch(if to_host | cx.features.prefetch { packet } else { here });
            cx.schedule(next.arrive, Phase::Arrive, id.0);
        } else if port.on_demand()
            && !port.state.tx_pending
            && port.waiting.packets > 0
            && !(cx.features.crossbar && port.state.eager)
        {
            // No arrival will make the port catch up (the propagation delay is zero), so it needs an event. An
            // output that waits for a busy input has one: the end of that input's transmission.
            port.state.tx_pending = true;
            let at = port.free_at;
            cx.schedule(at, Phase::Decide, id.0);
        }
        cx.mark_digest(Tag::new(Phase::Arrive, id.0).word());
        if cx.features.detours {
            self.handle_landed_with_detours(cx, id, landed, early)
        } else {
            self.handle_landed::<false>(cx, id, landed, early)
        }
    }

    /// As [`Fabric::handle_landed`] with detours. Not inlined: few networks have them.
    #[inline(never)]
    fn handle_landed_with_detours(
        &mut self,
        cx: &mut Cx,
        id: PortId,
        landed: Flying,
        early: Span,
    ) -> Landing {
        self.handle_landed::<true>(cx, id, landed, early)
    }

    /// Delivers or forwards what has landed. `DETOURS`: see
    /// [`Features::detours`](crate::features::Features::detours).
    #[inline(always)]
    fn handle_landed<const DETOURS: bool>(
        &mut self,
        cx: &mut Cx,
        id: PortId,
        landed: Flying,
        early: Span,
    ) -> Landing {
        if DETOURS && cx.features.failures && self.outages.failed_in_flight(id) {
            if self.outages.lose_on_the_way(&landed) {
                self.ports[id.at()].cold.dropped += 1;
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

    /// A switch forwards a packet. On a source route this does not touch the packet itself.
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

    /// A packet joins the port `id`. `from`: the port through which it came, or none if it comes from a host.
    /// `LAST`: nothing else happens in this event. `DETOURS`: see the feature of this name.
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
            self.ports[id.at()].cold.dropped += 1;
            self.outages.lost += 1;
            if cx.features.relief {
                relief::on_packet_for_failed_link(self, id, flying.handle);
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

    /// Schedules the first wake-up of every control plane. The queue of a NIC that pulls is empty and has none.
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

    /// The ports that a flow's packets pass, [`Paths::stride`] of them: data first, ACKs from the middle on.
    pub fn lay_path(&self, spec: &NetworkSpec, flow: FlowId) -> Vec<PortId> {
        let ends = &spec.flows[flow.at()];
        let (stride, middle) = (self.paths.stride(), self.paths.middle());
        let mut path = Vec::with_capacity(stride);
        match spec.routing.paths() {
            Some(paths) => {
                let pinned = &paths[flow.at()];
                let routes = &self.routes;
                // Paths were checked when the network was built.
                routes.pinned(flow.0, ends.src, ends.dst, &pinned.data, &mut path).expect("checked path");
                path.resize(middle, PortId::NONE);
                routes.pinned(flow.0, ends.dst, ends.src, &pinned.ack, &mut path).expect("checked path");
            }
            None => {
                let rule = &spec.routing.rule;
                let pick = flow_pick(rule, flow, ends, false);
                self.routes.path(ends.src, ends.dst, pick, &mut path);
                let back = path.len();
                pad_path(&mut path, middle);
                if rule.needs().back == Back::Reverse {
                    // The two directions of a link have neighbouring numbers.
                    (0..back).rev().for_each(|at| path.push(path[at].reverse()));
                } else {
                    let pick = flow_pick(rule, flow, ends, true);
                    self.routes.path(ends.dst, ends.src, pick, &mut path);
                }
            }
        }
        pad_path(&mut path, stride);
        path
    }

    /// Gives a flow that becomes active a slot with its path.
    pub fn open_path(&mut self, cx: &Cx, flow: FlowId, path: &[PortId]) -> usize {
        let slot = self.paths.open(flow, path, cx.features.failures);
        self.mechanisms.headers.reset(slot);
        slot
    }

    /// What waits at a port, without the packet being transmitted.
    pub fn backlog(&self, id: PortId, now: Time) -> Backlog {
        let port = &self.ports[id.at()];
        match port.mode.lane {
            Lane::Express => port.express_backlog(now),
            Lane::OnDemand | Lane::Reference => {
                Backlog { packets: port.waiting.packets, bytes: port.waiting.bytes }
            }
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

    /// The machine of a port on the reference lane.
    pub fn reference(&self, id: PortId) -> Option<&Reference> {
        let port = &self.ports[id.at()];
        (port.mode.lane == Lane::Reference).then(|| &self.egresses[port.queue as usize])
    }

    /// The queue of a port that has one.
    pub fn queue(&self, id: PortId) -> Option<&Queue> {
        egress::queue_of(&self.ports[id.at()], &self.queues, &self.egresses)
    }

    /// Puts a saved fabric in place of this freshly built one; what follows from the specification is kept from the
    /// latter.
    pub fn resume(self, saved: Self, spec: &NetworkSpec) -> Result<Self, String> {
        let fits = saved.ports.len() == self.ports.len()
            && saved.queues.len() == self.queues.len()
            && saved.egresses.len() == self.egresses.len()
            && saved.memory.trimmed.len() == self.memory.trimmed.len()
            && saved.gates.len() == self.gates.len()
            && saved.memory.crossbars.len() == self.memory.crossbars.len()
            && saved.mechanisms.points.len() == self.mechanisms.points.len()
            && saved.mechanisms.relief.machines.len() == self.mechanisms.relief.machines.len()
            && saved.paths.fits(&self.paths);
        if !fits {
            return Err("its tables do not fit its network".into());
        }
        let mut next = Self { routes: self.routes, ..saved };
        next.mechanisms.relief.resume(self.mechanisms.relief);
        next.memory.links = self.memory.links;
        next.memory.stride = self.memory.stride;
        next.memory.exempt_turns = self.memory.exempt_turns;
        if !spec.incidents.is_empty() {
            let routes = next.outages.remaining_routes(spec);
            next.outages.intact = Some(Box::new(std::mem::replace(&mut next.routes, routes)));
        }
        Ok(next)
    }
}

/// Pads one direction of a path to its length in the table. A path around failures that is too long is cut short,
/// so that its packets are lost where it ends.
fn pad_path(path: &mut Vec<PortId>, len: usize) {
    if path.len() > len {
        path.truncate(len - 1);
    }
    path.resize(len, PortId::NONE);
}
