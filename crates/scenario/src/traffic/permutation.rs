//! Every host sends one flow and receives one.

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

/// Every host sends one flow and receives one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permutation {
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

impl Family for Permutation {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        s.jitter(self.start.0, self.jitter.0)?;
        Ok(Expected::of(f64::from(s.graph.hosts), s.size("size", self.size.0.get())?))
    }

    /// One cycle through all hosts (Sattolo 1986): no host sends to itself.
    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let first = s.start("start", self.start.0)?;
        let mut next: Vec<u32> = (0..s.graph.hosts).collect();
        let mut stream = s.stream("permutation", 0);
        for i in (1..next.len()).rev() {
            next.swap(i, stream.below(i as u64) as usize);
        }
        for (src, dst) in (0..).zip(next) {
            let start = jittered(first, self.jitter.0, &mut s.stream("starts", u64::from(src)));
            out.push(s.flow(src, dst, self.size.0.get(), start));
        }
        Ok(())
    }

    fn course(&self, f: &Fluid) -> Course {
        f.spread(self.start.0, self.jitter.0, f.wire / f.line + f.rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::flows;

    #[test]
    fn every_host_sends_to_another_and_receives_from_another() {
        let flows = flows(5, "kind = \"permutation\"\nsize = \"3KB\"\nstart = \"1us\"");
        let mut receivers: Vec<u32> = flows.iter().map(|f| f.dst.0).collect();
        assert!(flows.iter().all(|f| f.src != f.dst && f.size == 3000 && f.start.ps() == 1_000_000));
        receivers.sort_unstable();
        assert_eq!(receivers, [0, 1, 2, 3, 4]);
    }
}
