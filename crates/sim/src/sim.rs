//! The simulated network and its run loop.

use crate::arena::{Arena, Packets};
use crate::events::{Calendar, Event, Events, Phase, Tag};
use crate::flow::{FlowRecord, NO_CONNECTION, Receiving, Sending};
use crate::port::{Booked, Flying, Lane, Port};
use crate::prefetch::prefetch;
use crate::probe::Probes;
use crate::routing::{Pick, Routes, flow_pick};
use crate::spec::{FlowSpec, NetworkSpec, RoutingSpec};
use thalweg_machines::buffer::SharedPool;
use thalweg_machines::congestion::Start;
use thalweg_machines::schedule::{Discipline, Queue, Verdict};
use thalweg_machines::transport::{FlightSpec, Receiver, Sender, Transmit, TransportSpec};
use thalweg_machines::{Ecn, Flags, Handle, Kind, NO_SIDE, Packet, Side};
use thalweg_units::{FlowId, HostId, NodeId, PortId, Span, Stream, Time, mix64};

/// A network at an instant. Plain data throughout: see [`crate::snapshot`].
#[derive(Clone, Debug)]
pub struct Sim<Q: Events = Calendar> {
    pub(crate) spec: NetworkSpec,
    pub(crate) now: Time,
    pub(crate) events: Q,
    pub(crate) processed: u64,
    pub(crate) digest: u64,
    pub(crate) stopped: bool,
    pub(crate) packets: Packets,
    pub(crate) sides: Arena<Side>,
    pub(crate) routes: Routes,
    pub(crate) ports: Vec<Port>,
    /// Disciplines of the ordered ports, by [`Port::queue`]; express ports have none.
    pub(crate) queues: Vec<Queue>,
    /// Memory of each switch, where it is shared.
    pub(crate) pools: Vec<SharedPool>,
    pub(crate) records: Vec<FlowRecord>,
    /// Each flow's slot in `sending` and `receiving` while it is active.
    pub(crate) connections: Vec<u32>,
    pub(crate) sending: Vec<Sending>,
    pub(crate) receiving: Vec<Receiving>,
    pub(crate) free_connections: Vec<u32>,
    /// Source routes of the active connections: `stride` ports each, data path first, ACK path from
    /// the middle on.
    pub(crate) paths: Vec<PortId>,
    pub(crate) stride: usize,
    /// Flows that follow others, as a linked list per predecessor (empty if there are none).
    pub(crate) followers: Vec<(FlowId, FlowId)>,
    /// The next flow that starts by the clock.
    pub(crate) next_start: u32,
    /// Sprayed packets: the next value of each host.
    pub(crate) spray: Vec<Spray>,
    pub(crate) tally: Tally,
    pub(crate) probes: Probes,
    /// Within an event: an idle port that is to choose at its end.
    pub(crate) chooser: PortId,
    /// Scratch: packets that a queue gave up.
    pub(crate) given_up: Vec<Handle>,
    pub(crate) scratch: Side,
}

/// Where a host's sprayed packets get their entropy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Spray {
    /// A draw per packet.
    Random(Stream),
    /// A counter.
    Counter(u32),
}

/// Running totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Tally {
    /// Flows that have started.
    pub flows_started: u64,
    /// Flows complete at both ends.
    pub flows_done: u64,
    /// Measured flows complete at both ends.
    pub measured_done: u64,
    /// Packets handed to NICs.
    pub injected: u64,
    /// Packets that reached their host.
    pub delivered: u64,
    /// Packets dropped in queues.
    pub dropped: u64,
    /// Packets marked CE.
    pub marked: u64,
}

/// What a run has done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Events processed.
    pub events: u64,
    /// Transmissions of a packet, data or ACK, on a link.
    pub packet_hops: u64,
    /// Packets dropped in queues.
    pub packets_dropped: u64,
    /// Packets marked CE.
    pub packets_marked: u64,
    /// Flows that have started.
    pub flows_started: u64,
    /// Flows complete at both ends.
    pub flows_done: u64,
    /// Flows in the scenario.
    pub flows_total: u64,
    /// Measured flows complete at both ends.
    pub measured_done: u64,
    /// Measured flows in the scenario.
    pub measured_total: u64,
}

