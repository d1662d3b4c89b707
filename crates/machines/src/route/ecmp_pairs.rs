//! Hashed equal-cost multipath, per pair of hosts: as [`super::ecmp`], but the hash does not include the flow.

use super::{Ends, Laid, Needs, Parameters, Pick, Site};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// ECMP per pair of hosts: as `ecmp`, by a hash of source and destination only.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Laid;

    fn needs(&self) -> Needs {
        Needs { per_pair: true, ..Needs::FLOW }
    }
    fn pick(&self, ends: &Ends) -> Pick {
        Pick::Hash(ends.hash_of_pair())
    }
    fn make(&self, _: &Site) -> Laid {
        Laid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{FlowId, HostId};

    #[test]
    fn flows_between_two_hosts_are_picked_alike() {
        let pick = |dst, flow| Params {}.pick(&Ends { src: HostId(1), dst, flow: FlowId(flow), back: false });
        assert_eq!(pick(HostId(9), 7), pick(HostId(9), 8));
        assert_ne!(pick(HostId(9), 7), pick(HostId(10), 7));
    }
}
