//! Hashed equal-cost multipath, per flow: at each switch a hash of source, destination, flow and direction, salted by
//! the switch, chooses (RFC 2992, hash-threshold).

use super::{Laid, Needs, Parameters, Site};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// ECMP per flow: at each switch a salted hash of the flow chooses the next hop (RFC 2992).
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Laid;

    fn needs(&self) -> Needs {
        Needs::FLOW
    }
    fn make(&self, _: &Site) -> Laid {
        Laid
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Ends, Pick, spread};
    use super::*;
    use thalweg_units::{FlowId, HostId};

    #[test]
    fn the_flow_and_the_direction_count_and_each_switch_chooses_for_itself() {
        let pick = |flow, back| {
            let ends = Ends { src: HostId(1), dst: HostId(9), flow: FlowId(flow), back };
            let Pick::Hash(hash) = Params {}.pick(&ends) else { panic!("hashed") };
            hash
        };
        assert_eq!(pick(7, false), pick(7, false));
        assert_ne!(pick(7, false), pick(7, true));
        // 4000 flows over four ports: 1000 each, give or take 3 standard deviations of 27; at another switch anew.
        let mut both = [[0u32; 4]; 4];
        (0..4000)
            .for_each(|flow| both[spread(pick(flow, false), 1, 4)][spread(pick(flow, false), 2, 4)] += 1);
        assert!(both.iter().all(|row| row.iter().sum::<u32>().abs_diff(1000) < 81), "{both:?}");
        assert!(both.iter().flatten().all(|n| n.abs_diff(250) < 46), "{both:?}");
    }
}