impl<Q: Events> Sim<Q> {
    /// Processes at most `max_events` more events; false once the run has ended.
    pub fn run(&mut self, max_events: u64) -> bool {
        if self.stopped {
            return false;
        }
        let until = self.spec.stop.until;
        let budget = max_events.min(self.spec.stop.max_events.saturating_sub(self.processed));
        for _ in 0..budget {
            let Some(event) = self.events.pop() else {
                self.stopped = true;
                return false;
            };
            if event.at > until {
                self.events.push(event);
                self.now = until;
                self.stopped = true;
                return false;
            }
            debug_assert!(event.at >= self.now, "time travel");
            self.now = event.at;
            self.processed += 1;
            self.look_ahead();
            self.dispatch(event);
            if self.stopped {
                return false;
            }
        }
        if self.processed >= self.spec.stop.max_events {
            self.stopped = true;
        }
        !self.stopped
    }

    /// Asks for the memory that the next events will touch, in the order in which they lead to each
    /// other: port, then its ring, then the path or the packet at the ring's head.
    #[inline(always)]
    fn look_ahead(&mut self) {
        const LA: [usize; 3] = [5, 3, 1];
        if let Some(event) = self.events.upcoming(LA[0])
            && event.tag.phase() == Phase::Arrive
        {
            prefetch(&self.ports[event.tag.entity() as usize]);
        }
        if let Some(event) = self.events.upcoming(LA[1])
            && event.tag.phase() == Phase::Arrive
            && let Some(first) = self.ports[event.tag.entity() as usize].flight.front()
        {
            prefetch(first);
        }
        if let Some(event) = self.events.upcoming(LA[2])
            && event.tag.phase() == Phase::Arrive
        {
            let port = &self.ports[event.tag.entity() as usize];
            if let Some(first) = port.flight.front() {
                if port.to_host {
                    prefetch(&self.packets[first.handle]);
                } else if let Some(out) = self.paths.get(first.route as usize) {
                    prefetch(out);
                }
            }
        }
    }

    #[inline(always)]
    fn dispatch(&mut self, event: Event) {
        let entity = event.tag.entity();
        match event.tag.phase() {
            Phase::Arrive => self.arrive(PortId(entity)),
            Phase::Decide => self.decide(PortId(entity)),
            _ => self.dispatch_rare(event),
        }
        self.settle();
    }

    #[inline(never)]
    fn dispatch_rare(&mut self, event: Event) {
        let entity = event.tag.entity();
        self.mark_digest(event.tag.word());
        match event.tag.phase() {
            Phase::Start => self.start(FlowId(entity)),
            Phase::SenderTimer => self.sender_timer(FlowId(entity)),
            Phase::ReceiverTimer => self.receiver_timer(FlowId(entity)),
            Phase::Tick => self.tick(PortId(entity)),
            Phase::Sample => self.sample(entity),
            Phase::Arrive | Phase::Decide => unreachable!("dispatched above"),
        }
    }

    /// Adds what happens now to the digest: a sum, so it does not depend on the order in which
    /// different entities are processed at one instant.
    #[inline(always)]
    fn mark_digest(&mut self, what: u64) {
        self.digest = self.digest.wrapping_add(mix64(self.now.ps() ^ what.rotate_left(32)));
    }

    #[inline(always)]
    fn schedule(&mut self, at: Time, phase: Phase, entity: u32) {
        self.events.push(Event { at, tag: Tag::new(phase, entity) });
    }

    // ---- The network -------------------------------------------------------------------------

    /// The packet at the head of a port's ring has reached the far end.
    #[inline(always)]
    fn arrive(&mut self, id: PortId) {
        let port = &mut self.ports[id.at()];
        let (landed, next) = port.land();
        let (to_host, peer) = (port.to_host, port.peer);
        let early = port.early(landed.wire);
        if let Some(next) = next {
            if to_host {
                prefetch(&self.packets[next.handle]);
            }
            self.schedule(next.arrive, Phase::Arrive, id.0);
        }
        self.mark_digest(u64::from(id.0));
        if to_host { self.deliver(landed.handle) } else { self.forward(peer, landed, early) }
    }

