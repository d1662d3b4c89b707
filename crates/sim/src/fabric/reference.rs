//! The reference lane: a port that runs [`thalweg_machines::egress::Egress`] itself.
//!
//! It supports any link and any stage. The machine is notified of each arrival. Whenever something waits, the
//! instant at which it is to be polled next is an event: two events per packet-hop. The other lanes are short cuts
//! of this one.
//!
//! Such a port is gated (see [`crate::fabric::gated`]), but the machine itself keeps what is paused and what waits,
//! control packets and frames included.
//!
//! Nothing here is inlined: the common path of a packet on the other lanes should fit into the instruction cache.

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::egress::Held;
use crate::fabric::outages::Outages;
use crate::fabric::sharing::Fit;
use crate::fabric::{Fabric, Fate, Lost, points, programs, sharing, trimming};
use crate::instruments::Instruments;
use crate::port::Booked;
use crate::port::flying::Flying;
use thalweg_machines::egress::{Arrived, Egress, Poll, Sent};
use thalweg_machines::pause::Posted;
use thalweg_machines::schedule::Discipline;
use thalweg_units::{PortId, Span, Time};
use thalweg_wire::{Handle, Kind};

/// A packet for which there is memory in the switch joins the port.
#[inline(never)]
pub(crate) fn enqueue(fabric: &mut Fabric, cx: &mut Cx, id: PortId, from: PortId, flying: Flying) {
    let Flying { handle, route, .. } = flying;
    fabric.packets[handle].route = route;
    let fit = sharing::find_fit(fabric, cx, id, handle);
    if fit == Fit::Never {
        fabric.ports[id.at()].cold.dropped += 1;
        return fabric.lose(cx, id, handle, cx.now);
    }
    let before = fabric.ports[id.at()].waiting.bytes;
    if cx.features.programs {
        programs::set_input(&fabric.ports, &mut fabric.packets[handle], from);
        programs::fetch_engine(&fabric.ports, &mut fabric.egresses, &fabric.memory, id);
    }
    let mut arrived = arrive(fabric, &mut cx.instruments, cx.now, id, handle);
    if fit == Fit::AfterPushOut
        && arrived != Arrived::Dropped
        && sharing::push_out_for(fabric, cx.now, id, handle, before)
    {
        arrived = Arrived::Dropped;
    }
    if cx.features.notifies {
        points::notified(fabric, cx, id);
    }
    let packet = &fabric.packets[handle];
    if !cx.instruments.probes.priorities.is_empty()
        && arrived != Arrived::Dropped
        && packet.kind == Kind::Data
    {
        cx.instruments.probes.count_priority(id, packet.rank, cx.spec.probes.priority_histogram);
    }
    note_queue(fabric, cx.now, id);
    if arrived != Arrived::Dropped {
        fabric.joins_gated(cx, id, from, handle);
    }
    let port = &mut fabric.ports[id.at()];
    port.note_queue(port.waiting.bytes);
    if !port.state.tx_pending && port.waiting.packets > 0 {
        let at = port.free_at;
        fabric.decide_at(cx, id, at);
    } else if fabric.gates[id.at()].blocked && fabric.reference(id).is_some_and(|r| r.egress.is_ready()) {
        // The packet belongs to a queue that is not paused.
        fabric.wake(cx, id);
    }
    if let Arrived::Trimmed { handle, cut } = arrived {
        let Fabric { memory, ports, packets, lost, .. } = fabric;
        let packet = &mut packets[handle];
        trimming::note(memory, &mut cx.instruments.tally, (id, &ports[id.at()]), packet, cut);
        lost.now.push(Lost { packet: *packet, fate: Fate::Trimmed });
    }
    fabric.joins(cx, id, handle, before, arrived == Arrived::Dropped);
}

/// Gives the machine a frame to send.
#[inline(never)]
pub(crate) fn post(fabric: &mut Fabric, id: PortId, posted: Posted) {
    fabric.egresses[fabric.ports[id.at()].queue as usize].egress.post(posted);
}

