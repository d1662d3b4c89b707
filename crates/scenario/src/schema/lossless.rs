//! `switch.inputs`: memory accounted to the input at which packets arrived. The pause policies that need it, with their
//! keys and defaults, are declared in `thalweg_machines::pause`.

use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Bytes;

/// Switch memory, accounted to the input at which packets arrived: either `memory` or `shared`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    /// Memory of each input, if every input has its own. With PFC, it must hold XOFF and the headroom.
    #[schemars(extend("x-quantity" = "room", "examples" = ["240KB", "2bdp"]))]
    pub memory: Option<Q<Bytes>>,
    /// Memory of each switch, if all its inputs share one.
    #[schemars(extend("x-quantity" = "room", "examples" = ["9MB"]))]
    pub shared: Option<Q<Bytes>>,
    /// When the memory of a departing packet is released.
    #[serde(default)]
    pub release: Release,
    /// How many packets one input may send through the crossbar at the same time.
    #[serde(default, skip_serializing_if = "Crossbar::is_unlimited")]
    pub crossbar: Crossbar,
}

/// How many packets one input may send through the crossbar at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Crossbar {
    /// One to every output, so that an output never waits for an input.
    // CHOICE IRN §4.3.1: round robin over inputs is all that the paper says.
    #[default]
    Unlimited,
    /// One in all, without speed-up. iSLIP (McKeown, 1999) matches inputs and outputs whenever one of them becomes
    /// idle. Needs the scheduler `input-round-robin`.
    OnePerInput,
}

impl Crossbar {
    fn is_unlimited(&self) -> bool {
        *self == Self::Unlimited
    }
}

/// When the memory of a departing packet is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// When its transmission begins.
    Start,
    /// When its transmission ends.
    // CHOICE IRN §4.3.1: the paper does not say.
    #[default]
    End,
}
