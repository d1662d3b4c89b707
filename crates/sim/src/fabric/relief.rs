//! Relief: switches lift packets that wait behind a pause, or break cycles of ports that wait for each other.
//!
//! The machines are [`thalweg_machines::relief`], one for each switch. Here they see their switch, and what
//! they want is done. A packet that escapes is in the lane of its port
//! ([`thalweg_machines::schedule::liftable`]), which has memory of its own: no input counts it. Its
//! [hop tag](thalweg_wire::Packet::hop) states how many hops it still escapes.

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::egress::{Reference, queue_of, queue_of_mut};
use crate::fabric::gate::Gates;
use crate::fabric::memory::Memory;
use crate::fabric::outages::Outages;
use crate::fabric::reliefs::Reliefs;
use crate::fabric::stages::Stages;
use crate::fabric::{Fabric, reference, releases};
use crate::port::flying::Flying;
use crate::port::{Bypass, Lane, Port};
use thalweg_machines::link::LinkSpec;
use thalweg_machines::relief::{Act, Relief, ReliefMachine, SwitchView};
use thalweg_machines::schedule::liftable::{HEADER, Liftable};
use thalweg_machines::schedule::{Discipline, Managed, Queue};
use thalweg_net::spec::{Incident, IncidentKind, NetworkSpec};
use thalweg_units::{FlowId, NodeId, PortId, Span, Time};
use thalweg_wire::{Frame, Handle, HopTag, Signal};

/// A switch as its relief sees it.
pub(super) struct View<'a> {
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

