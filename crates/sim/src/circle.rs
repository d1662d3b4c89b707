//! A round-robin NIC's turns as the HPCC authors' simulator takes them (alibaba-edu/High-Precision-Congestion-Control,
//! `RdmaEgressQueue::GetNextQindex`, `QbbNetDevice::DequeueAndTransmit`).
//!
//! Flows have places in a circle, in the order in which they began, and the NIC looks from behind the one that sent last. Two
//! quirks of the peer are kept: a flow that is over leaves when a look meets it, those behind it move up, and the mark of who
//! sent last does not move with them; and a NIC that finds nobody sets *one* timer, for the flow that may send first then: one that
//! may send earlier, because it began or was served later, has to wait for that timer, an ACK, or the end of another packet.

use crate::events::Events;
use crate::flow::NO_CONNECTION;
use crate::sim::Sim;
use serde::{Deserialize, Serialize};
use thalweg_machines::Packet;
use thalweg_machines::transport::Transmit;
use thalweg_units::{FlowId, PortId, Time};

/// The flows of one NIC.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Circle {
    /// In the order in which they began; those that are over stay until a look meets them.
    places: Vec<FlowId>,
    /// Which of them sent last.
    last: usize,
    /// The timer, if it lies ahead, and for whom.
    look: (Time, FlowId),
}

impl Circle {
    /// Nobody has a place.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// From `first` on, those that are over leave.
    fn close_up(&mut self, first: usize, mut over: impl FnMut(FlowId) -> bool) {
        let mut at = 0;
        self.places.retain(|flow| {
            at += 1;
            at <= first || !over(*flow)
        });
    }
}

impl<Q: Events> Sim<Q> {
    /// A flow begins, or hears from its receiver: the NIC looks.
    pub(crate) fn look_for(&mut self, nic: PortId, flow: FlowId, over: bool) {
        let gate = &mut self.gates[nic.at()];
        if !over && !gate.circle.places.contains(&flow) {
            gate.circle.places.push(flow);
        }
        if !gate.paused {
            self.wake(nic);
        }
    }

    /// When the NIC looks next, if it is for this flow's sake: its event is the flow's timer.
    pub(crate) fn look_of(&self, nic: PortId, flow: FlowId) -> Option<Time> {
        let (at, whose) = self.gates[nic.at()].circle.look;
        (whose == flow && at >= self.now).then_some(at)
    }

    /// The next packet of the circle leaves, if anybody has one.
    pub(crate) fn pull_in_circle(&mut self, id: PortId) {
        let mut circle = std::mem::take(&mut self.gates[id.at()].circle);
        let all = circle.places.len();
        let (mut sends, mut first_over, mut earliest) = (None, usize::MAX, (Time::MAX, FlowId::NONE));
        let mut packet = Packet::default();
        for step in 1..=all {
            let at = (circle.last + step) % all;
            let flow = circle.places[at];
            if self.is_over(flow) {
                first_over = first_over.min(at);
                continue;
            }
            let sending = &mut self.sending[self.connections[flow.at()] as usize];
            let transport = &self.spec.transports[sending.transport as usize];
            match sending.sender.poll_transmit(transport, self.now, &mut packet, &mut self.scratch) {
                Transmit::Packet => {
                    sends = Some(flow);
                    break;
                }
                Transmit::Idle => {}
                Transmit::At(at) => earliest = earliest.min((at, flow)),
            }
        }
        circle.close_up(first_over, |flow| self.is_over(flow));
        if let Some(flow) = sends {
            circle.last = circle.places.iter().position(|f| *f == flow).unwrap_or(0);
        } else if earliest.0 < Time::MAX && circle.look.0 <= self.now {
            circle.look = earliest;
        }
        let look = circle.look;
        self.gates[id.at()].circle = circle;
        if let Some(flow) = sends {
            let slot = self.connections[flow.at()] as usize;
            self.send_pulled(id, slot, flow, &mut packet);
            self.arm_sender(slot, flow, Time::MAX);
            self.note_sender(slot, flow);
        } else if look == earliest && look.0 < Time::MAX {
            self.arm_sender(self.connections[look.1.at()] as usize, look.1, look.0);
        }
    }

    /// All of it is acknowledged.
    fn is_over(&self, flow: FlowId) -> bool {
        let slot = self.connections[flow.at()];
        slot == NO_CONNECTION || self.sending[slot as usize].complete
    }
}
