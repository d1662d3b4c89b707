//! The course of a traffic section, as a fluid: when its flows come, how many are under way at a time, when
//! they are over.

use crate::quantity::Capacity;
use crate::schema::{Document, Pattern};
use crate::topology::Graph;
use crate::workload::Expected;

/// Packets that a flow has in the network before it has heard anything (RFC 6928's window), and then, unless its path
/// holds more.
const WINDOW: f64 = 10.0;

/// A section's packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub payload: f64,
    pub header: f64,
    /// ACKs per data packet.
    pub acks: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    pub frame: Frame,
    /// Flows, those without end included.
    pub flows: f64,
    /// Flows under way at a time.
    pub active: f64,
    /// Whether it has flows that end.
    pub ends: bool,
    /// First start, seconds.
    pub begin: f64,
    /// When it can be over at the earliest, seconds.
    pub end: f64,
    /// Packets of flows that end, and of those without end by the end of the run.
    finite: f64,
    endless: f64,
    /// Packets per second of the flows without end, while they last.
    rate: f64,
    /// At most so many packets per second arrive, if all go to one host.
    drain: Option<f64>,
}

impl Course {
    /// `slowest`: bytes per second of the slowest link between the two hosts, if they are given.
    pub fn of(
        doc: &Document,
        graph: &Graph,
        pattern: &Pattern,
        e: Expected,
        frame: Frame,
        slowest: Option<f64>,
    ) -> Self {
        let line = (graph.host_rate() / 8.0).max(1.0);
        let hosts = f64::from(graph.hosts.max(1));
        let until = doc.run.until.0.secs();
        let offered = doc.measure.until.map_or(until, |q| q.0.secs());
        // A flow's bytes on the wire; where all are of one size, its packets are known exactly.
        let size = if e.flows > 0.0 { e.bytes / e.flows } else { 0.0 };
        let per_flow = match pattern {
            Pattern::Poisson(_) | Pattern::List(_) => (size / frame.payload + 0.5).max(1.0),
            Pattern::Rpc(r) => {
                let packets = |bytes: u64| (bytes as f64 / frame.payload).ceil();
                (packets(r.request.0.get()) + packets(r.response.0.get())) / 2.0
            }
            Pattern::RequestResponse(r) => {
                let packets = |bytes: u64| (bytes as f64 / frame.payload).ceil();
                (packets(r.request.0.get()) + packets(r.response.0.get())) / 2.0
            }
            _ => (size / frame.payload).ceil(),
        };
        let wire = size + per_flow * frame.header;
        let rtt = 2.0 * path_delay(graph);
        let whole = frame.payload + frame.header;
        let mut c = Self {
            frame,
            flows: e.flows + e.endless,
            active: e.flows + e.endless,
            ends: e.flows > 0.0,
            begin: 0.0,
            end: until,
            finite: e.flows * per_flow,
            endless: 0.0,
            rate: 0.0,
            drain: None,
        };
        let mut rate = slowest.unwrap_or(line);
        match pattern {
            Pattern::Permutation(p) => {
                c.begin = p.start.0.secs();
                c.end = c.begin + p.jitter.0.secs() + wire / line + rtt;
                c.spread(p.jitter.0.secs(), wire / line + rtt);
            }
            Pattern::AllToAll(p) => {
                c.begin = p.start.0.secs();
                let service = (hosts - 1.0) * wire / line + rtt;
                c.end = c.begin + p.jitter.0.secs() + service;
                c.spread(p.jitter.0.secs(), service);
            }
            Pattern::Incast(i) => {
                let last = i.period.0.secs() * f64::from(i.repeat - 1);
                let receivers = if i.receiver.is_some() { 1.0 } else { hosts };
                let service = wire * e.flows / (line * receivers);
                c.begin = i.at.0.secs();
                c.end = c.begin + last.max(service) + rtt;
                c.drain = i.receiver.map(|_| line / whole);
                // Those that have come by the last arrival, or by the end of the run, and have not been served.
                let left = 1.0 - (last.min(until - c.begin) / service).min(1.0);
                c.active = (e.flows * left).max(f64::from(i.fan_in)).min(e.flows);
            }
            Pattern::Flow(f) => {
                c.begin = f.start.0.secs();
                c.end = c.begin + wire / rate + rtt;
            }
            Pattern::Backlogged(b) => {
                c.begin = b.start.0.secs();
                c.end = b.until.map_or(until, |q| q.0.secs());
                c.rate = rate / whole;
            }
            Pattern::RequestResponse(r) => {
                c.begin = r.start.0.secs();
                c.end = c.begin + f64::from(r.count) * (r.think.0.secs() + rtt + 2.0 * wire / line);
                c.active = 2.0;
            }
            Pattern::Udp(u) => {
                rate = u.rate.0.bps() as f64 / 8.0;
                c.begin = u.start.0.secs();
                if u.size.is_some() {
                    c.end = c.begin + wire / rate;
                }
                c.rate = rate / whole;
            }
            Pattern::Poisson(p) => {
                c.begin = p.from.0.secs();
                c.end = p.until.map_or(offered, |q| q.0.secs());
                if p.max_flows.is_some() {
                    c.end = c.end.min(c.begin + e.span);
                }
                c.arrive(p.load, wire / line + rtt);
            }
            Pattern::Rpc(r) => {
                c.begin = r.from.0.secs();
                c.end = r.until.map_or(offered, |q| q.0.secs());
                c.arrive(r.load, wire / line + rtt);
            }
            Pattern::List(_) => {
                c.end = (e.span + wire / line).max(e.bytes / (line * hosts)) + rtt;
                c.active = e.active.max(1.0);
            }
        }
        c
    }

