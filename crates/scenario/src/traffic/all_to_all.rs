//! Every host sends one flow to every other.

use super::Family;
use super::arrivals::jittered;
use super::course::{Course, Fluid};
use super::declare::default;
use super::drafts::Drafts;
use super::section::{Expected, Section};
use crate::Diagnostic;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// Every host sends one flow to every other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllToAll {
    /// Of each flow, payload.
    #[schemars(extend("examples" = ["1MB"]))]
    pub size: Q<Bytes>,
    /// Earliest start.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
    /// Starts are uniform in `start` to `start + jitter`.
    #[serde(default = "default::zero")]
    pub jitter: Q<Span>,
}

impl Family for AllToAll {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        s.jitter(self.start.0, self.jitter.0)?;
        let hosts = f64::from(s.graph.hosts);
        Ok(Expected::of(hosts * (hosts - 1.0), s.size("size", self.size.0.get())?))
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let first = s.start("start", self.start.0)?;
        for src in 0..s.graph.hosts {
            s.cx.proceed()?;
            let mut stream = s.stream("starts", u64::from(src));
            for dst in (0..s.graph.hosts).filter(|d| *d != src) {
                let start = jittered(first, self.jitter.0, &mut stream);
                out.push(s.flow(src, dst, self.size.0.get(), start));
            }
        }
        Ok(())
    }

    fn course(&self, f: &Fluid) -> Course {
        f.spread(self.start.0, self.jitter.0, (f.hosts - 1.0) * f.wire / f.line + f.rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ends, flows};

    #[test]
    fn there_is_a_flow_from_every_host_to_every_other() {
        let flows = flows(3, "kind = \"all-to-all\"\nsize = \"3KB\"");
        assert_eq!(ends(&flows), [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]);
    }
}