/// The queue of a port, if packets can be lifted out of it.
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
    /// Not one whose link has failed: it receives nothing.
    fn has_paused(&self, input: usize) -> bool {
        let id = self.links[input];
        let owner = self.ports[id.at()].place.owner;
        self.memory.switches[owner as usize].has_paused(input) && !self.outages.has_failed(id)
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

/// Calls the relief of a switch with a view of the switch; its acts are kept for [`carry_out`].
fn call<R>(
    fabric: &mut Fabric,
    hosts: u32,
    switch: usize,
    body: impl FnOnce(&mut ReliefMachine, &View<'_>, &mut Vec<Act>) -> R,
) -> R {
    let Fabric { stages: Stages { relief, .. }, ports, gates, memory, queues, egresses, outages, .. } =
        fabric;
    let Reliefs { machines, last_sent, acts, .. } = relief;
    let view = View {
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

/// A switch, for who only looks.
pub(super) fn look(fabric: &Fabric, hosts: u32, switch: usize) -> View<'_> {
    let Fabric { stages, ports, gates, memory, queues, egresses, outages, .. } = fabric;
    let (links, last_sent) = (memory.links[switch].as_slice(), stages.relief.last_sent.as_slice());
    View { links, ports, gates, memory, queues, egresses, last_sent, outages, hosts }
}

/// A packet comes to a port of a switch. True: it goes on as others do; false: it escapes, and is in the
/// port's lane. (Neither this nor what leaves is inlined: few networks have it.)
#[inline(never)]
pub(super) fn enters(
    fabric: &mut Fabric,
    cx: &mut Cx,
    from: PortId,
    id: PortId,
    flying: &mut Flying,
) -> bool {
    let Fabric { ports, packets, stages: Stages { relief, .. }, .. } = &mut *fabric;
    let input = ports[from.reverse().at()].place.number;
    let (switch, output) = (ports[id.at()].place.owner as usize, usize::from(ports[id.at()].place.number));
    let packet = &packets[flying.handle];
    let name = relief.name(packet);
    let hops = packet.hop.escape_hops();
    if !relief.machines[switch].recalls(name, usize::from(input), output) {
        let now = cx.now;
        apply_releases(fabric, cx, switch, (now, from));
        fabric.stages.relief.machines[switch].on_passing(name, usize::from(input), output);
    }
    hops == 0 || !escapes(fabric, cx, from, id, flying, name)
}

/// Handles a packet with an escape header. Returns whether it was put in the port's escape lane: not if no
/// place is reserved for it, or if another packet of its flow has taken that place.
#[cold]
fn escapes(
    fabric: &mut Fabric,
    cx: &mut Cx,
    from: PortId,
    id: PortId,
    flying: &mut Flying,
    name: u32,
) -> bool {
    let handle = flying.handle;
    let (input, place) = (fabric.ports[from.reverse().at()].place.number, fabric.ports[id.at()].place);
    let now = cx.now;
    apply_releases(fabric, cx, place.owner as usize, (now, from));
    let machine = &mut fabric.stages.relief.machines[place.owner as usize];
    let packet = &mut fabric.packets[handle];
    let hops = packet.hop.escape_hops();
    packet.wire -= HEADER;
    flying.wire = packet.wire;
    let kept = machine.on_escaping(name, usize::from(place.number), hops);
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
        fabric.join(cx, id, flying);
        fabric.note_held(cx, id);
    }
    true
}

/// A port knows the first packet of each flow that waits in its queue, by the names that signals give them.
fn index(fabric: &mut Fabric, id: PortId) {
    fabric.spill(id);
    let Fabric { ports, queues, egresses, packets, stages: Stages { relief, .. }, .. } = fabric;
    if let Some(queue) = queue_of_mut(&ports[id.at()], queues, egresses).and_then(Queue::liftable_mut) {
        queue.order_mut().index(|handle| FlowId(relief.name(&packets[handle])));
    }
}

/// The first packet of the flow that waits in a port's queue joins the port's lane, if there is one.
fn lift(fabric: &mut Fabric, cx: &mut Cx, id: PortId, name: u32, hops: u16) -> bool {
    fabric.catch_up(cx, id);
    index(fabric, id);
    let lifted = queue(fabric, id).and_then(|queue| queue.order_mut().lift(FlowId(name), hops));
    has_left(fabric, cx, id, lifted, hops)
}

/// A packet, if there was one, waits in its port's lane now, and no longer in the queue: its input is rid of it.
fn has_left(fabric: &mut Fabric, cx: &mut Cx, id: PortId, lifted: Option<Handle>, hops: u16) -> bool {
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

/// The clock of a switch's relief is to run while there is something to do.
#[inline(never)]
pub(super) fn stir(fabric: &mut Fabric, cx: &mut Cx, switch: u32) {
    let relief = &mut fabric.stages.relief;
    if let Some(pending) = relief.pending.get_mut(switch as usize).filter(|pending| !**pending) {
        *pending = true;
        let at = relief.machines[switch as usize].next(cx.now);
        cx.schedule(at, Phase::Relief, switch);
    }
}

/// It runs.
pub(crate) fn tick(fabric: &mut Fabric, cx: &mut Cx, switch: u32) {
    fabric.stages.relief.pending[switch as usize] = false;
    let (hosts, now) = (cx.spec.hosts, cx.now);
    for number in 0..fabric.memory.links[switch as usize].len() {
        // At this instant ports have decided.
        let id = fabric.memory.links[switch as usize][number];
        fabric.catch_up_now(cx, id);
    }
    apply_releases(fabric, cx, switch as usize, (now, PortId::NONE));
    call(fabric, hosts, switch as usize, |relief, view, acts| relief.tick(now, view, acts));
    carry_out(fabric, cx, switch as usize);
    if call(fabric, hosts, switch as usize, |relief, view, _| relief.is_active(view)) {
        stir(fabric, cx, switch);
    }
}

/// A signal has come by a port, which leads back to who sent it. Hosts take no notice.
pub(super) fn signal_lands(fabric: &mut Fabric, cx: &mut Cx, back: PortId, signal: Signal) {
    let place = &fabric.ports[back.at()].place;
    if place.owner == u32::MAX {
        return;
    }
    let (switch, port) = (place.owner as usize, usize::from(place.number));
    let now = cx.now;
    apply_releases(fabric, cx, switch, (now, back.reverse()));
    fabric.catch_up(cx, back);
    // (Where it finds no place, the names of what waits are not needed.)
    if matches!(signal, Signal::Token { .. }) && fabric.stages.relief.machines[switch].has_place(port) {
        index(fabric, back);
    }
    receives(fabric, cx, switch, port, now, signal);
    carry_out(fabric, cx, switch);
}

/// Applies a signal that has come by a port at the instant `at` to the relief of its switch.
fn receives(fabric: &mut Fabric, cx: &Cx, switch: usize, port: usize, at: Time, signal: Signal) {
    call(fabric, cx.spec.hosts, switch, |relief, view, acts| relief.on_signal(at, port, signal, view, acts));
}

/// Applies to the relief of a switch the releases that have arrived before what lands at the instant and by
/// the port of `end`.
#[inline]
fn apply_releases(fabric: &mut Fabric, cx: &mut Cx, switch: usize, end: (Time, PortId)) {
    if releases::is_quiet(fabric, switch, end.0) {
        return;
    }
    while let Some((port, at, signal)) = releases::next(fabric, cx, switch, end) {
        receives(fabric, cx, switch, port, at, signal);
    }
}

/// Applies the releases that have arrived before `end`, at all switches.
pub(super) fn apply_all_releases(fabric: &mut Fabric, cx: &mut Cx, end: Time) {
    for switch in 0..fabric.stages.relief.machines.len() {
        apply_releases(fabric, cx, switch, (end, PortId(0)));
    }
}

/// Applies the releases that arrive until the run is over, when nothing else will happen.
#[cold]
pub(crate) fn apply_remaining_releases(fabric: &mut Fabric, cx: &mut Cx) {
    if let Some(last) = releases::last(fabric, cx) {
        apply_all_releases(fabric, cx, last.saturating_add(Span::from_ps(1)));
        cx.now = cx.now.max(last);
    }
}

/// A packet comes to a switch's port whose link has failed, and is lost. If it escapes, its place is free.
#[cold]
pub(super) fn finds_no_link(fabric: &mut Fabric, id: PortId, handle: Handle) {
    let (packet, place) = (&mut fabric.packets[handle], &fabric.ports[id.at()].place);
    let hops = packet.hop.escape_hops();
    if hops > 0 && place.owner != u32::MAX {
        let name = fabric.stages.relief.name(packet);
        let (machine, output) =
            (&mut fabric.stages.relief.machines[place.owner as usize], usize::from(place.number));
        if machine.on_escaping(name, output, hops) {
            machine.on_sent(output);
        }
    }
}

/// A port's link has failed. What is in its lane is lost (no input counts it), and so is what its relief had
/// reserved for packets that were to come by it.
#[cold]
pub(super) fn link_fails(fabric: &mut Fabric, cx: &mut Cx, id: PortId) {
    let place = fabric.ports[id.at()].place;
    if place.owner == u32::MAX {
        return;
    }
    let (switch, number) = (place.owner as usize, usize::from(place.number));
    fabric.spill(id);
    while let Some(entry) = queue(fabric, id).and_then(|queue| queue.give_up(cx.now, Liftable::take_lifted)) {
        fabric.stages.relief.machines[switch].on_sent(number);
        fabric.ports[id.at()].verdicts.dropped += 1;
        fabric.outages.lost += 1;
        fabric.lose(cx, id, entry.handle, cx.now);
    }
    note_queue(fabric, cx.now, id);
    let Reliefs { machines, acts, .. } = &mut fabric.stages.relief;
    machines[switch].on_link_down(number, acts);
    carry_out(fabric, cx, switch);
}

/// Does what the relief of a switch wants.
fn carry_out(fabric: &mut Fabric, cx: &mut Cx, switch: usize) {
    let mut acts = std::mem::take(&mut fabric.stages.relief.acts);
    for act in acts.drain(..) {
        let port = |fabric: &Fabric, number: usize| fabric.memory.links[switch][number];
        match act {
            Act::Signal(number, signal) => {
                fabric.post_frame(cx, port(fabric, number), Frame::Signal(signal), u32::MAX)
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
    fabric.stages.relief.acts = acts;
}

/// The first packet of a port's queue that came by the input joins its lane.
fn lift_first(fabric: &mut Fabric, cx: &mut Cx, id: PortId, input: usize) {
    fabric.catch_up(cx, id);
    fabric.spill(id);
    let Fabric { ports, queues, egresses, packets, .. } = &mut *fabric;
    let queue = queue_of_mut(&ports[id.at()], queues, egresses).and_then(Queue::liftable_mut);
    let came = |handle: Handle| usize::from(packets[handle].input) == input;
    let lifted = queue.and_then(|queue| queue.order_mut().lift_first(1, came));
    has_left(fabric, cx, id, lifted, 1);
}

/// A port loses packets from the head of its queue on, until no input that it holds bytes of keeps its
/// neighbour paused.
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
        fabric.ports[id.at()].verdicts.dropped += 1;
        fabric.lose(cx, id, entry.handle, cx.now);
    }
}

/// A port's own account of what waits.
fn note_queue(fabric: &mut Fabric, now: Time, id: PortId) {
    if fabric.ports[id.at()].mode.lane == Lane::Reference {
        return reference::note_queue(fabric, now, id);
    }
    if let Some((packets, bytes)) = queue(fabric, id).map(|queue| (queue.packets(), queue.bytes())) {
        fabric.ports[id.at()].now_waiting(now, packets, bytes);
    }
}

/// What must hold at every instant, at every switch.
pub(crate) fn check(fabric: &Fabric, spec: &NetworkSpec) -> Result<(), String> {
    for (switch, machine) in fabric.stages.relief.machines.iter().enumerate() {
        let links = &fabric.memory.links[switch];
        let lifted: Vec<u32> = links.iter().map(|id| lifted(fabric, *id)).collect();
        let laws = || {
            machine.check(&lifted)?;
            check_lanes(fabric, links)?;
            check_inputs(fabric, switch)
        };
        laws().map_err(|law| format!("switch {switch}: {law}"))?;
    }
    let in_order = |way: &LinkSpec| !way.jitter.is_some_and(|jitter| jitter.reorder);
    // A packet that takes another way, because a link has failed or works again, may overtake those on the old one.
    let same_way = |incident: &Incident| matches!(incident.what, IncidentKind::PauseLoss(..));
    let kept = spec.relief.is_some()
        && spec.incidents.iter().all(same_way)
        && fabric.stages.relief.machines.iter().all(Relief::substitutes)
        && spec.links.iter().all(|link| in_order(&link.ab) && in_order(&link.ba));
    if kept && fabric.stages.relief.reordered > 0 {
        return Err(format!(
            "{} packets left for their hosts behind later ones of their flows",
            fabric.stages.relief.reordered
        ));
    }
    Ok(())
}

/// Packets in a port's lane.
fn lifted(fabric: &Fabric, id: PortId) -> u32 {
    fabric.queue(id).and_then(|queue| queue.liftable()).map_or(0, Liftable::lifted)
}

/// I12: no pause holds what is in a lane.
fn check_lanes(fabric: &Fabric, links: &[PortId]) -> Result<(), String> {
    let held = |id: &&PortId| fabric.gates[id.at()].stopped && lifted(fabric, **id) > 0;
    let Some(id) = links.iter().find(held) else { return Ok(()) };
    Err(format!("a pause holds the {} packets in the lane of port {}", lifted(fabric, *id), id.0))
}

/// I12: what is in lanes counts for no input, so that none pauses its neighbour because of it.
fn check_inputs(fabric: &Fabric, switch: usize) -> Result<(), String> {
    let (links, memory) = (&fabric.memory.links[switch], &fabric.memory.switches[switch]);
    for (input, books) in memory.inputs().iter().enumerate() {
        let waiting: u64 = links.iter().map(|id| u64::from(fabric.memory.held(*id, input as u8))).sum();
        let leaving = links.iter().map(|id| fabric.memory.deferred[id.at()]);
        let leaving: u64 = leaving.filter(|d| usize::from(d.0) == input).map(|d| u64::from(d.1)).sum();
        if books.bytes != waiting + leaving {
            let bytes = books.bytes;
            return Err(format!(
                "input {input} counts {bytes} B, and {waiting} B wait outside lanes, {leaving} B are leaving"
            ));
        }
        if memory.has_paused(input) && books.bytes <= memory.resumes_at() {
            return Err(format!(
                "input {input} keeps its neighbour paused and holds {} B outside lanes",
                books.bytes
            ));
        }
    }
    Ok(())
}

/// Bytes in a port's lane.
pub(crate) fn lifted_bytes(fabric: &Fabric, id: PortId) -> u64 {
    fabric.queue(id).and_then(|queue| queue.liftable()).map_or(0, Liftable::lifted_bytes)
}

/// What a network with relief cannot have, and why.
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