/// A packet joins the control queue, which is counted neither as memory nor as part of the queue.
#[inline(never)]
pub(crate) fn enqueue_control(fabric: &mut Fabric, cx: &mut Cx, id: PortId, flying: Flying) {
    fabric.packets[flying.handle].route = flying.route;
    debug_assert!(fabric.packets[flying.handle].is_control(), "NICs that pull are handed nothing else");
    let arrived = arrive(fabric, &mut cx.instruments, cx.now, id, flying.handle);
    debug_assert_eq!(arrived, Arrived::Admitted);
}

/// A NIC has pulled a packet: it leaves at once, unless the link cannot send just now.
#[inline(never)]
pub(crate) fn transmit_pulled(fabric: &mut Fabric, cx: &mut Cx, id: PortId, flying: Flying) {
    fabric.packets[flying.handle].route = flying.route;
    let arrived = arrive(fabric, &mut cx.instruments, cx.now, id, flying.handle);
    debug_assert_eq!(arrived, Arrived::Admitted, "a queue without limit");
    note_queue(fabric, cx.now, id);
    send(fabric, cx, id);
    let port = &mut fabric.ports[id.at()];
    if port.free_at <= cx.now && port.waiting.packets == 0 {
        // It left at once and took no time: another may follow.
        fabric.decide_at(cx, id, cx.now);
    }
}

fn arrive(fabric: &mut Fabric, look: &mut Instruments, now: Time, id: PortId, handle: Handle) -> Arrived {
    let Fabric { ports, egresses, packets, sides, pushed_out, .. } = fabric;
    let egress = &mut egresses[ports[id.at()].queue as usize].egress;
    if look.probes.ports.is_empty() {
        return egress.arrive(now, handle, &mut Held { packets, sides }, pushed_out);
    }
    look.probes.ports.arrives(id, now, handle, &packets[handle]);
    let before = pushed_out.len();
    let arrived = egress.arrive(now, handle, &mut Held { packets, sides }, pushed_out);
    look.probes.ports.arrived(id, now, handle, arrived, &pushed_out[before..]);
    arrived
}

/// Updates the port's counters, and those of memory shared by outputs, after the queue has changed.
pub(super) fn note_queue(fabric: &mut Fabric, now: Time, id: PortId) {
    let Fabric { ports, egresses, memory, gates, .. } = fabric;
    let port = &mut ports[id.at()];
    let egress = &egresses[port.queue as usize].egress;
    let (before, after) = (port.waiting.bytes, egress.queue().bytes());
    port.set_waiting(now, egress.queue().packets(), after);
    port.cold.marked = egress.totals().marked;
    // Whether the port is stopped may depend on which queues hold packets.
    gates[id.at()].stopped = egress.is_stopped();
    if let Some(pool) = memory.pool(&port.place) {
        if after >= before { pool.take(after - before) } else { pool.release(before - after) }
    }
}

/// Polls the port at an instant that it has scheduled. Returns true if a NIC has to pull a packet from its host's
/// flows.
#[inline(never)]
pub(crate) fn tx(fabric: &mut Fabric, cx: &mut Cx, id: PortId) -> bool {
    if fabric.ports[id.at()].free_at <= cx.now {
        fabric.release_deferred(cx, id);
        if cx.features.failures && fabric.outages.is_down(id) {
            let egress = &mut fabric.egresses[fabric.ports[id.at()].queue as usize].egress;
            drop_frames(egress, &mut fabric.outages);
        }
        send(fabric, cx, id);
        let port = &fabric.ports[id.at()];
        let egress = &fabric.egresses[port.queue as usize].egress;
        let gate = &fabric.gates[id.at()];
        let has_source = port.place.pulls || gate.input_ready;
        let may_pull = has_source && port.waiting.packets == 0 && !gate.stopped;
        if may_pull && port.free_at <= cx.now && egress.opens(cx.now) == cx.now {
            return true;
        }
    }
    schedule_or_block(fabric, cx, id);
    false
}

