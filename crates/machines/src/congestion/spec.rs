//! The one list of controllers: names, parameters, and how each is made.

use super::{CongestionControl, Start};
use crate::custom::CustomController;
use serde::{Deserialize, Serialize};

/// Which controller a flow runs, with its parameters. Defaults live in the scenario schema, not here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ControllerSpec {
    /// TCP NewReno's window (RFC 5681, RFC 6582).
    NewReno,
    /// DCTCP (Alizadeh et al., SIGCOMM 2010; RFC 8257): `gain` is g, `initial_alpha` in [0, 1].
    Dctcp {
        /// g, the weight of the newest window in the moving average of the marked fraction.
        gain: f64,
        /// α before the first window has ended.
        initial_alpha: f64,
    },
    /// pFabric's minimal rate control (Alizadeh et al., SIGCOMM 2013 §4.2): starts at line rate, reacts to timeouts only.
    MinTcp,
    /// A window that never changes.
    FixedWindow,
    /// A controller registered by the user ([`crate::custom::register_controller`]).
    Custom {
        /// The registered name.
        name: String,
        /// What its factory is given.
        params: Vec<u8>,
    },
}
