//! Relief: switches let packets overtake others that wait behind a pause (*lift* them), or break cycles of ports
//! that wait for each other.
//!
//! The machines are [`thalweg_machines::relief`], one for each switch. This file shows them their switch, and
//! performs their acts. A packet that escapes waits in the escape queue of its port
//! ([`thalweg_machines::schedule::liftable`]), which has memory of its own and is not counted by per-ingress
//! accounting. Its [hop tag](thalweg_wire::Packet::hop) states for how many more hops it escapes.

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::egress::{Reference, queue_of, queue_of_mut};
use crate::fabric::gate::Gates;
use crate::fabric::mechanisms::Mechanisms;
use crate::fabric::memory::Memory;
use crate::fabric::outages::Outages;
use crate::fabric::reliefs::Reliefs;
use crate::fabric::{Fabric, reference, releases};
use crate::port::flying::Flying;
use crate::port::{Bypass, Lane, Port};
use thalweg_machines::relief::{Act, Relief, ReliefMachine, SwitchView};
use thalweg_machines::schedule::liftable::{HEADER, Liftable};
use thalweg_machines::schedule::{Discipline, Managed, Queue};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{FlowId, NodeId, PortId, Span, Time};
use thalweg_wire::{Frame, Handle, HopTag, Signal};

/// A switch, as shown to its relief.
pub(super) struct View<'a> {
    switch: usize,
    links: &'a [PortId],
    ports: &'a [Port],
    gates: &'a Gates,
    memory: &'a Memory,
    queues: &'a [Queue],
    egresses: &'a [Reference],
    last_sent: &'a [Time],
    outages: &'a Outages,
    hosts: u32,
}

impl View<'_> {
    fn queue(&self, port: usize) -> Option<&Liftable> {
        queue_of(&self.ports[self.links[port].at()], self.queues, self.egresses)?.liftable()
    }
}

/// The queue of a port, if packets can be lifted from it.
fn queue(fabric: &mut Fabric, id: PortId) -> Option<&mut Managed<Liftable>> {
    let Fabric { ports, queues, egresses, .. } = fabric;
    queue_of_mut(&ports[id.at()], queues, egresses)?.liftable_mut()
}

impl SwitchView for View<'_> {
    fn ports(&self) -> usize {
        self.links.len()
    }
    fn id(&self, port: usize) -> u32 {
        self.links[port].0
    }
    fn faces_switch(&self, port: usize) -> bool {
        let NodeId(peer) = self.ports[self.links[port].at()].place.peer;
        peer >= self.hosts
    }
    /// False for an input whose link has failed: it receives nothing.
    fn has_paused(&self, input: usize) -> bool {
        let id = self.links[input];
        self.memory.switches[self.switch].has_paused(input) && !self.outages.has_failed(id)
    }
    fn is_paused(&self, output: usize) -> bool {
        self.gates[self.links[output].at()].paused.any()
    }
    fn waits(&self, output: usize, flow: u32) -> bool {
        self.queue(output).is_some_and(|queue| queue.waits(FlowId(flow)))
    }
    fn waiting(&self, output: usize) -> u32 {
        let single = self.ports[self.links[output].at()].bypass() == Bypass::Single;
        self.queue(output).map_or(0, Liftable::waiting) + u32::from(single)
    }
    fn held(&self, output: usize, input: usize) -> u64 {
        u64::from(self.memory.held(self.links[output], input as u8))
    }
    fn last_sent(&self, output: usize) -> Time {
        self.last_sent[self.links[output].at()]
    }
}

/// Calls the relief of a switch with a view of the switch. Its acts are kept for [`perform_acts`].
fn with_view<R>(
    fabric: &mut Fabric,
    hosts: u32,
    switch: usize,
    body: impl FnOnce(&mut ReliefMachine, &View<'_>, &mut Vec<Act>) -> R,
) -> R {
    let Fabric {
        mechanisms: Mechanisms { relief, .. }, ports, gates, memory, queues, egresses, outages, ..
    } = fabric;
    let Reliefs { machines, last_sent, acts, .. } = relief;
    let view = View {
        switch,
        links: &memory.links[switch],
        ports,
        gates,
        memory,
        queues,
        egresses,
        last_sent,
        outages,
        hosts,
    };
    body(&mut machines[switch], &view, acts)
}

/// A read-only view of a switch.
pub(super) fn view(fabric: &Fabric, hosts: u32, switch: usize) -> View<'_> {
    let Fabric { mechanisms, ports, gates, memory, queues, egresses, outages, .. } = fabric;
    let (links, last_sent) = (memory.links[switch].as_slice(), mechanisms.relief.last_sent.as_slice());
    View { switch, links, ports, gates, memory, queues, egresses, last_sent, outages, hosts }
}

