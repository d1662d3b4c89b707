//! Relief: switches lift packets that wait behind a pause, or break cycles of ports that wait for each other.
//!
//! The machines are [`thalweg_machines::relief`], one for each switch. Here they see their switch, and what they want is done. A packet that
//! escapes is in the lane of its port ([`thalweg_machines::schedule::liftable`]), which has memory of its own: no input counts it. Its
//! [tag](thalweg_machines::Packet::tag) says how many hops it still escapes.

use crate::cx::Cx;
use crate::events::{Events, Phase};
use crate::fabric::egress::Reference;
use crate::fabric::gate::Gates;
use crate::fabric::memory::Memory;
use crate::fabric::reliefs::Reliefs;
use crate::fabric::stages::Stages;
use crate::fabric::{Fabric, reference};
use crate::port::Port;
use crate::port::flying::Flying;
use crate::spec::{IncidentKind, NetworkSpec, RoutingSpec};
use thalweg_machines::pause::Frame;
use thalweg_machines::relief::{Act, Relief, ReliefMachine, Signal, SwitchView};
use thalweg_machines::schedule::liftable::{HEADER, Liftable};
use thalweg_machines::{Flags, Handle, Kind};
use thalweg_units::{FlowId, NodeId, PortId, Time};

/// A switch as its relief sees it.
struct View<'a> {
    links: &'a [PortId],
    ports: &'a [Port],
    gates: &'a Gates,
    memory: &'a Memory,
    egresses: &'a [Reference],
    last_sent: &'a [Time],
    hosts: u32,
}

impl View<'_> {
    fn queue(&self, port: usize) -> Option<&Liftable> {
        let port = &self.ports[self.links[port].at()];
        self.egresses.get(port.queue as usize)?.egress.queue().liftable()
    }
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
    fn has_paused(&self, input: usize) -> bool {
        let owner = self.ports[self.links[input].at()].place.owner;
        self.memory.switches[owner as usize].has_paused(input)
    }
    fn is_paused(&self, output: usize) -> bool {
        self.gates[self.links[output].at()].paused.any()
    }
    fn waits(&self, output: usize, flow: u32) -> bool {
        self.queue(output).is_some_and(|queue| queue.waits(FlowId(flow)))
    }
    fn waiting(&self, output: usize) -> u32 {
        self.queue(output).map_or(0, Liftable::waiting)
    }
    fn held(&self, output: usize, input: usize) -> u64 {
        u64::from(self.memory.held(self.links[output], input as u8))
    }
    fn last_sent(&self, output: usize) -> Time {
        self.last_sent[self.links[output].at()]
    }
}

