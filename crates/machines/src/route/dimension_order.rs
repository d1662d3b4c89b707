//! Dimension-order routing (e-cube): a packet goes as far as it has to along the first dimension of a torus or mesh,
//! then along the second, and so on.
//!
//! Dally, Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks", IEEE Transactions on
//! Computers C-36(5), 1987. Of the shortest paths this takes, at every switch, those that begin along the first
//! dimension of any: routing tables have only these ([`Paths::Ordered`](super::Paths::Ordered)). In a mesh no cycle
//! of ports that wait for each other can form; in a torus one can, around each ring of four switches or more: there the
//! paper has two virtual channels, and here are none.
//!
//! ```text
//! CHOICE: where both directions around a ring are equally short, a hash of the flow chooses one; from the next switch
//! on it is the shorter one. Other reading: always the positive direction.
//! ```
//!
//! Left out: virtual channels.

use super::{Around, Laid, Needs, Parameters, Paths, Problems, Site};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Dimension order (e-cube): a flow takes the shortest path that goes along the first dimension first, then along the
/// second, and so on (Dally, Seitz, IEEE Transactions on Computers 1987).
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Laid;

    fn needs(&self) -> Needs {
        Needs { paths: Paths::Ordered, ..Needs::FLOW }
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        match at.dimensions {
            0 => {
                let why = "the topology has no dimensions to go along in order";
                problems.wrong("kind", why, "\"ecmp\", or the topology `torus`");
            }
            1 => problems.useless("kind", "there is one dimension, so that no order matters", "\"ecmp\""),
            _ => {}
        }
    }

    fn make(&self, _: &Site) -> Laid {
        Laid
    }
}

#[cfg(test)]
mod tests {
    use super::super::RouteSpec;
    use super::*;

    #[test]
    fn it_needs_dimensions_to_order() {
        let problems = |dimensions| {
            let at = Around { dimensions, ..Around::ANY };
            RouteSpec::dimension_order().problems(&at).into_iter().map(|p| p.reason).collect::<Vec<_>>()
        };
        assert!(problems(0)[0].contains("no dimensions"));
        assert!(problems(1)[0].contains("one dimension"));
        assert!(problems(3).is_empty());
    }
}