    /// A switch passes a packet on. On a source route this does not touch the packet.
    #[inline(always)]
    fn forward(&mut self, node: NodeId, landed: Flying, early: Span) {
        if self.spray.is_empty() {
            let out = self.paths[landed.route as usize];
            self.enqueue(out, Flying { route: landed.route + 1, ..landed }, early);
        } else {
            let pick = match self.spec.routing {
                RoutingSpec::SprayRandom => Pick::Hash(u64::from(landed.route)),
                _ => Pick::Modulo(landed.route),
            };
            let out = self.routes.next(node, self.packets[landed.handle].dst, pick);
            self.enqueue(out, landed, early);
        }
    }

    /// A packet joins the queue of a port.
    #[inline(always)]
    fn enqueue(&mut self, id: PortId, flying: Flying, early: Span) {
        let port = &mut self.ports[id.at()];
        if port.lane == Lane::Ordered {
            return self.enqueue_ordered(id, flying);
        }
        let ready = if early.is_zero() {
            self.now
        } else {
            self.now + early.saturating_sub(port.serializer.span(flying.wire))
        };
        match port.book(self.now, ready, flying, &mut self.packets[flying.handle]) {
            Booked::First(at) => self.schedule(at, Phase::Arrive, id.0),
            Booked::Behind => {}
            Booked::Dropped => self.lose(flying.handle),
        }
    }

    fn enqueue_ordered(&mut self, id: PortId, Flying { handle, wire, route, .. }: Flying) {
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        let packet = &mut self.packets[handle];
        packet.route = route;
        let before = queue.bytes();
        let mut pool = self.pools.get_mut(port.pool as usize);
        if let Some(pool) = &mut pool
            && !pool.admits(before, wire)
        {
            port.totals.dropped += 1;
            return self.lose(handle);
        }
        port.account(self.now, queue.packets());
        let verdict = queue.enqueue(self.now, packet, handle, &mut self.given_up);
        if !self.probes.priorities.is_empty() && verdict != Verdict::Dropped && packet.kind == Kind::Data {
            self.probes.count_priority(id, packet.rank, self.spec.probes.priority_histogram);
        }
        let after = queue.bytes();
        if let Some(pool) = pool {
            if after >= before { pool.take(after - before) } else { pool.release(before - after) }
        }
        port.totals.max_queue = port.totals.max_queue.max(after);
        if verdict == Verdict::Marked {
            packet.ecn = Ecn::Ce;
            port.totals.marked += 1;
        }
        if !port.deciding && !queue.is_empty() {
            port.deciding = true;
            if port.free_at > self.now {
                let at = port.free_at;
                self.schedule(at, Phase::Decide, id.0);
            } else {
                self.choose_soon(id);
            }
        }
        if verdict == Verdict::Dropped {
            self.ports[id.at()].totals.dropped += 1;
            self.lose(handle);
        }
        if !self.given_up.is_empty() {
            self.lose_given_up(id);
        }
    }

    /// An idle port is to choose at this instant, after everything else that happens now. The first port
    /// that asks during an event waits at hand: most often nothing else happens now, and it needs no event.
    #[inline(always)]
    fn choose_soon(&mut self, id: PortId) {
        if self.chooser == PortId::NONE {
            self.chooser = id;
        } else {
            self.schedule(self.now, Phase::Decide, id.0);
        }
    }

    /// Ends an event: the port at hand chooses, or queues up behind what else happens now.
    #[inline(always)]
    fn settle(&mut self) {
        while self.chooser != PortId::NONE {
            let id = std::mem::replace(&mut self.chooser, PortId::NONE);
            if self.events.next_is_after(self.now) {
                self.decide(id);
            } else {
                self.schedule(self.now, Phase::Decide, id.0);
            }
        }
    }

    #[inline]
    fn lose_given_up(&mut self, id: PortId) {
        while let Some(victim) = self.given_up.pop() {
            self.ports[id.at()].totals.dropped += 1;
            self.lose(victim);
        }
    }

