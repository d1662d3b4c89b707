//! Where two scenarios' runs part.

use crate::Run;
use thalweg_scenario::{Diagnostic, Scenario, Stop};
use thalweg_sim::diff::Compared;
use thalweg_sim::events::{Event, Phase};
use thalweg_units::{HostId, NodeId, PortId};

/// Two scenarios' runs side by side.
pub struct Pair(Run, Run);

impl Pair {
    /// Both at their beginning; given up soon after `stop` is raised.
    ///
    /// # Errors
    /// As [`Run::new_unless`].
    pub fn new_unless(stop: &Stop, left: &Scenario, right: &Scenario) -> Result<Self, Diagnostic> {
        Ok(Self(Run::new_unless(stop, left)?, Run::new_unless(stop, right)?))
    }

    /// Takes both on by a bounded number of events. `Some`: the comparison is over; with the first event that differs
    /// in words, or `None` if they end alike.
    pub fn step(&mut self) -> Option<Option<String>> {
        let Self(a, b) = self;
        let found = match a.engine.compare_some(&mut b.engine) {
            Compared::Alike => return None,
            Compared::EndAlike => return Some(None),
            Compared::Differ(found) => found,
        };
        let (one, two) = (name(a, found.left), name(b, found.right));
        let what = if one == two {
            format!("both runs do the same next ({one}), but it has different effects")
        } else {
            format!("the first run: {one}; the second: {two}")
        };
        Some(Some(format!("{} events are the same; then {what}", found.shared)))
    }
}

/// An event in words.
fn name(run: &Run, event: Option<Event>) -> String {
    let (spec, names) = (run.spec(), &run.meta.names);
    let Some(event) = event else { return "the run has ended".into() };
    let entity = event.tag.entity();
    let node = |id: NodeId| {
        // A further NIC of a host has a number of its own as a node, which the host has not.
        let what = if id.0 < spec.hosts {
            format!("host {}", spec.host_of(HostId(id.0)))
        } else {
            format!("switch {id}")
        };
        format!("{what} ({})", names.of(id.0))
    };
    let port = || {
        let (from, to) = spec.ends(PortId(entity));
        format!("{} -> {}", node(from), node(to))
    };
    let what = match event.tag.phase() {
        Phase::Finish => format!("a transmission ends at port {}", port()),
        Phase::Inject => "a recorded packet enters".to_owned(),
        Phase::Arrive => format!("a packet arrives over {}", port()),
        Phase::Start => match (entity as usize).checked_sub(spec.flows.len()) {
            None => format!("flow {entity} starts"),
            Some(work) => format!("computation {work} is ready, or over"),
        },
        Phase::SenderTimer => format!("a timer of flow {entity}'s sender fires"),
        Phase::ReceiverTimer => format!("a timer of flow {entity}'s receiver fires"),
        Phase::Tick => format!("the control plane of port {} wakes", port()),
        Phase::Decide => format!("port {} chooses what to send", port()),
        Phase::Sample => format!("probe {entity} takes a sample"),
        Phase::Stop => format!("flow {entity} stops"),
        Phase::Point => format!("the congestion point of port {} looks at its queue", port()),
        Phase::Relief => format!("the relief of {} acts", node(NodeId(spec.hosts + entity))),
        Phase::DepartureNotice => format!("the switch of port {} is notified of what has left it", port()),
        Phase::Agent => format!("a timer of host agent {entity} fires"),
        Phase::Quanta => {
            let what = if entity % 2 == 0 { "expires" } else { "is to be refreshed" };
            let (from, to) = spec.ends(PortId(entity / 2));
            format!("a pause at {} -> {} {what}", node(from), node(to))
        }
        Phase::Incident => {
            if entity % 2 == 0 {
                format!("incident {} happens", entity / 2)
            } else {
                format!("routes converge after incident {}", entity / 2)
            }
        }
    };
    format!("at {} ps {what}", event.at.ps())
}
