//! Flows without end, or flows that end at a given time.

use super::Family;
use super::course::{Course, Fluid};
use super::declare::default;
use super::drafts::{Draft, Drafts};
use super::section::{Expected, Section};
use crate::Diagnostic;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

/// Flows without end, or flows that end at a given time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Backlogged {
    /// The host that sends.
    #[schemars(extend("examples" = [0], "x-node" = "host"))]
    pub src: u32,
    /// The host that receives.
    #[schemars(extend("examples" = [1], "x-node" = "host"))]
    pub dst: u32,
    /// When the first flow starts.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
    /// When all of the flows stop. A flow then ends with what it has sent so far, losses of which are still repaired.
    /// If not given, never.
    pub until: Option<Q<Span>>,
    /// Number of flows.
    #[serde(default = "default::one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// Time between the starts of two flows.
    #[serde(default = "default::zero")]
    pub spacing: Q<Span>,
}

impl Family for Backlogged {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        s.ends(("src", self.src), ("dst", self.dst))?;
        s.start("start", self.start.0)?;
        let last =
            self.spacing.0.saturating_mul(u64::from(self.count - 1)).ps().saturating_add(self.start.0.ps());
        s.start("spacing", Span::from_ps(last))?;
        if let Some(until) = self.until {
            s.start("until", until.0)?;
            if until.0.ps() <= last {
                let reason = format!("{} is not after the start, {}", until.0, Span::from_ps(last));
                return Err(s.cx.error(&s.key("until"), reason, "stop later or start earlier"));
            }
        }
        if self.count == 1 && !self.spacing.0.is_zero() {
            return Err(s.ineffective("spacing", "count", "flow"));
        }
        Ok(Expected { endless: f64::from(self.count), ..Expected::default() })
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let first = s.start("start", self.start.0)?;
        let until = self.until.map(|q| Time::from_ps(q.0.ps()));
        for n in 0..u64::from(self.count) {
            let start = first.saturating_add(self.spacing.0.saturating_mul(n));
            out.push(Draft { until, ..s.flow(self.src, self.dst, u64::MAX, start) });
        }
        Ok(())
    }

    fn course(&self, f: &Fluid) -> Course {
        let end = self.until.map_or(f.until, |q| q.0.secs());
        Course { rate: f.rate / f.packet, ..Course::new(self.start.0.secs(), end, f64::from(self.count)) }
    }

    fn ends(&self) -> Option<(u32, u32)> {
        Some((self.src, self.dst))
    }

    fn is_endless(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::flows;

    #[test]
    fn flows_without_end_start_one_after_the_other_and_stop_together() {
        let text = "kind = \"backlogged\"\nsrc = 0\ndst = 1\ncount = 2\nspacing = \"3us\"\nuntil = \"9us\"";
        let flows = flows(2, text);
        let seen: Vec<_> = flows.iter().map(|f| (f.size, f.start.ps(), f.until.ps())).collect();
        assert_eq!(seen, [(u64::MAX, 0, 9_000_000), (u64::MAX, 3_000_000, 9_000_000)]);
    }
}
