//! Next hop by number: (source + destination + flow) mod n at each switch, data and ACKs alike.

use super::{Back, Ends, Laid, Needs, Parameters, Pick, Site};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Per flow: next hop number (source + destination + flow) mod n, data and ACKs alike.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Laid;

    fn needs(&self) -> Needs {
        Needs { back: Back::Alike, ..Needs::FLOW }
    }
    fn pick(&self, ends: &Ends) -> Pick {
        Pick::Modulo(ends.src.0.wrapping_add(ends.dst.0).wrapping_add(ends.flow.0))
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
    fn flow_7_from_host_1_to_host_9_has_number_17_in_both_directions() {
        let ends = |back| Ends { src: HostId(1), dst: HostId(9), flow: FlowId(7), back };
        assert_eq!([false, true].map(|back| Params {}.pick(&ends(back))), [Pick::Modulo(17); 2]);
    }
}
