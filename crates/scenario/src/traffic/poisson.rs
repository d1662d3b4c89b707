//! Flows that arrive at random at a target load.
//!
//! A source of capacity C at load ρ starts flows at the rate ρC / (8 E[wire bytes of a flow]), headers
//! of packets of `packet_payload` + `packet_header` included, the same for every scheme.

use super::arrivals::{Arrivals, gap, whole};
use super::course::{Course, Fluid};
use super::declare::default;
use super::drafts::Drafts;
use super::partners::{self, LoadOf, Pairs, Partners};
use super::section::{Expected, Section};
use super::sizes::cdf::Cdf;
use super::sizes::{Sizes, named};
use super::{Arrives, Family};
use crate::Diagnostic;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Span, Time};

/// Flows arrive at random at a target load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// How large flows are.
    #[schemars(extend("examples" = ["heavy-tailed"]))]
    pub sizes: Sizes,
    /// Target, a fraction of the capacity of the links that `of` names, in (0, 1].
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0, "examples" = [0.7]))]
    pub load: f64,
    /// Which links the load is a fraction of.
    #[serde(default)]
    pub of: LoadOf,
    /// Times between arrivals.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Whether each host has its own arrivals or all share one sequence (then sources are drawn uniformly).
    #[serde(default)]
    pub process: Process,
    /// Which pairs of hosts talk.
    #[serde(default)]
    pub pairs: Pairs,
    /// First arrival not before.
    #[serde(default = "default::zero")]
    pub from: Q<Span>,
    /// Last arrival before; the end of the measured window, or of the run, if not given.
    pub until: Option<Q<Span>>,
    /// At most this many flows, the earliest; all if not given.
    #[schemars(range(min = 1))]
    pub max_flows: Option<u64>,
    /// Payload per packet that the load is computed with: the same for every scheme, so that all get the same
    /// flows.
    #[serde(default = "default::mss")]
    pub packet_payload: Q<Bytes>,
    /// Headers per packet that the load is computed with; `0B` counts payload only.
    #[serde(default = "default::header")]
    pub packet_header: Q<Bytes>,
}

/// Who has an arrival process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Process {
    /// Every source host.
    #[default]
    PerHost,
    /// The whole network.
    Global,
}

/// Everything fixed before the first draw.
struct Plan {
    cdf: Cdf,
    mean_bytes: f64,
    /// Hosts that send, with their flows per second.
    sources: Vec<(u32, f64)>,
    from: Span,
    until: Span,
    partners: Partners,
}

fn plan(p: &Poisson, s: &Section<'_>) -> Result<Plan, Diagnostic> {
    let cdf = named::build(s.cx, &s.key("sizes"), &p.sizes)?;
    s.packet_payload(p.packet_payload.0)?;
    let (from, until) = s.window(p.from.0, p.until.map(|q| q.0))?;
    let partners = Partners::new(s, p.pairs)?;
    let mean_bytes = cdf.mean();
    let wire = mean_bytes + p.packet_header.0.get() as f64 * cdf.mean_packets(p.packet_payload.0.get());
    let flows = |bps: f64| p.load * bps / (8.0 * wire);
    let way_out = ("pairs", "write `pairs = \"uniform\"`");
    let sources = partners::sources(s, p.of, &partners, way_out, 0.0, flows)?;
    Ok(Plan { cdf, mean_bytes, sources, from, until, partners })
}

impl Family for Poisson {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        let plan = plan(self, s)?;
        let rate: f64 = plan.sources.iter().map(|(_, r)| r).sum();
        let all = rate * (plan.until - plan.from).secs();
        let flows = self.max_flows.map_or(all, |m| all.min(m as f64));
        // The limit holds before `max_flows` cuts: all are drawn first.
        s.few_enough(all)?;
        Ok(Expected { flows, bytes: flows * plan.mean_bytes, span: flows / rate, ..Expected::default() })
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let plan = plan(self, s)?;
        let mut mine = Vec::new();
        let end = Time::from_ps(plan.until.ps());
        match self.process {
            Process::PerHost => {
                for (src, rate) in &plan.sources {
                    let entity = u64::from(*src);
                    let mut arrivals = s.stream("arrivals", entity);
                    let mut sizes = s.stream("sizes", entity);
                    let mut partners = s.stream("destinations", entity);
                    let mut at = Time::from_ps(plan.from.ps()).saturating_add(gap(
                        self.arrivals,
                        1.0 / rate,
                        &mut arrivals,
                    ));
                    while at < end {
                        s.cx.proceed()?;
                        let (dst, size) =
                            (plan.partners.draw(*src, &mut partners), plan.cdf.quantile(sizes.unit()));
                        mine.push(s.flow(*src, dst, size, whole(at)));
                        at = at.saturating_add(gap(self.arrivals, 1.0 / rate, &mut arrivals));
                    }
                }
            }
            Process::Global => {
                let rate: f64 = plan.sources.iter().map(|(_, r)| r).sum();
                let mut arrivals = s.stream("arrivals", 0);
                let mut sizes = s.stream("sizes", 0);
                let mut sources = s.stream("sources", 0);
                let mut partners = s.stream("destinations", 0);
                let mut at = Time::from_ps(plan.from.ps()).saturating_add(gap(
                    self.arrivals,
                    1.0 / rate,
                    &mut arrivals,
                ));
                while at < end {
                    s.cx.proceed()?;
                    let src = plan.sources[sources.below(plan.sources.len() as u64) as usize].0;
                    let (dst, size) =
                        (plan.partners.draw(src, &mut partners), plan.cdf.quantile(sizes.unit()));
                    mine.push(s.flow(src, dst, size, whole(at)));
                    at = at.saturating_add(gap(self.arrivals, 1.0 / rate, &mut arrivals));
                }
            }
        }
        if let Some(most) = self.max_flows {
            mine.sort_by_key(|d| d.start);
            mine.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        }
        for flow in mine {
            out.push(flow);
        }
        Ok(())
    }

    fn course(&self, f: &Fluid) -> Course {
        let until = self.until.map_or(f.offered, |q| q.0.secs());
        let from = self.from.0.secs();
        let end = if self.max_flows.is_some() { until.min(from + f.expected.span) } else { until };
        f.arrive(from, end, self.load)
    }

    fn packets(&self, mean: f64, payload: f64) -> f64 {
        (mean / payload + 0.5).max(1.0)
    }

    fn arrives(&self) -> Option<Arrives> {
        Some(Arrives { from: self.from.0, until: self.until.map(|q| q.0) })
    }

    fn load_of(&self) -> Option<LoadOf> {
        Some(self.of)
    }

    fn resolve(&mut self, offered_until: Q<Span>) {
        self.until.get_or_insert(offered_until);
    }

    fn sizes(&self) -> Option<&Sizes> {
        Some(&self.sizes)
    }

    fn file(&self) -> Option<&str> {
        self.sizes.file()
    }
}