    /// An idle port chooses what to send.
    #[inline(always)]
    fn decide(&mut self, id: PortId) {
        self.mark_digest(u64::from(id.0) | 1 << 63);
        let port = &mut self.ports[id.at()];
        let queue = &mut self.queues[port.queue as usize];
        port.deciding = false;
        port.account(self.now, queue.packets());
        let before = queue.bytes();
        let served = queue.dequeue(self.now, &mut self.given_up);
        if let Some(pool) = self.pools.get_mut(port.pool as usize) {
            pool.release(before - queue.bytes());
        }
        if let Some(served) = served {
            let packet = &mut self.packets[served.handle];
            if served.mark {
                packet.ecn = Ecn::Ce;
                port.totals.marked += 1;
            }
            let (wire, route) = (packet.wire, packet.route);
            let flying = Flying { handle: served.handle, wire, route, arrive: Time::MAX };
            let booked = port.transmit(self.now, flying);
            let more = !queue.is_empty();
            let free_at = port.free_at;
            port.deciding = more;
            if let Booked::First(at) = booked {
                self.schedule(at, Phase::Arrive, id.0);
            }
            if more {
                self.schedule(free_at, Phase::Decide, id.0);
            }
        }
        if !self.given_up.is_empty() {
            self.lose_given_up(id);
        }
    }

    /// A queue's control plane wakes.
    fn tick(&mut self, id: PortId) {
        let queue = &mut self.queues[self.ports[id.at()].queue as usize];
        queue.on_tick(self.now);
        if let Some(at) = queue.wake() {
            let at = at.max(self.now + Span::from_ps(1));
            self.schedule(at, Phase::Tick, id.0);
        }
    }

