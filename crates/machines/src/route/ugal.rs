//! UGAL-L: universal globally-adaptive load-balanced routing by local queues. For every packet its first switch
//! compares a minimal path with one by way of a random group of switches, as Valiant's routing would have it, by the
//! time that it expects on each: what waits at the port where the path begins, times its hops. Benign traffic stays on
//! minimal paths; adverse traffic fills their queues, and goes by way of other groups.
//!
//! Singh, "Load-Balanced Routing in Interconnection Networks", PhD thesis, Stanford 2005; on a dragonfly, with the
//! queues of the packet's first router alone (UGAL-L): Kim, Dally, Scott, Abts, "Technology-Driven, Highly-Scalable
//! Dragonfly Topology", ISCA 2008, §4.2.
//!
//! A queue elsewhere is seen only if it holds traffic back here: with flow control from switch to switch (PFC). In a
//! network that drops packets instead, the queue of a global link is seen by those hosts alone whose router it is at.
//!
//! ```text
//! CHOICE Dragonfly §4.2: minimal if q_m H_m <= q_nm H_nm + T, with T = 0. BookSim compares q_m with 2 q_nm + 30 flits
//! instead of by hops. A larger T keeps more on minimal paths while queues are short.
//! CHOICE Dragonfly §4.2: a queue is what waits behind the packet in transmission. Other reading: with that packet.
//! CHOICE: of several minimal ports one is drawn, and of several towards the group; on the way, too.
//! CHOICE Dragonfly §4.1: the group is drawn among all; if it is the source's or the destination's, the path is
//! minimal. What stays in its group takes the minimal path, as in BookSim.
//! ```
//!
//! The papers are cited from memory and from BookSim, which authors of the second one wrote: its sections could not be
//! checked.
//!
//! Left out: UGAL-G, which knows the queues of all global links of the group, and the variants that tell virtual
//! channels apart (UGAL-L_VC) or measure the round trips of credits (UGAL-L_CR).

use super::{Around, Candidates, Needs, Parameters, Passing, Problems, RouteRule, Site, detour};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Stream, Time};

/// UGAL-L: every packet takes a minimal path or one by way of a random group of switches, whichever has the smaller
/// product of hops and of the queue at its first switch (Singh, Stanford 2005; Kim et al., ISCA 2008).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// T: a path is minimal as long as its product of queue and hops exceeds the other's by no more than this.
    pub bias: Bytes,
}

impl Default for Params {
    /// The paper's comparison has no such term.
    fn default() -> Self {
        Self { bias: Bytes::ZERO }
    }
}

impl Parameters for Params {
    type Machine = Ugal;

    fn needs(&self) -> Needs {
        Needs { waiting: true, draws: true, everywhere: true, groups: true, ..Needs::PACKET }
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        if let Some(why) = detour::missing(at) {
            problems.wrong("kind", why, detour::HINT);
        }
    }

    fn make(&self, at: &Site) -> Ugal {
        Ugal { bias: self.bias.get(), stream: at.stream("ugal") }
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default(), Self { bias: Bytes::kb(6) }]
    }
}

/// The machine of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ugal {
    bias: u64,
    stream: Stream,
}

impl Ugal {
    /// A random candidate of the way to which they lead now: what waits there times the hops, and which it is.
    fn estimate(&mut self, ports: &mut impl Candidates) -> (u64, usize) {
        let candidate = detour::any(&mut self.stream, ports);
        (ports.waiting(candidate).saturating_mul(u64::from(ports.hops())), candidate)
    }
}

impl RouteRule for Ugal {
    #[inline]
    fn choose(&mut self, _: Time, packet: &mut Passing, ports: &mut impl Candidates) -> usize {
        if !packet.enters {
            detour::follow(packet, ports);
            return detour::any(&mut self.stream, ports);
        }
        packet.value = 0;
        if !detour::may_begin(packet, ports) {
            return detour::any(&mut self.stream, ports);
        }
        let group = self.stream.below(u64::from(ports.groups())) as u32;
        let (minimal, first) = self.estimate(ports);
        if Some(group) == ports.there() || !ports.lead_to(group) {
            return first;
        }
        let (other, by_way) = self.estimate(ports);
        if minimal <= other.saturating_add(self.bias) {
            ports.lead_home();
            return first;
        }
        packet.value = detour::note(group);
        by_way
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Ports, at_switch, passing};
    use super::*;

    /// Of 900 packets that enter with so much waiting on the minimal path, and nothing on others: how many leave it.
    fn diverted(bias: u64, waiting: u64) -> usize {
        let mut here = Params { bias: Bytes::new(bias) }.make(&at_switch(0));
        let mut one = || {
            let (mut packet, mut ports) = (passing(1), Ports::between(9, (2, 5), &[waiting]));
            here.choose(Time::ZERO, &mut packet, &mut ports);
            assert_eq!(packet.value.checked_sub(1), ports.to(), "what is chosen is what is noted");
            packet.value > 0
        };
        (0..900).filter(|_| one()).count()
    }

    /// Three hops: the product of a queue of 1500 B is 4500 B.
    #[test]
    fn a_packet_leaves_the_minimal_path_if_its_product_is_the_larger_one() {
        assert_eq!(diverted(0, 0), 0, "equal products: minimal");
        // Seven groups of nine are neither the source's nor the destination's; 3 standard deviations of 12.5.
        assert!(diverted(0, 1500).abs_diff(700) < 38);
        assert!(diverted(4499, 1500).abs_diff(700) < 38);
        assert_eq!(diverted(4500, 1500), 0, "within the bias");
    }

    #[test]
    fn a_group_that_no_path_leads_to_is_no_choice() {
        let mut here = Params::default().make(&at_switch(0));
        for _ in 0..200 {
            let (mut packet, mut ports) = (passing(1), Ports::between(3, (0, 1), &[9000]).without(2));
            here.choose(Time::ZERO, &mut packet, &mut ports);
            assert_eq!((packet.value, ports.to()), (0, None));
        }
    }

    #[test]
    fn later_switches_follow_what_the_first_one_noted() {
        let mut here = Params::default().make(&at_switch(0));
        let mut packet = Passing { value: 5, enters: false, ..passing(1) };
        let mut ports = Ports::between(9, (2, 6), &[0]);
        here.choose(Time::ZERO, &mut packet, &mut ports);
        assert_eq!((packet.value, ports.to(), ports.looks()), (5, Some(4), 0));
    }
}
