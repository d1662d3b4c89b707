//! Builds the network at time zero from its specification.

use crate::boundary::Boundary;
use crate::cx::Cx;
use crate::events::{Calendar, Events, Ties};
use crate::fabric::{Fabric, failures, points, relief};
use crate::features::{Features, pulls_when_idle};
use crate::flows::Flows;
use crate::hosts::Hosts;
use crate::hosts::streams;
use crate::instruments::Instruments;
use crate::instruments::ports::PortRecords;
use crate::refused::{BuildError, inconsistent};
use crate::sampling;
use crate::sim::Sim;
use thalweg_machines::transport::TransportSpec;
use thalweg_net::routing::Routes;
use thalweg_net::spec::{IncidentKind, NetworkSpec, TieSpec};
use thalweg_units::{FlowId, HostId, PortId, Span, Stream, Time};

/// The order among events of one phase at one instant.
fn ties(spec: &NetworkSpec) -> Ties {
    match spec.ties {
        TieSpec::Drawn => Ties::Drawn { seed: Stream::new(spec.seed, "ties", 0).bits() },
        TieSpec::ByNumber => Ties::ByNumber,
    }
}

impl Sim {
    /// Builds the network.
    ///
    /// # Errors
    /// If the graph cannot be routed, or an algorithm refuses its parameters.
    pub fn new(spec: NetworkSpec) -> Result<Self, BuildError> {
        check_tables(&spec)?;
        let routes = Routes::of(&spec, &[])?;
        routes.check_joined(&spec.flows)?;
        let longest = longest_path(&spec, &routes)?;
        let mut instruments = Instruments::new(&spec, longest);
        instruments.probes.ports = PortRecords::new(&spec).map_err(BuildError::Inconsistent)?;
        let fabric = Fabric::new(&spec, routes, longest)?;
        let horizon = fabric.ports().iter().map(|p| (p.span(1500) + p.timing.delay).ps()).max().unwrap_or(1);
        let mut sim = Self {
            hosts: Hosts::new(&spec, |host| spec.direction(fabric.routes().nic(host).reverse()).peak_rate()),
            flows: Flows::new(&spec),
            cx: Cx {
                now: Time::ZERO,
                events: Calendar::sized(fabric.ports().len(), horizon, ties(&spec)),
                // A replay does nothing before it has input.
                stopped: spec.replay,
                awaits: false,
                features: Features::of(&spec, !fabric.queues().is_empty()),
                instruments,
                spec,
                boundary: Boundary::default(),
            },
            fabric,
            processed: 0,
            promises: Default::default(),
        };
        sim.dry_run_transports()?;
        sim.check_needs()?;
        if !sim.cx.spec.replay {
            sim.flows.schedule_next_start(&mut sim.cx, 0);
            sim.flows.schedule_works(&mut sim.cx);
        }
        sim.fabric.arm(&mut sim.cx);
        sampling::arm(&mut sim.cx);
        failures::arm(&mut sim.cx);
        Ok(sim)
    }

    /// Makes a sender of every transport once, so that a refusal comes before the run, not in it: at the slowest
    /// line rate of the hosts that send with it, and with the size of its longest flow.
    fn dry_run_transports(&self) -> Result<(), BuildError> {
        let mut slowest = vec![None; self.cx.spec.transports.len()];
        for flow in &self.cx.spec.flows {
            let line = self.fabric.ports()[self.fabric.routes().nic(flow.src).at()].serializer.rate();
            let (known, size) = slowest[usize::from(flow.transport)].get_or_insert((line, flow.size));
            (*known, *size) = (line.min(*known), flow.size.max(*size));
        }
        for (transport, spec) in self.cx.spec.transports.iter().enumerate() {
            let Some((line_rate, size)) = slowest[transport] else { continue };
            let start = spec.start(line_rate, Span::from_us(1), Span::ZERO);
            spec.sender(FlowId(0), size, &start, Stream::new(0, "dry run", 0))
                .map_err(|reason| BuildError::Transport { transport, reason })?;
        }
        Ok(())
    }