    /// A packet is dropped in a queue.
    #[cold]
    fn lose(&mut self, handle: Handle) {
        let packet = self.packets[handle];
        self.tally.dropped += 1;
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
    fn discard(&mut self, handle: Handle, packet: &Packet) {
        if packet.side != NO_SIDE {
            self.sides.remove(Handle(packet.side));
        }
        self.packets.remove(handle);
    }

    // ---- The hosts ---------------------------------------------------------------------------

    /// A packet has reached its host: to the receiver if it travels forward, else to the sender.
    #[inline(always)]
    fn deliver(&mut self, handle: Handle) {
        let packet = self.packets[handle];
        self.tally.delivered += 1;
        self.mark_digest(u64::from(packet.flow.0) << 32 ^ packet.seq << 2 ^ packet.kind as u64);
        let side = if packet.side == NO_SIDE { None } else { Some(self.sides[Handle(packet.side)]) };
        self.discard(handle, &packet);
        let slot = self.connections[packet.flow.at()] as usize;
        if travels_forward(packet.kind) {
            let receiving = &mut self.receiving[slot];
            receiving.balance = receiving.balance.wrapping_sub(1);
            let transport = &self.spec.transports[receiving.transport as usize];
            receiving.receiver.on_packet(transport, self.now, &packet, side.as_ref());
            let newly_complete = !receiving.complete && receiving.receiver.is_done();
            self.pump_receiver(slot, packet.flow);
            if newly_complete {
                self.received(slot, packet.flow);
            }
            if self.receiving[slot].complete {
                self.release_if_over(packet.flow);
            }
        } else {
            let sending = &mut self.sending[slot];
            sending.balance = sending.balance.wrapping_sub(1);
            let transport = &self.spec.transports[sending.transport as usize];
            sending.sender.on_packet(transport, self.now, &packet, side.as_ref());
            self.pump_sender(slot, packet.flow);
            if self.sending[slot].complete {
                self.release_if_over(packet.flow);
            }
        }
    }

    /// Sends what a sender has to send, and keeps its timer event early enough.
    #[inline]
    fn pump_sender(&mut self, slot: usize, flow: FlowId) {
        let mut packet = Packet::default();
        let mut paced = Time::MAX;
        loop {
            let sending = &mut self.sending[slot];
            let transport = &self.spec.transports[sending.transport as usize];
            match sending.sender.poll_transmit(transport, self.now, &mut packet, &mut self.scratch) {
                Transmit::Packet => {
                    if packet.flags.has(Flags::RETRANSMISSION)
                        && omniscient(transport)
                        && self.receiving[slot].receiver.holds(packet.seq, packet.payload)
                    {
                        continue;
                    }
                    packet.class = sending.class;
                    sending.balance = sending.balance.wrapping_add(1);
                    let (host, peer) = (sending.host, sending.peer);
                    self.inject(flow, host, peer, slot * self.stride, &mut packet);
                }
                Transmit::Idle => break,
                Transmit::At(at) => {
                    paced = at;
                    break;
                }
            }
        }
        let sending = &mut self.sending[slot];
        let deadline = sending.sender.timer().unwrap_or(Time::MAX).min(paced);
        if deadline < sending.timer {
            sending.timer = deadline;
            self.schedule(deadline.max(self.now), Phase::SenderTimer, flow.0);
        }
        let sending = &mut self.sending[slot];
        if !sending.complete && sending.sender.is_done() {
            sending.complete = true;
            self.acked(slot, flow);
        }
    }

    /// Sends what a receiver has to send, and keeps its timer event early enough.
    #[inline]
    fn pump_receiver(&mut self, slot: usize, flow: FlowId) {
        let mut packet = Packet::default();
        loop {
            let receiving = &mut self.receiving[slot];
            let transport = &self.spec.transports[receiving.transport as usize];
            if receiving.receiver.poll_transmit(transport, self.now, &mut packet, &mut self.scratch)
                != Transmit::Packet
            {
                break;
            }
            receiving.balance = receiving.balance.wrapping_add(1);
            let (host, peer) = (receiving.host, receiving.peer);
            self.inject(flow, host, peer, slot * self.stride + self.stride / 2, &mut packet);
        }
        let receiving = &mut self.receiving[slot];
        let deadline = receiving.receiver.timer().unwrap_or(Time::MAX);
        if deadline < receiving.timer {
            receiving.timer = deadline;
            self.schedule(deadline.max(self.now), Phase::ReceiverTimer, flow.0);
        }
    }

    /// Hands a packet to the NIC of the host `from`.
    #[inline(always)]
    fn inject(&mut self, flow: FlowId, from: HostId, to: HostId, path: usize, packet: &mut Packet) {
        packet.flow = flow;
        packet.dst = to;
        let nic = if self.spray.is_empty() {
            packet.route = path as u32 + 1;
            self.paths[path]
        } else {
            packet.route = self.entropy(from, to);
            self.routes.nic(from)
        };
        if packet.side != NO_SIDE {
            packet.side = self.sides.insert(self.scratch).0;
        }
        self.tally.injected += 1;
        let handle = self.packets.insert(*packet);
        let flying = Flying { handle, wire: packet.wire, route: packet.route, arrive: Time::MAX };
        self.enqueue(nic, flying, Span::ZERO);
    }

    /// Entropy of the next packet that `from` sprays.
    fn entropy(&mut self, from: HostId, to: HostId) -> u32 {
        match &mut self.spray[from.at()] {
            Spray::Random(stream) => (stream.bits() >> 32) as u32,
            // Only packets that meet a choice count: within a rack there is none.
            Spray::Counter(_) if self.routes.same_attachment(from, to) => 0,
            Spray::Counter(n) => {
                let value = *n;
                *n = n.wrapping_add(1);
                value
            }
        }
    }

    fn sender_timer(&mut self, flow: FlowId) {
        let slot = self.connections[flow.at()];
        if slot == NO_CONNECTION || self.sending[slot as usize].timer != self.now {
            return; // re-armed earlier since, or over
        }
        let sending = &mut self.sending[slot as usize];
        sending.timer = Time::MAX;
        let transport = &self.spec.transports[sending.transport as usize];
        sending.sender.on_timer(transport, self.now);
        self.pump_sender(slot as usize, flow);
        self.release_if_over(flow);
    }

    fn receiver_timer(&mut self, flow: FlowId) {
        let slot = self.connections[flow.at()];
        if slot == NO_CONNECTION || self.receiving[slot as usize].timer != self.now {
            return;
        }
        let receiving = &mut self.receiving[slot as usize];
        let transport = &self.spec.transports[receiving.transport as usize];
        receiving.timer = Time::MAX;
        receiving.receiver.on_timer(transport, self.now);
        self.pump_receiver(slot as usize, flow);
        self.release_if_over(flow);
    }

    // ---- The flows ---------------------------------------------------------------------------

    /// A flow starts: it gets a connection and sends what it may.
    fn start(&mut self, flow: FlowId) {
        let spec = self.spec.flows[flow.at()];
        if flow.0 == self.next_start {
            self.schedule_next_start(flow.0 + 1);
        }
        self.tally.flows_started += 1;
        let slot = self.open(flow, &spec);
        let transport = &self.spec.transports[spec.transport as usize];
        self.records[flow.at()].started = self.now;
        self.connections[flow.at()] = slot as u32;
        self.sending[slot].sender.start(transport, self.now);
        self.pump_sender(slot, flow);
        self.release_if_over(flow);
    }

    /// Schedules the first flow at or after position `from` that starts by the clock.
    pub(crate) fn schedule_next_start(&mut self, from: u32) {
        let mut next = from;
        while let Some(spec) = self.spec.flows.get(next as usize) {
            if spec.after == FlowId::NONE {
                self.schedule(spec.start, Phase::Start, next);
                break;
            }
            next += 1;
        }
        self.next_start = next;
    }

    fn open(&mut self, flow: FlowId, spec: &FlowSpec) -> usize {
        let transport = &self.spec.transports[spec.transport as usize];
        let nic = &self.ports[self.routes.nic(spec.src).at()];
        let mut path = Vec::with_capacity(self.stride);
        let middle = self.stride / 2;
        match &self.spec.routing {
            RoutingSpec::Pinned { paths } => {
                let pinned = &paths[flow.at()];
                let routes = &self.routes;
                // Checked when the network was built.
                routes.pinned(flow.0, spec.src, spec.dst, &pinned.data, &mut path).expect("checked path");
                path.resize(middle, PortId::NONE);
                routes.pinned(flow.0, spec.dst, spec.src, &pinned.ack, &mut path).expect("checked path");
            }
            routing => {
                let pick = flow_pick(routing, spec.src, spec.dst, flow.0, false);
                self.routes.path(spec.src, spec.dst, pick, &mut path);
                path.resize(middle, PortId::NONE);
                let pick = flow_pick(routing, spec.src, spec.dst, flow.0, true);
                self.routes.path(spec.dst, spec.src, pick, &mut path);
            }
        }
        path.resize(self.stride, PortId::NONE);
        let start = start_of(transport, nic, &self.ports, &path, middle);
        let stream = Stream::new(self.spec.seed, "transport", u64::from(flow.0));
        let sender = Sender::new(transport, flow, spec.size, &start, stream).expect("checked when built");
        let receiver = Receiver::new(transport, flow, spec.size);
        let sending = Sending {
            sender,
            timer: Time::MAX,
            host: spec.src,
            peer: spec.dst,
            balance: 0,
            transport: spec.transport,
            class: spec.class,
            complete: false,
        };
        let receiving = Receiving {
            receiver,
            timer: Time::MAX,
            host: spec.dst,
            peer: spec.src,
            balance: 0,
            transport: spec.transport,
            complete: false,
        };
        if let Some(slot) = self.free_connections.pop() {
            let slot = slot as usize;
            self.sending[slot] = sending;
            self.receiving[slot] = receiving;
            self.paths[slot * self.stride..][..self.stride].copy_from_slice(&path);
            slot
        } else {
            self.sending.push(sending);
            self.receiving.push(receiving);
            self.paths.extend_from_slice(&path);
            self.sending.len() - 1
        }
    }

    /// The flow's last byte has arrived: record it, start what waits for it.
    #[cold]
    fn received(&mut self, slot: usize, flow: FlowId) {
        self.receiving[slot].complete = true;
        self.records[flow.at()].received = self.now;
        if let Some(&(first, _)) = self.followers.get(flow.at()) {
            let mut follower = first;
            while follower != FlowId::NONE {
                let pause = Span::from_ps(self.spec.flows[follower.at()].start.ps());
                self.schedule(self.now + pause, Phase::Start, follower.0);
                follower = self.followers[follower.at()].1;
            }
        }
        self.count_if_done(slot, flow);
    }

    /// The flow's sender has nothing left to wait for.
    #[cold]
    fn acked(&mut self, slot: usize, flow: FlowId) {
        self.records[flow.at()].acked = self.now;
        self.count_if_done(slot, flow);
    }

    fn count_if_done(&mut self, slot: usize, flow: FlowId) {
        if !self.sending[slot].complete || !self.receiving[slot].complete {
            return;
        }
        self.tally.flows_done += 1;
        if self.spec.flows[flow.at()].measured {
            self.tally.measured_done += 1;
            if self.spec.stop.when_measured_done && self.tally.measured_done == self.probes.measured_total {
                self.stopped = true;
            }
        }
    }

    /// Takes a finished flow's connection back once none of its packets is left in the network.
    #[inline]
    fn release_if_over(&mut self, flow: FlowId) {
        let slot = self.connections[flow.at()];
        if slot == NO_CONNECTION {
            return;
        }
        let (sending, receiving) = (&self.sending[slot as usize], &self.receiving[slot as usize]);
        if sending.complete && receiving.complete && sending.balance.wrapping_add(receiving.balance) == 0 {
            self.write_record(slot as usize, flow);
            self.connections[flow.at()] = NO_CONNECTION;
            self.free_connections.push(slot);
        }
    }

    /// Copies what the two ends know into the flow's record.
    fn write_record(&mut self, slot: usize, flow: FlowId) {
        let stats = self.sending[slot].sender.stats();
        let delivered = self.receiving[slot].receiver.received();
        let record = &mut self.records[flow.at()];
        record.delivered = delivered;
        record.sent = stats.sent_packets as u32;
        record.retransmitted = stats.retransmitted_packets as u32;
        record.timeouts = stats.timeouts as u32;
    }

    /// The flow's record, with what its ends know if it is still active.
    pub(crate) fn record(&self, flow: FlowId) -> FlowRecord {
        let mut record = self.records[flow.at()];
        if self.connections[flow.at()] != NO_CONNECTION {
            let slot = self.connections[flow.at()] as usize;
            let stats = self.sending[slot].sender.stats();
            record.delivered = self.receiving[slot].receiver.received();
            record.sent = stats.sent_packets as u32;
            record.retransmitted = stats.retransmitted_packets as u32;
            record.timeouts = stats.timeouts as u32;
        }
        record
    }
}

/// Data and set-up travel from the flow's sender to its receiver; everything else comes back.
#[inline(always)]
fn travels_forward(kind: Kind) -> bool {
    matches!(kind, Kind::Data | Kind::Syn)
}

/// Senders know what their receivers have.
#[cold]
fn omniscient(transport: &TransportSpec) -> bool {
    matches!(transport, TransportSpec::Tcp(tcp) if tcp.flight == FlightSpec::SpanOmniscient)
}

/// What a controller is told at the start: line rate and the empty path's round trip.
fn start_of(transport: &TransportSpec, nic: &Port, ports: &[Port], path: &[PortId], middle: usize) -> Start {
    let (data, ack) = match transport {
        TransportSpec::Tcp(tcp) => (tcp.mss + tcp.header, tcp.ack_wire),
        TransportSpec::Udp(udp) => (udp.payload + udp.header, 0),
    };
    let leg = |ids: &[PortId], wire: u32| -> Span {
        ids.iter()
            .filter(|id| **id != PortId::NONE)
            .map(|id| ports[id.at()].serializer.span(wire) + ports[id.at()].delay)
            .sum()
    };
    let base_rtt = leg(&path[..middle], data) + leg(&path[middle..], ack);
    let line_rate = nic.serializer.rate();
    let time_quantum = nic.serializer.quantum();
    match transport {
        TransportSpec::Tcp(tcp) => Start {
            mss: tcp.mss,
            initial_window: tcp.initial_window,
            max_window: tcp.max_window,
            initial_threshold: tcp.initial_threshold,
            line_rate,
            base_rtt,
            time_quantum,
        },
        TransportSpec::Udp(udp) => Start {
            mss: udp.payload,
            initial_window: thalweg_units::Bytes::MAX,
            max_window: thalweg_units::Bytes::MAX,
            initial_threshold: thalweg_units::Bytes::MAX,
            line_rate,
            base_rtt,
            time_quantum,
        },
    }
}
