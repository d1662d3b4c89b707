//! Links: the two nodes that each joins, and its two directions.

use serde::{Deserialize, Serialize};
use thalweg_machines::link::{LinkSpec as Direction, TransmitterSpec};
use thalweg_units::{NodeId, PortId, Rate, Span};

/// A duplex link: two directions, which need not be alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkSpec {
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
    /// From `a` to `b`.
    pub ab: Direction,
    /// From `b` to `a`.
    pub ba: Direction,
    /// What a hop over it costs routes: they are the paths with the least sum. 1 where paths are the shortest in links.
    pub metric: u32,
}

impl LinkSpec {
    /// A link whose directions have the same fixed rate and delay. Serialisation times are rounded down to multiples of
    /// `quantum`; with a quantum of zero they are exact, rounded up to 1 ps.
    pub fn fixed(a: NodeId, b: NodeId, rate: Rate, delay: Span, quantum: Span) -> Self {
        let mut link = Self::alike(a, b, Direction::fixed(rate, delay));
        link.set_quantum(quantum);
        link
    }

    /// Both directions are such a link.
    pub fn alike(a: NodeId, b: NodeId, direction: Direction) -> Self {
        Self { a, b, ba: direction.clone(), ab: direction, metric: 1 }
    }

    /// The two ends of a port, the one that sends first: even ones lead from `a` to `b`.
    pub fn ends(&self, port: PortId) -> (NodeId, NodeId) {
        if port.0.is_multiple_of(2) { (self.a, self.b) } else { (self.b, self.a) }
    }

    /// The direction of a port: even ones lead from `a` to `b`.
    pub fn direction(&self, port: PortId) -> &Direction {
        if port.0.is_multiple_of(2) { &self.ab } else { &self.ba }
    }

    /// The long-run rate of the slower direction.
    pub fn rate(&self) -> Rate {
        self.ab.mean_rate().min(self.ba.mean_rate())
    }

    /// The longer one of the propagation delays, without jitter.
    pub fn delay(&self) -> Span {
        self.ab.delay.max(self.ba.delay)
    }

    /// The coarser one of the [`Direction::quantum`]s.
    pub fn quantum(&self) -> Span {
        self.ab.quantum().max(self.ba.quantum())
    }

    /// Both directions have this propagation delay.
    pub fn set_delay(&mut self, delay: Span) {
        (self.ab.delay, self.ba.delay) = (delay, delay);
    }

    /// Directions of fixed rate cut serialisation times down to whole multiples of this.
    pub fn set_quantum(&mut self, quantum: Span) {
        for direction in [&mut self.ab, &mut self.ba] {
            if let TransmitterSpec::Fixed(fixed) = &mut direction.transmitter {
                fixed.quantum = quantum;
            }
        }
    }
}