/// Handles a packet that comes to a port of a switch. True if it joins the ordinary queue; false if it was put in
/// the port's escape queue. (Neither this function nor [`Reliefs::on_departure`] is inlined: few networks have
/// relief.)
#[inline(never)]
pub(super) fn joins_queue(
    fabric: &mut Fabric,
    cx: &mut Cx,
    from: PortId,
    id: PortId,
    flying: &mut Flying,
) -> bool {
    let Fabric { ports, packets, mechanisms: Mechanisms { relief, .. }, .. } = &mut *fabric;
    let input = ports[from.reverse().at()].place.number;
    let Some((switch, output)) = ports[id.at()].place.at_switch() else { return true };
    let packet = &packets[flying.handle];
    let name = relief.name(packet);
    let hops = packet.hop.escape_hops();
    if !relief.machines[switch].recalls(name, usize::from(input), output) {
        let now = cx.now;
        apply_releases(fabric, cx, switch, (now, from));
        fabric.mechanisms.relief.machines[switch].on_passing(name, usize::from(input), output);
    }
    hops == 0 || !try_escape(fabric, cx, from, id, flying, name)
}

/// Handles a packet with an escape header. Returns whether it was put in the port's escape queue. It was not if no
/// place is reserved for it, or if another packet of its flow has taken that place.
#[cold]
fn try_escape(
    fabric: &mut Fabric,
    cx: &mut Cx,
    from: PortId,
    id: PortId,
    flying: &mut Flying,
    name: u32,
) -> bool {
    let handle = flying.handle;
    let input = fabric.ports[from.reverse().at()].place.number;
    let Some((switch, output)) = fabric.ports[id.at()].place.at_switch() else { return false };
    let now = cx.now;
    apply_releases(fabric, cx, switch, (now, from));
    let machine = &mut fabric.mechanisms.relief.machines[switch];
    let packet = &mut fabric.packets[handle];
    let hops = packet.hop.escape_hops();
    packet.wire -= HEADER;
    flying.wire = packet.wire;
    let kept = machine.on_escaping(name, output, hops);
    if !kept || machine.substitutes() && lift(fabric, cx, id, name, hops) {
        fabric.packets[handle].hop = HopTag::default();
        return false;
    }
    fabric.packets[handle].input = input;
    if fabric.ports[id.at()].mode.lane == Lane::Reference {
        reference::enqueue(fabric, cx, id, from, *flying);
    } else {
        fabric.catch_up(cx, id);
        fabric.spill(id);
        fabric.join_queue(cx, id, flying);
        fabric.note_held(cx, id);
    }
    true
}

/// Has a port's queue index the first waiting packet of each flow, by the identifiers used in signals.
fn index_flows(fabric: &mut Fabric, id: PortId) {
    fabric.spill(id);
    let Fabric { ports, queues, egresses, packets, mechanisms: Mechanisms { relief, .. }, .. } = fabric;
    if let Some(queue) = queue_of_mut(&ports[id.at()], queues, egresses).and_then(Queue::liftable_mut) {
        queue.order_mut().index(|handle| FlowId(relief.name(&packets[handle])));
    }
}

/// Moves the first packet of a flow from a port's queue to its escape queue. False if there is none.
fn lift(fabric: &mut Fabric, cx: &mut Cx, id: PortId, name: u32, hops: u16) -> bool {
    fabric.catch_up(cx, id);
    index_flows(fabric, id);
    let lifted = queue(fabric, id).and_then(|queue| queue.order_mut().lift(FlowId(name), hops));
    move_to_escape_queue(fabric, cx, id, lifted, hops)
}

/// Accounts for a packet, if any, that was moved from the queue to the escape queue: its ingress releases the
/// bytes.
fn move_to_escape_queue(
    fabric: &mut Fabric,
    cx: &mut Cx,
    id: PortId,
    lifted: Option<Handle>,
    hops: u16,
) -> bool {
    let Some(handle) = lifted else { return false };
    fabric.packets[handle].hop = HopTag::escaping(hops);
    fabric.release_dropped(cx, id, handle);
    match fabric.reference(id) {
        Some(reference) => fabric.gates[id.at()].stopped = reference.egress.is_stopped(),
        None => fabric.note_held(cx, id),
    }
    fabric.wake(cx, id);
    true
}

