//! RC3 as data.

use crate::transport::TcpSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// TCP and its RLP loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rc3Spec {
    /// The primary loop.
    pub primary: TcpSpec,
    /// Segments in the first low-priority level; every further level has ten times as many.
    pub first: u32,
    /// Number of low-priority levels: classes below the flow's own. Segments beyond the last level belong to it.
    pub levels: u8,
    /// How the borders between levels are computed.
    pub borders: Borders,
    /// Segments that the host hands to its NIC together: they leave in ascending order and in one class, the least
    /// important of theirs. 1: one by one.
    pub together: u32,
    /// When packets of the second loop are handed to the NIC.
    pub handed: Handed,
    /// When a flow is over, packets of its second loop that still wait in the host's queue are removed.
    pub flush: bool,
}

impl Rc3Spec {
    /// As published (§2.1.1), over this TCP: 40, 400, 4000, .. segments in four levels, handed over at once,
    /// segment by segment.
    pub fn published(primary: TcpSpec) -> Self {
        Self {
            primary,
            first: 40,
            levels: 4,
            borders: Borders::Quotas,
            together: 1,
            handed: Handed::Push,
            flush: false,
        }
    }
}

/// When packets of the second loop are handed to the NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Handed {
    /// All at once: the loop stops where it meets TCP at that moment; what TCP sends later is in the queue twice
    /// (§2.1.2, §2.3.1).
    #[default]
    Push,
    /// One by one, when the NIC has nothing else to send, so that nothing leaves that TCP has sent meanwhile.
    Pull,
}

/// Where the levels of the second loop end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Borders {
    /// Levels are quotas: with a first one of 40 they end 40, 440, 4440 segments before the tail (§2.1.1).
    #[default]
    Quotas,
    /// Levels are distances: 40, 400, 4000 segments before the tail (the Linux implementation, §2.3.1).
    Distances,
}
