//! The hosts: thin drivers of the transports' two ends, above the fabric and the flows' records.

mod agent_calls;
mod agents;
mod connections;
mod delays;
mod edge;
pub(crate) mod ends;
mod exchange;
pub(crate) mod idle;
mod nic;
pub mod replay;
pub(crate) mod streams;

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::Fabric;
use crate::features::pulls_when_idle;
use crate::flows::Flows;
use crate::instruments::probe::Completion;
use crate::instruments::recording;
use crate::paths::{NO_SLOT, travels_forward};
use crate::port::flying::Flying;
use agents::Agents;
use delays::Delays;
use ends::{Connection, Receiving, Sending};
use nic::Nic;
use replay::Replay;
use serde::{Deserialize, Serialize};
use streams::{NO_STREAM, Streams};
use thalweg_machines::congestion::Permit;
use thalweg_machines::congestion::decisions::Log;
use thalweg_machines::stage::EdgeCodel;
use thalweg_machines::transport::{Expiry, Receiver, Reception, Sender, Standing, TransportSpec};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{FlowId, HostId, PortId, Rate, Span, Time};
use thalweg_wire::{Flags, Handle, NO_SIDE, Packet, Side};

/// The ends of the active flows, and what hosts have besides.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Hosts {
    /// By slot ([`crate::paths`]).
    sending: Vec<Sending>,
    /// By slot.
    receiving: Vec<Receiving>,
    /// By slot: queue management at the receiving edge.
    edges: Vec<EdgeCodel>,
    /// How long packets take alone.
    delays: Delays,
    /// By port: NICs that pull, all packets or some; empty if none does.
    nics: Vec<Nic>,
    /// Above the flows.
    agents: Agents,
    /// Connections that carry one flow after the other.
    shared: Vec<Connection>,
    /// Those that carry them back to back.
    streams: Streams,
    /// What controllers have recorded, piece by piece, of flows that are over.
    logs: Vec<Log>,
    /// Instead of transports: recorded packets.
    replay: Option<Replay>,
    /// Slots are taken back by who sees all parts of a network, not as the last packet of a flow leaves this one.
    #[serde(skip)]
    keeps: bool,
    /// What the flows of a kind share: the network's, within reach of both ends.
    #[serde(skip)]
    transports: Vec<TransportSpec>,
    #[serde(skip)]
    scratch: Side,
}

impl Hosts {
    /// Of a network; those of its hosts' links that carry packets to them have these rates.
    pub fn new(spec: &NetworkSpec, arrival_rate: impl Fn(HostId) -> Rate) -> Self {
        let pulls = spec.nic.order.pulls() || pulls_when_idle(spec);
        let nics = if pulls { 2 * spec.links.len() } else { 0 };
        Self {
            nics: vec![Nic::default(); nics],
            agents: Agents::new(spec, arrival_rate),
            shared: ends::connections(&spec.flows),
            streams: Streams::new(&spec.flows),
            replay: spec.replay.then(Replay::default),
            transports: spec.transports.clone(),
            ..Self::default()
        }
    }

    /// Takes the place of these freshly built hosts.
    pub fn resume(self, saved: Self) -> Result<Self, String> {
        let fits = saved.sending.len() == saved.receiving.len() && saved.nics.len() == self.nics.len();
        let fits = fits && saved.agents.fits(&self.agents);
        if fits {
            Ok(Self { transports: self.transports, ..saved })
        } else {
            Err("its hosts do not fit its network".into())
        }
    }

    /// Both ends of a slot.
    #[inline(always)]
    pub fn both(&self, slot: u32) -> Option<(&Sending, &Receiving)> {
        Some((self.sending.get(slot as usize)?, self.receiving.get(slot as usize)?))
    }

    /// The machines at both ends of a slot.
    pub fn ends(&self, slot: u32) -> Option<(&Sender, &Receiver)> {
        self.both(slot).map(|(sending, receiving)| (&sending.sender, &receiving.receiver))
    }

    /// Instead of transports: recorded packets.
    pub fn replay(&self) -> Option<&Replay> {
        self.replay.as_ref()
    }

    /// The same, to be fed.
    pub fn replay_mut(&mut self) -> Option<&mut Replay> {
        self.replay.as_mut()
    }

    /// What controllers have recorded since this was called last, piece by piece.
    pub fn take_logs(&mut self) -> Vec<Log> {
        let mut logs = std::mem::take(&mut self.logs);
        logs.extend(self.sending.iter_mut().filter_map(|sending| sending.sender.take_log()));
        logs
    }

