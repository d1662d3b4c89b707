//! NIC scheduling. A NIC that pulls takes a packet from its host's flows whenever its link is free, from those that
//! may send in turn.
//!
//! A flow that has nothing to send, or may not send yet, leaves the round-robin list; what unblocks it (an arrival,
//! a timer) appends it again.
//!
//! A NIC that has sent a packet of the only flow on the list determines at once whether that flow will have another
//! when the link is free. If it will not, because of its pace or its window, the flow is not polled then: the end
//! of the transmission has no event, and the flow's timer is set. If anything happens at the NIC before (a packet
//! arrives for a flow, another flow begins, a control packet is to leave, a pause lands), the prediction is
//! recalled ([`Fabric::recall`]): the flow is first in turn again, and the end of the transmission is an event. So
//! nothing changes but the number of events.

use crate::cx::Cx;
use crate::fabric::Fabric;
use crate::fabric::gate::Foreseen;
use crate::flows::Flows;
use crate::hosts::Hosts;
use crate::hosts::ends::Sending;
use crate::hosts::hand_over::prepare;
use crate::paths::{NO_SLOT, Paths};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_machines::nic::{Backlog, Places, Scan, Waiting};
use thalweg_machines::pause::Paused;
use thalweg_machines::transport::Transmit;
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{FlowId, HostId, PortId, Time};
use thalweg_wire::{HopTag, Packet, QueueSet, Side};

/// The flows of one NIC.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Nic {
    /// Round-robin list: flows that may have something to send, each once, the next one first.
    pub ready: VecDeque<FlowId>,
    /// Flows whose queue is paused, in the order in which their turn came.
    held: VecDeque<FlowId>,
    /// The queue numbers of flows, under backpressure.
    queues: QueueNumbers,
    /// All flows, where the NIC's order scans them in fixed places.
    places: Places,
}

/// Queue numbers, each used by one flow as long as there are enough.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct QueueNumbers {
    /// By queue number: the flows that use it.
    flows: Vec<u32>,
    last: u16,
}

impl QueueNumbers {
    /// Claims a number for a flow: the next free one.
    // CHOICE BFC §3.5: a NIC has as many queues as a bitmap has bits, 256 (2047 in the artifact). Flows
    // beyond that share theirs. A queue is its flow's until the sender is done. The numbers go round, so that one is
    // used again as late as possible: the resume of the flow before it may still be on its way.
    fn claim(&mut self) -> u16 {
        let all = QueueSet::CAPACITY;
        self.flows.resize(usize::from(all), 0);
        let next = |step: u16| (self.last + step) % all;
        let free = (1..=all).map(next).find(|queue| self.flows[usize::from(*queue)] == 0);
        self.last = free.unwrap_or(next(1));
        self.flows[usize::from(self.last)] += 1;
        self.last
    }
    /// Gives a number back.
    fn give_back(&mut self, queue: u16) {
        self.flows[usize::from(queue)] -= 1;
    }
}

impl Nic {
    /// Whether some flow may have something to send.
    fn is_ready(&self) -> bool {
        !self.ready.is_empty() || !self.places.is_empty()
    }
}

impl Hosts {
    /// Notes that a flow may have something to send, and lets its NIC decide.
    pub(super) fn offer(
        &mut self,
        cx: &mut Cx,
        fabric: &mut Fabric,
        flows: &mut Flows,
        slot: usize,
        flow: FlowId,
    ) {
        let id = fabric.routes().nic(self.sending[slot].host);
        if cx.features.foresees {
            if fabric.recall(cx, id) {
                fabric.offer(cx, id, true);
            }
            self.undo_foresight(cx, fabric, id);
        }
        let sending = &mut self.sending[slot];
        let nic = &mut self.nics[id.at()];
        let mut scan = Time::MAX;
        if cx.features.nic_places {
            nic.places.join(flow, sending.sender.is_done());
            if let Some(at) = sending.sender.take_rescheduled() {
                nic.places.bring_forward(flow, at, cx.now);
            }
            fabric.offer(cx, id, nic.is_ready());
            scan = nic.places.timer_of(flow, cx.now).filter(|at| *at > cx.now).unwrap_or(Time::MAX);
        } else if !sending.ready {
            sending.ready = true;
            nic.ready.push_back(flow);
            fabric.offer(cx, id, true);
        }
        let drained = self.sending[slot].sender.after_drain(scan);
        self.on_drained(cx, fabric, flows, slot, flow, drained);
    }

