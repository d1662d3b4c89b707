//! Paths given by a file for each flow. They do not change when links fail.

use super::{File, Holds, Laid, Needs, Parameters, Paths, Site};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file gives the switches on each flow's path.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// CSV file `id,data_path,ack_path`, relative to the scenario: switches by number or name, separated by `-`.
    #[schemars(extend("examples" = ["paths.csv"]))]
    pub file: String,
}

impl Parameters for Params {
    type Machine = Laid;

    fn needs(&self) -> Needs {
        Needs { paths: Paths::Given, per_pair: true, ..Needs::FLOW }
    }
    fn file(&self) -> Option<File<'_>> {
        Some(File { key: "file", name: &self.file, holds: Holds::Paths })
    }
    fn make(&self, _: &Site) -> Laid {
        Laid
    }
}
