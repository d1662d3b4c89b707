//! Computes which queue a packet joins at a port with `queueSelect`, with the same draws as the engine, so that the
//! queue is known even if the packet is dropped on arrival.

use crate::engine::{Offered, Stored};
use crate::normal::expression::Place;
use crate::normal::{Policy, Select};
use thalweg_units::Stream;

/// The ports of a policy with `queueSelect`.
#[derive(Clone, Debug)]
pub(super) struct Selects(Vec<Stream>);

impl Selects {
    /// With the streams of an engine with this seed.
    pub(super) fn new(policy: &Policy, seed: u64) -> Self {
        let ports = 0..policy.ports().len() as u64;
        Self(ports.map(|port| Stream::new(seed, "policy select", port)).collect())
    }

    /// The queue that this packet joins.
    pub(super) fn queue(&mut self, policy: &Policy, offered: &Offered) -> u32 {
        let Some(named) = policy.queues().get(offered.queue as usize) else { return offered.queue };
        let port = &policy.ports()[named.port];
        let nth = match &port.select {
            None => return offered.queue,
            Some(Select::Random) => self.0[named.port].below(port.queues.len() as u64) as usize,
            Some(Select::By(choice)) => {
                let packet = Stored::new(offered, offered.queue, 0, 0);
                let look = |place| if let Place::Packet(_, field) = place { packet.field(field) } else { 0 };
                choice.value(&look).map_or(0, |value| value.floor() as usize)
            }
        };
        port.queues.get(nth).map_or(offered.queue, |queue| *queue as u32)
    }
}
