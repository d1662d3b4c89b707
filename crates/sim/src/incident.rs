//! What breaks: links, and pause frames on their way.
//!
//! A link that fails loses what is on it, what waits for it, and what still comes to it. Some time later the routes have
//! converged: paths are laid anew for what the flows send from then on; packets under way keep theirs. Pinned paths stay.

use crate::beside::Beside;
use crate::events::{Event, Events, Phase, Tag};
use crate::flow::NO_CONNECTION;
use crate::gate::is_frame;
use crate::port::Flying;
use crate::routing::Routes;
use crate::sim::Sim;
use crate::spec::{IncidentKind, NetworkSpec, RoutingSpec};
use serde::{Deserialize, Serialize};
use thalweg_machines::buffer::Pause;
use thalweg_machines::schedule::Discipline;
use thalweg_units::{FlowId, NodeId, PortId, Stream, mix64};

/// What is broken now.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Outages {
    /// By link: it has failed.
    down: Vec<bool>,
    /// By port: packets of its ring that will not arrive.
    doomed: Vec<u32>,
    /// By port: chance that a pause frame is lost, and where the draws come from.
    frame_loss: Vec<(f64, Stream)>,
    /// Packets lost so far because a link had failed.
    pub lost: u64,
    /// Pause frames lost so far.
    pub frames_lost: u64,
}

impl Outages {
    pub fn new(spec: &NetworkSpec) -> Self {
        if spec.incidents.is_empty() {
            return Self::default();
        }
        let ports = 2 * spec.links.len();
        Self {
            down: vec![false; spec.links.len()],
            doomed: vec![0; ports],
            frame_loss: (0..ports).map(|id| (0.0, Stream::new(spec.seed, "pause loss", id as u64))).collect(),
            ..Self::default()
        }
    }
}

/// Routes for what is left of a network.
pub(crate) fn remaining_routes(spec: &NetworkSpec, outages: &Outages) -> Routes {
    Routes::without(spec.hosts, spec.switches, &spec.links, mix64(spec.seed), &outages.down)
        .unwrap_or_else(|_| unreachable!("the whole network could be routed"))
}

impl<Q: Events> Sim<Q> {
    /// An event for each incident.
    pub(crate) fn arm_incidents(&mut self) {
        for (number, incident) in self.spec.incidents.iter().enumerate() {
            let at = incident.at;
            self.events.push(Event { at, tag: Tag::new(Phase::Incident, 2 * number as u32) });
        }
    }

    /// Something happens (even), or routes have converged after it (odd).
    pub(crate) fn incident(&mut self, entity: u32) {
        let incident = self.spec.incidents[entity as usize / 2];
        if entity % 2 == 1 {
            return self.converge();
        }
        match incident.what {
            IncidentKind::LinkDown(link) => self.fail(link),
            IncidentKind::LinkUp(link) => self.mend(link),
            IncidentKind::PauseLoss(port, chance) => {
                let ports = match port {
                    Some(port) => port.at()..port.at() + 1,
                    None => 0..self.ports.len(),
                };
                for id in ports {
                    self.outages.frame_loss[id].0 = chance;
                }
                return;
            }
        }
        let at = self.now.saturating_add(self.spec.convergence);
        self.schedule(at, Phase::Incident, entity + 1);
    }

    /// A port's link has failed.
    pub(crate) fn is_down(&self, id: PortId) -> bool {
        self.outages.down[id.at() / 2]
    }

    /// The packet that should land now is one of those that were on a link when it failed.
    pub(crate) fn is_doomed(&mut self, id: PortId) -> bool {
        let doomed = &mut self.outages.doomed[id.at()];
        let lost = *doomed > 0;
        *doomed -= u32::from(lost);
        lost
    }

    pub(crate) fn lose_on_the_way(&mut self, id: PortId, flying: Flying) {
        if is_frame(&flying) {
            self.outages.frames_lost += 1;
        } else {
            self.outages.lost += 1;
            self.ports[id.at()].dropped += 1;
            self.lose(flying.handle);
        }
    }

    /// A pause frame cannot leave: its link has failed.
    pub(crate) fn lose_frame(&mut self) {
        self.outages.frames_lost += 1;
    }

