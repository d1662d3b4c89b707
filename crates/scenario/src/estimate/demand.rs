//! The load that a traffic section offers to the network, from the course of its family.

use crate::quantity::Capacity;
use crate::schema::{Document, Pattern};
use crate::topology::Graph;
use crate::traffic::{Course, Expected, Fluid};

/// Packets of a flow in flight before the first ACK arrives (the initial window of RFC 6928); used later, too, unless
/// the path holds more.
const WINDOW: f64 = 10.0;

/// Sizes of a section's packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub payload: f64,
    pub header: f64,
    /// ACKs per data packet.
    pub acks: f64,
}

/// The load that a section offers to the network.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand {
    pub frame: Frame,
    /// Number of flows, including those without end.
    pub flows: f64,
    /// Number of predecessors that flows and computations wait for.
    pub waits: f64,
    /// True if some flows end.
    pub ends: bool,
    pub course: Course,
    /// Number of packets of flows that end, and of flows without end by the end of the run.
    finite: f64,
    endless: f64,
}

impl Demand {
    /// `slowest`: rate of the slowest link between the two hosts of the section, if it has two, in bytes per second.
    pub fn of(
        doc: &Document,
        graph: &Graph,
        pattern: &Pattern,
        e: Expected,
        frame: Frame,
        slowest: Option<f64>,
    ) -> Self {
        let line = (graph.host_rate() / 8.0).max(1.0);
        let until = doc.run.until.0.secs();
        // Mean size of a flow. If all flows have the same size, the number of packets is exact.
        let size = if e.flows > 0.0 { e.bytes / e.flows } else { 0.0 };
        let per_flow = pattern.family().packets(size, frame.payload);
        let fluid = Fluid {
            hosts: f64::from(graph.hosts.max(1)),
            line,
            rate: slowest.unwrap_or(line),
            wire: size + per_flow * frame.header,
            packet: frame.payload + frame.header,
            rtt: 2.0 * path_delay(graph),
            until,
            offered: doc.measure.until.map_or(until, |q| q.0.secs()),
            expected: e,
        };
        Self {
            frame,
            flows: e.flows + e.endless,
            waits: e.waits,
            ends: e.flows > 0.0,
            course: pattern.family().course(&fluid),
            finite: e.flows * per_flow,
            endless: 0.0,
        }
    }

    /// Moves the end of the section to at least this many seconds after its begin.
    pub fn be_over_after(&mut self, takes: f64) {
        self.course.end = self.course.end.max(self.course.begin + takes);
    }

    /// Fixes the end of the run, up to which flows without end send.
    pub fn go_on_until(&mut self, end: f64) {
        if !self.ends {
            self.endless = self.course.rate * (self.course.end.min(end) - self.course.begin).max(0.0);
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

    /// Number of packets until the end of the run.
    pub fn packets(&self, end: f64) -> f64 {
        let can = self.course.drain.map_or(f64::INFINITY, |rate| rate * (end - self.course.begin).max(0.0));
        (self.finite + self.endless).min(can)
    }

    /// Number of concurrent packets in the network.
    pub fn inside(&self, doc: &Document, graph: &Graph, slowest: Option<f64>) -> f64 {
        let all = self.finite + self.endless;
        if !self.ends || self.flows < 2.0 {
            let Some(slowest) = slowest else { return all.min(WINDOW * self.course.active) };
            // Packets that fill the path and the buffer before its slowest link.
            let room = match doc.switch.room() {
                Capacity::Bytes(b) => b.get() as f64 / self.wire(),
                Capacity::Packets(p) => f64::from(p),
                // Datagrams have no congestion control: everything beyond the rate of the link waits.
                Capacity::Unlimited if self.course.rate > 0.0 => {
                    (1.0 - slowest / self.wire() / self.course.rate).max(0.0) * all
                }
                Capacity::Unlimited => all,
            };
            return all.min(room + 2.0 * path_delay(graph) * slowest / self.wire());
        }
        all.min(self.course.active * WINDOW.min(all / self.flows.max(1.0)))
    }
}

/// An estimate of the one-way delay of a path: four times the mean delay of links.
fn path_delay(graph: &Graph) -> f64 {
    let sum: f64 = graph.links.iter().map(|l| l.delay().secs()).sum();
    4.0 * sum / graph.links.len().max(1) as f64
}
