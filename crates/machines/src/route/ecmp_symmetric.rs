//! Hashed equal-cost multipath with symmetric paths: the data's path is that of [`super::ecmp`], and what comes back
//! takes the same links in reverse (ExpressPass, SIGCOMM 2017, §3.1, needs it: credits meter the links of the data).

use super::{Back, Laid, Needs, Parameters, Site};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// ECMP with symmetric paths: as `ecmp`, and packets of the reverse direction take the same path back (ExpressPass'
/// credits need it).
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Laid;

    fn needs(&self) -> Needs {
        Needs { back: Back::Reverse, ..Needs::FLOW }
    }
    fn make(&self, _: &Site) -> Laid {
        Laid
    }
}
