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
    /// The scenario's key that it comes of.
    pub key: &'static str,
    /// What of the port depends on more than what arrives there.
    pub why: String,
}

impl NetworkSpec {
    /// The machine of a port whose decisions follow from what arrives there, in its order, and nothing else.
    ///
    /// # Errors
    /// By key, what else they depend on; or what it does that a record does not hold.
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
                "it is a host's: there flows decide what is sent, and take packets back",
            ),
            (
                self.direction(id).mean_rate() == Rate::INFINITE,
                this,
                "its link takes no time: nothing waits there",
            ),
            (self.shared_buffer.is_some(), "switch.shared_buffer", "its memory is shared with other ports"),
            (
                self.inputs.is_some(),
                "switch.inputs",
                "its memory is its inputs', and what pauses say decides there, too",
            ),
            (
                self.relief.is_some(),
                "switch.relief",
                "relief takes packets out of its queue as other ports want it",
            ),
            (self.incidents.iter().any(|incident| fails(&incident.what)), "incident", "its link fails"),
            (
                needs.inputs || needs.by_input || needs.apart,
                "switch.scheduler",
                "its queue goes by the inputs at which packets came, or by what its neighbours are notified of",
            ),
            (
                needs.together.is_some(),
                "switch.scheduler",
                "all ports of its switch run its policy together, and a record is of one",
            ),
            (
                needs.notifies,
                "switch.scheduler",
                "its policy notifies senders (`notify`), which a record does not hold",
            ),
            (
                needs.holds_back,
                "switch.scheduler",
                "it meters credits, and wakes by clocks that a record does not hold",
            ),
            (
                needs.key == Key::Anything,
                "switch.scheduler",
                "it is a plug-in, which a record of the port could not be replayed with",
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

    /// This port is recorded.
    pub fn records_port(&self, id: PortId) -> bool {
        self.probes.ports.iter().any(|(port, _)| *port == id)
    }
}
