//! From traffic sections to a list of flows. The list depends on the seed, the topology and the
//! traffic sections, never on schedulers or transports: every scheme gets the same flows.

mod arrivals;
pub mod cdf;
pub(crate) mod named;
mod partners;
mod patterns;
mod poisson;
mod rpc;

use crate::Diagnostic;
use crate::context::Cx;
use crate::schema::{Document, List, ListFormat, Pattern, Sizes};
use crate::topology::Graph;
use cdf::Cdf;
use thalweg_units::{Bytes, NodeId, Span, Time};

/// The most flows that a scenario may have.
pub(crate) const MOST_FLOWS: u64 = 100_000_000;

/// A distribution of sizes.
pub(crate) fn distribution(cx: &Cx<'_>, sizes: &Sizes) -> Result<Cdf, Diagnostic> {
    named::build(cx, "sizes", sizes)
}

/// A flow before it has its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    pub src: u32,
    pub dst: u32,
    /// Payload bytes; `u64::MAX`: never ends.
    pub size: u64,
    /// When it starts; after another flow: how long after.
    pub start: Time,
    /// When it stops, if it never ends otherwise.
    pub until: Option<Time>,
    /// Position, in the same list, of the flow it follows.
    pub after: Option<usize>,
    /// What its file calls it.
    pub label: Option<u64>,
    /// Position of its traffic section.
    pub group: u16,
}

/// What a section needs to make its flows.
pub(crate) struct Section<'a> {
    pub cx: &'a Cx<'a>,
    pub graph: &'a Graph,
    pub seed: u64,
    pub index: usize,
    /// When the run ends.
    pub end: Span,
    /// Until when load is offered if the section does not say.
    pub offered_until: Span,
}

impl Section<'_> {
    pub fn key(&self, name: &str) -> String {
        format!("traffic.{}.{name}", self.index)
    }
    /// The stream of one purpose of this section.
    pub fn stream(&self, purpose: &str, entity: u64) -> thalweg_units::Stream {
        thalweg_units::Stream::new(self.seed, &format!("traffic.{}.{purpose}", self.index), entity)
    }
    pub fn flow(&self, src: u32, dst: u32, size: u64, start: Time) -> Draft {
        Draft { src, dst, size, start, until: None, after: None, label: None, group: self.index as u16 }
    }
    /// A host that a key names.
    pub fn host(&self, name: &str, host: u32) -> Result<u32, Diagnostic> {
        if host < self.graph.hosts {
            return Ok(host);
        }
        let hint = format!("hosts are 0 to {}", self.graph.hosts - 1);
        Err(self.cx.error(&self.key(name), format!("there is no host {host}"), hint))
    }
    /// Two different hosts.
    pub fn ends(&self, a: (&str, u32), b: (&str, u32)) -> Result<(u32, u32), Diagnostic> {
        let pair = (self.host(a.0, a.1)?, self.host(b.0, b.1)?);
        if pair.0 == pair.1 {
            let reason = format!("a flow from host {} to itself", self.graph.say(NodeId(pair.0)));
            return Err(self.cx.error(&self.key(b.0), reason, format!("choose another `{}`", b.0)));
        }
        Ok(pair)
    }
    /// A size of at least one byte.
    pub fn size(&self, name: &str, bytes: u64) -> Result<u64, Diagnostic> {
        if bytes == 0 {
            return Err(self.cx.error(&self.key(name), "a flow has at least 1 byte", "write \"1B\" or more"));
        }
        Ok(bytes)
    }
    /// A start within the run.
    pub fn start(&self, name: &str, start: Span) -> Result<Time, Diagnostic> {
        if start >= self.end {
            let reason = format!("{start} is not before the end of the run, {}", self.end);
            return Err(self.cx.error(&self.key(name), reason, "start earlier or raise `run.until`"));
        }
        Ok(Time::from_ps(start.ps()))
    }
}

