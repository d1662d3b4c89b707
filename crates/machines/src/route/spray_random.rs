//! Packet spraying by chance (Dixit, Prakash, Hu, Kompella, "On the impact of packet spraying in data center networks",
//! INFOCOM 2013): every packet takes a random shortest path, regardless of its flow.
//!
//! ```text
//! CHOICE: a packet draws once, where it meets its first switch, and every switch on its way hashes what it drew with a
//! salt of its own. Other reading: a draw at every switch. The ways have the same distribution.
//! ```

use super::{Candidates, Needs, Parameters, Passing, RouteRule, Site, spread};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Stream, Time};

/// Every packet takes a random shortest path, drawn at its source host.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = SprayRandom;

    fn needs(&self) -> Needs {
        Needs { draws: true, stamps: true, ..Needs::PACKET }
    }
    fn make(&self, at: &Site) -> SprayRandom {
        SprayRandom { stream: at.stream("spray"), salt: at.salt() }
    }
}

/// Of a host: it draws. Of a switch: it hashes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SprayRandom {
    stream: Stream,
    salt: u64,
}

impl RouteRule for SprayRandom {
    #[inline]
    fn stamp(&mut self, _: u32, _: bool) -> u32 {
        (self.stream.bits() >> 32) as u32
    }
    #[inline]
    fn choose(&mut self, _: Time, packet: &mut Passing, ports: &mut impl Candidates) -> usize {
        spread(u64::from(packet.value), self.salt, ports.count())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Ports, at_host, at_switch, passing};
    use super::*;

    #[test]
    fn every_packet_draws_and_what_it_drew_decides_at_every_switch() {
        let (mut host, mut here) = (Params {}.make(&at_host(3)), Params {}.make(&at_switch(0)));
        let (mut ports, mut taken) = (Ports::idle(4), [0u32; 4]);
        for _ in 0..4000 {
            let value = host.stamp(0, true);
            let mut packet = Passing { value, ..passing(1) };
            let port = here.choose(Time::ZERO, &mut packet, &mut ports);
            assert_eq!(here.choose(Time::ZERO, &mut packet, &mut ports), port);
            taken[port] += 1;
        }
        assert!(taken.iter().all(|n| n.abs_diff(1000) < 82), "{taken:?}");
    }
}
