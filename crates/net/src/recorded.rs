//! Which ports of a network can be recorded, to be replayed without the network around them.

use crate::spec::{IncidentKind, NetworkSpec};
use thalweg_machines::egress::EgressSpec;
use thalweg_machines::schedule::Key;
use thalweg_machines::stage::{Acts, StageSpec};
use thalweg_units::{NodeId, PortId, Rate};

/// Why a port's record could not be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {why}")]
pub struct Unrecorded {
    /// The key of the scenario that is the reason.
    pub key: &'static str,
    /// What the decisions of the port depend on apart from arrivals, or what a record cannot hold.
    pub why: String,
}

impl NetworkSpec {
    /// The machine of a port whose decisions depend on nothing but what arrives there, and in which order.
    ///
    /// # Errors
    /// If they depend on something else, or if the port does something that a record does not hold.
    pub fn recorded_port(&self, id: PortId) -> Result<EgressSpec, Unrecorded> {
        let refused = |key, why: &str| Err(Unrecorded { key, why: why.into() });
        let this = "measure.port_records";
        if id.at() >= 2 * self.links.len() {
            return refused(this, &format!("there is no port {id}", id = id.0));
        }
        let (from, order) =
            (self.ends(id).0, &self.disciplines[usize::from(self.port_discipline[id.at()])].order);
        let needs = order.needs();
        let fails = |what: &IncidentKind| match what {
            IncidentKind::LinkDown(link) | IncidentKind::LinkUp(link) => *link == id.link().0,
            IncidentKind::PauseLoss(..) => false,
        };
        let reasons = [
            (
                from < NodeId(self.hosts),
                this,
                "it belongs to a host, where flows decide what is sent and can take packets back",
            ),
            (
                self.direction(id).mean_rate() == Rate::INFINITE,
                this,
                "its link takes no time, so nothing ever waits there",
            ),
            (self.shared_buffer.is_some(), "switch.shared_buffer", "its memory is shared with other ports"),
            (
                self.inputs.is_some(),
                "switch.inputs",
                "its memory is counted by input, and its decisions also depend on pauses of neighbours",
            ),
            (
                self.relief.is_some(),
                "switch.relief",
                "relief takes packets out of its queue when other ports need it",
            ),
            (self.incidents.iter().any(|incident| fails(&incident.what)), "incident", "its link fails"),
            (
                needs.inputs || needs.by_input || needs.apart,
                "switch.scheduler",
                "its queue depends on the inputs of packets, or on notices to its neighbours",
            ),
            (
                needs.together.is_some(),
                "switch.scheduler",
                "all ports of its switch run its policy together, and a record holds one port",
            ),
            (
                needs.notifies,
                "switch.scheduler",
                "its policy notifies senders (`notify`), which a record does not hold",
            ),
            (
                needs.holds_back,
                "switch.scheduler",
                "it limits the rate of credits by timers, which a record does not hold",
            ),
            (
                needs.key == Key::Anything,
                "switch.scheduler",
                "it is a plug-in, which cannot be part of a record",
            ),
        ];
        if let Some((_, key, why)) = reasons.into_iter().find(|(so, ..)| *so) {
            return refused(key, why);
        }
        let egress = self.egress(id).map_err(|why| Unrecorded { key: "switch", why: why.to_string() })?;
        let stages = egress.queue.front.iter().chain([&egress.queue.stage]).chain(&egress.stages);
        if stages.map(StageSpec::acts).any(|acts| matches!(acts, Acts::Writes | Acts::Signals(_))) {
            return refused(
                "switch.marking",
                "it writes telemetry or explicit feedback, which a record does not hold",
            );
        }
        Ok(egress)
    }

    /// True if this port is recorded.
    pub fn records_port(&self, id: PortId) -> bool {
        self.probes.ports.iter().any(|(port, _)| *port == id)
    }
}
