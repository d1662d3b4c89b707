//! A section of `[[traffic]]` while it is checked and its flows are drawn.

use super::drafts::{Draft, MOST_FLOWS, WorkDraft};
use crate::Diagnostic;
use crate::context::Cx;
use crate::parse::flows::LARGEST_FLOW;
use crate::topology::Graph;
use thalweg_units::{Bytes, NodeId, Span, Time};

/// What a section needs to make its flows.
pub(crate) struct Section<'a> {
    pub cx: &'a Cx<'a>,
    pub graph: &'a Graph,
    pub seed: u64,
    pub index: usize,
    /// When the run ends.
    pub end: Span,
    /// When the offered load ends, unless the section gives a time.
    pub offered_until: Span,
}

impl Section<'_> {
    pub fn key(&self, name: &str) -> String {
        format!("traffic.{}.{name}", self.index)
    }
    /// The random stream of this section for one purpose.
    pub fn stream(&self, purpose: &str, entity: u64) -> thalweg_units::Stream {
        thalweg_units::Stream::new(self.seed, &format!("traffic.{}.{purpose}", self.index), entity)
    }
    /// A flow that starts at a given time.
    pub fn flow(&self, src: u32, dst: u32, size: u64, start: Time) -> Draft {
        let group = self.index as u16;
        Draft { src, dst, size, start, until: None, judged: Some(start), listed: None, group }
    }
    /// A flow that starts a pause after other flows have arrived ([`super::Drafts::follow`]).
    pub fn follower(&self, src: u32, dst: u32, size: u64, pause: Span) -> Draft {
        Draft { judged: None, ..self.flow(src, dst, size, Time::from_ps(pause.ps())) }
    }
    /// A computation without a processor and of no duration, `pause` after its predecessors: it stands for all of them.
    pub fn stand_in(&self, host: u32, pause: Span) -> WorkDraft {
        let start = Time::from_ps(pause.ps());
        WorkDraft { host, cpu: None, start, lasts: Span::ZERO, group: self.index as u16 }
    }

    /// Checks a host that a key names.
    pub fn host(&self, name: &str, host: u32) -> Result<u32, Diagnostic> {
        if host < self.graph.hosts {
            return Ok(host);
        }
        let hint = format!("hosts are 0 to {}", self.graph.hosts - 1);
        Err(self.cx.error(&self.key(name), format!("there is no host {host}"), hint))
    }
    /// The hosts of a collective operation, each once: those that the key names, or all if it names none.
    pub fn members(&self, name: &str, hosts: &[u32]) -> Result<Vec<u32>, Diagnostic> {
        let all = || (0..self.graph.hosts).collect();
        let members: Vec<u32> = if hosts.is_empty() { all() } else { hosts.to_vec() };
        members.iter().try_for_each(|host| self.host(name, *host).map(drop))?;
        let mut sorted = members.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|w| w[0] == w[1]) {
            let reason = format!("host {} is named twice", self.graph.shown(NodeId(twice[0])));
            return Err(self.cx.error(&self.key(name), reason, "name each host once"));
        }
        if members.len() < 2 {
            let reason = "one host has no other to send to";
            return Err(self.cx.error(&self.key(name), reason, "name at least two hosts"));
        }
        Ok(members)
    }
    /// The hosts of `ranks` ranks in order: those that the key names, or the first ones if it names none.
    pub fn ranks(&self, name: &str, hosts: &[u32], ranks: u32) -> Result<Vec<u32>, Diagnostic> {
        let named = if hosts.is_empty() { self.graph.hosts as usize } else { hosts.len() };
        let wrong = if hosts.is_empty() { named < ranks as usize } else { named != ranks as usize };
        if wrong {
            let reason = match hosts.is_empty() {
                true => format!("the trace has {ranks} ranks, and the network only {named} hosts"),
                false => format!("the trace has {ranks} ranks, and {named} hosts are named"),
            };
            return Err(self.cx.error(&self.key(name), reason, "every rank needs a host of its own"));
        }
        let mut all = self.members(name, hosts)?;
        all.truncate(ranks as usize);
        Ok(all)
    }
    /// The largest message that does not wait for its receive. Refuses a limit that no message exceeds.
    pub fn eager(&self, rendezvous: Option<Bytes>, largest: u64) -> Result<u64, Diagnostic> {
        let Some(limit) = rendezvous else { return Ok(u64::MAX) };
        if largest <= limit.get() {
            let reason = format!("it has no effect: no message is larger than {limit}");
            return Err(self.cx.error(&self.key("rendezvous"), reason, "lower it or remove the key"));
        }
        Ok(limit.get())
    }
    /// Checks that a vector of `size` bytes can be divided into this many chunks.
    pub fn chunks(&self, size: u64, chunks: usize) -> Result<(), Diagnostic> {
        if size < chunks as u64 {
            let reason =
                format!("{} cannot be cut into {chunks} chunks of at least 1 byte", Bytes::new(size));
            return Err(self.cx.error(&self.key("size"), reason, format!("write \"{chunks}B\" or more")));
        }
        self.size("size", size).map(drop)
    }
    /// Refuses a computation between iterations if there is one iteration only.
    pub fn computes(&self, iterations: u32, compute: Span) -> Result<(), Diagnostic> {
        if iterations == 1 && !compute.is_zero() {
            return Err(self.ineffective("compute", "iterations", "iteration"));
        }
        Ok(())
    }
    /// Checks that two hosts exist and differ.
    pub fn ends(&self, a: (&str, u32), b: (&str, u32)) -> Result<(u32, u32), Diagnostic> {
        let pair = (self.host(a.0, a.1)?, self.host(b.0, b.1)?);
        if pair.0 == pair.1 {
            let reason = format!("the flow goes from host {} to itself", self.graph.shown(NodeId(pair.0)));
            return Err(self.cx.error(&self.key(b.0), reason, format!("choose another `{}`", b.0)));
        }
        Ok(pair)
    }
    /// Checks the size of a flow that ends: at least one byte.
    pub fn size(&self, name: &str, bytes: u64) -> Result<u64, Diagnostic> {
        if bytes == 0 {
            return Err(self.cx.error(&self.key(name), "a flow has at least 1 byte", "write \"1B\" or more"));
        }
        if bytes > LARGEST_FLOW {
            let reason = format!("a flow of {bytes} bytes is too large");
            let hint =
                format!("at most {LARGEST_FLOW}B; flows without end are traffic of kind \"backlogged\"");
            return Err(self.cx.error(&self.key(name), reason, hint));
        }
        Ok(bytes)
    }
    /// Checks that a start is within the run.
    pub fn start(&self, name: &str, start: Span) -> Result<Time, Diagnostic> {
        if start >= self.end {
            let reason = format!("{start} is not before the end of the run, {}", self.end);
            return Err(self.cx.error(&self.key(name), reason, "start earlier or raise `run.until`"));
        }
        Ok(Time::from_ps(start.ps()))
    }
    /// Checks the window in which flows arrive.
    pub fn window(&self, from: Span, until: Option<Span>) -> Result<(Span, Span), Diagnostic> {
        let given = until.is_some();
        let from = Span::from_ps(self.start("from", from)?.ps());
        let until = until.unwrap_or(self.offered_until);
        if until > self.end {
            let reason = format!("{until} is after the end of the run, {}", self.end);
            return Err(self.cx.error(&self.key("until"), reason, "lower it or raise `run.until`"));
        }
        if until <= from {
            let key = if given { "until" } else { "from" };
            let reason = format!("flows would start from {from} until {until}, which is no time");
            return Err(self.cx.error(&self.key(key), reason, "write an `until` later than `from`"));
        }
        Ok((from, until))
    }
    /// Checks the payload of packets in the computation of a load.
    pub fn packet_payload(&self, bytes: Bytes) -> Result<(), Diagnostic> {
        if bytes.get() == 0 {
            let hint = "write the transport's `mss`, for example \"1460B\"";
            return Err(self.cx.error(&self.key("packet_payload"), "a packet carries at least 1 byte", hint));
        }
        Ok(())
    }
    /// Refuses more flows, on average, than can be made.
    pub fn few_enough(&self, flows: f64) -> Result<(), Diagnostic> {
        if flows > MOST_FLOWS as f64 {
            let reason = format!("about {flows:.0} flows would arrive");
            let hint = format!("at most {MOST_FLOWS}: shorten `until`");
            return Err(self.cx.error(&self.key("load"), reason, hint));
        }
        Ok(())
    }
    /// Checks that `start + jitter` is within the run.
    pub fn jitter(&self, start: Span, jitter: Span) -> Result<Time, Diagnostic> {
        let first = self.start("start", start)?;
        self.start("jitter", Span::from_ps(start.ps().saturating_add(jitter.ps())))?;
        Ok(first)
    }
    /// The diagnostic of a key that has no effect because there is only one event, or iteration.
    pub fn ineffective(&self, key: &str, count: &str, one: &str) -> Diagnostic {
        let hint = format!("raise `{count}` or remove the key");
        self.cx.error(&self.key(key), format!("it has no effect: there is one {one}"), hint)
    }
}

/// What a section is expected to offer, computed without drawing flows.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct Expected {
    /// Number of flows.
    pub flows: f64,
    /// Payload bytes of flows that end.
    pub bytes: f64,
    /// Number of flows that never end.
    pub endless: f64,
    /// Seconds until the last flow starts, unless the section gives that time.
    pub span: f64,
    /// Average number of concurrent flows of a list, if only the receivers' links delay them.
    pub active: f64,
    /// What flows and computations wait for: the lengths of their lists together.
    pub waits: f64,
}

impl Expected {
    /// A number of flows of one size.
    pub fn of(flows: f64, size: u64) -> Self {
        Self { flows, bytes: flows * size as f64, ..Self::default() }
    }
}