/// Starts the clock of a switch's relief, unless it is running.
#[inline(never)]
pub(super) fn start_clock(fabric: &mut Fabric, cx: &mut Cx, switch: usize) {
    let relief = &mut fabric.mechanisms.relief;
    if let Some(pending) = relief.pending.get_mut(switch).filter(|pending| !**pending) {
        *pending = true;
        let at = relief.machines[switch].next(cx.now);
        cx.schedule(at, Phase::Relief, switch as u32);
    }
}

/// Runs one tick of a switch's relief, and re-arms it while it is active.
pub(crate) fn tick(fabric: &mut Fabric, cx: &mut Cx, switch: u32) {
    fabric.mechanisms.relief.pending[switch as usize] = false;
    let (hosts, now) = (cx.spec.hosts, cx.now);
    for number in 0..fabric.memory.links[switch as usize].len() {
        // Ports have decided at this instant, including those without an event for it.
        let id = fabric.memory.links[switch as usize][number];
        fabric.catch_up_now(cx, id);
    }
    apply_releases(fabric, cx, switch as usize, (now, PortId::NONE));
    with_view(fabric, hosts, switch as usize, |relief, view, acts| relief.tick(now, view, acts));
    perform_acts(fabric, cx, switch as usize);
    if with_view(fabric, hosts, switch as usize, |relief, view, _| relief.is_active(view)) {
        start_clock(fabric, cx, switch as usize);
    }
}

/// Handles a signal that came through the far end of the port `back`. Hosts ignore signals.
pub(super) fn signal_lands(fabric: &mut Fabric, cx: &mut Cx, back: PortId, signal: Signal) {
    let Some((switch, port)) = fabric.ports[back.at()].place.at_switch() else { return };
    let now = cx.now;
    apply_releases(fabric, cx, switch, (now, back.reverse()));
    fabric.catch_up(cx, back);
    // Without a free place, the index of waiting flows is not needed.
    if matches!(signal, Signal::Token { .. }) && fabric.mechanisms.relief.machines[switch].has_place(port) {
        index_flows(fabric, back);
    }
    apply_signal(fabric, cx, switch, port, now, signal);
    perform_acts(fabric, cx, switch);
}

/// Applies a signal that came by a port at the instant `at` to the relief of its switch.
fn apply_signal(fabric: &mut Fabric, cx: &Cx, switch: usize, port: usize, at: Time, signal: Signal) {
    with_view(fabric, cx.spec.hosts, switch, |relief, view, acts| {
        relief.on_signal(at, port, signal, view, acts)
    });
}

/// Applies to the relief of a switch the releases that have arrived before the event at `end`: an instant, and the
/// port whose arrival is being processed.
#[inline]
fn apply_releases(fabric: &mut Fabric, cx: &mut Cx, switch: usize, end: (Time, PortId)) {
    if releases::is_quiet(fabric, switch, end.0) {
        return;
    }
    while let Some((port, at, signal)) = releases::next(fabric, cx, switch, end) {
        apply_signal(fabric, cx, switch, port, at, signal);
    }
}

/// Applies the releases that have arrived before `end`, at all switches.
pub(super) fn apply_all_releases(fabric: &mut Fabric, cx: &mut Cx, end: Time) {
    for switch in 0..fabric.mechanisms.relief.machines.len() {
        apply_releases(fabric, cx, switch, (end, PortId(0)));
    }
}

/// Applies the releases that arrive until the end of the run, when no events are left.
#[cold]
pub(crate) fn apply_remaining_releases(fabric: &mut Fabric, cx: &mut Cx) {
    if let Some(last) = releases::last(fabric, cx) {
        apply_all_releases(fabric, cx, last.saturating_add(Span::from_ps(1)));
        cx.now = cx.now.max(last);
    }
}

/// A packet bound for a port whose link has failed is about to be lost. If it escapes, the place reserved for it
/// becomes free.
#[cold]
pub(super) fn on_packet_for_failed_link(fabric: &mut Fabric, id: PortId, handle: Handle) {
    let packet = &fabric.packets[handle];
    let hops = packet.hop.escape_hops();
    if hops > 0
        && let Some((switch, output)) = fabric.ports[id.at()].place.at_switch()
    {
        let name = fabric.mechanisms.relief.name(packet);
        let machine = &mut fabric.mechanisms.relief.machines[switch];
        if machine.on_escaping(name, output, hops) {
            machine.on_sent(output);
        }
    }
}