    /// Checks that the network offers what its transports need ([`thalweg_machines::transport::PathNeeds`]).
    fn check_needs(&self) -> Result<(), BuildError> {
        let spec = &self.cx.spec;
        if spec.replay {
            return Ok(()); // packets are injected: there are none
        }
        for (transport, needs) in spec.transports.iter().map(TransportSpec::needs).enumerate() {
            let refuse =
                |reason: &'static str| Err(BuildError::Transport { transport, reason: reason.into() });
            if needs.pulls && !spec.nic.order.pulls() {
                return refuse(
                    "it decides which packet leaves when the link is free: NICs must pull from flows",
                );
            }
            let used = || spec.flows.iter().any(|flow| usize::from(flow.transport) == transport);
            if self.cx.features.trims && !needs.reads_trimmed && used() {
                return refuse(
                    "its receivers do not know packets of which switches have left the header alone",
                );
            }
            if needs.when_idle && spec.nic.order.pulls() {
                return refuse("it hands packets over when the NIC's queue is empty: NICs must have queues");
            }
            let searchable = |id: &PortId| {
                let kind = usize::from(spec.port_discipline[id.at()]);
                let ports = self.fabric.ports();
                ports[id.at()].on_demand() && spec.disciplines[kind].order.needs().searchable
            };
            let mut nics = (0..spec.hosts).map(|host| self.fabric.routes().nic(HostId(host)));
            if needs.discards_queued && (spec.nic.order.pulls() || !nics.all(|id| searchable(&id))) {
                return refuse(
                    "it takes packets out of the queue of its NIC: strict priority can be searched",
                );
            }
            if needs.drop_notices && self.cx.features.per_hop {
                return refuse(
                    "switches notify it of drops on the way that packets have come: no rule may choose packet by \
                     packet",
                );
            }
            if !needs.symmetric {
                continue;
            }
            let mut flows =
                (0..).map(FlowId).zip(&spec.flows).filter(|(_, f)| usize::from(f.transport) == transport);
            let back = |flow| mirrored(&self.fabric.lay_path(spec, flow), self.fabric.paths().middle());
            if self.cx.features.per_hop || !flows.all(|(flow, _)| back(flow)) {
                return refuse("what comes back must pass the same switches as the data, in reverse");
            }
        }
        Ok(())
    }
}

/// Whether the second half of a path leads back over the links of the first. (The two directions of a link have
/// neighbouring numbers.)
fn mirrored(path: &[PortId], middle: usize) -> bool {
    let there = path[..middle].iter().filter(|id| **id != PortId::NONE);
    let back = path[middle..].iter().filter(|id| **id != PortId::NONE);
    there.map(|id| id.reverse()).eq(back.rev().copied())
}

/// Checks that the tables agree, and that the simulator supports the combination of features.
fn check_tables(spec: &NetworkSpec) -> Result<(), BuildError> {
    let wrong = |what: String| Err(BuildError::Inconsistent(what));
    spec.check().map_err(inconsistent)?;
    let lossless =
        spec.inputs.is_some() || spec.control_first || spec.nic.order.pulls() || pulls_when_idle(spec);
    if lossless && (spec.cut_through.is_some() || spec.disciplines.iter().any(|d| d.preemptive)) {
        return wrong(
            "per-ingress accounting, control first and round-robin NICs go with store and forward only"
                .into(),
        );
    }
    if !spec.stages.is_empty() && spec.disciplines.iter().any(|d| d.preemptive) {
        return wrong(
            "a transmission that may be interrupted has no instant at which headers are written".into(),
        );
    }
    let refused = points::refusal(spec).or_else(|| streams::refusal(spec)).or_else(|| relief::refusal(spec));
    if let Some(why) = refused {
        return wrong(why.into());
    }
    Ok(())
}

/// Ports on the longest path in any of the topologies that failures leave, one incident after another.
fn longest_around(spec: &NetworkSpec) -> usize {
    let mut incidents: Vec<_> = spec.incidents.iter().collect();
    incidents.sort_by_key(|incident| incident.at);
    let mut failed = vec![false; spec.links.len()];
    let mut longest = 0;
    for incident in incidents {
        match incident.what {
            IncidentKind::LinkDown(link) => failed[link as usize] = true,
            IncidentKind::LinkUp(link) => failed[link as usize] = false,
            IncidentKind::PauseLoss(..) => continue,
        }
        let routes = Routes::of(spec, &failed);
        longest = longest.max(routes.map_or(0, |routes| routes.diameter()));
    }
    longest
}

/// Ports on the longest path that a packet can take.
fn longest_path(spec: &NetworkSpec, routes: &Routes) -> Result<usize, BuildError> {
    let mut longest = routes.diameter();
    if !spec.incidents.is_empty() {
        longest = longest.max(longest_around(spec));
    }
    if let Some(paths) = spec.routing.paths() {
        for (flow, pinned) in paths.iter().enumerate() {
            let ends = &spec.flows[flow];
            let mut path = Vec::new();
            routes.pinned(flow as u32, ends.src, ends.dst, &pinned.data, &mut path)?;
            longest = longest.max(path.len());
            path.clear();
            routes.pinned(flow as u32, ends.dst, ends.src, &pinned.ack, &mut path)?;
            longest = longest.max(path.len());
        }
    }
    Ok(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_mirrored_if_it_leads_back_over_the_same_links() {
        let path = |ports: [u32; 6]| ports.map(PortId);
        let none = PortId::NONE.0;
        assert!(mirrored(&path([0, 4, none, 5, 1, none]), 3));
        assert!(!mirrored(&path([0, 4, none, 7, 1, none]), 3), "another way back");
        assert!(!mirrored(&path([0, 4, none, 5, none, none]), 3));
    }
}
