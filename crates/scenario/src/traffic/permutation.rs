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
use thalweg_units::{Bytes, Span, Stream};

/// Every host sends one flow and receives one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permutation {
    /// Payload bytes of each flow.
    #[schemars(extend("examples" = ["1MB"]))]
    pub size: Q<Bytes>,
    /// Earliest start of a flow.
    #[serde(default = "default::zero")]
    pub start: Q<Span>,
    /// Starts are drawn uniformly from `start` to `start + jitter`.
    #[serde(default = "default::zero")]
    pub jitter: Q<Span>,
    /// Stride: each host sends to the host whose number is larger by this, modulo the number of hosts (stride(i) of
    /// Al-Fares et al., SIGCOMM 2008). If not given, a random cycle through all hosts.
    #[schemars(range(min = 1), extend("examples" = [4]))]
    pub stride: Option<u32>,
}

impl Family for Permutation {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        s.jitter(self.start.0, self.jitter.0)?;
        let hosts = s.graph.hosts;
        if let Some(stride) = self.stride.filter(|stride| stride % hosts == 0) {
            let reason = format!("with a stride of {stride} each of {hosts} hosts would send to itself");
            return Err(s.cx.error(&s.key("stride"), reason, format!("write 1 to {}", hosts - 1)));
        }
        Ok(Expected::of(f64::from(s.graph.hosts), s.size("size", self.size.0.get())?))
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let first = s.start("start", self.start.0)?;
        let mut next: Vec<u32> = (0..s.graph.hosts).collect();
        match self.stride {
            Some(stride) => next.rotate_left((stride % s.graph.hosts) as usize),
            None => cycle(&mut next, &mut s.stream("permutation", 0)),
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

/// One cycle through all hosts (Sattolo 1986): no host sends to itself.
fn cycle(next: &mut [u32], stream: &mut Stream) {
    for i in (1..next.len()).rev() {
        next.swap(i, stream.below(i as u64) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ends, flows};

    #[test]
    fn every_host_sends_to_another_and_receives_from_another() {
        let flows = flows(5, "kind = \"permutation\"\nsize = \"3KB\"\nstart = \"1us\"");
        let mut receivers: Vec<u32> = flows.iter().map(|f| f.dst.0).collect();
        assert!(flows.iter().all(|f| f.src != f.dst && f.size == 3000 && f.start.ps() == 1_000_000));
        receivers.sort_unstable();
        assert_eq!(receivers, [0, 1, 2, 3, 4]);
    }
    #[test]
    fn with_a_stride_every_host_sends_so_many_numbers_on() {
        let flows = flows(5, "kind = \"permutation\"\nsize = \"3KB\"\nstride = 2");
        assert_eq!(ends(&flows), [(0, 2), (1, 3), (2, 4), (3, 0), (4, 1)]);
    }
}
