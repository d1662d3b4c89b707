//! Congestion points: notices that switch ports send to the sources of the flows that pass them.
//!
//! The machines are [`thalweg_machines::point`]. They are notified of packets that join and leave their queue.
//! Their notices become control packets that start at the port's switch. These have no source route, since no
//! flow's path need lead back through that switch: every switch looks up the next hop. They are not counted as
//! packets of a flow, and one that arrives after its flow has ended is discarded.

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::Fabric;
use crate::fabric::mechanisms::{LOOKED_UP, Mechanisms, Points};
use crate::features::notifies;
use crate::port::Port;
use crate::port::flying::Flying;
use thalweg_machines::congestion::Messages;
use thalweg_machines::point::CongestionPoint;
use thalweg_machines::route::Ends;
use thalweg_machines::schedule::Discipline;
use thalweg_machines::stage::View;
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{FlowId, NodeId, PortId, Span, Time};
use thalweg_wire::{Kind, Message, Notice, NoticeBody, Packet};

/// Whether a packet on the wire was sent by a congestion point.
#[inline]
pub(crate) fn is_looked_up(flying: &Flying) -> bool {
    flying.route == LOOKED_UP
}

/// Schedules the first wake-up of every point.
pub(crate) fn arm(fabric: &Fabric, cx: &mut Cx) {
    for (id, point) in fabric.mechanisms.points.by_port.iter().enumerate() {
        if let Some(at) = point.as_ref().and_then(CongestionPoint::wake) {
            cx.schedule(at, Phase::Point, id as u32);
        }
    }
}

/// A port, as shown to its point.
fn view(port: &Port) -> View {
    View {
        packets: port.waiting.packets,
        bytes: port.waiting.bytes,
        wire: 0,
        rate: port.serializer.rate(),
        sent: port.sent.bytes,
        idle_for: Span::ZERO,
        waited: Span::ZERO,
    }
}

impl Points {
    /// Notifies the point of a port of a packet that has joined its queue; `before`: bytes that waited.
    #[inline(never)]
    pub(super) fn joined(&mut self, now: Time, (id, port): (PortId, &Port), packet: &Packet, before: u64) {
        let Some(Some(point)) = self.by_port.get_mut(id.at()) else { return };
        if packet.kind != Kind::Data {
            return;
        }
        let seen = view(port);
        let view = View { packets: seen.packets.saturating_sub(1), bytes: before, wire: packet.wire, ..seen };
        point.on_join(now, &view, packet, &mut self.notices);
    }

    /// Notifies the point of a port of a packet that has left its queue.
    #[inline(never)]
    pub(super) fn left(&mut self, id: PortId, packet: &Packet) {
        if let Some(Some(point)) = self.by_port.get_mut(id.at())
            && packet.kind == Kind::Data
        {
            point.on_leave(packet);
        }
    }
}

/// Passes packets that the queue of a port reports as they arrive or leave on to its point. The point sends its
/// notices when its clock ticks, at this same instant.
#[inline(never)]
pub(crate) fn notified(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    let Fabric { mechanisms: Mechanisms { points, .. }, packets, ports, egresses, .. } = fabric;
    let queue = egresses[ports[id.at()].queue as usize].egress.queue_mut();
    // Queues of hosts have no point.
    let Some(Some(point)) = points.by_port.get_mut(id.at()) else { return queue.take_notified(&mut |_| {}) };
    let pending = point.wake().is_some();
    queue.take_notified(&mut |handle| {
        let packet = &packets[handle];
        if packet.kind == Kind::Data {
            point.on_notify(cx.now, packet);
        }
    });
    if let Some(at) = point.wake().filter(|_| !pending) {
        cx.schedule(at, Phase::Point, id.0);
    }
}

/// Runs the clock of a port's point.
#[inline(never)]
pub(crate) fn tick(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    fabric.catch_up_now(cx, id);
    let view = view(&fabric.ports[id.at()]);
    let Points { by_port, notices } = &mut fabric.mechanisms.points;
    let Some(point) = &mut by_port[id.at()] else { return };
    point.tick(cx.now, &view, notices);
    if let Some(at) = point.wake() {
        let at = at.max(cx.now + Span::from_ps(1));
        cx.schedule(at, Phase::Point, id.0);
    }
    send_notices(fabric, cx, id, Tie::Behind);
}

