//! The hosts: thin drivers of the two ends of every active flow.

mod agent_calls;
mod agents;
mod connections;
mod delays;
mod delivery;
mod edge;
pub(crate) mod ends;
mod exchange;
mod hand_over;
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
use crate::paths::NO_SLOT;
use agents::Agents;
use delays::Delays;
use ends::{Connection, Receiving, Sending};
use hand_over::{inject, inject_first};
use nic::Nic;
use replay::Replay;
use serde::{Deserialize, Serialize};
use streams::{NO_STREAM, Streams};
use thalweg_machines::congestion::Permit;
use thalweg_machines::congestion::decisions::Log;
use thalweg_machines::stage::EdgeCodel;
use thalweg_machines::transport::{Drained, Expiry, Receiver, Sender, TransportSpec};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{FlowId, HostId, Rate, Span, Time};
use thalweg_wire::{Flags, Packet, Side};

/// The ends of the active flows, NICs, agents and connections.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Hosts {
    /// Sending ends, by slot ([`crate::paths`]).
    sending: Vec<Sending>,
    /// Receiving ends, by slot.
    receiving: Vec<Receiving>,
    /// By slot: queue management at the receiving edge.
    edges: Vec<EdgeCodel>,
    /// What is needed to measure waiting times.
    delays: Delays,
    /// By port: NICs that pull packets from flows, all packets or some; empty if none does.
    nics: Vec<Nic>,
    /// Agents, each above all flows of a transport at its host.
    agents: Agents,
    /// Connections that carry one flow after the other.
    shared: Vec<Connection>,
    /// Connections that carry flows back to back.
    streams: Streams,
    /// Decisions recorded by controllers of flows that are over.
    logs: Vec<Log>,
    /// Recorded packets to be replayed, instead of transports.
    replay: Option<Replay>,
    /// In a partitioned run, slots are freed at the barrier, not when the last local packet leaves.
    #[serde(skip)]
    keeps: bool,
    /// A copy of the specification's transports, which both ends need.
    #[serde(skip)]
    transports: Vec<TransportSpec>,
    #[serde(skip)]
    scratch: Side,
}

impl Hosts {
    /// The hosts of a network; `arrival_rate`: the rate of the link direction that leads to a host.
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

    /// Puts saved hosts in place of these freshly built ones.
    pub fn resume(self, saved: Self) -> Result<Self, String> {
        let fits = saved.sending.len() == saved.receiving.len() && saved.nics.len() == self.nics.len();
        let fits = fits && saved.agents.fits(&self.agents);
        if fits {
            Ok(Self { transports: self.transports, ..saved })
        } else {
            Err("its hosts do not fit its network".into())
        }
    }

    /// Both ends of a slot's flow.
    #[inline(always)]
    pub fn both(&self, slot: u32) -> Option<(&Sending, &Receiving)> {
        Some((self.sending.get(slot as usize)?, self.receiving.get(slot as usize)?))
    }

    /// The machines at both ends of a slot's flow.
    pub fn ends(&self, slot: u32) -> Option<(&Sender, &Receiver)> {
        self.both(slot).map(|(sending, receiving)| (&sending.sender, &receiving.receiver))
    }

    /// The recorded packets of a replay.
    pub fn replay(&self) -> Option<&Replay> {
        self.replay.as_ref()
    }

    /// The replay, to be fed.
    pub fn replay_mut(&mut self) -> Option<&mut Replay> {
        self.replay.as_mut()
    }

    /// The decisions that controllers have recorded since the last call, in pieces.
    pub fn take_logs(&mut self) -> Vec<Log> {
        let mut logs = std::mem::take(&mut self.logs);
        logs.extend(self.sending.iter_mut().filter_map(|sending| sending.sender.take_log()));
        logs
    }

    /// Sends what a sender has to send, and ensures that its timer event is early enough.
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

