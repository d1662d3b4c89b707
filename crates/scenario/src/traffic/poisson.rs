//! Flows that arrive at random at a target load.
//!
//! A source of capacity C at load ρ starts flows at the rate ρC / (8 E[wire bytes of a flow]), headers
//! of packets of `packet_payload` + `packet_header` included, the same for every scheme.

use super::arrivals::{Arrivals, first, gap, whole};
use super::course::{Course, Fluid};
use super::declare::default;
use super::drafts::{Draft, Drafts};
use super::partners::{self, LoadOf, Pairs, Partners};
use super::section::{Expected, Section};
use super::sizes::cdf::Cdf;
use super::sizes::{Sizes, named};
use super::{Arrives, Family};
use crate::Diagnostic;
use crate::quantity::Q;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use thalweg_units::{Bytes, Span, Stream, Time};

/// Flows that arrive at random, at a target load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    /// Distribution of flow sizes.
    #[schemars(extend("examples" = ["heavy-tailed"]))]
    pub sizes: Sizes,
    /// Target load: the fraction of the capacity of the links that `of` names, in (0, 1].
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0, "examples" = [0.7]))]
    pub load: f64,
    /// The capacity of which the load is a fraction.
    #[serde(default)]
    pub of: LoadOf,
    /// Distribution of the times between arrivals.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Whether each host has its own sequence of arrivals, or all hosts share one, with sources drawn uniformly.
    #[serde(default)]
    pub process: Process,
    /// Which pairs of hosts communicate.
    #[serde(default)]
    pub pairs: Pairs,
    /// Start of the arrivals.
    #[serde(default = "default::zero")]
    pub from: Q<Span>,
    /// End of the arrivals. If not given, the end of the measured window, or of the run if that is earlier.
    pub until: Option<Q<Span>>,
    /// Largest number of flows: only the earliest are generated. If not given, there is no limit.
    #[schemars(range(min = 1))]
    pub max_flows: Option<u64>,
    /// Payload bytes per packet in the computation of the load. It does not depend on the transport, so that all
    /// schemes get the same flows.
    #[serde(default = "default::mss")]
    pub packet_payload: Q<Bytes>,
    /// Header bytes per packet in the computation of the load; `0B` counts payload only.
    #[serde(default = "default::header")]
    pub packet_header: Q<Bytes>,
}

/// Which arrival processes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Process {
    /// One for every source host.
    #[default]
    PerHost,
    /// One for the whole network.
    Global,
}

/// What is computed before the first draw.
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

/// One sequence of arrivals in the order of time, drawn as it is read.
struct Sequence<'a> {
    section: &'a Section<'a>,
    plan: &'a Plan,
    between: Arrivals,
    /// Flows per second.
    rate: f64,
    /// The source of all its flows; `None`: sources are drawn.
    source: Option<u32>,
    arrivals: Stream,
    sizes: Stream,
    sources: Stream,
    partners: Stream,
    /// Time of the next arrival.
    at: Time,
}

impl<'a> Sequence<'a> {
    fn new(p: &Poisson, section: &'a Section<'a>, plan: &'a Plan, source: Option<u32>, rate: f64) -> Self {
        let entity = u64::from(source.unwrap_or(0));
        let stream = |name| section.stream(name, entity);
        let mut arrivals = stream("arrivals");
        let first = first(p.arrivals, 1.0 / rate, &mut arrivals);
        Self {
            section,
            plan,
            between: p.arrivals,
            rate,
            source,
            arrivals,
            sizes: stream("sizes"),
            sources: stream("sources"),
            partners: stream("destinations"),
            at: Time::from_ps(plan.from.ps()).saturating_add(first),
        }
    }
}