    /// A packet has reached its host: to the receiver if it travels forward, else to the sender.
    #[inline(always)]
    pub fn deliver(&mut self, cx: &mut Cx, fabric: &mut Fabric, flows: &mut Flows, handle: Handle) {
        if cx.features.headers && !self.receive_at_edge(cx, fabric, flows, handle) {
            return;
        }
        if cx.features.points && fabric.stages().points.sent(&fabric.packets()[handle]) {
            return self.observe(cx, fabric, flows, handle);
        }
        let packet = fabric.packets()[handle];
        cx.instruments.tally.delivered += 1;
        if cx.features.trims {
            cx.instruments.tally.payload.delivered += packet.data_bytes();
        }
        cx.mark_digest(delivered_word(&packet));
        let side = (packet.side != NO_SIDE).then(|| &fabric.sides()[Handle(packet.side)]);
        let slot = fabric.paths().slot(packet.flow) as usize;
        if travels_forward(packet.kind) {
            if cx.features.delays {
                self.delays.note(cx, fabric, slot, &packet);
            }
            let receiving = &mut self.receiving[slot];
            receiving.balance = receiving.balance.wrapping_sub(1);
            let transport = &self.transports[receiving.transport as usize];
            receiving.receiver.on_packet(transport, cx.now, &packet, side);
            let newly_complete = !receiving.complete && receiving.receiver.is_done();
            let agent = if cx.features.agents { self.agent_receives(cx, slot, &packet, side) } else { None };
            fabric.discard(handle, &packet);
            if let Some(agent) = agent {
                self.pump_agent(cx, fabric, agent);
            }
            self.pump_receiver(cx, fabric, slot, packet.flow);
            let stream = if cx.features.streams { self.sending[slot].stream } else { NO_STREAM };
            if stream != NO_STREAM {
                let received = self.receiving[slot].receiver.received();
                self.streams.note_arrived(cx, flows, stream, received);
            } else if newly_complete {
                self.received(cx, flows, slot, packet.flow);
            }
            if self.receiving[slot].complete {
                self.close_if_over(fabric, flows, packet.flow);
            }
        } else {
            let sending = &mut self.sending[slot];
            sending.balance = sending.balance.wrapping_sub(1);
            let transport = &self.transports[sending.transport as usize];
            let reception = sending.sender.on_packet(transport, cx.now, &packet, side);
            if cx.features.completions
                && let Some(rtt) = reception.round_trip()
            {
                self.note_completion(cx, slot, packet.flow, rtt);
            }
            let agent = if cx.features.agents { self.agent_receives(cx, slot, &packet, side) } else { None };
            fabric.discard(handle, &packet);
            if let Some(agent) = agent {
                self.pump_agent(cx, fabric, agent);
            }
            self.pump_sender(cx, fabric, flows, slot, packet.flow);
            if self.sending[slot].complete {
                self.close_if_over(fabric, flows, packet.flow);
            }
        }
    }

    /// A notice of a congestion point has reached its host. Its sender may be done, and not every one takes notices.
    #[inline(never)]
    fn observe(&mut self, cx: &mut Cx, fabric: &mut Fabric, flows: &mut Flows, handle: Handle) {
        let packet = fabric.packets()[handle];
        cx.instruments.tally.delivered += 1;
        cx.mark_digest(delivered_word(&packet));
        let slot = fabric.paths().slot(packet.flow);
        if slot == NO_SLOT || self.sending[slot as usize].complete {
            return fabric.discard(handle, &packet);
        }
        let sending = &mut self.sending[slot as usize];
        let transport = &self.transports[sending.transport as usize];
        let side = &fabric.sides()[Handle(packet.side)];
        let reception = sending.sender.on_packet(transport, cx.now, &packet, Some(side));
        fabric.discard(handle, &packet);
        if reception == Reception::Ignored {
            return;
        }
        self.pump_sender(cx, fabric, flows, slot as usize, packet.flow);
        self.close_if_over(fabric, flows, packet.flow);
    }

    /// A packet whose headers have been followed has reached its host; false if the transport never sees it: it belongs
    /// to a replay, or the edge drops it.
    #[inline(never)]
    fn receive_at_edge(
        &mut self,
        cx: &mut Cx,
        fabric: &mut Fabric,
        flows: &mut Flows,
        handle: Handle,
    ) -> bool {
        if let Some(replay) = &mut self.replay {
            replay.leave(cx, fabric, handle);
            return false;
        }
        let mut packet = fabric.packets()[handle];
        cx.instruments.record(handle, &packet, recording::End::Arrived(cx.now), cx.now);
        let slot = fabric.paths().slot(packet.flow) as usize;
        let delivered = self.pass_edge(cx, slot, &mut packet, fabric.stages().initial_slack(handle));
        fabric.rewrite(handle, packet);
        if !delivered {
            cx.instruments.tally.delivered += 1;
            cx.instruments.tally.payload.delivered += packet.data_bytes();
            fabric.discard(handle, &packet);
            self.lose(fabric, flows, &packet);
        }
        delivered
    }

