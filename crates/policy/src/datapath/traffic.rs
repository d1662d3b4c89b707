//! Random traffic: packets that come independently of each other.

use super::Arrival;
use crate::engine::Offered;
use crate::normal::Policy;
use crate::normal::expression::PacketField;
use thalweg_units::{Span, Stream, Time};

/// Distributions of packet fields; each field is drawn independently and uniformly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mix {
    /// Smallest and largest size, bytes.
    pub sizes: (u32, u32),
    /// Types of service.
    pub tos: Vec<u8>,
    /// Smallest and largest value.
    pub values: (i64, i64),
    /// Largest number of cycles that a packet needs; the smallest is 1.
    pub processing: u32,
    /// Largest slack, ps; the smallest is 0.
    pub slack: u64,
    /// Number of flows.
    pub flows: u32,
}

impl Default for Mix {
    fn default() -> Self {
        Self { sizes: (64, 1500), tos: vec![0], values: (0, 99), processing: 4, slack: 1_000_000, flows: 16 }
    }
}

/// Random traffic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Traffic {
    /// Number of packets.
    pub packets: usize,
    /// Mean time between packets, exponentially distributed.
    pub gap: Span,
    /// Distributions of their fields.
    pub mix: Mix,
}

impl Traffic {
    /// Arrivals at the queues that packets enter from outside, all with the same probability.
    pub fn arrivals(&self, policy: &Policy, seed: u64) -> Vec<Arrival> {
        let mut gaps = Stream::new(seed, "policy gaps", 0);
        let mut draw = Stream::new(seed, "policy packets", 0);
        let (enter, mut now) = (entrances(policy), Time::ZERO);
        let mut arrival = || {
            now = now.saturating_add(Span::from_ps(gaps.exponential(self.gap.ps() as f64) as u64));
            let queue = enter[draw.below(enter.len() as u64) as usize];
            Arrival { at: now, offered: self.mix.packet(policy, queue, &mut draw) }
        };
        (0..self.packets).map(|_| arrival()).collect()
    }
}

impl Mix {
    fn packet(&self, policy: &Policy, queue: usize, draw: &mut Stream) -> Offered {
        let within = |draw: &mut Stream, least: i64, most: i64| {
            let values = u64::try_from(i128::from(most) - i128::from(least) + 1).unwrap_or(u64::MAX);
            least.wrapping_add(draw.below(values) as i64)
        };
        let (least, most) = (i64::from(self.sizes.0), i64::from(self.sizes.1.max(self.sizes.0)));
        Offered {
            queue: queue as u32,
            size: within(draw, least, most) as u32,
            tos: self.tos.get(draw.below(self.tos.len().max(1) as u64) as usize).copied().unwrap_or(0),
            value: within(draw, self.values.0, self.values.1.max(self.values.0)),
            processing: 1 + draw.below(u64::from(self.processing.max(1))) as u32,
            slack: draw.below(self.slack.saturating_add(1)),
            flow: draw.below(u64::from(self.flows.max(1))) as u32,
            dst: destination(policy, queue).unwrap_or_else(|| draw.below(1 << 16) as u32),
        }
    }
}

/// The queues that packets enter from outside: those that no port is connected to.
pub fn entrances(policy: &Policy) -> Vec<usize> {
    let entered = |queue: &usize| {
        !policy.ports().iter().flat_map(|port| &port.wire).any(|wire| wire.to.contains(queue))
    };
    (0..policy.queues().len()).filter(entered).collect()
}

/// The destination of packets of this queue, if a connection looks at it: the position of the queue among those of its
/// port.
fn destination(policy: &Policy, queue: usize) -> Option<u32> {
    let port = &policy.ports()[policy.queues()[queue].port];
    let wire = port.wire.as_ref()?;
    let (PacketField::Dst, first) = wire.field? else { return None };
    let place = port.queues.iter().position(|other| *other == queue)? % wire.to.len().max(1);
    u32::try_from(first.saturating_add(place as i64)).ok()
}
