//! The transport's own entropy: switches hash a value that senders write into every packet, as they hash the source
//! port of UDP or the flow label of IPv6 (RFC 6438). Receivers bring it back in the ACK, so that a sender learns what
//! became of it; the transport chooses the values ([`crate::transport::PathValues`]).
//!
//! ```text
//! CHOICE: an ACK carries its data's value, and is hashed with it, as a flow of its own direction. Other reading: ACKs
//! have values of their own besides.
//! ```

use super::{Around, Candidates, Needs, Parameters, Passing, Problems, RouteRule, Site, spread};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Time, mix64};

/// ECMP per packet: at each switch a salted hash of the flow and of the path value that the transport has written
/// (`path_values` of `transport.rdma`) chooses the next hop.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Hashed;

    fn needs(&self) -> Needs {
        Needs { path_values: true, ..Needs::PACKET }
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        if !at.path_values {
            let why = "no transport writes path values, so that packets of a flow take one path";
            problems.useless("kind", why, "write `transport.rdma.path_values = {}`, or \"ecmp\"");
        }
    }

    fn make(&self, at: &Site) -> Hashed {
        Hashed::at(at)
    }
}

/// A switch's salt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hashed {
    salt: u64,
}

impl Hashed {
    /// That of a switch.
    pub(super) fn at(site: &Site) -> Self {
        Self { salt: site.salt() }
    }
}

impl RouteRule for Hashed {
    #[inline]
    fn choose(&mut self, _: Time, packet: &mut Passing, ports: &mut impl Candidates) -> usize {
        let hash = packet.hash().wrapping_add(mix64(u64::from(packet.value)));
        spread(hash, self.salt, ports.count())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Ports, at_switch, passing};
    use super::*;

    #[test]
    fn a_value_names_a_port_and_sixty_four_values_reach_all_four() {
        let mut here = Params {}.make(&at_switch(0));
        let mut port =
            |value| here.choose(Time::ZERO, &mut Passing { value, ..passing(1) }, &mut Ports::idle(4));
        let taken: Vec<usize> = (0..64).map(&mut port).collect();
        assert_eq!((0..64).map(&mut port).collect::<Vec<_>>(), taken);
        assert!((0..4).all(|port| taken.contains(&port)), "{taken:?}");
    }
}