    /// A switch has dropped a packet of data, and its sender is notified after the propagation delay of the
    /// way back.
    // CHOICE BFC §3.6.2.1: the propagation delays of the way back, nothing waits for anything.
    pub fn notify_of_drop(&mut self, cx: &mut Cx, fabric: &Fabric, packet: &Packet, way: Span) {
        let slot = fabric.paths().slot(packet.flow);
        if slot == NO_SLOT {
            return;
        }
        let sending = &mut self.sending[slot as usize];
        let transport = &self.transports[sending.transport as usize];
        // A timer at this very instant would have fired already.
        let at = (cx.now + way).max(cx.now + Span::from_ps(1));
        sending.sender.on_drop(transport, packet.seq, at);
        self.arm_sender(cx, slot as usize, packet.flow, Time::MAX);
    }

    /// A packet was lost in the fabric, or at the edge.
    pub fn lose(&mut self, fabric: &mut Fabric, flows: &mut Flows, packet: &Packet) {
        if fabric.stages().points.sent(packet) {
            return; // of no flow's account
        }
        flows.lose(packet);
        let slot = fabric.paths().slot(packet.flow) as usize;
        let balance = if travels_forward(packet.kind) {
            &mut self.sending[slot].balance
        } else {
            &mut self.receiving[slot].balance
        };
        *balance = balance.wrapping_sub(1);
        self.close_if_over(fabric, flows, packet.flow);
    }

    /// Sends what a sender has to send, and keeps its timer event early enough.
    #[inline]
    pub fn pump_sender(
        &mut self,
        cx: &mut Cx,
        fabric: &mut Fabric,
        flows: &mut Flows,
        slot: usize,
        flow: FlowId,
    ) {
        if cx.features.nic_may_pull {
            return self.pump_pulled(cx, fabric, flows, slot, flow);
        }
        self.push(cx, fabric, flows, slot, flow);
    }

    /// The same where NICs pull all packets, or some.
    #[inline(never)]
    fn pump_pulled(
        &mut self,
        cx: &mut Cx,
        fabric: &mut Fabric,
        flows: &mut Flows,
        slot: usize,
        flow: FlowId,
    ) {
        if cx.features.nic_pull {
            return self.offer(cx, fabric, flows, slot, flow);
        }
        self.push(cx, fabric, flows, slot, flow);
        idle::offer(self, cx, fabric, slot, flow);
    }

    /// Hands all that a sender may send now to its NIC.
    #[inline]
    fn push(&mut self, cx: &mut Cx, fabric: &mut Fabric, flows: &mut Flows, slot: usize, flow: FlowId) {
        let Self { sending, receiving, transports, scratch, streams, .. } = self;
        let Sending { sender, balance, host, peer, transport, begun, stream, .. } = &mut sending[slot];
        let carries = cx.features.streams && *stream != NO_STREAM;
        let (now, transport) = (cx.now, &transports[*transport as usize]);
        let (ends, path) = ((*host, *peer), fabric.paths().start(slot));
        let mut packet = Packet::default();
        let standing = sender.drain(transport, now, (&mut packet, scratch), |packet, side| {
            if packet.flags.has(Flags::RETRANSMISSION)
                && transport.sees_receiver()
                && receiving[slot].receiver.holds(packet.seq, packet.payload)
            {
                return;
            }
            *balance = balance.wrapping_add(1);
            if carries && let Some(message) = streams.message_at(*stream, packet.seq) {
                inject_first(cx, fabric, (flow, message), ends, path, (packet, side));
            } else if *begun {
                inject(cx, fabric, flow, ends, path, (packet, side));
            } else {
                *begun = inject_first(cx, fabric, (flow, flow), ends, path, (packet, side));
            }
        });
        self.settle(cx, fabric, flows, slot, flow, standing);
    }

