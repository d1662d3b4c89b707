//! Packet spraying in turns: the packets of a host are numbered as they leave it, and take the paths in turn (Dixit et
//! al., INFOCOM 2013). At a switch with n candidates packet k takes candidate k mod n, and k over n travels on: so
//! packets 0 to p − 1 take p different paths, where p is the product of the choices.
//!
//! Only packets that meet a choice are numbered: within a rack there is none.

use super::{Candidates, File, Holds, Needs, Parameters, Passing, RouteRule, Site};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// Packets of a host take all paths in turn, by a counter of the source host.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// CSV file `host,first`, relative to the scenario: the initial value of each host's counter. If not given, zeros.
    pub offsets: Option<String>,
}

impl Parameters for Params {
    type Machine = SprayRoundRobin;

    fn needs(&self) -> Needs {
        Needs { remembers: true, stamps: true, ..Needs::PACKET }
    }
    fn file(&self) -> Option<File<'_>> {
        let name = self.offsets.as_deref()?;
        Some(File { key: "offsets", name, holds: Holds::Offsets })
    }
    fn make(&self, at: &Site) -> SprayRoundRobin {
        SprayRoundRobin { next: at.first }
    }
}

/// A host's counter; a switch needs none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SprayRoundRobin {
    next: u32,
}

impl RouteRule for SprayRoundRobin {
    #[inline]
    fn stamp(&mut self, _: u32, choice: bool) -> u32 {
        if !choice {
            return 0;
        }
        let value = self.next;
        self.next = value.wrapping_add(1);
        value
    }
    #[inline]
    fn choose(&mut self, _: Time, packet: &mut Passing, ports: &mut impl Candidates) -> usize {
        let count = ports.count() as u32;
        let candidate = packet.value % count;
        packet.value /= count;
        candidate as usize
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Ports, at_host, at_switch, passing};
    use super::*;

    #[test]
    fn packets_take_the_ports_in_turn_and_those_within_a_rack_are_not_counted() {
        let mut host = Params::default().make(&Site { first: 5, ..at_host(3) });
        let mut here = Params::default().make(&at_switch(0));
        let mut port =
            |value| here.choose(Time::ZERO, &mut Passing { value, ..passing(1) }, &mut Ports::idle(4));
        assert_eq!(port(host.stamp(0, true)), 1);
        host.stamp(0, false);
        assert_eq!([(); 4].map(|()| port(host.stamp(0, true))), [2, 3, 0, 1]);
    }

    /// Two switches with four ways each, as from the edge of a fat-tree of eight ports: sixteen packets, sixteen paths.
    #[test]
    fn packets_take_all_paths_through_two_switches_in_turn() {
        let mut host = Params::default().make(&at_host(0));
        let mut here = Params::default().make(&at_switch(0));
        let mut paths: Vec<_> = (0..16)
            .map(|_| {
                let mut packet = Passing { value: host.stamp(0, true), ..passing(1) };
                [(); 2].map(|()| here.choose(Time::ZERO, &mut packet, &mut Ports::idle(4)))
            })
            .collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), 16);
    }
}