    /// When the NIC scans its flows next, if that is because of this flow.
    pub(super) fn scan_of(&self, nic: PortId, flow: FlowId, now: Time) -> Option<Time> {
        self.nics[nic.at()].places.timer_of(flow, now)
    }

    /// Sends the next packet of a NIC whose link is free, if any flow has one.
    pub fn pull(&mut self, cx: &mut Cx, fabric: &mut Fabric, flows: &mut Flows, id: PortId) {
        if cx.features.nic_detours {
            return self.pull_with_detours(cx, fabric, flows, id);
        }
        self.pull_next::<false>(cx, fabric, flows, id);
        fabric.set_input_ready(id, !self.nics[id.at()].ready.is_empty());
    }

    /// As [`Hosts::pull`] where the next flow is not simply the first of the list, or none may be polled.
    #[inline(never)]
    fn pull_with_detours(&mut self, cx: &mut Cx, fabric: &mut Fabric, flows: &mut Flows, id: PortId) {
        // Otherwise the flows wait until the link is restored.
        if !(cx.features.failures && fabric.outages().is_down(id)) {
            if cx.features.nic_places {
                self.pull_by_places(cx, fabric, flows, id);
            } else {
                self.pull_next::<true>(cx, fabric, flows, id);
            }
            fabric.set_input_ready(id, self.nics[id.at()].is_ready());
        }
    }

    fn pull_next<const DETOURS: bool>(
        &mut self,
        cx: &mut Cx,
        fabric: &mut Fabric,
        flows: &mut Flows,
        id: PortId,
    ) {
        if cx.features.foresees {
            self.undo_foresight(cx, fabric, id);
        }
        let mut packet = Packet::default();
        while let Some(flow) = self.next_ready::<DETOURS>(cx, fabric, id) {
            let slot = fabric.paths().slot(flow);
            if slot == NO_SLOT {
                continue;
            }
            let slot = slot as usize;
            let sending = &mut self.sending[slot];
            sending.ready = false;
            let transport = &self.transports[sending.transport as usize];
            if DETOURS && cx.features.agents {
                sending.sender.on_contending(self.nics[id.at()].ready.len());
            }
            let answer = sending.sender.poll_transmit(transport, cx.now, &mut packet, &mut self.scratch);
            let mut paced = Time::MAX;
            match answer {
                Transmit::Packet => {
                    if !(DETOURS && cx.features.agents) || sending.sender.claim_turn(transport) {
                        sending.ready = true;
                        self.nics[id.at()].ready.push_back(flow);
                    }
                    self.send_pulled(cx, fabric, id, slot, flow, &mut packet);
                    if cx.features.foresees {
                        paced = self.foresee(cx, fabric, id, slot, flow);
                    }
                }
                Transmit::Idle => {}
                Transmit::At(at) => paced = at,
            }
            let drained = self.sending[slot].sender.after_drain(paced);
            self.on_drained(cx, fabric, flows, slot, flow, drained);
            if answer == Transmit::Packet {
                return;
            }
            self.close_if_over(fabric, flows, flow);
        }
    }

    /// After a NIC has sent a packet of a flow: if the flow is the only one on the list and will have nothing to
    /// send when the link is free, removes it from the list. Returns when its pace allows the next packet.
    #[inline]
    fn foresee(&mut self, cx: &Cx, fabric: &mut Fabric, id: PortId, slot: usize, flow: FlowId) -> Time {
        let (nic, sending) = (&mut self.nics[id.at()], &mut self.sending[slot]);
        let (free_at, transport) =
            (fabric.ports()[id.at()].free_at, &self.transports[sending.transport as usize]);
        if nic.ready.len() != 1 || free_at <= cx.now {
            return Time::MAX;
        }
        let paced = match sending.sender.predict_idle(transport, free_at) {
            Some(Transmit::At(at)) => at,
            Some(Transmit::Idle) => Time::MAX,
            Some(Transmit::Packet) | None => return Time::MAX,
        };
        nic.ready.clear();
        sending.ready = false;
        fabric.foresee(id, Foreseen { flow, paced });
        paced
    }