    /// Sends what a receiver has to send, and keeps its timer event early enough.
    #[inline]
    fn pump_receiver(&mut self, cx: &mut Cx, fabric: &mut Fabric, slot: usize, flow: FlowId) {
        let Self { receiving, transports, scratch, .. } = self;
        let Receiving { receiver, balance, host, peer, transport, .. } = &mut receiving[slot];
        let (now, transport) = (cx.now, &transports[*transport as usize]);
        let (ends, path) = ((*host, *peer), fabric.paths().start(slot) + fabric.paths().middle());
        let mut packet = Packet::default();
        let Standing { wake, .. } = receiver.drain(transport, now, (&mut packet, scratch), |packet, side| {
            *balance = balance.wrapping_add(1);
            inject(cx, fabric, flow, ends, path, (packet, side));
        });
        let receiving = &mut self.receiving[slot];
        if wake < receiving.timer {
            receiving.timer = wake.max(cx.now);
            cx.schedule(receiving.timer, Phase::ReceiverTimer, flow.0);
        }
    }

    /// Keeps a sender's timer event early enough.
    #[inline]
    fn arm_sender(&mut self, cx: &mut Cx, slot: usize, flow: FlowId, paced: Time) {
        let sending = &mut self.sending[slot];
        let deadline = sending.sender.timer().unwrap_or(Time::MAX).min(paced);
        if deadline < sending.timer {
            self.arm(cx, slot, flow, deadline);
        }
    }

    /// A sender's timer is due earlier than it was: now, if it is overdue. Where NICs pull, the event of before is
    /// remembered: as often as not it is wanted again, when the pace has been waited for.
    #[inline]
    fn arm(&mut self, cx: &mut Cx, slot: usize, flow: FlowId, deadline: Time) {
        let (sending, deadline) = (&mut self.sending[slot], deadline.max(cx.now));
        let before = std::mem::replace(&mut sending.timer, deadline);
        if cx.features.nic_pull {
            if sending.later == deadline && deadline > cx.now {
                return;
            }
            if before != Time::MAX {
                sending.later = before;
            }
        }
        cx.schedule(deadline, Phase::SenderTimer, flow.0);
    }

    /// A sender stands there: keeps its timer event early enough, and notes when it has nothing left to wait for.
    #[inline(always)]
    fn settle(
        &mut self,
        cx: &mut Cx,
        fabric: &mut Fabric,
        flows: &mut Flows,
        slot: usize,
        flow: FlowId,
        Standing { wake, done }: Standing,
    ) {
        if wake < self.sending[slot].timer {
            self.arm(cx, slot, flow, wake);
        }
        let sending = &mut self.sending[slot];
        if cx.features.streams && sending.stream != NO_STREAM {
            return self.streams.note_sent(cx, flows, sending.stream, sending.sender.progress());
        }
        if done && !sending.complete {
            sending.complete = true;
            self.acked(cx, fabric, flows, slot, flow);
        }
    }

    /// A sender's timer event.
    pub fn sender_timer(&mut self, cx: &mut Cx, fabric: &mut Fabric, flows: &mut Flows, flow: FlowId) {
        let slot = fabric.paths().slot(flow);
        if slot == NO_SLOT {
            return; // over
        }
        let sending = &mut self.sending[slot as usize];
        if sending.later == cx.now {
            sending.later = Time::MAX;
        }
        if cx.features.foresees {
            let nic = fabric.routes().nic(sending.host);
            self.put_back(cx, fabric, nic);
        }
        if self.sending[slot as usize].timer != cx.now {
            return; // re-armed earlier since
        }
        let sending = &mut self.sending[slot as usize];
        sending.timer = Time::MAX;
        let transport = &self.transports[sending.transport as usize];
        let expiry = sending.sender.on_timer(transport, cx.now);
        cx.awaits |= expiry == Expiry::Decision;
        let host = sending.host;
        if cx.features.nic_places && matches!(expiry, Expiry::Controller | Expiry::Decision) {
            // A timer of the controller's is none of the NIC's.
            let scan = self.scan_of(fabric.routes().nic(host), flow, cx.now);
            if scan != Some(cx.now) {
                self.arm_sender(cx, slot as usize, flow, scan.unwrap_or(Time::MAX));
                return;
            }
        }
        self.pump_sender(cx, fabric, flows, slot as usize, flow);
        self.close_if_over(fabric, flows, flow);
    }

    /// A decision from outside for a flow's controller, in force when its timer expires: now. False if the flow is
    /// not active.
    pub fn decide(&mut self, cx: &mut Cx, fabric: &Fabric, flow: FlowId, decided: Permit) -> bool {
        let slot = fabric.paths().slot(flow);
        let Some(sending) = self.sending.get_mut(slot as usize).filter(|_| slot != NO_SLOT) else {
            return false;
        };
        sending.sender.on_decision(cx.now, decided);
        self.arm_sender(cx, slot as usize, flow, Time::MAX);
        true
    }