impl Iterator for Sequence<'_> {
    type Item = Draft;
    fn next(&mut self) -> Option<Draft> {
        if self.at >= Time::from_ps(self.plan.until.ps()) {
            return None;
        }
        let Plan { sources, partners, cdf, .. } = self.plan;
        let drawn = |stream: &mut Stream| sources[stream.below(sources.len() as u64) as usize].0;
        let src = self.source.unwrap_or_else(|| drawn(&mut self.sources));
        let (dst, size) = (partners.draw(src, &mut self.partners), cdf.quantile(self.sizes.unit()));
        let draft = self.section.flow(src, dst, size, whole(self.at));
        self.at = self.at.saturating_add(gap(self.between, 1.0 / self.rate, &mut self.arrivals));
        Some(draft)
    }
}

/// Merges sequences in the order of time; at the same instant, in the order of the sequences.
fn earliest(mut sequences: Vec<Sequence<'_>>) -> impl Iterator<Item = Draft> {
    let key = |nth: usize, sequence: &Sequence<'_>| Reverse((whole(sequence.at), nth));
    let mut next: BinaryHeap<_> = sequences.iter().enumerate().map(|(nth, one)| key(nth, one)).collect();
    std::iter::from_fn(move || {
        loop {
            let Reverse((_, nth)) = next.pop()?;
            // A sequence that has ended is not polled again.
            if let Some(draft) = sequences[nth].next() {
                next.push(key(nth, &sequences[nth]));
                return Some(draft);
            }
        }
    })
}

impl Poisson {
    fn arrivals_of<'a>(&self, s: &'a Section<'a>, plan: &'a Plan) -> Vec<Sequence<'a>> {
        match self.process {
            Process::PerHost => {
                let of = |(source, rate): &(u32, f64)| Sequence::new(self, s, plan, Some(*source), *rate);
                plan.sources.iter().map(of).collect()
            }
            Process::Global => {
                let rate = plan.sources.iter().map(|(_, rate)| rate).sum();
                vec![Sequence::new(self, s, plan, None, rate)]
            }
        }
    }
}

impl Family for Poisson {
    fn expected(&self, s: &Section<'_>) -> Result<Expected, Diagnostic> {
        let plan = plan(self, s)?;
        let rate: f64 = plan.sources.iter().map(|(_, r)| r).sum();
        let all = rate * (plan.until - plan.from).secs();
        let flows = self.max_flows.map_or(all, |m| all.min(m as f64));
        s.few_enough(flows)?;
        Ok(Expected { flows, bytes: flows * plan.mean_bytes, span: flows / rate, ..Expected::default() })
    }

    fn generate(&self, s: &Section<'_>, out: &mut Drafts) -> Result<(), Diagnostic> {
        let plan = plan(self, s)?;
        let arrivals = self.arrivals_of(s, &plan);
        match self.max_flows {
            None => {
                for draft in arrivals.into_iter().flatten() {
                    s.cx.proceed()?;
                    out.push(draft);
                }
            }
            Some(most) => {
                for draft in earliest(arrivals).take(usize::try_from(most).unwrap_or(usize::MAX)) {
                    s.cx.proceed()?;
                    out.push(draft);
                }
            }
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

#[cfg(test)]
mod tests {
    use super::super::tests::flows;

    /// No more flows are drawn than are wanted: without the limit these would be 10^9 and more.
    #[test]
    fn the_earliest_flows_are_those_that_all_begin_with() {
        for process in ["per-host", "global"] {
            let section = |more: &str| {
                format!(
                    "kind = \"poisson\"\nsizes = \"web-search\"\nload = 0.9\nprocess = \"{process}\"\n{more}\n\
                     [run]\nuntil = \"1000000s\"\n"
                )
            };
            let key = |f: &thalweg_net::spec::FlowSpec| (f.start, f.src, f.dst, f.size);
            let first: Vec<_> = flows(7, &section("max_flows = 40")).iter().map(key).collect();
            let mut all: Vec<_> = flows(7, &section("until = \"20ms\"")).iter().map(key).collect();
            all.sort_by_key(|flow| flow.0);
            assert!(first.len() == 40 && all.len() > 40, "{} of {}", first.len(), all.len());
            assert_eq!(first, all[..40], "{process}");
        }
    }
}
