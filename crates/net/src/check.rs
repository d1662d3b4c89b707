//! Consistency checks of a specification: what one table refers to exists in another.

use crate::spec::{IncidentKind, NetworkSpec, Structure};
use thalweg_machines::Invalid;
use thalweg_machines::route::Paths;
use thalweg_units::{FlowId, Time};

/// An error with this reason.
fn wrong<T>(why: String) -> Result<T, Invalid> {
    Err(Invalid::new(why))
}

impl NetworkSpec {
    /// Checks that everything referred to exists and that flows are sorted. Parameters of algorithms are checked when
    /// the algorithms are made.
    ///
    /// # Errors
    /// The first inconsistency.
    pub fn check(&self) -> Result<(), Invalid> {
        self.check_ports()?;
        self.check_flows()?;
        self.check_incidents()
    }

    fn check_ports(&self) -> Result<(), Invalid> {
        let own = (self.hosts as usize).checked_sub(self.further_nics.len());
        if own.is_none_or(|own| self.further_nics.iter().any(|nic| nic.host.at() >= own)) {
            return wrong("a further NIC is of a host that does not exist".into());
        }
        let nodes = self.hosts + self.switches;
        if let Some(l) = self.links.iter().position(|l| l.a.0 >= nodes || l.b.0 >= nodes || l.a == l.b) {
            return wrong(format!("link {l} does not join two nodes of the network"));
        }
        if let Some(l) = self.links.iter().position(|l| l.metric == 0) {
            return wrong(format!("link {l} costs nothing, so that routes have no length"));
        }
        let Structure { groups, dimensions } = &self.routing.structure;
        let fits = |given: usize, of: usize| given == 0 || given == of;
        if !fits(groups.len(), self.switches as usize) || !fits(dimensions.len(), self.links.len()) {
            return wrong("groups are of every switch, and dimensions of every link, or of none".into());
        }
        if self.port_discipline.len() != 2 * self.links.len() {
            return wrong("every port needs a queue discipline".into());
        }
        if self.port_discipline.iter().any(|d| usize::from(*d) >= self.disciplines.len()) {
            return wrong("a port names a queue discipline that does not exist".into());
        }
        Ok(())
    }

    fn check_flows(&self) -> Result<(), Invalid> {
        for (i, flow) in self.flows.iter().enumerate() {
            if flow.src == flow.dst || flow.src.0 >= self.hosts || flow.dst.0 >= self.hosts || flow.size == 0
            {
                return wrong(format!(
                    "flow {i} does not join two hosts of the network with at least one byte"
                ));
            }
            if flow.until != Time::MAX && flow.size != u64::MAX {
                return wrong(format!("flow {i} ends with its size, so it cannot be stopped at a time"));
            }
            if usize::from(flow.transport) >= self.transports.len() {
                return wrong(format!("flow {i} names a transport that does not exist"));
            }
        }
        if u32::try_from(self.flows.len() + self.works.len()).is_err() {
            return wrong("there are too many flows and computations".into());
        }
        self.precedence.check(self.flows.len(), self.works.len())?;
        if let Some(work) = self.works.iter().position(|work| work.host.0 >= self.hosts) {
            return wrong(format!("computation {work} is on no host of the network"));
        }
        let flows = (0..).map(FlowId).zip(&self.flows);
        let by_clock = flows.filter(|(flow, _)| !self.precedence.follows(*flow)).map(|(_, f)| f.start);
        if !by_clock.is_sorted() {
            return wrong("flows are not sorted by their start".into());
        }
        if self.routing.rule.needs().paths == Paths::Given {
            let given = self.routing.paths().map_or(0, <[_]>::len);
            if given != self.flows.len() {
                return wrong(format!("{given} pinned paths for {} flows", self.flows.len()));
            }
        }
        Ok(())
    }

    fn check_incidents(&self) -> Result<(), Invalid> {
        for incident in &self.incidents {
            let known = match incident.what {
                IncidentKind::LinkDown(link) | IncidentKind::LinkUp(link) => {
                    (link as usize) < self.links.len()
                }
                IncidentKind::PauseLoss(port, _) => port.is_none_or(|port| port.at() < 2 * self.links.len()),
            };
            if !known {
                return wrong("an incident names a link that does not exist".into());
            }
        }
        Ok(())
    }
}
