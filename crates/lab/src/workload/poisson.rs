//! Flows that arrive at random at a target load.
//!
//! A source of capacity C at load ρ starts flows at the rate ρC / (8 E[wire bytes of a flow]), headers
//! of packets of `packet_payload` + `packet_header` included, the same for every scheme.

use super::arrivals::gap;
use super::cdf::Cdf;
use super::{Draft, Expected, Section, named};
use crate::Diagnostic;
use crate::schema::{LoadOf, Pairs, Poisson, Process};
use crate::topology::lowest;
use thalweg_units::{Span, Stream, Time};

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

/// Who a source may send to.
struct Partners {
    pairs: Pairs,
    hosts: u32,
    /// Hosts sorted by rack, and where each host's rack begins and ends in that list.
    sorted: Vec<u32>,
    rack: Vec<(u32, u32)>,
    /// With `min-links`: hosts that are too near, itself included, in order; one list per rack, kept at its first host.
    near: Vec<Vec<u32>>,
}

impl Partners {
    fn new(s: &Section<'_>, pairs: Pairs) -> Self {
        let racks = s.graph.racks();
        let mut sorted: Vec<u32> = (0..s.graph.hosts).collect();
        sorted.sort_by_key(|h| (racks[*h as usize], *h));
        let mut rack = vec![(0, 0); sorted.len()];
        let mut begin = 0;
        while begin < sorted.len() {
            let this = racks[sorted[begin] as usize];
            let len = sorted[begin..].iter().take_while(|h| racks[**h as usize] == this).count();
            for h in &sorted[begin..begin + len] {
                rack[*h as usize] = (begin as u32, (begin + len) as u32);
            }
            begin += len;
        }
        let mut near = Vec::new();
        if let Pairs::MinLinks { links } = pairs {
            near = vec![Vec::new(); sorted.len()];
            let adjacency = s.graph.adjacency();
            for (i, first) in sorted.iter().enumerate().filter(|(i, h)| rack[**h as usize].0 as usize == *i) {
                near[i] = s.graph.hosts_nearer(&adjacency, *first, links);
            }
        }
        Self { pairs, hosts: s.graph.hosts, sorted, rack, near }
    }

    /// Hosts that a host is too near to send to, itself included, in order.
    fn near(&self, src: u32) -> &[u32] {
        &self.near[self.rack[src as usize].0 as usize]
    }

    /// True if `src` sends to `dst`.
    fn talk(&self, src: u32, dst: u32) -> bool {
        let same = self.rack[src as usize] == self.rack[dst as usize];
        src != dst
            && match self.pairs {
                Pairs::Uniform => true,
                Pairs::InterRack => !same,
                Pairs::IntraRack => same,
                Pairs::ToHostZero => dst == 0,
                Pairs::MinLinks { .. } => self.near(src).binary_search(&dst).is_err(),
            }
    }

    /// Number of partners of a host.
    fn count(&self, src: u32) -> u32 {
        let (begin, end) = self.rack[src as usize];
        match self.pairs {
            Pairs::Uniform => self.hosts - 1,
            Pairs::InterRack => self.hosts - (end - begin),
            Pairs::IntraRack => end - begin - 1,
            Pairs::ToHostZero => u32::from(src != 0),
            Pairs::MinLinks { .. } => self.hosts - self.near(src).len() as u32,
        }
    }

    fn draw(&self, src: u32, stream: &mut Stream) -> u32 {
        let n = stream.below(u64::from(self.count(src))) as u32;
        let (begin, end) = self.rack[src as usize];
        match self.pairs {
            Pairs::Uniform => n + u32::from(n >= src),
            Pairs::InterRack => self.sorted[(if n >= begin { n + (end - begin) } else { n }) as usize],
            Pairs::IntraRack => {
                let other = self.sorted[(begin + n) as usize];
                // Sources come in order inside their rack: those from the source on move up by one.
                if other >= src { self.sorted[(begin + n + 1) as usize] } else { other }
            }
            Pairs::ToHostZero => 0,
            Pairs::MinLinks { .. } => {
                // The n-th host that is far enough: those too near before it move it up.
                self.near(src).iter().fold(n, |n, near| n + u32::from(*near <= n))
            }
        }
    }
}

/// Hosts of the largest network whose busiest link is looked for: every pair is.
const MOST_HOSTS: u32 = 5000;

