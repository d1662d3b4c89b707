//! Valiant's randomised routing: every packet goes to a random group of switches first, and from there to its
//! destination, each time on a shortest path. Any pattern of traffic becomes two uniform ones, so that none is worse
//! than another; each packet crosses the network twice, so that throughput is about a half whatever the pattern.
//!
//! Valiant, Brebner, "Universal schemes for parallel communication", STOC 1981; on a dragonfly by way of a random group
//! instead of a random switch: Kim, Dally, Scott, Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA
//! 2008, §4.1. Where a topology has no groups every switch with hosts is one.
//!
//! ```text
//! CHOICE Dragonfly §4.1: the group is drawn among all, those of source and destination included, which leaves the
//! packet on a minimal path. Under the worst pattern of a dragonfly with g = a h + 1 this loads all global links alike.
//! Other reading: a third group.
//! CHOICE Dragonfly §4.1: what stays in its group takes the minimal path, as in BookSim. Other reading: it goes by way
//! of another group, too.
//! CHOICE: a packet that passes its destination's switch on the way to its group goes on, as in Valiant's scheme. Other
//! reading: it is delivered.
//! CHOICE: of several links on shortest paths one is drawn at every switch.
//! ```
//!
//! The papers are cited from memory and from BookSim, which authors of the second one wrote: its sections could not be
//! checked.
//!
//! Left out: virtual channels, of which the paper needs three for routes that cannot deadlock.

use super::{Around, Candidates, Needs, Parameters, Passing, Problems, RouteRule, Site, detour, spread};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Stream, Time};

/// Valiant (VAL): every packet goes by way of a random group of switches (Valiant, Brebner, STOC 1981; on a dragonfly:
/// Kim et al., ISCA 2008).
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// What the group is drawn for.
    pub per: Per,
}

/// What a group is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// For every packet: packets of a flow may be reordered.
    #[default]
    Packet,
    /// For each direction of a flow, as a hash of it: its packets take one path.
    Flow,
}

impl Parameters for Params {
    type Machine = Valiant;

    fn needs(&self) -> Needs {
        let by_packet = self.per == Per::Packet;
        Needs { draws: by_packet, reorders: by_packet, everywhere: true, groups: true, ..Needs::PACKET }
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        if let Some(why) = detour::missing(at) {
            problems.wrong("kind", why, detour::HINT);
        }
    }

    fn make(&self, at: &Site) -> Valiant {
        Valiant { per: self.per, stream: at.stream("valiant"), salt: at.salt() }
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        [Per::Packet, Per::Flow].map(|per| Self { per }).into()
    }
}

/// The machine of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Valiant {
    per: Per,
    stream: Stream,
    salt: u64,
}

impl RouteRule for Valiant {
    #[inline]
    fn choose(&mut self, _: Time, packet: &mut Passing, ports: &mut impl Candidates) -> usize {
        if detour::may_begin(packet, ports) {
            let groups = ports.groups();
            let group = match self.per {
                Per::Packet => self.stream.below(u64::from(groups)) as u32,
                // All candidates are picked by other bits than the group.
                Per::Flow => spread(!packet.hash(), self.salt, groups as usize) as u32,
            };
            packet.value = if Some(group) == ports.there() { 0 } else { detour::note(group) };
        } else if packet.enters {
            packet.value = 0;
        }
        detour::follow(packet, ports);
        match self.per {
            Per::Packet => detour::any(&mut self.stream, ports),
            Per::Flow => spread(packet.hash(), self.salt, ports.count()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Ports, at_switch, passing};
    use super::*;

    fn entering(machine: &mut Valiant, flow: u32, ports: &mut Ports) -> u32 {
        let mut packet = Passing { value: 77, ..passing(flow) };
        machine.choose(Time::ZERO, &mut packet, ports);
        packet.value
    }

    /// Of 9 groups each is noted for a ninth of the packets; the source's own and the destination's are no detour.
    #[test]
    fn every_packet_draws_a_group_and_two_of_nine_leave_it_on_a_minimal_path() {
        let mut here = Params::default().make(&at_switch(0));
        let mut noted = [0u32; 10];
        for _ in 0..9000 {
            noted[entering(&mut here, 1, &mut Ports::between(9, (2, 5), &[0])) as usize] += 1;
        }
        // 1000 of each, give or take 3 standard deviations of 30; group g is noted as g + 1.
        assert!(noted[0].abs_diff(2000) < 120, "{noted:?}");
        assert_eq!([noted[3], noted[6]], [0, 0]);
        let others = [1, 2, 4, 5, 7, 8, 9].map(|value: usize| noted[value]);
        assert!(others.iter().all(|n| n.abs_diff(1000) < 90), "{noted:?}");
    }

    #[test]
    fn a_noted_group_is_followed_until_it_is_reached_or_cut_off() {
        let mut here = Params::default().make(&at_switch(0));
        let mut packet = Passing { value: 5, enters: false, ..passing(1) };
        let mut ports = Ports::between(9, (2, 6), &[0]);
        here.choose(Time::ZERO, &mut packet, &mut ports);
        assert_eq!((packet.value, ports.to()), (5, Some(4)));
        for ends in [Ports::between(9, (4, 6), &[0]), Ports::between(9, (2, 6), &[0]).without(4)] {
            let (mut packet, mut ports) = (packet, ends);
            here.choose(Time::ZERO, &mut packet, &mut ports);
            assert_eq!((packet.value, ports.to()), (0, None), "from here to its destination");
        }
    }

    #[test]
    fn what_stays_in_its_group_makes_no_detour() {
        let mut here = Params::default().make(&at_switch(0));
        assert!((0..100).all(|_| entering(&mut here, 1, &mut Ports::between(9, (2, 2), &[0])) == 0));
    }

    #[test]
    fn per_flow_all_packets_of_a_flow_take_one_group_and_flows_share_them() {
        let mut here = Params { per: Per::Flow }.make(&at_switch(0));
        let mut of = |flow| entering(&mut here, flow, &mut Ports::between(9, (2, 5), &[0]));
        let mut noted = [0u32; 10];
        for flow in 0..4500 {
            let first = of(flow);
            assert_eq!(first, of(flow));
            noted[first as usize] += 1;
        }
        let others = [1, 2, 4, 5, 7, 8, 9].map(|value: usize| noted[value]);
        assert!(others.iter().all(|n| n.abs_diff(500) < 65), "{noted:?}");
    }
}
