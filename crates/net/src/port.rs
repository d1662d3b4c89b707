//! One port of a network as a machine of its own, without the network around it.
//!
//! What a port shares with others of its switch is either a value next to the machine, which its driver runs (shared
//! memory, memory by input with the pauses that follow from it, a congestion point), or it makes a port inseparable
//! from the network ([`Entangled`]).

use crate::routing::Routes;
use crate::spec::{Incident, IncidentKind, NetworkSpec, SharedBufferSpec};
use thalweg_machines::Invalid;
use thalweg_machines::buffer::InputSpec;
use thalweg_machines::egress::{Egress, EgressSpec};
use thalweg_machines::point::PointSpec;
use thalweg_machines::schedule::{DisciplineSpec, Limit, OrderSpec};
use thalweg_machines::stage::{CarriedSpec, StageSpec};
use thalweg_units::{FlowId, NodeId, PortId};

/// A port without its network.
#[derive(Clone, Debug, PartialEq)]
pub struct PortSpec {
    /// Its number in the network.
    pub id: PortId,
    /// The node that it belongs to.
    pub from: NodeId,
    /// The node at the far end of its link.
    pub to: NodeId,
    /// Seed of its random streams.
    pub seed: u64,
    /// Link, queue, stages.
    pub egress: EgressSpec,
    /// The memory that it shares with the other ports of its switch, and the policy of sharing.
    pub shared: Option<SharedBufferSpec>,
    /// The memory of its switch by input, with the policy that pauses neighbours.
    pub inputs: Option<InputSpec>,
    /// The congestion point next to its queue.
    pub point: Option<PointSpec>,
}

impl PortSpec {
    /// The port before anything has arrived. It draws the same chances as in the network.
    ///
    /// # Errors
    /// If parameters contradict each other, with their values.
    pub fn make(&self) -> Result<Egress, Invalid> {
        Egress::new(&self.egress, self.seed, u64::from(self.id.0))
    }
}

/// Why a port cannot be separated from its network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Entangled {
    /// No such port.
    #[error("there is no port {0}")]
    Missing(u32),
    /// It has no queue.
    #[error("its NIC pulls packets from flows (`nic.order`), so none waits at the port")]
    Pulls,
    /// Headers change along the path, and schedulers sort by them.
    #[error("its decisions depend on headers that change from hop to hop, and these on the rest of the path")]
    Carried,
    /// The slack of flows is written there.
    #[error("the NIC writes slack into packets, which depends on their flows")]
    Slack,
    /// Inputs decide which packet is next.
    #[error("its queue depends on the inputs of packets, or on notices to its neighbours")]
    Inputs,
    /// All ports of its switch decide together.
    #[error("all ports of its switch run its policy together")]
    Together,
    /// Packets are taken out of its queue.
    #[error("relief takes packets out of its queue when other ports of its switch need it")]
    Relief,
    /// Its link, or pause frames on it, may fail.
    #[error("its link, or pause frames on it, may fail")]
    Fails,
    /// Its settings exclude the machine of [`thalweg_machines::egress`].
    #[error(transparent)]
    Lane(#[from] Invalid),
}

impl NetworkSpec {
    /// One port, taken out of the network.
    ///
    /// # Errors
    /// What the port needs of the rest of the network.
    pub fn port(&self, id: PortId) -> Result<PortSpec, Entangled> {
        if id.at() >= 2 * self.links.len() {
            return Err(Entangled::Missing(id.0));
        }
        let (from, to) = self.ends(id);
        let in_switch = self.is_switch(from);
        let needs = self.discipline(id).order.needs();
        let inputs = self.inputs.filter(|_| in_switch);
        let fails = |incident: &Incident| match incident.what {
            IncidentKind::LinkDown(link) | IncidentKind::LinkUp(link) => link == id.link().0,
            IncidentKind::PauseLoss(port, _) => port.is_none_or(|port| port.reverse() == id),
        };
        let entangled = [
            (!in_switch && self.nic.order.pulls(), Entangled::Pulls),
            (!in_switch && self.slack.is_some(), Entangled::Slack),
            (in_switch && self.carried != CarriedSpec::Nothing, Entangled::Carried),
            (in_switch && (needs.inputs || needs.by_input || needs.apart), Entangled::Inputs),
            (inputs.is_some_and(|inputs| inputs.one_per_input), Entangled::Inputs),
            (in_switch && needs.together.is_some(), Entangled::Together),
            (in_switch && self.relief.is_some(), Entangled::Relief),
            (self.incidents.iter().any(fails), Entangled::Fails),
        ];
        if let Some((_, why)) = entangled.into_iter().find(|(so, _)| *so) {
            return Err(why);
        }
        Ok(PortSpec {
            id,
            from,
            to,
            seed: self.seed,
            egress: self.egress(id)?,
            shared: self.shared_buffer.clone().filter(|_| in_switch),
            inputs,
            point: self.point.filter(|_| in_switch),
        })
    }