    /// Undoes a recalled prediction: the state is as if nothing had been foreseen.
    #[inline]
    pub(super) fn undo_foresight(&mut self, cx: &mut Cx, fabric: &mut Fabric, id: PortId) {
        let Some(Foreseen { flow, paced }) = fabric.take_recalled(id) else { return };
        let slot = fabric.paths().slot(flow);
        if slot == NO_SLOT {
            return;
        }
        let sending = &mut self.sending[slot as usize];
        debug_assert!(!sending.ready);
        sending.ready = true;
        self.nics[id.at()].ready.push_front(flow);
        if sending.timer == paced {
            (sending.timer, sending.later) = (Time::MAX, paced);
            self.arm_sender(cx, slot as usize, flow, Time::MAX);
        }
    }

    /// Takes the flow to be polled next from the round-robin list.
    #[inline]
    fn next_ready<const DETOURS: bool>(
        &mut self,
        cx: &Cx,
        fabric: &mut Fabric,
        id: PortId,
    ) -> Option<FlowId> {
        if DETOURS && cx.features.nic_picks {
            return self.next_picked(cx, fabric, id);
        }
        if DETOURS && cx.features.backpressure {
            return self.next_unpaused(fabric, id);
        }
        if !(DETOURS && cx.features.agents) {
            return self.nics[id.at()].ready.pop_front();
        }
        let place = self.next_by_agent(fabric, id);
        self.nics[id.at()].ready.remove(place)
    }

    /// Takes the flow that the NIC's order picks among those whose queue is not paused.
    fn next_picked(&mut self, cx: &Cx, fabric: &mut Fabric, id: PortId) -> Option<FlowId> {
        let first = self.next_unpaused(fabric, id)?;
        let Self { nics, sending, .. } = self;
        let ready = &mut nics[id.at()].ready;
        ready.push_front(first);
        let (paths, paused) = (fabric.paths(), &fabric.gates()[id.at()].paused);
        let place = cx.spec.nic.order.pick(&Ready { ready, sending, paths, paused });
        ready.remove(place)
    }

    /// Takes the next flow whose queue is not paused. Flows with paused queues wait in a list of their own until
    /// something is resumed.
    // CHOICE BFC §3.5: a flow that is resumed takes the last place in the round.
    fn next_unpaused(&mut self, fabric: &mut Fabric, id: PortId) -> Option<FlowId> {
        let freed = fabric.take_freed(id);
        let (paths, gate) = (fabric.paths(), &fabric.gates()[id.at()]);
        let Self { nics, sending, .. } = self;
        let Nic { ready, held, .. } = &mut nics[id.at()];
        let paused = |flow: FlowId| {
            let slot = paths.slot(flow);
            slot != NO_SLOT && is_held(&gate.paused, flow, sending[slot as usize].queue)
        };
        if freed {
            for _ in 0..held.len() {
                let Some(flow) = held.pop_front() else { break };
                if paused(flow) { held.push_back(flow) } else { ready.push_back(flow) }
            }
        }
        let mut next = None;
        while next.is_none()
            && let Some(flow) = ready.pop_front()
        {
            if paused(flow) { held.push_back(flow) } else { next = Some(flow) }
        }
        next
    }

    /// Claims a queue number of a host's NIC for a flow.
    pub(super) fn claim_queue(&mut self, fabric: &Fabric, host: HostId) -> u16 {
        let nic = fabric.routes().nic(host);
        self.nics.get_mut(nic.at()).map_or(0, |nic| nic.queues.claim())
    }

    /// Gives back the queue number of a flow whose sender is done.
    pub(super) fn return_queue(&mut self, fabric: &Fabric, slot: usize) {
        let Sending { host, queue, .. } = self.sending[slot];
        let nic = self.nics.get_mut(fabric.routes().nic(host).at());
        if let Some(nic) = nic.filter(|nic| !nic.queues.flows.is_empty()) {
            nic.queues.give_back(queue);
        }
    }