/// Drops all frames, which cannot leave because the link has failed.
fn drop_frames(egress: &mut Egress, outages: &mut Outages) {
    while egress.drop_frame().is_some() {
        outages.lose_frame();
    }
}

/// Sends everything that the machine has to send now.
fn send(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    loop {
        if cx.features.programs {
            programs::fetch_engine(&fabric.ports, &mut fabric.egresses, &fabric.memory, id);
        }
        let Fabric { ports, egresses, packets, sides, pushed_out, .. } = fabric;
        let egress = &mut egresses[ports[id.at()].queue as usize].egress;
        let poll = egress.poll(cx.now, &mut Held { packets, sides }, pushed_out);
        if !cx.instruments.probes.ports.is_empty() {
            cx.instruments.probes.ports.polled(id, cx.now, poll, pushed_out, |handle| packets[handle]);
        }
        if matches!(poll, Poll::Transmit { .. }) || !fabric.pushed_out.is_empty() {
            note_queue(fabric, cx.now, id);
        }
        if cx.features.notifies {
            points::notified(fabric, cx, id);
        }
        if let Poll::Transmit { what, until, arrives } = poll {
            fabric.ports[id.at()].free_at = until;
            match what {
                Sent::Packet(handle) => depart(fabric, cx, id, handle, arrives),
                Sent::Frame(posted) => send_frame(fabric, cx, id, posted, arrives),
            }
        }
        if !fabric.pushed_out.is_empty() || cx.features.programs {
            fabric.give_up_pushed_out(cx, id, cx.now);
        }
        if !matches!(poll, Poll::Transmit { .. }) {
            return;
        }
    }
}

/// Begins the transmission of a packet.
fn depart(fabric: &mut Fabric, cx: &mut Cx, id: PortId, handle: Handle, arrives: Option<Time>) {
    let packet = &fabric.packets[handle];
    let first = fabric.egresses[fabric.ports[id.at()].queue as usize].egress.is_first(packet);
    let mut flying = Flying::new(handle, packet);
    if !first {
        // A packet whose transmission ended at this instant has left.
        fabric.release_deferred(cx, id);
    }
    let now = cx.now;
    flying.wire = fabric.leaves(cx, id, now, flying, first);
    let port = &mut fabric.ports[id.at()];
    port.sent.packets += 1;
    port.sent.bytes += u64::from(flying.wire);
    match arrives {
        Some(arrive) => fly(fabric, cx, id, Flying { arrive, ..flying }),
        None => {
            fabric.egresses[port.queue as usize].lost += 1;
            fabric.lose_on_link(cx, id, handle);
        }
    }
}

/// Begins the transmission of a frame.
fn send_frame(fabric: &mut Fabric, cx: &mut Cx, id: PortId, posted: Posted, arrives: Option<Time>) {
    let now = cx.now;
    let flying = fabric.begin_frame(cx, id, now, posted);
    match arrives {
        Some(arrive) => fly(fabric, cx, id, Flying { arrive, ..flying }),
        None => {
            fabric.gates.frames.remove(flying.handle);
            fabric.outages.lose_frame();
        }
    }
}

fn fly(fabric: &mut Fabric, cx: &mut Cx, id: PortId, flying: Flying) {
    if let Booked::First(at) = fabric.ports[id.at()].insert_on_wire(flying) {
        cx.schedule(at, Phase::Arrive, id.0);
    }
}

