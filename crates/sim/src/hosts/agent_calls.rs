//! Calls of hosts' agents ([`thalweg_machines::host`]), and the packets that hosts send for them. In networks
//! without agents this costs one branch.

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::Fabric;
use crate::hosts::Hosts;
use crate::hosts::agents::Seat;
use crate::hosts::hand_over::inject;
use crate::paths::travels_forward;
use thalweg_machines::host::{Came, End};
use thalweg_machines::transport::Transmit;
use thalweg_units::{FlowId, PortId, Time};
use thalweg_wire::{Packet, Side};

impl Hosts {
    /// Notifies the agent of a flow's source that the flow begins.
    #[cold]
    pub(super) fn agent_begins(&mut self, cx: &mut Cx, fabric: &mut Fabric, slot: usize, flow: FlowId) {
        let sending = &self.sending[slot];
        let Some(at) = self.agents.at(sending.host, sending.transport) else { return };
        let Seat { agent, transport, .. } = &mut self.agents.all[at];
        let transport = &cx.spec.transports[usize::from(*transport)];
        agent.on_start(transport, cx.now, flow, cx.spec.flows[flow.at()].size);
        self.pump_agent(cx, fabric, at);
    }

    /// Shows a packet that has come to an end of its flow to the agent of its host, unless that end is over.
    /// Returns the agent, which may have something to send now.
    #[inline(never)]
    pub(super) fn agent_receives(
        &mut self,
        cx: &Cx,
        slot: usize,
        packet: &Packet,
        side: Option<&Side>,
    ) -> Option<usize> {
        let (sending, receiving) = (&self.sending[slot], &self.receiving[slot]);
        let (host, over, end, arrived) = if travels_forward(packet.kind) {
            let arrived = receiving.receiver.unique_bytes();
            (receiving.host, receiving.complete, End::Destination, arrived)
        } else {
            (sending.host, sending.complete, End::Source, sending.sender.stats().acked_bytes)
        };
        let at = self.agents.at(host, sending.transport).filter(|_| !over)?;
        let Seat { agent, transport, .. } = &mut self.agents.all[at];
        let transport = &cx.spec.transports[usize::from(*transport)];
        agent.on_packet(transport, cx.now, Came { packet, side, end, arrived });
        Some(at)
    }

    /// Notifies an agent that its end of a flow is over.
    #[cold]
    pub(super) fn agent_forgets(&mut self, cx: &Cx, slot: usize, flow: FlowId, end: End) {
        let host = match end {
            End::Source => self.sending[slot].host,
            End::Destination => self.receiving[slot].host,
        };
        let Some(at) = self.agents.at(host, self.sending[slot].transport) else { return };
        let Seat { agent, transport, .. } = &mut self.agents.all[at];
        agent.on_over(&cx.spec.transports[usize::from(*transport)], cx.now, flow, end);
        if end == End::Destination && agent.holds(flow) {
            // Keeps the ends of the flow, even if the other one is in another part.
            let receiving = &mut self.receiving[slot];
            (receiving.held, receiving.balance) = (true, receiving.balance.wrapping_add(1));
        }
    }

    /// Handles an agent's timer event.
    #[cold]
    pub fn agent_timer(&mut self, cx: &mut Cx, fabric: &mut Fabric, at: u32) {
        let at = at as usize;
        let Seat { agent, transport, timer } = &mut self.agents.all[at];
        if *timer != cx.now {
            return; // re-armed earlier since
        }
        *timer = Time::MAX;
        agent.on_timer(&cx.spec.transports[usize::from(*transport)], cx.now);
        self.pump_agent(cx, fabric, at);
    }

    /// Sends what an agent has to send, and ensures that its timer event is early enough.
    pub(super) fn pump_agent(&mut self, cx: &mut Cx, fabric: &mut Fabric, at: usize) {
        let mut packet = Packet::default();
        let mut paced = Time::MAX;
        loop {
            let Seat { agent, transport, .. } = &mut self.agents.all[at];
            let transport = &cx.spec.transports[usize::from(*transport)];
            match agent.poll_transmit(transport, cx.now, &mut packet, &mut self.scratch) {
                Transmit::Packet => self.send_for_agent(cx, fabric, &mut packet, at),
                Transmit::Idle => break,
                Transmit::At(time) => {
                    paced = time;
                    break;
                }
            }
        }
        let Seat { agent, transport, timer } = &mut self.agents.all[at];
        let transport = &cx.spec.transports[usize::from(*transport)];
        let deadline = agent.timer(transport).unwrap_or(Time::MAX).min(paced).max(cx.now);
        if deadline < *timer {
            *timer = deadline;
            cx.schedule(deadline, Phase::Agent, at as u32);
        }
    }

    /// Sends a control packet of the agent at index `at` as a packet of its flow.
    fn send_for_agent(&mut self, cx: &mut Cx, fabric: &mut Fabric, packet: &mut Packet, at: usize) {
        let flow = packet.flow;
        let slot = fabric.paths().slot(flow) as usize;
        let path = fabric.paths().start(slot);
        let (sending, receiving) = (&mut self.sending[slot], &mut self.receiving[slot]);
        let (ends, path) = if travels_forward(packet.kind) {
            sending.balance = sending.balance.wrapping_add(1);
            ((sending.host, sending.peer), path)
        } else {
            if receiving.held && !self.agents.all[at].agent.holds(flow) {
                // The last packet takes the place of the one that was counted when the flow was held.
                receiving.held = false;
            } else {
                receiving.balance = receiving.balance.wrapping_add(1);
            }
            ((receiving.host, receiving.peer), path + fabric.paths().middle())
        };
        inject(cx, fabric, flow, ends, path, (packet, &self.scratch));
    }

    /// Position of the flow that a NIC takes next in its round-robin list: the first one, unless an agent orders
    /// the flows of that one's transport.
    #[inline(never)]
    pub(super) fn next_by_agent(&self, fabric: &Fabric, id: PortId) -> usize {
        let slots = || self.nics[id.at()].ready.iter().map(|flow| (flow, fabric.paths().slot(*flow)));
        let sending = |slot: u32| self.sending.get(slot as usize);
        let Some(first) = slots().next().and_then(|(_, slot)| sending(slot)) else { return 0 };
        let Some(at) = self.agents.at(first.host, first.transport) else { return 0 };
        let agent = &self.agents.all[at].agent;
        let same = |slot| sending(slot).is_some_and(|s| s.transport == first.transport);
        let theirs = slots().enumerate().filter(|(_, (_, slot))| same(*slot));
        let left = |slot| sending(slot).map_or(0, |s| s.sender.remaining());
        let rank =
            |(place, (flow, slot)): &(usize, (&FlowId, u32))| (agent.rank(**flow, left(*slot)), *place);
        theirs.min_by_key(rank).map_or(0, |(place, _)| place)
    }
}
