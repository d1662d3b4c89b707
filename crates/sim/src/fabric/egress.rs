//! The state of a port on the reference lane, and how its machine finds packets.

use crate::arena::{Arena, Packets};
use crate::port::{Lane, Port};
use crate::spec::{Incident, IncidentKind, NetworkSpec};
use serde::{Deserialize, Serialize};
use thalweg_machines::Invalid;
use thalweg_machines::egress::{self, Egress, EgressSpec};
use thalweg_machines::link::LinkSpec;
use thalweg_machines::schedule::{DisciplineSpec, Limit, OrderSpec, Queue};
use thalweg_machines::stage::StageSpec;
use thalweg_units::PortId;
use thalweg_wire::{Handle, NO_SIDE, Packet, Side};

/// A port that runs the machine itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reference {
    pub egress: Egress,
    /// See [`crate::port::PortTotals::lost`].
    pub lost: u64,
}

impl Reference {
    /// The port `id`, which feeds `link`.
    ///
    /// # Errors
    /// If a parameter is out of range, or what is wanted of the port goes with the other lanes only.
    pub fn new(spec: &NetworkSpec, id: PortId, link: &LinkSpec, in_switch: bool) -> Result<Self, Invalid> {
        let why = if link.is_plain() {
            "without short cuts"
        } else {
            "on links that are not plain (fixed rate and delay, no loss)"
        };
        let kind = &spec.disciplines[usize::from(spec.port_discipline[id.at()])];
        if kind.preemptive {
            let why = format!("{why} no transmission is interrupted: its end is not known as it begins");
            return Err(why.into());
        }
        if spec.cut_through.is_some() {
            let why = format!("{why} there is no cut-through: when a header arrives is not known");
            return Err(why.into());
        }
        if link.is_batched() && in_switch && spec.inputs.is_some() {
            let reason = "batches do not go with per-ingress accounting, which releases one packet at a time";
            return Err(reason.into());
        }
        let fails = |incident: &Incident| matches!(incident.what, IncidentKind::LinkDown(l) if l == id.0 / 2);
        if link.jitter.is_some_and(|jitter| jitter.reorder) && spec.incidents.iter().any(fails) {
            return Err(
                "a link whose packets overtake each other cannot fail: which are on it is not known in order"
                    .into(),
            );
        }
        let pulls = !in_switch && spec.nic.order.pulls();
        let plain = DisciplineSpec {
            order: OrderSpec::default(),
            limit: Limit::Unlimited,
            stage: StageSpec::default(),
            preemptive: false,
        };
        let egress = EgressSpec {
            link: link.clone(),
            // Where a NIC pulls, packets wait in their flows.
            queue: if pulls { plain } else { kind.clone() },
            stages: if in_switch { spec.stages.clone() } else { Vec::new() },
            control_first: spec.control_first || pulls,
            pause_control: !in_switch && spec.nic.pause_control,
            frame_wire: spec.frame_wire(),
        };
        Ok(Self { egress: Egress::new(&egress, spec.seed, u64::from(id.0))?, lost: 0 })
    }
}

/// The queue of a port that has one: its lane names where it is kept.
pub(crate) fn queue_of<'a>(port: &Port, queues: &'a [Queue], egresses: &'a [Reference]) -> Option<&'a Queue> {
    match port.mode.lane {
        Lane::Express => None,
        Lane::OnDemand => queues.get(port.queue as usize),
        Lane::Reference => egresses.get(port.queue as usize).map(|reference| reference.egress.queue()),
    }
}

/// See [`queue_of`].
pub(crate) fn queue_of_mut<'a>(
    port: &Port,
    queues: &'a mut [Queue],
    egresses: &'a mut [Reference],
) -> Option<&'a mut Queue> {
    match port.mode.lane {
        Lane::Express => None,
        Lane::OnDemand => queues.get_mut(port.queue as usize),
        Lane::Reference => {
            egresses.get_mut(port.queue as usize).map(|reference| reference.egress.queue_mut())
        }
    }
}

/// The fabric's packets, as the machine accesses them.
pub(crate) struct Held<'a> {
    pub packets: &'a mut Packets,
    pub sides: &'a mut Arena<Side>,
}

impl egress::Packets for Held<'_> {
    #[inline]
    fn packet(&mut self, handle: Handle) -> &mut Packet {
        &mut self.packets[handle]
    }

    fn headers(&mut self, handle: Handle) -> (&mut Packet, &mut Side) {
        let packet = &mut self.packets[handle];
        if packet.side == NO_SIDE {
            packet.side = self.sides.insert(Side::Empty).0;
        }
        let side = Handle(packet.side);
        (packet, &mut self.sides[side])
    }
}