/// The relief of a switch, asked with a view of the switch; what it wants is put down.
fn ask<R>(
    fabric: &mut Fabric,
    hosts: u32,
    switch: usize,
    question: impl FnOnce(&mut ReliefMachine, &View<'_>, &mut Vec<Act>) -> R,
) -> R {
    let Fabric { stages: Stages { relief, .. }, ports, gates, memory, egresses, .. } = fabric;
    let Reliefs { machines, last_sent, acts, .. } = relief;
    let view = View { links: &memory.links[switch], ports, gates, memory, egresses, last_sent, hosts };
    question(&mut machines[switch], &view, acts)
}

/// A packet comes to a port of a switch.
#[inline(never)]
pub(super) fn enters<Q: Events>(
    fabric: &mut Fabric,
    cx: &mut Cx<Q>,
    from: PortId,
    id: PortId,
    flying: Flying,
) {
    let (input, handle) = (fabric.ports[(from.0 ^ 1) as usize].place.number, flying.handle);
    let (switch, output) =
        (fabric.ports[id.at()].place.owner as usize, usize::from(fabric.ports[id.at()].place.number));
    let from_host = fabric.ports[from.at()].place.from_host;
    let packet = &mut fabric.packets[handle];
    if from_host {
        packet.tag = 0;
    }
    let hops = packet.tag;
    let name = fabric.stages.relief.name(packet);
    let machine = &mut fabric.stages.relief.machines[switch];
    machine.on_passing(name, usize::from(input), output);
    if hops == 0 {
        return joins(fabric, cx, from, id, flying, name);
    }
    machine.on_escaping(name, output);
    let substitutes = machine.substitutes();
    packet.wire -= HEADER;
    packet.input = input;
    let flying = Flying { wire: packet.wire, ..flying };
    if substitutes && lift(fabric, cx, id, |queue| queue.lift(FlowId(name), hops)) {
        fabric.packets[handle].tag = 0;
        return joins(fabric, cx, from, id, flying, name);
    }
    enqueue(fabric, cx, from, id, flying, name);
}

/// It joins the queue, and its input counts it.
fn joins<Q: Events>(
    fabric: &mut Fabric,
    cx: &mut Cx<Q>,
    from: PortId,
    id: PortId,
    flying: Flying,
    name: u32,
) {
    if !fabric.admit(cx, from, id, flying.handle, flying.wire) {
        return fabric.lose(cx, flying.handle);
    }
    enqueue(fabric, cx, from, id, flying, name);
}

/// Queues know flows by the names that signals give them.
fn enqueue<Q: Events>(
    fabric: &mut Fabric,
    cx: &mut Cx<Q>,
    from: PortId,
    id: PortId,
    flying: Flying,
    name: u32,
) {
    let flow = std::mem::replace(&mut fabric.packets[flying.handle].flow, FlowId(name));
    reference::enqueue(fabric, cx, id, from, flying);
    fabric.packets[flying.handle].flow = flow;
}

/// A packet of a port's queue joins its lane, if `which` finds one: its input is rid of it.
fn lift<Q: Events>(
    fabric: &mut Fabric,
    cx: &mut Cx<Q>,
    id: PortId,
    which: impl FnOnce(&mut Liftable) -> Option<Handle>,
) -> bool {
    let at = fabric.ports[id.at()].queue as usize;
    let queue = fabric.egresses[at].egress.queue_mut().liftable_mut();
    let lifted = queue.and_then(|queue| which(queue.order_mut()));
    has_left(fabric, cx, id, lifted)
}

/// A packet, if there was one, waits in its port's lane now, and no longer in the queue.
fn has_left<Q: Events>(fabric: &mut Fabric, cx: &mut Cx<Q>, id: PortId, lifted: Option<Handle>) -> bool {
    let Some(handle) = lifted else { return false };
    fabric.release_dropped(cx, id, handle);
    let egress = &fabric.egresses[fabric.ports[id.at()].queue as usize].egress;
    fabric.gates[id.at()].stopped = egress.is_stopped();
    fabric.wake(cx, id);
    true
}

/// A packet begins to leave a port. True: it was in the lane, and no input counts it.
#[inline(never)]
pub(super) fn departs<Q: Events>(fabric: &mut Fabric, cx: &Cx<Q>, id: PortId, handle: Handle) -> bool {
    let port = &fabric.ports[id.at()];
    let served = match fabric.egresses[port.queue as usize].egress.queue().liftable() {
        Some(queue) => queue.served(),
        None => return false,
    };
    let packet = &mut fabric.packets[handle];
    let relief = &mut fabric.stages.relief;
    if let Some(hops) = served {
        packet.tag = hops - 1;
        packet.wire += if hops > 1 { HEADER } else { 0 };
        relief.machines[port.place.owner as usize].on_sent(usize::from(port.place.number));
    } else {
        packet.tag = 0;
        relief.last_sent[id.at()] = cx.now;
    }
    if port.mode.to_host && packet.kind == Kind::Data {
        let last = &mut relief.last_out[packet.flow.at()];
        let again = packet.flags.has(Flags::RETRANSMISSION);
        relief.reordered += u64::from(!again && packet.seq < *last);
        *last = packet.seq + u64::from(packet.payload);
    }
    served.is_some()
}

/// The clock of a switch's relief is to run while there is something to do.
#[inline(never)]
pub(super) fn stir<Q: Events>(fabric: &mut Fabric, cx: &mut Cx<Q>, switch: u32) {
    let relief = &mut fabric.stages.relief;
    if let Some(pending) = relief.pending.get_mut(switch as usize).filter(|pending| !**pending) {
        *pending = true;
        let at = relief.machines[switch as usize].next(cx.now);
        cx.schedule(at, Phase::Relief, switch);
    }
}

/// It runs.
pub(crate) fn tick<Q: Events>(fabric: &mut Fabric, cx: &mut Cx<Q>, switch: u32) {
    fabric.stages.relief.pending[switch as usize] = false;
    let (hosts, now) = (cx.spec.hosts, cx.now);
    ask(fabric, hosts, switch as usize, |relief, view, acts| relief.tick(now, view, acts));
    carry_out(fabric, cx, switch as usize);
    if ask(fabric, hosts, switch as usize, |relief, view, _| relief.is_active(view)) {
        stir(fabric, cx, switch);
    }
}

/// A signal has come by a port, which leads back to who sent it. Hosts take no notice.
pub(super) fn signal_lands<Q: Events>(fabric: &mut Fabric, cx: &mut Cx<Q>, back: PortId, signal: Signal) {
    let place = &fabric.ports[back.at()].place;
    if place.owner == u32::MAX {
        return;
    }
    let (switch, port) = (place.owner as usize, usize::from(place.number));
    let (hosts, now) = (cx.spec.hosts, cx.now);
    ask(fabric, hosts, switch, |relief, view, acts| relief.on_signal(now, port, signal, view, acts));
    carry_out(fabric, cx, switch);
}

/// Does what the relief of a switch wants.
fn carry_out<Q: Events>(fabric: &mut Fabric, cx: &mut Cx<Q>, switch: usize) {
    let mut acts = std::mem::take(&mut fabric.stages.relief.acts);
    for act in acts.drain(..) {
        let port = |fabric: &Fabric, number: usize| fabric.memory.links[switch][number];
        match act {
            Act::Tell(number, signal) => {
                fabric.post_frame(cx, port(fabric, number), Frame::Signal(signal), u32::MAX)
            }
            Act::Lift { output, flow, hops } => {
                let id = port(fabric, output);
                let lifted = lift(fabric, cx, id, |queue| queue.lift(FlowId(flow), hops));
                debug_assert!(lifted, "its relief has seen it");
            }
            Act::LiftFirst { output, input } => {
                let id = port(fabric, output);
                let at = fabric.ports[id.at()].queue as usize;
                let Fabric { egresses, packets, .. } = &mut *fabric;
                let queue = egresses[at].egress.queue_mut().liftable_mut();
                let came = |handle: Handle| usize::from(packets[handle].input) == input;
                let lifted = queue.and_then(|queue| queue.order_mut().lift_first(1, came));
                has_left(fabric, cx, id, lifted);
            }
            Act::GiveUp(output) => give_up(fabric, cx, switch, port(fabric, output)),
        }
    }
    fabric.stages.relief.acts = acts;
}

/// A port loses packets from the head of its queue on, until no input that it holds bytes of keeps its neighbour paused.
fn give_up<Q: Events>(fabric: &mut Fabric, cx: &mut Cx<Q>, switch: usize, id: PortId) {
    let inputs = fabric.memory.links[switch].len();
    loop {
        let memory = &fabric.memory;
        let holds =
            |input: usize| memory.switches[switch].has_paused(input) && memory.held(id, input as u8) > 0;
        if !(0..inputs).any(holds) {
            return;
        }
        let egress = &mut fabric.egresses[fabric.ports[id.at()].queue as usize].egress;
        let Some(entry) =
            egress.queue_mut().liftable_mut().and_then(|queue| queue.give_up(cx.now, Liftable::take_first))
        else {
            return;
        };
        fabric.release_dropped(cx, id, entry.handle);
        reference::note_queue(fabric, cx.now, id);
        fabric.ports[id.at()].verdicts.dropped += 1;
        fabric.lose(cx, entry.handle);
    }
}

/// What must hold at every instant, at every switch.
pub(crate) fn check(fabric: &Fabric, spec: &NetworkSpec) -> Result<(), String> {
    let lifted =
        |id: &PortId| fabric.queue(*id).and_then(|queue| queue.liftable()).map_or(0, Liftable::lifted);
    for (switch, machine) in fabric.stages.relief.machines.iter().enumerate() {
        let lifted: Vec<u32> = fabric.memory.links[switch].iter().map(lifted).collect();
        machine.check(&lifted).map_err(|law| format!("switch {switch}: {law}"))?;
    }
    let kept = spec.relief.is_some() && fabric.stages.relief.machines.iter().all(Relief::substitutes);
    if kept && fabric.stages.relief.reordered > 0 {
        return Err(format!(
            "{} packets left for their hosts behind later ones of their flows",
            fabric.stages.relief.reordered
        ));
    }
    Ok(())
}

/// Bytes in a port's lane.
pub(crate) fn lifted_bytes(fabric: &Fabric, id: PortId) -> u64 {
    fabric.queue(id).and_then(|queue| queue.liftable()).map_or(0, Liftable::lifted_bytes)
}

/// What a network with relief cannot have, and why.
pub(crate) fn refusal(spec: &NetworkSpec) -> Option<&'static str> {
    use RoutingSpec::{SprayRandom, SprayRoundRobin};
    spec.relief.as_ref()?;
    if spec.inputs.is_none_or(|inputs| inputs.pfc().is_none()) {
        Some("relief is from the pauses of flow control by class, and there is none")
    } else if matches!(spec.routing, SprayRandom | SprayRoundRobin { .. }) {
        Some("relief names flows by their path: packets that are sprayed have none")
    } else if spec.incidents.iter().any(|i| matches!(i.what, IncidentKind::LinkDown(_))) {
        Some("reservations of relief do not outlive their link: links that fail are not modelled with it")
    } else if spec.replay || spec.point.is_some() {
        Some("relief goes with neither replays nor congestion points")
    } else {
        None
    }
}