/// The order between a notice and a decision of its output port at the same instant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tie {
    /// The notice comes first, like arrivals: a packet that joins is its cause.
    Before,
    /// The decision comes first: clocks tick after all ports have decided, including those without an event.
    Behind,
}

/// Sends the pending notices of a port's point.
#[inline(never)]
pub(super) fn send_notices(fabric: &mut Fabric, cx: &mut Cx, id: PortId, tie: Tie) {
    if fabric.mechanisms.points.notices.is_empty() {
        return;
    }
    let mut notices = std::mem::take(&mut fabric.mechanisms.points.notices);
    for (flow, body) in notices.drain(..) {
        send(fabric, cx, id, flow, body, tie);
    }
    fabric.mechanisms.points.notices = notices;
}

fn send(fabric: &mut Fabric, cx: &mut Cx, id: PortId, flow: FlowId, body: NoticeBody, tie: Tie) {
    let Some(spec) = &cx.spec.point else { return };
    let side = fabric.sides.claim();
    let (message, wire) = (Message::from(Notice { point: id, body }), spec.message().get() as u32);
    let packet = Packet {
        dst: cx.spec.flows[flow.at()].src,
        route: LOOKED_UP,
        side: side.0,
        ..fabric.sides[side].packet_of(message, cx.now, flow, wire)
    };
    cx.instruments.tally.injected += 1;
    let handle = fabric.packets.insert(packet);
    let here = fabric.ports[id.reverse().at()].place.peer;
    let out = next_port(fabric, cx, here, flow);
    if let (Tie::Behind, Some(out)) = (tie, out) {
        fabric.catch_up_now(cx, out);
    }
    match out {
        Some(out) => {
            let flying = Flying::new(handle, &packet);
            fabric.enqueue::<false, true>(cx, PortId::NONE, out, flying, Span::ZERO);
        }
        // It came through no port: it counts as lost at the port of its point.
        None => fabric.lose(cx, id, handle, cx.now),
    }
}

/// A switch forwards a notice.
#[inline(never)]
pub(crate) fn forward(fabric: &mut Fabric, cx: &mut Cx, from: PortId, here: NodeId, flying: Flying) {
    match next_port(fabric, cx, here, fabric.packets[flying.handle].flow) {
        Some(out) => fabric.enqueue::<false, true>(cx, from, out, flying, Span::ZERO),
        None => fabric.lose(cx, from, flying.handle, cx.now),
    }
}

/// The port by which a notice for the source of a flow leaves a switch.
fn next_port(fabric: &Fabric, cx: &Cx, here: NodeId, flow: FlowId) -> Option<PortId> {
    let ends = &cx.spec.flows[flow.at()];
    // The path from here to the source differs from that of ACKs: it starts at this switch.
    let pick = cx.spec.routing.rule.pick(&Ends { src: ends.dst, dst: ends.src, flow, back: true });
    fabric.routes.next(here, ends.src, pick)
}

/// Why a network cannot have congestion points, if it cannot.
pub(crate) fn refusal(spec: &NetworkSpec) -> Option<&'static str> {
    let own = spec.point.as_ref().is_some_and(|point| point.sends() == Messages::Notifications);
    if own != notifies(spec) {
        return Some("queues that notify of packets and congestion points of their own go together");
    }
    spec.point.as_ref()?;
    let headers = spec.replay
        || spec.carried != thalweg_machines::stage::CarriedSpec::Nothing
        || spec.slack.is_some()
        || spec.probes.record.is_some();
    if headers {
        Some("what congestion points send has no path that headers could be kept for")
    } else if !spec.routing.rule.needs().source_routes {
        Some("congestion points and rules that choose paths packet by packet exclude each other")
    } else if spec.cut_through.is_some() || spec.disciplines.iter().any(|d| d.preemptive) {
        Some("congestion points look at whole packets: store and forward, without preemption")
    } else if spec.inputs.is_some() && !spec.control_first {
        Some(
            "what congestion points send came by no input: with per-ingress accounting, control packets go first",
        )
    } else {
        None
    }
}
