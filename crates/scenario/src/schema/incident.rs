//! `[[incident]]`: what breaks, and when it is mended.

use super::defaults;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// Something breaks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Incident {
    /// Both directions of a link: what is on it, what waits for it and what still comes is lost, until routes
    /// change after `routing.convergence`.
    LinkFailure {
        /// When.
        #[schemars(extend("examples" = ["10ms"]))]
        at: Q<Span>,
        /// When it works again; never if not given.
        until: Option<Q<Span>>,
        /// Its two ends, by number or name; all links between them if there are several.
        #[schemars(extend("examples" = [[0, 4]], "x-node" = "node"))]
        link: [u32; 2],
    },
    /// Pause frames get lost.
    PauseLoss {
        /// From when on.
        #[serde(default = "default::zero")]
        from: Q<Span>,
        /// Until when; to the end if not given.
        until: Option<Q<Span>>,
        /// Of each frame.
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0, "examples" = [0.5]))]
        probability: f64,
        /// Frames that travel this way only: link l is port 2l from its first node and 2l + 1 from its
        /// second; all if not given.
        port: Option<u32>,
    },
}

defaults! {
    zero: Q<Span> = Q(Span::ZERO);
}