impl Section<'_> {
    /// When flows arrive.
    fn window(&self, from: Span, until: Option<Span>) -> Result<(Span, Span), Diagnostic> {
        let given = until.is_some();
        let from = Span::from_ps(self.start("from", from)?.ps());
        let until = until.unwrap_or(self.offered_until);
        if until > self.end {
            let reason = format!("{until} is after the end of the run, {}", self.end);
            return Err(self.cx.error(&self.key("until"), reason, "lower it or raise `run.until`"));
        }
        if until <= from {
            let key = if given { "until" } else { "from" };
            let reason = format!("no flow can start from {from} until {until}");
            return Err(self.cx.error(&self.key(key), reason, "`until` is later than `from`"));
        }
        Ok((from, until))
    }
    /// Payload of the packets that a load is computed with.
    fn packet_payload(&self, bytes: Bytes) -> Result<(), Diagnostic> {
        if bytes.get() == 0 {
            let hint = "the transport's `mss`, for example \"1460B\"";
            return Err(self.cx.error(&self.key("packet_payload"), "a packet carries at least 1 byte", hint));
        }
        Ok(())
    }
    /// So many flows on average can be made.
    fn few_enough(&self, flows: f64) -> Result<(), Diagnostic> {
        if flows > MOST_FLOWS as f64 {
            let reason = format!("about {flows:.0} flows would arrive");
            let hint = format!("at most {MOST_FLOWS}: shorten `until`");
            return Err(self.cx.error(&self.key("load"), reason, hint));
        }
        Ok(())
    }
}

/// Checks every section without drawing anything; all problems at once.
pub(crate) fn check(cx: &Cx<'_>, doc: &Document, graph: &Graph) -> Vec<Diagnostic> {
    let sections = doc.traffic.iter().enumerate();
    sections
        .filter_map(|(i, _)| expected(&section(cx, doc, graph, i), &doc.traffic[i].pattern).err())
        .collect()
}

fn section<'a>(cx: &'a Cx<'a>, doc: &Document, graph: &'a Graph, index: usize) -> Section<'a> {
    let offered_until = doc.measure.until.map_or(doc.run.until.0, |q| q.0);
    Section { cx, graph, seed: doc.seed, index, end: doc.run.until.0, offered_until }
}

/// What a section will offer, without drawing it.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct Expected {
    /// Flows.
    pub flows: f64,
    /// Payload bytes of flows that end.
    pub bytes: f64,
    /// Flows that never end.
    pub endless: f64,
    /// Seconds until the last one starts, where the section does not say.
    pub span: f64,
    /// Flows of a list under way at a time, as if nothing but their receivers' links held them up.
    pub active: f64,
}

/// Expected number of flows and bytes of one section; refuses what cannot be.
pub(crate) fn expected(s: &Section<'_>, pattern: &Pattern) -> Result<Expected, Diagnostic> {
    match pattern {
        Pattern::Poisson(p) => poisson::expected(s, p),
        Pattern::List(l) => {
            let rows = read_list(s, l)?;
            let bytes = rows.iter().map(|r| r.size as f64).sum();
            let last = rows.iter().map(|r| r.start.ps()).max().unwrap_or(0);
            let span = Span::from_ps(last).secs() + l.jitter.0.secs();
            let active = under_way(s.graph, &rows);
            Ok(Expected { flows: rows.len() as f64, bytes, endless: 0.0, span, active })
        }
        Pattern::Rpc(r) => rpc::expected(s, r),
        other => patterns::expected(s, other),
    }
}

/// Expected flows of every section.
pub(crate) fn expectations(cx: &Cx<'_>, doc: &Document, graph: &Graph) -> Result<Vec<Expected>, Diagnostic> {
    (0..doc.traffic.len()).map(|i| expected(&section(cx, doc, graph, i), &doc.traffic[i].pattern)).collect()
}