/// A port's link has failed: loses its escape queue (which per-ingress accounting does not count), and frees what
/// its relief had reserved for packets that were to arrive by this link.
#[cold]
pub(super) fn on_link_failure(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    let Some((switch, number)) = fabric.ports[id.at()].place.at_switch() else { return };
    fabric.spill(id);
    while let Some(entry) = queue(fabric, id).and_then(|queue| queue.give_up(cx.now, Liftable::take_lifted)) {
        fabric.mechanisms.relief.machines[switch].on_sent(number);
        fabric.ports[id.at()].cold.dropped += 1;
        fabric.outages.lost += 1;
        fabric.lose(cx, id, entry.handle, cx.now);
    }
    note_queue(fabric, cx.now, id);
    let Reliefs { machines, acts, .. } = &mut fabric.mechanisms.relief;
    machines[switch].on_link_down(number, acts);
    perform_acts(fabric, cx, switch);
}

/// Performs the acts that the relief of a switch has decided on.
fn perform_acts(fabric: &mut Fabric, cx: &mut Cx, switch: usize) {
    let mut acts = std::mem::take(&mut fabric.mechanisms.relief.acts);
    for act in acts.drain(..) {
        let port = |fabric: &Fabric, number: usize| fabric.memory.links[switch][number];
        match act {
            Act::Signal(number, signal) => {
                fabric.post_frame(cx, port(fabric, number), Frame::Signal(signal), None)
            }
            Act::Lift { output, flow, hops } => {
                let id = port(fabric, output);
                let lifted = lift(fabric, cx, id, flow, hops);
                debug_assert!(lifted, "its relief has seen it");
            }
            Act::LiftFirst { output, input } => {
                let id = port(fabric, output);
                lift_first(fabric, cx, id, input);
            }
            Act::GiveUp(output) => give_up(fabric, cx, switch, port(fabric, output)),
        }
    }
    fabric.mechanisms.relief.acts = acts;
}

/// Moves the first packet of a port's queue that came by `input` to its escape queue.
fn lift_first(fabric: &mut Fabric, cx: &mut Cx, id: PortId, input: usize) {
    fabric.catch_up(cx, id);
    fabric.spill(id);
    let Fabric { ports, queues, egresses, packets, .. } = &mut *fabric;
    let queue = queue_of_mut(&ports[id.at()], queues, egresses).and_then(Queue::liftable_mut);
    let came = |handle: Handle| usize::from(packets[handle].input) == input;
    let lifted = queue.and_then(|queue| queue.order_mut().lift_first(1, came));
    move_to_escape_queue(fabric, cx, id, lifted, 1);
}

/// Drops packets from the head of a port's queue until no input of which it holds bytes keeps its neighbour paused.
fn give_up(fabric: &mut Fabric, cx: &mut Cx, switch: usize, id: PortId) {
    let inputs = fabric.memory.links[switch].len();
    fabric.spill(id);
    loop {
        let memory = &fabric.memory;
        let holds =
            |input: usize| memory.switches[switch].has_paused(input) && memory.held(id, input as u8) > 0;
        if !(0..inputs).any(holds) {
            return;
        }
        let Some(entry) = queue(fabric, id).and_then(|queue| queue.give_up(cx.now, Liftable::take_first))
        else {
            return;
        };
        fabric.release_dropped(cx, id, entry.handle);
        note_queue(fabric, cx.now, id);
        fabric.ports[id.at()].cold.dropped += 1;
        fabric.lose(cx, id, entry.handle, cx.now);
    }
}

/// Updates a port's counters after its queue has changed.
fn note_queue(fabric: &mut Fabric, now: Time, id: PortId) {
    if fabric.ports[id.at()].mode.lane == Lane::Reference {
        return reference::note_queue(fabric, now, id);
    }
    if let Some((packets, bytes)) = queue(fabric, id).map(|queue| (queue.packets(), queue.bytes())) {
        fabric.ports[id.at()].set_waiting(now, packets, bytes);
    }
}

/// Why a network cannot have relief, if it cannot.
pub(crate) fn refusal(spec: &NetworkSpec) -> Option<&'static str> {
    spec.relief.as_ref()?;
    if spec.inputs.is_none_or(|inputs| !inputs.stops_ports()) {
        Some("relief is from the pauses of flow control by class, and there is none")
    } else if !spec.routing.rule.needs().source_routes {
        Some("relief names flows by their path: rules that choose packet by packet give them none")
    } else if spec.replay || spec.point.is_some() {
        Some("relief goes with neither replays nor congestion points")
    } else {
        None
    }
}