    /// A pause frame that reaches the far end of a port is lost.
    pub(crate) fn loses_frame(&mut self, id: PortId) -> bool {
        let (chance, stream) = &mut self.outages.frame_loss[id.at()];
        let lost = *chance > 0.0 && stream.unit() < *chance;
        self.outages.frames_lost += u64::from(lost);
        lost
    }

    fn fail(&mut self, link: u32) {
        if std::mem::replace(&mut self.outages.down[link as usize], true) {
            return;
        }
        for id in [PortId(2 * link), PortId(2 * link + 1)] {
            self.catch_up_now(id);
            self.outages.doomed[id.at()] = self.ports[id.at()].flight.len();
            if self.ports[id.at()].is_ordered() {
                self.flush(id);
            }
            if !self.gates.is_empty() {
                // Nobody can say any more whether the port may send.
                self.resume_port(id);
            }
        }
    }

    /// Loses what waits at a port.
    fn flush(&mut self, id: PortId) {
        self.end_solitude(id);
        let before = self.ports[id.at()].waiting_bytes;
        let port = &mut self.ports[id.at()];
        let queue = port.queue as usize;
        if port.beside() == Beside::Ahead {
            let Flying { handle, wire, .. } = port.leave_side(self.now);
            self.queues[queue].release(wire);
            self.given_up.push(handle);
        }
        while let Some(served) = self.queues[queue].dequeue(self.now, &mut self.given_up) {
            self.given_up.push(served.handle);
        }
        self.ports[id.at()].now_waiting(self.now, 0, 0);
        if let Some(pool) = self.pools.get_mut(self.ports[id.at()].pool as usize) {
            pool.release(before);
        }
        if let Some(gate) = self.gates.get_mut(id.at()) {
            for flying in gate.clear_control() {
                self.outages.lost += 1;
                self.lose(flying.handle);
            }
        }
        self.outages.lost += self.given_up.len() as u64;
        self.lose_given_up(id);
    }

    fn mend(&mut self, link: u32) {
        if !std::mem::replace(&mut self.outages.down[link as usize], false) {
            return;
        }
        for id in [PortId(2 * link), PortId(2 * link + 1)] {
            // An input that still holds too much says so again.
            if self.keeps_waiting(id) {
                self.post_frame(id, Pause::Off, u32::MAX);
            }
            if !self.gates.is_empty() && self.ports[id.at()].pulls {
                self.wake(id);
            }
        }
    }

    /// New routes for what flows send from now on.
    fn converge(&mut self) {
        let routes = remaining_routes(&self.spec, &self.outages);
        let before = std::mem::replace(&mut self.routes, routes);
        self.intact.get_or_insert_with(|| Box::new(before));
        if !self.spray.is_empty() || matches!(self.spec.routing, RoutingSpec::Pinned { .. }) {
            return;
        }
        for flow in 0..self.connections.len() {
            let slot = self.connections[flow] as usize;
            if self.connections[flow] == NO_CONNECTION {
                continue;
            }
            let path = self.lay_path(FlowId::from(flow));
            let old = self.path_of(slot);
            if self.paths[old..][..self.stride] == path[..] {
                continue;
            }
            self.detour(slot, &path);
        }
    }

    /// Lays a connection's path in a new place: packets may be under way on the old one.
    pub(crate) fn detour(&mut self, slot: usize, path: &[PortId]) {
        if self.detours.len() <= slot {
            self.detours.resize(slot + 1, u32::MAX);
        }
        self.detours[slot] = self.paths.len() as u32;
        self.paths.extend_from_slice(path);
    }

    /// A path without failed links joins the ends of the flow.
    pub(crate) fn is_reachable(&self, flow: FlowId) -> bool {
        if self.outages.down.iter().all(|down| !down) {
            return true;
        }
        let path = self.lay_path(flow);
        let spec = &self.spec.flows[flow.at()];
        let way = path[..self.stride / 2].iter().take_while(|id| **id != PortId::NONE);
        let reaches = way.clone().last().is_some_and(|id| self.ports[id.at()].peer == NodeId(spec.dst.0));
        reaches && way.into_iter().all(|id| !self.is_down(*id))
    }
}
