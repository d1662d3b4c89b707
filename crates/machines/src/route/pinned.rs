//! Paths that a file gives, flow by flow; they stay whatever fails.

use super::{File, Holds, Laid, Needs, Parameters, Paths, Site};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Each flow's switches are given.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Params {
    /// CSV `id,data_path,ack_path`: switches, by number or name, separated by `-`; relative to the scenario.
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
