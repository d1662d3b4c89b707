//! `switch.inputs`: memory by the input at which packets came. What flow control on top of it is, its keys
//! and their defaults stand with the policies, in `thalweg_machines::pause`.

use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Bytes;

/// Switch memory by the input at which packets came: either `memory` or `shared`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    /// Every input has its own, of this size; under PFC XOFF and headroom fit into it.
    #[schemars(extend("x-quantity" = "room", "examples" = ["240KB", "2bdp"]))]
    pub memory: Option<Q<Bytes>>,
    /// All inputs of a switch share one, of this size.
    #[schemars(extend("x-quantity" = "room", "examples" = ["9MB"]))]
    pub shared: Option<Q<Bytes>>,
    /// When a packet gives its memory back.
    #[serde(default)]
    pub release: Release,
    /// How many packets an input may send through the switch at a time.
    #[serde(default, skip_serializing_if = "Crossbar::is_unlimited")]
    pub crossbar: Crossbar,
}

/// How many packets an input may send through the switch at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Crossbar {
    /// One to every output: an output never waits for an input.
    // CHOICE IRN §4.3.1: round robin over inputs is all that the paper says.
    #[default]
    Unlimited,
    /// One, whichever output it is for: no speed-up. Which inputs and outputs are matched is iSLIP's choice
    /// (McKeown, 1999), made whenever an input or an output falls idle. Needs the scheduler
    /// `input-round-robin`.
    OnePerInput,
}

impl Crossbar {
    fn is_unlimited(&self) -> bool {
        *self == Self::Unlimited
    }
}

/// When a packet gives its memory back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// As its transmission begins.
    Start,
    /// As its transmission ends.
    // CHOICE IRN §4.3.1: the paper does not say.
    #[default]
    End,
}
