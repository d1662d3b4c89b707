//! One part: a copy of the network in which only its own nodes act.

use super::plan::Plan;
use crate::boundary::{Batch, Boundary, Number};
use crate::events::{Event, Events, Phase, Tag};
use crate::paths::NO_SLOT;
use crate::sim::Sim;
use thalweg_units::{FlowId, PortId, Time};

/// A part, and what others have sent it. Padded to two cache lines to avoid false sharing and adjacent-line
/// prefetch.
#[derive(Clone, Debug)]
#[repr(align(128))]
pub(super) struct Part {
    pub sim: Sim,
    pub inbox: Vec<Batch>,
}

impl Part {
    /// Part `me` of a network at time zero.
    pub fn new(whole: &Sim, plan: &Plan, me: Number) -> Self {
        let mut sim = whole.clone();
        restrict(&mut sim, plan, me);
        let mut armed = Vec::new();
        while let Some(event) = sim.cx.events.pop() {
            armed.push(event);
        }
        for event in armed {
            let own = match event.tag.phase() {
                Phase::Start => false,
                Phase::Tick | Phase::Point => {
                    sim.cx.boundary.owns(sim.cx.spec.ends(PortId(event.tag.entity())).0.at())
                }
                _ => true,
            };
            if own {
                sim.cx.events.push(event);
            }
        }
        sim.flows.schedule_next_start(&mut sim.cx, 0);
        sim.flows.schedule_works(&mut sim.cx);
        Self { sim, inbox: vec![Batch::default(); usize::from(plan.parts())] }
    }
}

/// Restricts a copy of the whole network to part `me`.
pub(super) fn restrict(sim: &mut Sim, plan: &Plan, me: Number) {
    let spec = &sim.cx.spec;
    let ends = (0..2 * spec.links.len()).map(|id| spec.ends(PortId::from(id))).map(|(a, b)| (a.at(), b.at()));
    sim.cx.boundary = Boundary::new(me, plan.of_node(), ends);
    sim.cx.features.partitioned = true;
    sim.hosts.keep_slots();
    for id in (0..sim.fabric.ports().len()).map(PortId::from) {
        if sim.cx.boundary.leads_out(id) {
            sim.fabric.mark_outbound(id);
        } else if !sim.cx.boundary.owns(sim.cx.spec.ends(id).0.at()) {
            sim.fabric.mark_inbound(id);
        }
    }
    // Sized for its own ports: about as many events are pending.
    sim.cx.events.resize(sim.fabric.ports().len() / usize::from(plan.parts()));
    let owns: Vec<bool> = (0..sim.fabric.ports().len())
        .map(|id| sim.cx.boundary.owns(sim.cx.spec.ends(PortId::from(id)).0.at()))
        .collect();
    let probes = &mut sim.cx.spec.probes;
    for (_, ports) in probes.queues.iter_mut().chain(&mut probes.links) {
        ports.retain(|id| owns[id.at()]);
    }
}

impl Part {
    /// Runs a window: imports what others have sent, processes all events before `end`, and exports what has left.
    pub fn run_before(&mut self, end: Time) {
        self.import();
        self.sim.process_before(end, u64::MAX);
        self.export();
    }

    /// When something happens in this part next, as far as is known here.
    pub fn next(&self) -> Option<Time> {
        let arrives = self.inbox.iter().filter_map(Batch::earliest).min();
        let first = self.sim.cx.events.first().map(|event| event.at);
        first.into_iter().chain(arrives).min()
    }

    /// The next event, or the port that is next to decide at this instant.
    pub fn first(&self) -> Option<Event> {
        let Sim { cx, fabric, .. } = &self.sim;
        let ready = fabric.first_ready().map(|id| Event { at: cx.now, tag: Tag::new(Phase::Decide, id.0) });
        match (ready, cx.events.first()) {
            (Some(ready), Some(event)) if event.precedes(&ready, cx.events.ties()) => Some(event),
            (ready, event) => ready.or(event),
        }
    }

    /// Processes [`Part::first`], and what follows at this instant unless `first_elsewhere` precedes it.
    pub fn process_first(&mut self, first_elsewhere: Option<Event>) {
        self.sim.cx.boundary.first_elsewhere = first_elsewhere;
        match self.first() {
            Some(first) if self.sim.cx.events.first() == Some(first) => {
                if let Some(event) = self.sim.cx.events.pop() {
                    self.sim.process(event);
                }
            }
            _ => self.sim.settle_ready(),
        }
        self.sim.cx.boundary.first_elsewhere = None;
        self.export();
    }

    /// Packets of a flow sent less those arrived or lost, as far as this happened in this part.
    pub fn balance(&self, flow: FlowId) -> u32 {
        let both = self.sim.hosts.both(self.sim.fabric.paths().slot(flow));
        both.map_or(0, |(sending, receiving)| sending.balance.wrapping_add(receiving.balance))
    }

    /// Closes a flow that is over in all parts.
    pub fn close(&mut self, flow: FlowId) {
        let Sim { cx, fabric, hosts, flows, .. } = &mut self.sim;
        let slot = fabric.paths().slot(flow);
        if slot == NO_SLOT {
            return;
        }
        let ends = &cx.spec.flows[flow.at()];
        if cx.boundary.is_home(ends.src) {
            hosts.write(flows, slot as usize, flow);
        } else if cx.boundary.is_home(ends.dst) {
            let (_, receiver) = hosts.ends(slot).expect("a slot has ends");
            flows.deliver(flow, receiver.received());
        }
        fabric.close_path(flow);
    }
}