    /// As [`Hosts::pump_sender`] where NICs pull all packets, or some.
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
        let drained = sender.drain(transport, now, (&mut packet, scratch), |packet, side| {
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
        self.on_drained(cx, fabric, flows, slot, flow, drained);
    }

    /// Sends what a receiver has to send, and ensures that its timer event is early enough.
    #[inline]
    fn pump_receiver(&mut self, cx: &mut Cx, fabric: &mut Fabric, slot: usize, flow: FlowId) {
        let Self { receiving, transports, scratch, .. } = self;
        let Receiving { receiver, balance, host, peer, transport, .. } = &mut receiving[slot];
        let (now, transport) = (cx.now, &transports[*transport as usize]);
        let (ends, path) = ((*host, *peer), fabric.paths().start(slot) + fabric.paths().middle());
        let mut packet = Packet::default();
        let Drained { wake, .. } = receiver.drain(transport, now, (&mut packet, scratch), |packet, side| {
            *balance = balance.wrapping_add(1);
            inject(cx, fabric, flow, ends, path, (packet, side));
        });
        let receiving = &mut self.receiving[slot];
        if wake < receiving.timer {
            receiving.timer = wake.max(cx.now);
            cx.schedule(receiving.timer, Phase::ReceiverTimer, flow.0);
        }
    }

    /// Ensures that a sender's timer event is early enough; `paced`: when its pace allows the next packet.
    #[inline]
    fn arm_sender(&mut self, cx: &mut Cx, slot: usize, flow: FlowId, paced: Time) {
        let sending = &mut self.sending[slot];
        let deadline = sending.sender.timer().unwrap_or(Time::MAX).min(paced);
        if deadline < sending.timer {
            self.arm(cx, slot, flow, deadline);
        }
    }

    /// Moves a sender's timer event to an earlier instant (now, if the deadline has passed). Where NICs pull,
    /// remember the superseded event: after a paced wait it is often the next deadline again.
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

    /// After a sender was drained: ensures that its timer event is early enough, and notes when nothing is left to
    /// wait for.
    #[inline(always)]
    fn on_drained(
        &mut self,
        cx: &mut Cx,
        fabric: &mut Fabric,
        flows: &mut Flows,
        slot: usize,
        flow: FlowId,
        Drained { wake, done }: Drained,
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

    /// Handles a sender's timer event.
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
            self.undo_foresight(cx, fabric, nic);
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
            // A controller timer does not entitle the flow to be scanned by the NIC.
            let scan = self.scan_of(fabric.routes().nic(host), flow, cx.now);
            if scan != Some(cx.now) {
                self.arm_sender(cx, slot as usize, flow, scan.unwrap_or(Time::MAX));
                return;
            }
        }
        self.pump_sender(cx, fabric, flows, slot as usize, flow);
        self.close_if_over(fabric, flows, flow);
    }

    /// Gives a flow's controller a decision from outside, in force when its timer expires: now. False if the flow
    /// is not active.
    pub fn decide(&mut self, cx: &mut Cx, fabric: &Fabric, flow: FlowId, decided: Permit) -> bool {
        let slot = fabric.paths().slot(flow);
        let Some(sending) = self.sending.get_mut(slot as usize).filter(|_| slot != NO_SLOT) else {
            return false;
        };
        sending.sender.on_decision(cx.now, decided);
        self.arm_sender(cx, slot as usize, flow, Time::MAX);
        true
    }

    /// Handles a receiver's timer event.
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

    /// Records a round trip that a sender has measured.
    #[cold]
    fn note_completion(&mut self, cx: &mut Cx, slot: usize, flow: FlowId, rtt: Span) {
        let Some((from, until)) = cx.spec.probes.completions else { return };
        if cx.now >= from && cx.now < until {
            let pace = self.sending[slot].sender.stats().pace.map(|rate| rate.bps());
            cx.instruments.probes.completions.push(Completion { at: cx.now, flow, rtt, pace });
        }
    }
}