/// The rate of every host at which the busiest link between switches is full, all sending alike to their partners.
fn busiest(s: &Section<'_>, partners: &Partners) -> Option<f64> {
    let carried = lowest::carried(s.graph, |src, dst| {
        if partners.talk(src, dst) { 1.0 / f64::from(partners.count(src)) } else { 0.0 }
    });
    let ends = s.graph.links.iter().flat_map(|l| [l, l]).zip(&carried);
    let between = ends.filter(|(l, c)| !s.graph.is_host(l.a) && !s.graph.is_host(l.b) && **c > 0.0);
    between.map(|(l, c)| l.rate.bps() as f64 / c).min_by(f64::total_cmp)
}

fn plan(s: &Section<'_>, p: &Poisson) -> Result<Plan, Diagnostic> {
    let cdf = named::build(s.cx, &s.key("sizes"), &p.sizes)?;
    if p.packet_payload.0.get() == 0 {
        let hint = "the transport's `mss`, for example \"1460B\"";
        return Err(s.cx.error(&s.key("packet_payload"), "a packet carries at least 1 byte", hint));
    }
    let from = Span::from_ps(s.start("from", p.from.0)?.ps());
    let until = p.until.map_or(s.offered_until, |q| q.0);
    if until > s.end {
        let reason = format!("{until} is after the end of the run, {}", s.end);
        return Err(s.cx.error(&s.key("until"), reason, "lower it or raise `run.until`"));
    }
    if until <= from {
        let key = if p.until.is_some() { "until" } else { "from" };
        let reason = format!("no flow can start from {from} until {until}");
        return Err(s.cx.error(&s.key(key), reason, "`until` is later than `from`"));
    }
    let partners = Partners::new(s, p.pairs);
    let who: Vec<u32> = (0..s.graph.hosts).filter(|h| partners.count(*h) > 0).collect();
    if who.is_empty() {
        let hint = "write `pairs = \"uniform\"`";
        return Err(s.cx.error(&s.key("pairs"), "no pair of hosts of this topology is such a pair", hint));
    }
    let mean_bytes = cdf.mean();
    let wire = mean_bytes + p.packet_header.0.get() as f64 * cdf.mean_packets(p.packet_payload.0.get());
    let flows = |bps: f64| p.load * bps / (8.0 * wire);
    let sources = match p.of {
        LoadOf::HostLinks => {
            let rates = s.graph.host_rates();
            who.iter().map(|h| (*h, flows(rates[*h as usize].bps() as f64))).collect()
        }
        LoadOf::CoreLinks => {
            let capacity = s.graph.core_capacity() as f64;
            if capacity == 0.0 {
                let hint = "write `of = \"host-links\"`";
                return Err(s.cx.error(&s.key("of"), "the topology has no links between switches", hint));
            }
            who.iter().map(|h| (*h, flows(capacity) / who.len() as f64)).collect()
        }
        LoadOf::Rate { rate } => {
            if rate.0.bps() == 0 {
                return Err(s.cx.error(
                    &s.key("of.rate"),
                    "a rate of 0bps sends nothing",
                    "write a rate above zero",
                ));
            }
            who.iter().map(|h| (*h, flows(rate.0.bps() as f64))).collect()
        }
        LoadOf::BusiestLink if s.graph.hosts > MOST_HOSTS => {
            let hint = "write `of = \"core-links\"`, or a rate";
            let reason = format!("finding the busiest link among {} hosts takes too long", s.graph.hosts);
            return Err(s.cx.error(&s.key("of"), reason, hint));
        }
        LoadOf::BusiestLink => {
            let Some(rate) = busiest(s, &partners) else {
                let hint = "write `of = \"host-links\"`";
                return Err(s.cx.error(&s.key("of"), "the traffic crosses no link between switches", hint));
            };
            who.iter().map(|h| (*h, flows(rate))).collect()
        }
    };
    Ok(Plan { cdf, mean_bytes, sources, from, until, partners })
}

pub(super) fn expected(s: &Section<'_>, p: &Poisson) -> Result<Expected, Diagnostic> {
    let plan = plan(s, p)?;
    let rate: f64 = plan.sources.iter().map(|(_, r)| r).sum();
    let all = rate * (plan.until - plan.from).secs();
    let flows = p.max_flows.map_or(all, |m| all.min(m as f64));
    // The limit holds before `max_flows` cuts: all are drawn first.
    if all > super::MOST_FLOWS as f64 {
        let reason = format!("about {all:.0} flows would arrive");
        return Err(s.cx.error(
            &s.key("load"),
            reason,
            format!("at most {}: shorten `until`", super::MOST_FLOWS),
        ));
    }
    Ok(Expected { flows, bytes: flows * plan.mean_bytes, endless: 0.0 })
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
