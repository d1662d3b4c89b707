//! `[[incident]]`: link failures and losses of pause frames.

use super::defaults;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Span;

/// A failure, and when it happens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Incident {
    /// A link fails in both directions. Packets on it, packets queued for it, and packets that are still routed to it
    /// are lost, until routes change `routing.convergence` later.
    LinkFailure {
        /// When the link fails.
        #[schemars(extend("examples" = ["10ms"]))]
        at: Q<Span>,
        /// When the link works again. If not given, never.
        until: Option<Q<Span>>,
        /// The two ends of the link, by number or name. If several links join them, all of them fail.
        #[schemars(extend("examples" = [[0, 4]], "x-node" = "node"))]
        link: [u32; 2],
    },
    /// Pause frames are lost at random.
    PauseLoss {
        /// When the losses begin.
        #[serde(default = "default::zero")]
        from: Q<Span>,
        /// When the losses end. If not given, with the run.
        until: Option<Q<Span>>,
        /// Loss probability of each frame.
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0, "examples" = [0.5]))]
        probability: f64,
        /// Only frames sent by this port are lost: link l is port 2l from its first node and port 2l + 1 from its
        /// second. If not given, those of all ports.
        port: Option<u32>,
    },
}

defaults! {
    zero: Q<Span> = Q(Span::ZERO);
}