/// After a decision: schedules the next one, if anything is to be decided; blocks the port if only other events can
/// unblock it.
#[inline(never)]
pub(crate) fn schedule_or_block(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    let port = &fabric.ports[id.at()];
    if port.state.tx_pending {
        return;
    }
    let gate = &fabric.gates[id.at()];
    let egress = &fabric.egresses[port.queue as usize].egress;
    let pulls = gate.input_ready && !gate.stopped;
    let free_at = port.free_at.max(cx.now);
    // If something is ready and the link were open now, it would have been sent already.
    let opens = if egress.is_ready() || pulls { egress.opens(free_at) } else { Time::MAX };
    let deferred = fabric.memory.is_deferred(id);
    let at = if deferred {
        free_at
    } else if opens > cx.now {
        opens
    } else {
        Time::MAX
    };
    let paused = gate.paused.any();
    if at < Time::MAX && !deferred && egress.is_slowed(free_at) {
        // A frame, a control packet or a higher rate may allow an earlier departure: each of them wakes the port.
        fabric.block(id);
        wake_at(fabric, cx, id, at);
    } else if at < Time::MAX {
        fabric.decide_at(cx, id, at);
    } else if paused {
        fabric.block(id);
    } else if let Some(at) = egress.queue().held_until().filter(|at| *at > cx.now) {
        fabric.block(id);
        wake_at(fabric, cx, id, at);
    }
}

/// Wakes the port at the instant before which its queue, or the rate left by its neighbour, lets nothing leave.
/// Whatever comes earlier wakes it, too.
fn wake_at(fabric: &mut Fabric, cx: &mut Cx, id: PortId, at: Time) {
    let gate = &mut fabric.gates[id.at()];
    if gate.remind_at.is_none_or(|pending| at < pending) {
        gate.remind_at = Some(at);
        cx.schedule(at, Phase::Tick, id.0);
    }
}

/// Applies what the neighbour has paused. True if nothing that waits may leave.
#[inline(never)]
pub(crate) fn set_paused(fabric: &mut Fabric, id: PortId) -> bool {
    let egress = &mut fabric.egresses[fabric.ports[id.at()].queue as usize].egress;
    egress.set_paused(&fabric.gates[id.at()].paused);
    egress.is_stopped()
}

/// Runs the machine's control planes; packets that were held back may leave then.
#[inline(never)]
pub(crate) fn tick(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    let gate = &mut fabric.gates[id.at()];
    let reminded = gate.remind_at.is_some_and(|at| at <= cx.now);
    gate.remind_at = gate.remind_at.filter(|at| *at > cx.now);
    programs::fetch_engine(&fabric.ports, &mut fabric.egresses, &fabric.memory, id);
    let egress = &mut fabric.egresses[fabric.ports[id.at()].queue as usize].egress;
    egress.tick(cx.now);
    let wake = egress.wake_control_plane();
    note_queue(fabric, cx.now, id);
    if reminded && fabric.gates[id.at()].blocked {
        fabric.wake(cx, id);
    }
    let port = &fabric.ports[id.at()];
    if port.waiting.packets > 0 && !port.state.tx_pending && port.free_at <= cx.now {
        fabric.decide_at(cx, id, cx.now);
    }
    // A reminder is not a wake-up of the control plane, which has its own events.
    if let Some(at) = wake.filter(|_| !reminded) {
        let at = at.max(cx.now + Span::from_ps(1));
        cx.schedule(at, Phase::Tick, id.0);
    }
}

/// Loses everything that waits at a port whose link has failed.
#[inline(never)]
pub(crate) fn flush(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    let Fabric { ports, egresses, packets, sides, pushed_out, memory, .. } = fabric;
    programs::fetch_engine(ports, egresses, memory, id);
    let egress = &mut egresses[ports[id.at()].queue as usize].egress;
    egress.drain(cx.now, &mut Held { packets, sides }, pushed_out);
    let mut control = Vec::new();
    egress.drain_control(&mut control);
    note_queue(fabric, cx.now, id);
    for handle in control {
        fabric.outages.lost += 1;
        fabric.ports[id.at()].cold.dropped += 1;
        fabric.lose(cx, id, handle, cx.now);
    }
    fabric.outages.lost += fabric.pushed_out.len() as u64;
    fabric.give_up_pushed_out(cx, id, cx.now);
}