    /// A receiver's timer event.
    pub fn receiver_timer(&mut self, cx: &mut Cx, fabric: &mut Fabric, flows: &mut Flows, flow: FlowId) {
        let slot = fabric.paths().slot(flow);
        if slot == NO_SLOT || self.receiving[slot as usize].timer != cx.now {
            return;
        }
        let receiving = &mut self.receiving[slot as usize];
        let transport = &self.transports[receiving.transport as usize];
        receiving.timer = Time::MAX;
        receiving.receiver.on_timer(transport, cx.now);
        self.pump_receiver(cx, fabric, slot as usize, flow);
        self.close_if_over(fabric, flows, flow);
    }

    /// A sender has measured a round trip.
    #[cold]
    fn note_completion(&mut self, cx: &mut Cx, slot: usize, flow: FlowId, rtt: Span) {
        let Some((from, until)) = cx.spec.probes.completions else { return };
        if cx.now >= from && cx.now < until {
            let pace = self.sending[slot].sender.stats().pace.map(|rate| rate.bps());
            cx.instruments.probes.completions.push(Completion { at: cx.now, flow, rtt, pace });
        }
    }
}

/// What a delivered packet is to the digest.
#[inline(always)]
fn delivered_word(packet: &Packet) -> u64 {
    1 << 63 | u64::from(packet.flow.0) << 32 ^ packet.seq << 2 ^ packet.kind as u64
}

/// Hands a packet, with its cold headers if it has any, to the NIC of its host. Not inlined: both ends of a
/// flow come by here.
#[inline(never)]
fn inject(
    cx: &mut Cx,
    fabric: &mut Fabric,
    flow: FlowId,
    ends: (HostId, HostId),
    path: usize,
    packet: (&mut Packet, &Side),
) {
    let (nic, flying) = prepare(cx, fabric, flow, ends, path, packet);
    hand_over(cx, fabric, nic, flying);
}

/// The same for a packet of a flow, or of a message that it carries, of which none has left yet; whether it is known by
/// now that one has, or when one will.
#[cold]
fn inject_first(
    cx: &mut Cx,
    fabric: &mut Fabric,
    (flow, message): (FlowId, FlowId),
    ends: (HostId, HostId),
    path: usize,
    packet: (&mut Packet, &Side),
) -> bool {
    let (nic, flying) = prepare(cx, fabric, flow, ends, path, packet);
    let before = fabric.ports()[nic.at()].sent.packets;
    let on_demand = fabric.ports()[nic.at()].on_demand();
    if on_demand {
        cx.instruments.firsts.wait(message, flying.handle);
    }
    hand_over(cx, fabric, nic, flying);
    let port = &fabric.ports()[nic.at()];
    if !on_demand && port.sent.packets > before {
        // Booked behind what waits.
        let begins = Time::from_ps(port.free_at.ps() - port.span(flying.wire).ps());
        cx.instruments.firsts.leave(message, begins);
    }
    cx.instruments.firsts.of(message) != Time::MAX
}

/// A packet joins the queue of its NIC.
#[inline(always)]
fn hand_over(cx: &mut Cx, fabric: &mut Fabric, nic: PortId, flying: Flying) {
    if cx.features.detours {
        fabric.enqueue::<false, true>(cx, PortId::NONE, nic, flying, Span::ZERO);
    } else {
        fabric.enqueue::<false, false>(cx, PortId::NONE, nic, flying, Span::ZERO);
    }
}

/// Puts a packet of a host into the fabric's arena; also the port by which it leaves.
#[inline(always)]
fn prepare(
    cx: &mut Cx,
    fabric: &mut Fabric,
    flow: FlowId,
    (from, to): (HostId, HostId),
    path: usize,
    (packet, side): (&mut Packet, &Side),
) -> (PortId, Flying) {
    packet.flow = flow;
    packet.dst = to;
    let nic = if !cx.features.per_hop {
        packet.route = path as u32 + 1;
        fabric.paths().port(path)
    } else {
        fabric.routes().nic(from)
    };
    let handle = fabric.insert(packet, side);
    cx.instruments.tally.injected += 1;
    if cx.features.trims {
        cx.instruments.tally.payload.injected += packet.data_bytes();
    }
    if let Some(journal) = &mut cx.instruments.journal {
        journal.hand(handle, cx.now);
    }
    (nic, Flying::new(handle, packet))
}