    fn pull_by_places(&mut self, cx: &mut Cx, fabric: &mut Fabric, flows: &mut Flows, id: PortId) {
        let mut packet = Packet::default();
        let mut senders = Senders {
            sending: &mut self.sending,
            paths: fabric.paths(),
            spec: &cx.spec,
            now: cx.now,
            packet: &mut packet,
            side: &mut self.scratch,
        };
        match self.nics[id.at()].places.scan(cx.now, &mut senders) {
            Scan::Sends(flow) => {
                let slot = fabric.paths().slot(flow) as usize;
                self.send_pulled(cx, fabric, id, slot, flow, &mut packet);
                let drained = self.sending[slot].sender.after_drain(Time::MAX);
                self.on_drained(cx, fabric, flows, slot, flow, drained);
            }
            Scan::Timer(flow, at) => {
                let slot = fabric.paths().slot(flow) as usize;
                self.arm_sender(cx, slot, flow, at);
            }
            Scan::Idle => {}
        }
    }

    /// Sends the packet that a flow was polled for.
    #[inline]
    fn send_pulled(
        &mut self,
        cx: &mut Cx,
        fabric: &mut Fabric,
        id: PortId,
        slot: usize,
        flow: FlowId,
        packet: &mut Packet,
    ) {
        let sending = &mut self.sending[slot];
        sending.balance = sending.balance.wrapping_add(1);
        if !sending.begun {
            sending.begun = true;
            cx.instruments.firsts.leave(flow, cx.now);
        }
        packet.hop = HopTag::from_queue(sending.queue);
        let ends = (sending.host, sending.peer);
        let path = fabric.paths().start(slot);
        let (_, flying) = prepare(cx, fabric, flow, ends, path, (packet, &self.scratch));
        fabric.transmit_now(cx, id, flying);
    }
}

/// Whether the flow's queue, or the flow itself, is paused.
#[inline]
fn is_held(paused: &Paused, flow: FlowId, queue: u16) -> bool {
    paused.queues().has(queue) || paused.flows().contains(&flow)
}

/// The flows of a NIC that may send, as shown to an order that picks.
struct Ready<'a> {
    ready: &'a VecDeque<FlowId>,
    sending: &'a [Sending],
    paths: &'a Paths,
    paused: &'a Paused,
}

impl Ready<'_> {
    /// A flow's sender, unless it is over.
    fn sender(&self, place: usize) -> Option<&Sending> {
        let slot = self.paths.slot(self.ready[place]);
        (slot != NO_SLOT).then(|| &self.sending[slot as usize])
    }
}

impl Waiting for Ready<'_> {
    fn count(&self) -> usize {
        self.ready.len()
    }
    /// A flow that is over has nothing left, so it is polled at once and removed.
    fn left(&self, place: usize) -> u64 {
        self.sender(place).map_or(0, |sending| sending.sender.remaining())
    }
    fn is_held(&self, place: usize) -> bool {
        self.sender(place).is_some_and(|sending| is_held(self.paused, self.ready[place], sending.queue))
    }
}

/// The flows of a NIC, as shown to its scan.
struct Senders<'a> {
    sending: &'a mut [Sending],
    paths: &'a Paths,
    spec: &'a NetworkSpec,
    now: Time,
    packet: &'a mut Packet,
    side: &'a mut Side,
}

impl Backlog for Senders<'_> {
    fn is_over(&self, flow: FlowId) -> bool {
        let slot = self.paths.slot(flow);
        slot == NO_SLOT || self.sending[slot as usize].complete
    }

    fn due(&self, flow: FlowId) -> Option<Time> {
        self.sending[self.paths.slot(flow) as usize].sender.next_departure()
    }

    fn poll(&mut self, flow: FlowId) -> Transmit {
        let sending = &mut self.sending[self.paths.slot(flow) as usize];
        let transport = &self.spec.transports[sending.transport as usize];
        sending.sender.poll_transmit(transport, self.now, self.packet, self.side)
    }
}