    /// The bottleneck: the port of a switch with the lowest rate per flow that passes it, the first of several. `None`
    /// if no flow passes a switch.
    pub fn bottleneck(&self, routes: &Routes) -> Option<PortId> {
        let mut flows = vec![0u64; 2 * self.links.len()];
        for flow in (0..self.flows.len()).map(FlowId::from) {
            routes.of_flow(self, flow, false).into_iter().for_each(|id| flows[id.at()] += 1);
        }
        let ports = (0..flows.len()).map(PortId::from);
        let passed = ports.filter(|id| flows[id.at()] > 0 && self.is_switch(self.ends(*id).0));
        let rate = |id: PortId| u128::from(self.direction(id).mean_rate().bps());
        // a/m < b/n as a·n < b·m, without rounding.
        let left = |id: PortId, other: PortId| rate(id) * u128::from(flows[other.at()]);
        passed.min_by(|a, b| left(*a, *b).cmp(&left(*b, *a)))
    }

    /// The machine of a port among the other ports of its network.
    ///
    /// # Errors
    /// The setting that this machine does not support: see [`thalweg_machines::egress`].
    pub fn egress(&self, id: PortId) -> Result<EgressSpec, Invalid> {
        let (kind, link) = (self.discipline(id), self.direction(id));
        let in_switch = self.is_switch(self.ends(id).0);
        let why = if !kind.front.is_empty() {
            "with stages in front of the queue"
        } else if link.is_plain() {
            "when ports run their whole machine"
        } else {
            "on links that are not plain (fixed rate and delay, no loss)"
        };
        if kind.preemptive {
            let why = format!(
                "{why} no transmission can be interrupted: when it ends is not known at its beginning"
            );
            return Err(why.into());
        }
        if self.cut_through.is_some() {
            let why = format!("{why} there can be no cut-through: when a header arrives is not known");
            return Err(why.into());
        }
        if link.is_batched() && in_switch && self.inputs.is_some() {
            let reason = "links that send batches cannot be combined with memory by input, which releases one packet at a time";
            return Err(reason.into());
        }
        let fails =
            |incident: &Incident| matches!(incident.what, IncidentKind::LinkDown(l) if l == id.link().0);
        if link.jitter.is_some_and(|jitter| jitter.reorder) && self.incidents.iter().any(fails) {
            return Err(
                "a link whose packets overtake each other cannot fail: a failure needs the packets on it in order"
                    .into(),
            );
        }
        let pulls = !in_switch && self.nic.order.pulls();
        let plain = DisciplineSpec {
            order: OrderSpec::default(),
            limit: Limit::Unlimited,
            front: Vec::new(),
            stage: StageSpec::default(),
            preemptive: false,
        };
        Ok(EgressSpec {
            link: link.clone(),
            back: self.direction(id.reverse()).mean_rate(),
            // Where a NIC pulls, packets wait in their flows.
            queue: if pulls { plain } else { kind.clone() },
            stages: if in_switch { self.stages.clone() } else { Vec::new() },
            control_first: self.control_first || pulls,
            pause_control: !in_switch && self.nic.pause_control,
            frame_wire: self.frame_wire(),
        })
    }

    /// The kind of a port's queue.
    fn discipline(&self, id: PortId) -> &DisciplineSpec {
        &self.disciplines[usize::from(self.port_discipline[id.at()])]
    }

    fn is_switch(&self, node: NodeId) -> bool {
        node.0 >= self.hosts
    }
}
