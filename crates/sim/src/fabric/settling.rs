//! Backpressure where departures are seen at another instant than that at which they are sent: packets that wait for the wire only, and
//! headers on their way round to the ingress pipeline (Goyal, MIT 2022, §3.4; [`Needs::apart`](thalweg_machines::schedule::Needs::apart)).

use crate::cx::Cx;
use crate::events::{Events, Phase};
use crate::fabric::{Fabric, backpressure};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_machines::pause::{Frame, Passing};
use thalweg_machines::schedule::Discipline;
use thalweg_machines::{Flags, Handle, Packet};
use thalweg_units::{PortId, Time};

/// Departures of which switches have not heard yet, by port; empty where nobody hears late.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Returning(Vec<VecDeque<(Time, Packet)>>);

impl Returning {
    /// For so many ports.
    pub fn new(ports: usize) -> Self {
        Self(vec![VecDeque::new(); ports])
    }

    /// Packets that have left a port and still count against a neighbour.
    pub fn of(&self, id: PortId) -> usize {
        self.0.get(id.at()).map_or(0, VecDeque::len)
    }
}

/// When a packet is out of the reach of pauses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum As {
    /// Another one arrives.
    Arrival,
    /// The port decides what it sends.
    Decision,
}

/// Something has joined the queues of a switch port, or `leaving` begins its transmission: packets that no pause can stop any more are held
/// against nobody.
pub(super) fn settle<Q: Events>(
    fabric: &mut Fabric,
    cx: &mut Cx<Q>,
    id: PortId,
    leaving: Option<Handle>,
    when: As,
) {
    if let Some(handle) = leaving {
        let_go(fabric, cx, id, handle, when);
    }
    for nth in 0.. {
        let Some(handle) = fabric.queue(id).and_then(|queue| queue.committed(nth)) else { return };
        let_go(fabric, cx, id, handle, when);
    }
}

fn let_go<Q: Events>(fabric: &mut Fabric, cx: &mut Cx<Q>, id: PortId, handle: Handle, when: As) {
    let packet = fabric.packets[handle];
    if !packet.flags.has(Flags::HELD_BACK) {
        return;
    }
    fabric.packets[handle].flags.clear(Flags::HELD_BACK);
    backpressure::held_back_gone(fabric, id);
    let late = fabric.queue(id).map(|queue| queue.late()).unwrap_or_default();
    if late.is_zero() {
        if let Some((back, frame)) = heard(fabric, cx, id, &packet) {
            match when {
                As::Arrival => backpressure::tell_of_queue(fabric, cx, back, frame),
                As::Decision => fabric.tell_neighbour(cx, id, back, frame),
            }
        }
        return;
    }
    let at = cx.now.saturating_add(late);
    let returning = &mut fabric.memory.returning.0[id.at()];
    if returning.is_empty() {
        cx.schedule(at, Phase::Return, id.0);
    }
    returning.push_back((at, packet));
}

/// A switch hears that a packet has left the port: what it tells a neighbour of its, by which port.
pub(super) fn heard<Q>(
    fabric: &mut Fabric,
    cx: &Cx<Q>,
    id: PortId,
    packet: &Packet,
) -> Option<(PortId, Frame)> {
    let place = &fabric.ports[id.at()].place;
    let (switch, output, input) =
        (place.owner as usize, usize::from(place.number), usize::from(packet.input));
    let frame = fabric.memory.switches[switch].on_departed(cx.now, Passing { input, output, packet })?;
    Some((fabric.memory.links[switch][input], frame))
}

/// Headers of packets that have left this port have come round.
pub(crate) fn return_due<Q: Events>(fabric: &mut Fabric, cx: &mut Cx<Q>, id: PortId) {
    while let Some((at, packet)) = fabric.memory.returning.0[id.at()].front().copied() {
        if at > cx.now {
            return cx.schedule(at, Phase::Return, id.0);
        }
        fabric.memory.returning.0[id.at()].pop_front();
        if let Some((back, frame)) = heard(fabric, cx, id, &packet) {
            // Ports have decided at this instant, those without an event for it, too.
            fabric.catch_up_now(cx, back);
            backpressure::tell_of_queue(fabric, cx, back, frame);
        }
    }
}
