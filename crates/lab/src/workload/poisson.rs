//! Flows that arrive at random at a target load.
//!
//! A source of capacity C at load ρ starts flows at the rate ρC / (8 E[wire bytes of a flow]), headers
//! of packets of `packet_payload` + `packet_header` included, the same for every scheme.

use super::arrivals::gap;
use super::cdf::Cdf;
use super::partners::{self, Partners};
use super::{Draft, Expected, Section, named};
use crate::Diagnostic;
use crate::schema::{Poisson, Process};
use thalweg_units::{Span, Time};

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

fn plan(s: &Section<'_>, p: &Poisson) -> Result<Plan, Diagnostic> {
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

pub(super) fn expected(s: &Section<'_>, p: &Poisson) -> Result<Expected, Diagnostic> {
    let plan = plan(s, p)?;
    let rate: f64 = plan.sources.iter().map(|(_, r)| r).sum();
    let all = rate * (plan.until - plan.from).secs();
    let flows = p.max_flows.map_or(all, |m| all.min(m as f64));
    // The limit holds before `max_flows` cuts: all are drawn first.
    s.few_enough(all)?;
    Ok(Expected { flows, bytes: flows * plan.mean_bytes, span: flows / rate, ..Expected::default() })
}

pub(super) fn generate(s: &Section<'_>, p: &Poisson, out: &mut Vec<Draft>) -> Result<(), Diagnostic> {
    let plan = plan(s, p)?;
    let mut mine = Vec::new();
    // CHOICE: starts are whole nanoseconds, so that exported lists are exact for other simulators.
    let whole = |t: Time| Time::from_ps(t.ps() / 1000 * 1000);
    let end = Time::from_ps(plan.until.ps());
    match p.process {
        Process::PerHost => {
            for (src, rate) in &plan.sources {
                let entity = u64::from(*src);
                let mut arrivals = s.stream("arrivals", entity);
                let mut sizes = s.stream("sizes", entity);
                let mut partners = s.stream("destinations", entity);
                let mut at =
                    Time::from_ps(plan.from.ps()).saturating_add(gap(p.arrivals, 1.0 / rate, &mut arrivals));
                while at < end {
                    s.cx.proceed()?;
                    let (dst, size) =
                        (plan.partners.draw(*src, &mut partners), plan.cdf.quantile(sizes.unit()));
                    mine.push(s.flow(*src, dst, size, whole(at)));
                    at = at.saturating_add(gap(p.arrivals, 1.0 / rate, &mut arrivals));
                }
            }
        }
        Process::Global => {
            let rate: f64 = plan.sources.iter().map(|(_, r)| r).sum();
            let mut arrivals = s.stream("arrivals", 0);
            let mut sizes = s.stream("sizes", 0);
            let mut sources = s.stream("sources", 0);
            let mut partners = s.stream("destinations", 0);
            let mut at =
                Time::from_ps(plan.from.ps()).saturating_add(gap(p.arrivals, 1.0 / rate, &mut arrivals));
            while at < end {
                s.cx.proceed()?;
                let src = plan.sources[sources.below(plan.sources.len() as u64) as usize].0;
                let (dst, size) = (plan.partners.draw(src, &mut partners), plan.cdf.quantile(sizes.unit()));
                mine.push(s.flow(src, dst, size, whole(at)));
                at = at.saturating_add(gap(p.arrivals, 1.0 / rate, &mut arrivals));
            }
        }
    }
    if let Some(most) = p.max_flows {
        mine.sort_by_key(|d| d.start);
        mine.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    }
    out.append(&mut mine);
    Ok(())
}
