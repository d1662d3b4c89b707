//! One flow.

use super::Family;
use super::course::{Course, Fluid};
use super::declare::default;
use super::drafts::Drafts;
use super::section::{Expected, Section};
use crate::Diagnostic;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span};

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// The host that sends.
    #[schemars(extend("examples" = [0], "x-node" = "host"))]
    pub src: u32,
    /// The host that receives.
    #[schemars(extend("examples" = [1], "x-node" = "host"))]
    pub dst: u32,
    /// Payload bytes of the flow.
    #[schemars(extend("examples" = ["1MB"]))]
    pub size: Q<Bytes>,
    /// When the flow starts.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
}

impl Family for Flow {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        s.ends(("src", self.src), ("dst", self.dst))?;
        s.start("start", self.start.0)?;
        Ok(Expected::of(1.0, s.size("size", self.size.0.get())?))
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        out.push(s.flow(self.src, self.dst, self.size.0.get(), s.start("start", self.start.0)?));
        Ok(())
    }

    fn course(&self, f: &Fluid) -> Course {
        let begin = self.start.0.secs();
        Course::new(begin, begin + f.wire / f.rate + f.rtt, 1.0)
    }

    fn ends(&self) -> Option<(u32, u32)> {
        Some((self.src, self.dst))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::flows;

    #[test]
    fn a_flow_is_a_flow() {
        let flows = flows(3, "kind = \"flow\"\nsrc = 2\ndst = 1\nsize = \"5KB\"\nstart = \"2us\"");
        let seen: Vec<_> = flows.iter().map(|f| (f.src.0, f.dst.0, f.size, f.start.ps())).collect();
        assert_eq!(seen, [(2, 1, 5000, 2_000_000)]);
    }
}
