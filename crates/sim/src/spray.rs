//! Sprayed packets: each takes any of the shortest ways to its destination, whatever its flow.
//!
//! A packet gets its entropy where it meets the first choice, at its host's switch: packets are counted in
//! the order in which they leave their NIC, which may order them otherwise than they were handed to it.

use crate::spec::{NetworkSpec, RoutingSpec};
use serde::{Deserialize, Serialize};
use thalweg_units::{HostId, Stream};

/// Where the sprayed packets of each host get their entropy; empty where nobody sprays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spray(Vec<Entropy>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Entropy {
    /// A draw per packet.
    Random(Stream),
    /// A counter.
    Counter(u32),
}

impl Spray {
    pub fn new(spec: &NetworkSpec) -> Self {
        let entropy = |host: u32| match &spec.routing {
            RoutingSpec::SprayRandom => {
                Some(Entropy::Random(Stream::new(spec.seed, "spray", u64::from(host))))
            }
            RoutingSpec::SprayRoundRobin { offsets } => {
                Some(Entropy::Counter(offsets.get(host as usize).copied().unwrap_or(0)))
            }
            _ => None,
        };
        Self((0..spec.hosts).map_while(entropy).collect())
    }

    /// Whether both are of networks with as many hosts that spray.
    pub fn fits(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
    }

    /// Entropy of the next packet of a host; `choice`: there is more than one way. Only packets that meet a
    /// choice are counted: within a rack there is none.
    pub fn next(&mut self, host: HostId, choice: bool) -> u32 {
        match &mut self.0[host.at()] {
            Entropy::Random(stream) => (stream.bits() >> 32) as u32,
            Entropy::Counter(_) if !choice => 0,
            Entropy::Counter(n) => {
                let value = *n;
                *n = n.wrapping_add(1);
                value
            }
        }
    }
}
