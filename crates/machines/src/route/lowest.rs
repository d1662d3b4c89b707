//! The lowest-numbered next hop: one path per pair of nodes, as the default static routing of ns-2 has it.

use super::{Back, Ends, Laid, Needs, Parameters, Paths, Pick, Site};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One path per pair of nodes: at each switch the lowest-numbered next hop (the default static routing of ns-2).
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Laid;

    fn needs(&self) -> Needs {
        Needs { paths: Paths::Lowest, back: Back::Alike, per_pair: true, ..Needs::FLOW }
    }
    fn pick(&self, _: &Ends) -> Pick {
        Pick::Lowest
    }
    fn make(&self, _: &Site) -> Laid {
        Laid
    }
}