/// All flows, section by section.
pub(crate) fn generate(cx: &Cx<'_>, doc: &Document, graph: &Graph) -> Result<Vec<Draft>, Diagnostic> {
    let mut out = Vec::new();
    for (i, traffic) in doc.traffic.iter().enumerate() {
        let s = section(cx, doc, graph, i);
        let e = expected(&s, &traffic.pattern)?;
        if out.len() as f64 + e.flows + e.endless > MOST_FLOWS as f64 {
            let reason = format!("the section would make about {:.0} flows", e.flows + e.endless);
            return Err(cx.error(
                &format!("traffic.{i}"),
                reason,
                format!("at most {MOST_FLOWS} flows in a run"),
            ));
        }
        match &traffic.pattern {
            Pattern::Poisson(p) => poisson::generate(&s, p, &mut out)?,
            Pattern::List(l) => {
                let steps = steps(l);
                for (i, r) in read_list(&s, l)?.iter().enumerate() {
                    let later = if steps == 0 { 0 } else { s.stream("starts", i as u64).below(steps + 1) };
                    let start = r.start.saturating_add(l.jitter_step.0.saturating_mul(later));
                    out.push(Draft { label: Some(r.id), ..s.flow(r.src, r.dst, r.size, start) });
                }
            }
            Pattern::Rpc(r) => rpc::generate(&s, r, &mut out)?,
            other => patterns::generate(&s, other, &mut out)?,
        }
    }
    Ok(out)
}

/// Flows at a time, mean over the busy time, if each host's link carries those that it receives one after the other.
fn under_way(graph: &Graph, rows: &[crate::parse::flows::FlowRow]) -> f64 {
    let rate = (graph.host_rate() / 8.0).max(1.0);
    let mut free = vec![0.0f64; graph.hosts as usize];
    let (mut sum, mut end) = (0.0, 0.0f64);
    for r in rows {
        let start = Span::from_ps(r.start.ps()).secs();
        let done = free[r.dst as usize].max(start) + r.size as f64 / rate;
        free[r.dst as usize] = done;
        sum += done - start;
        end = end.max(done);
    }
    let begin = rows.iter().map(|r| r.start.ps()).min().map_or(0.0, |ps| Span::from_ps(ps).secs());
    sum / (end - begin).max(1e-12)
}

/// Whole steps of a list's jitter.
fn steps(l: &List) -> u64 {
    l.jitter.0.ps().checked_div(l.jitter_step.0.ps()).unwrap_or(0)
}

fn read_list(s: &Section<'_>, l: &List) -> Result<Vec<crate::parse::flows::FlowRow>, Diagnostic> {
    let text = s.cx.read(&s.key("file"), &l.file)?;
    let rows = match l.format {
        ListFormat::Csv => crate::parse::flows::csv(&text, s.graph),
        ListFormat::Hpcc => crate::parse::flows::hpcc(&text, s.graph),
    };
    let rows = rows.map_err(|e| e.in_file(&l.file))?;
    if !l.jitter.0.is_zero() && steps(l) == 0 {
        let reason = format!("no multiple of {} fits into the jitter, {}", l.jitter_step.0, l.jitter.0);
        return Err(s.cx.error(&s.key("jitter_step"), reason, "for example \"1ns\""));
    }
    for r in &rows {
        let wrong =
            |reason: String, hint: String| Err(Diagnostic::in_file(&l.file, r.line, reason).hint(hint));
        for host in [r.src, r.dst] {
            if host >= s.graph.hosts {
                return wrong(
                    format!("there is no host {host}"),
                    format!("hosts are 0 to {}", s.graph.hosts - 1),
                );
            }
        }
        if r.src == r.dst {
            return wrong(
                format!("a flow from host {} to itself", s.graph.say(NodeId(r.src))),
                "src and dst differ".into(),
            );
        }
        if r.size == 0 {
            return wrong("a flow has at least 1 byte".into(), "write 1 or more".into());
        }
        if r.start.saturating_add(l.jitter.0).ps() >= s.end.ps() {
            let start = Span::from_ps(r.start.saturating_add(l.jitter.0).ps());
            return wrong(
                format!("the flow starts at {start}, the run ends at {}", s.end),
                "raise `run.until`".into(),
            );
        }
    }
    Ok(rows)
}
