//! FQ-CoDel: [`RoundRobin`] with CoDel in every queue. RFC 8290, with a quantum of one packet.

use super::round_robin::RoundRobin;
use super::{Around, At, Manages, Needs, Parameters, Problems};
use crate::stage::codel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// Round robin over flows, new flows first, with CoDel in every queue (FQ-CoDel, RFC 8290, with a quantum of one
/// packet).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Flows are hashed into so many queues; every flow and direction has its own if not given.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub bins: Option<u32>,
    /// Queueing delay that may stand.
    pub target: Span,
    /// How long it must stand before the first drop.
    pub interval: Span,
    /// With no more than this in the queue delay does not count.
    pub mtu: Bytes,
    /// What is counted, and where the rate of drops starts from when delay comes back.
    pub law: codel::Law,
}

impl Default for Params {
    fn default() -> Self {
        let codel::Params { target, interval, mtu, law } = codel::Params::default();
        Self { bins: None, target, interval, mtu, law }
    }
}

impl Params {
    fn codel(&self) -> codel::Params {
        codel::Params { target: self.target, interval: self.interval, mtu: self.mtu, law: self.law }
    }
}

impl Parameters for Params {
    type Machine = RoundRobin;

    fn needs(&self) -> Needs {
        Needs { manages: Manages::Delay, ..Needs::NOTHING }
    }
    fn check(&self, _: &Around, problems: &mut Problems) {
        self.codel().check_times(problems);
    }
    fn make(&self, _: &At) -> Result<RoundRobin, String> {
        RoundRobin::new(self.bins, Some(self.codel()))
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let codel::Params { target, interval, mtu, law } = codel::Params::SHORT;
        vec![
            Self { bins: None, target, interval, mtu, law },
            Self { bins: Some(4), target, interval, mtu, law },
        ]
    }
}
