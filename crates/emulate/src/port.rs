//! Which ports of scenarios real packets can pass.

use thalweg_machines::egress::EgressSpec;
use thalweg_machines::schedule::Key;
use thalweg_machines::stage::{Acts, StageSpec};
use thalweg_net::port::PortSpec;
use thalweg_record::Port;

/// A setting of a port that is not possible with real packets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {why}")]
pub struct Refused {
    /// The scenario's key.
    pub key: &'static str,
    /// The reason.
    pub why: String,
}

/// The port of a scenario, for real packets.
///
/// # Errors
/// By key: settings that IP packets cannot support, or that need more of a switch than the port.
pub fn passable(spec: &PortSpec, name: String) -> Result<Port, Refused> {
    let refused = |key, why: &str| Err(Refused { key, why: why.into() });
    if spec.shared.is_some() {
        return refused("switch.shared_buffer", "memory shared with other ports, which are not emulated");
    }
    if spec.inputs.is_some() {
        return refused(
            "switch",
            "memory by input, and the pauses that come of it: real hosts have no pauses",
        );
    }
    if spec.egress.queue.order.needs().notifies {
        let why =
            "its policy notifies senders (`notify`), which no IP header does: remove it, or let it `mark`";
        return refused("switch.scheduler", why);
    }
    if spec.point.is_some() {
        return refused("switch", "a congestion point writes to sources, which no IP header does");
    }
    order(&spec.egress)?;
    let stages = spec.egress.queue.front.iter().chain([&spec.egress.queue.stage]).chain(&spec.egress.stages);
    stages.map(stage).collect::<Result<Vec<()>, Refused>>()?;
    Ok(Port { name, seed: spec.seed, entity: u64::from(spec.id.0), egress: spec.egress.clone() })
}

fn order(egress: &EgressSpec) -> Result<(), Refused> {
    let needs = egress.queue.order.needs();
    let why = match needs.key {
        Key::FlowSize | Key::Remaining | Key::Rank => {
            "it sorts by what senders write into a rank header, which IP does not carry"
        }
        Key::Slack => "it sorts by slack, which IP headers do not carry",
        Key::Anything => "it is a plug-in, which a record of the port could not be replayed with",
        Key::Nothing if needs.trims.is_some() => {
            "it cuts packets to their headers, and real receivers take those for damaged"
        }
        Key::Nothing if needs.holds_back => "it meters credits, which no IP header announces",
        Key::Nothing => return Ok(()),
    };
    Err(Refused { key: "switch.scheduler", why: why.into() })
}

fn stage(stage: &StageSpec) -> Result<(), Refused> {
    let why = match stage.acts() {
        Acts::Writes => "it writes telemetry into headers, which IP does not carry",
        Acts::Signals(_) => "it writes explicit feedback into headers, which IP does not carry",
        Acts::Not | Acts::Marks | Acts::MarksOrDrops | Acts::Drops => return Ok(()),
    };
    Err(Refused { key: "switch.marking", why: why.into() })
}