    /// Flows that start at any time within `jitter` and take `each` seconds.
    fn spread(&mut self, jitter: f64, each: f64) {
        self.active = self.flows * (each / jitter.max(each)).min(1.0);
    }

    /// Flows that arrive at random: Little's law, the time in the system as if hosts' links were M/M/1 queues.
    fn arrive(&mut self, load: f64, alone: f64) {
        let lasts = (self.end - self.begin).max(1e-12);
        self.active = (self.flows / lasts * alone / (1.0 - load.min(0.95))).min(self.flows);
    }

    /// The run ends then.
    pub fn go_on_until(&mut self, end: f64) {
        if !self.ends {
            self.endless = self.rate * (self.end.min(end) - self.begin).max(0.0);
        }
    }

    fn wire(&self) -> f64 {
        self.frame.payload + self.frame.header
    }

    pub fn finite_bytes(&self) -> f64 {
        self.finite * self.wire()
    }

    pub fn endless_bytes(&self) -> f64 {
        self.endless * self.wire()
    }

    /// Packets by the end of the run.
    pub fn packets(&self, end: f64) -> f64 {
        let can = self.drain.map_or(f64::INFINITY, |rate| rate * (end - self.begin).max(0.0));
        (self.finite + self.endless).min(can)
    }

    /// Packets in the network at a time.
    pub fn inside(&self, doc: &Document, graph: &Graph, slowest: Option<f64>) -> f64 {
        let all = self.finite + self.endless;
        if !self.ends || self.flows < 2.0 {
            let Some(slowest) = slowest else { return all.min(WINDOW * self.active) };
            // What fills the path and the buffer before its slowest link.
            let room = match doc.switch.room() {
                Capacity::Bytes(b) => b.get() as f64 / self.wire(),
                Capacity::Packets(p) => f64::from(p),
                // Datagrams do not listen: all that the link does not carry waits.
                Capacity::Unlimited if self.rate > 0.0 => {
                    (1.0 - slowest / self.wire() / self.rate).max(0.0) * all
                }
                Capacity::Unlimited => all,
            };
            return all.min(room + 2.0 * path_delay(graph) * slowest / self.wire());
        }
        all.min(self.active * WINDOW.min(all / self.flows.max(1.0)))
    }
}

/// One way through the network, as a guess: the mean link's delay times four.
fn path_delay(graph: &Graph) -> f64 {
    let sum: f64 = graph.links.iter().map(|l| l.delay().secs()).sum();
    4.0 * sum / graph.links.len().max(1) as f64
}
