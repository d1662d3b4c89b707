//! What breaks, and when.

use serde::{Deserialize, Serialize};
use thalweg_units::{PortId, Time};

/// Something breaks or is restored.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// When.
    pub at: Time,
    /// What.
    pub what: IncidentKind,
}

/// What breaks or is restored.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum IncidentKind {
    /// Both directions of the link (an index into [`links`](super::NetworkSpec::links)): what is on it and what waits
    /// for it is lost, and what still comes; routes change [`convergence`](super::NetworkSpec::convergence) later.
    LinkDown(u32),
    /// The link works again; routes change likewise.
    LinkUp(u32),
    /// From now on pause frames that would reach the far end of this port (`None`: of any port) are lost with this
    /// probability.
    PauseLoss(Option<PortId>, f64),
}
