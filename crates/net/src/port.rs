//! One port of a network as a machine of its own, without the network around it.
//!
//! What a port needs of others is either a value of its own next to the machine, for its driver to run (memory that its
//! switch shares or accounts for by input, with the pauses that come of it, and a congestion point), or it keeps the
//! port from standing alone ([`Entangled`]).

use crate::routing::Routes;
use crate::spec::{Incident, IncidentKind, NetworkSpec, SharedBufferSpec};
use thalweg_machines::Invalid;
use thalweg_machines::buffer::InputSpec;
use thalweg_machines::egress::{Egress, EgressSpec};
use thalweg_machines::point::PointSpec;
use thalweg_machines::schedule::{DisciplineSpec, Limit, OrderSpec};
use thalweg_machines::stage::{CarriedSpec, StageSpec};
use thalweg_units::{FlowId, NodeId, PortId};

/// A port that stands alone.
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
    /// The memory that it shares with the other ports of its switch, and who is admitted to it.
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

/// Why a port does not stand alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Entangled {
    /// No such port.
    #[error("there is no port {0}")]
    Missing(u32),
    /// It has no queue.
    #[error("its NIC pulls packets from flows (`nic.order`): they wait there, not at the port")]
    Pulls,
    /// Headers change with the way that is left.
    #[error("what packets carry from hop to hop decides there, and it depends on the rest of their path")]
    Carried,
    /// The slack of flows is written there.
    #[error("the NIC writes slack into packets, which depends on their flows")]
    Slack,
    /// Inputs decide which packet is next.
    #[error("its queue goes by the inputs at which packets came, or by what its neighbours are notified of")]
    Inputs,
    /// All ports of its switch decide together.
    #[error("all ports of its switch run its policy together")]
    Together,
    /// Packets are taken out of its queue.
    #[error("relief takes packets out of its queue as other ports of its switch want it")]
    Relief,
    /// It comes and goes.
    #[error("its link, or pause frames on it, may fail")]
    Fails,
    /// Not even next to other ports is it a machine of its own.
    #[error(transparent)]
    Lane(#[from] Invalid),
}

impl NetworkSpec {
    /// One port, taken out of the network.
    ///
    /// # Errors
    /// By name, what does not go without the rest of the network.
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

    /// The port of a switch at which the rate that is left for each of the flows that pass it is least; the first of
    /// several. `None`: no flow passes a switch.
    pub fn bottleneck(&self, routes: &Routes) -> Option<PortId> {
        let mut flows = vec![0u64; 2 * self.links.len()];
        for flow in (0..self.flows.len()).map(FlowId::from) {
            routes.of_flow(self, flow, false).into_iter().for_each(|id| flows[id.at()] += 1);
        }
        let ports = (0..flows.len()).map(PortId::from);
        let passed = ports.filter(|id| flows[id.at()] > 0 && self.is_switch(self.ends(*id).0));
        let rate = |id: PortId| u128::from(self.direction(id).mean_rate().bps());
        // a/m < b/n, in whole numbers.
        let left = |id: PortId, other: PortId| rate(id) * u128::from(flows[other.at()]);
        passed.min_by(|a, b| left(*a, *b).cmp(&left(*b, *a)))
    }

    /// A port as one machine next to the other ports of its network.
    ///
    /// # Errors
    /// What is wanted of the port that goes without this machine only: see [`thalweg_machines::egress`].
    pub fn egress(&self, id: PortId) -> Result<EgressSpec, Invalid> {
        let (kind, link) = (self.discipline(id), self.direction(id));
        let in_switch = self.is_switch(self.ends(id).0);
        let why = if !kind.front.is_empty() {
            "behind stages in front of a queue"
        } else if link.is_plain() {
            "without short cuts"
        } else {
            "on links that are not plain (fixed rate and delay, no loss)"
        };
        if kind.preemptive {
            let why = format!("{why} no transmission is interrupted: its end is not known as it begins");
            return Err(why.into());
        }
        if self.cut_through.is_some() {
            let why = format!("{why} there is no cut-through: when a header arrives is not known");
            return Err(why.into());
        }
        if link.is_batched() && in_switch && self.inputs.is_some() {
            let reason = "batches do not go with per-ingress accounting, which releases one packet at a time";
            return Err(reason.into());
        }
        let fails =
            |incident: &Incident| matches!(incident.what, IncidentKind::LinkDown(l) if l == id.link().0);
        if link.jitter.is_some_and(|jitter| jitter.reorder) && self.incidents.iter().any(fails) {
            return Err(
                "a link whose packets overtake each other cannot fail: which are on it is not known in order"
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
