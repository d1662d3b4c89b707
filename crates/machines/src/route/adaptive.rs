//! Adaptive routing: every packet goes to one of the least loaded ports, by levels of queue occupancy.
//!
//! As in the Ultra Ethernet consortium's simulator (uet-htsim), which calls it adaptive routing; the specification
//! leaves routing to switches. A port's level is the share of its queue that is in use: below 5 %, 10 %, 20 %, or more.
//! It is looked up when a packet finds it older than `every`, so that packets in between go by a stale one. Among the
//! ports of the lowest level one is drawn. Small packets are hashed instead: ACKs and headers of trimmed packets.
//!
//! A switch knows its own queues only: a port behind which everything is lost looks empty, and attracts traffic.
//!
//! ```text
//! CHOICE: of the packet in transmission what has not left yet counts. Other reading, of the simulator: all of it.
//! CHOICE: small packets are hashed by their flow and the value that their transport has written, as by `entropy`.
//! Other reading: by their flow alone.
//! ```
//!
//! Left out are the simulator's variants: two random choices, least bytes exactly (`least-loaded` is near both), and a
//! choice per flowlet.

use super::entropy::Hashed;
use super::{Around, Candidates, Load, Needs, Parameters, Passing, Problems, RouteRule, Site};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, PortId, Span, Stream, Time};

/// In percent of what a queue can hold: below each of these there is a level.
const LEVELS: [u128; 3] = [5, 10, 20];

/// Adaptive routing: every packet goes to one of the ports with the lowest queue occupancy, in levels of 5, 10 and 20 %
/// (uet-htsim, 2025).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Age after which a port's level is looked up again; `0s`: at every packet.
    pub every: Span,
    /// Packets with fewer bytes on the wire are hashed by flow and path value instead; `0B`: none.
    pub hashed_below: Bytes,
}

impl Default for Params {
    fn default() -> Self {
        Self { every: Span::from_ns(100), hashed_below: Bytes::new(100) } // uet-htsim's
    }
}

impl Parameters for Params {
    type Machine = Adaptive;

    fn needs(&self) -> Needs {
        Needs { waiting: true, draws: true, remembers: true, path_values: true, ..Needs::PACKET }
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        if !at.overflows {
            let why = "queues without a limit are filled to no share of it, so that all ports are equal";
            problems.useless("kind", why, "write `switch.buffer = \"200KB\"`, or \"least-loaded\"");
        }
    }

    fn make(&self, at: &Site) -> Adaptive {
        let (stream, hashed) = (at.stream("adaptive"), Hashed::at(at));
        Adaptive { p: self.clone(), stream, hashed, known: Vec::new() }
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self::default(), Self { every: Span::from_us(2), hashed_below: Bytes::ZERO }]
    }
}

/// The state of one switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adaptive {
    p: Params,
    stream: Stream,
    hashed: Hashed,
    /// Ports that were candidates, in the order in which they first were.
    known: Vec<Known>,
}

/// A port's level, and when it was looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    port: PortId,
    level: u8,
    at: Time,
}

/// How many of the levels a load is not below.
fn level(load: Load) -> u8 {
    let used = u128::from(load.used) * 100;
    LEVELS.iter().filter(|percent| used >= u128::from(load.of) * *percent).count() as u8
}

impl Adaptive {
    /// What is known of a candidate. Ports come in the order of the list most often.
    #[inline]
    fn place(&self, candidate: usize, port: PortId) -> Option<usize> {
        let there = self.known.get(candidate).is_some_and(|known| known.port == port);
        if there { Some(candidate) } else { self.known.iter().position(|known| known.port == port) }
    }

    /// A candidate's level, looked up if the one that is known is too old.
    #[inline]
    fn look(&mut self, now: Time, candidate: usize, ports: &mut impl Candidates) -> u8 {
        let port = ports.port(candidate);
        match self.place(candidate, port).map(|place| &mut self.known[place]) {
            Some(known) if now.since(known.at) <= self.p.every && !self.p.every.is_zero() => known.level,
            Some(known) => {
                (known.level, known.at) = (level(ports.load(candidate)), now);
                known.level
            }
            None => {
                let level = level(ports.load(candidate));
                self.known.push(Known { port, level, at: now });
                level
            }
        }
    }
}

impl RouteRule for Adaptive {
    #[inline]
    fn choose(&mut self, now: Time, packet: &mut Passing, ports: &mut impl Candidates) -> usize {
        if u64::from(packet.wire) < self.p.hashed_below.get() {
            return self.hashed.choose(now, packet, ports);
        }
        let (mut least, mut first, mut equal) = (u8::MAX, 0, 0u64);
        for candidate in 0..ports.count() {
            match self.look(now, candidate, ports) {
                level if level < least => (least, first, equal) = (level, candidate, 1),
                level => equal += u64::from(level == least),
            }
        }
        if equal == 1 {
            return first;
        }
        let mut before = self.stream.below(equal);
        for candidate in first..ports.count() {
            let known = self.place(candidate, ports.port(candidate));
            if known.is_some_and(|place| self.known[place].level == least) {
                if before == 0 {
                    return candidate;
                }
                before -= 1;
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Ports, at_switch, passing};
    use super::*;

    fn machine() -> Adaptive {
        Params::default().make(&at_switch(0))
    }
    fn taken(here: &mut Adaptive, now: Time, ports: &mut Ports, packets: usize) -> Vec<usize> {
        let mut taken = vec![0; ports.count()];
        (0..packets).for_each(|_| taken[here.choose(now, &mut passing(1), ports)] += 1);
        taken
    }

    #[test]
    fn levels_end_at_five_ten_and_twenty_per_cent() {
        let levels =
            [0, 499, 500, 999, 1000, 1999, 2000, 90_000].map(|used| level(Load { used, of: 10_000 }));
        assert_eq!(levels, [0, 0, 1, 1, 2, 2, 3, 3]);
    }

    /// Test ports hold 10 000 B each.
    #[test]
    fn ports_of_the_lowest_level_share_and_the_others_get_nothing() {
        let all = taken(&mut machine(), Time::ZERO, &mut Ports::waiting(&[499, 500, 0, 2000]), 4000);
        assert!(all[0].abs_diff(2000) < 95 && all[0] + all[2] == 4000, "{all:?}");
        let one = taken(&mut machine(), Time::ZERO, &mut Ports::waiting(&[9000, 700, 1000]), 100);
        assert_eq!(one, [0, 100, 0]);
        // Above 20 % all are alike.
        let full = taken(&mut machine(), Time::ZERO, &mut Ports::waiting(&[9000, 2000]), 4000);
        assert!(full[0].abs_diff(2000) < 95, "{full:?}");
    }

    #[test]
    fn what_is_known_of_a_port_stands_for_a_hundred_nanoseconds() {
        let (mut here, at) = (machine(), Time::from_ns);
        assert_eq!(taken(&mut here, at(0), &mut Ports::waiting(&[0, 3000]), 50), [50, 0]);
        let mut turned = Ports::waiting(&[3000, 0]);
        assert_eq!(taken(&mut here, at(100), &mut turned, 50), [50, 0], "stale");
        assert_eq!(turned.looks(), 0);
        assert_eq!(taken(&mut here, at(101), &mut turned, 50), [0, 50]);
        assert_eq!(turned.looks(), 2, "each port once");
    }

    #[test]
    fn small_packets_are_hashed_and_look_at_nothing() {
        let (mut here, mut ports) = (machine(), Ports::waiting(&[9000, 0, 9000, 9000]));
        let port = |here: &mut Adaptive, ports: &mut Ports, value, wire| {
            here.choose(Time::ZERO, &mut Passing { value, wire, ..passing(1) }, ports)
        };
        let small: Vec<usize> = (0..64).map(|value| port(&mut here, &mut ports, value, 99)).collect();
        assert_eq!((0..64).map(|value| port(&mut here, &mut ports, value, 99)).collect::<Vec<_>>(), small);
        assert!((0..4).all(|port| small.contains(&port)), "{small:?}");
        assert_eq!(ports.looks(), 0);
        assert_eq!(port(&mut here, &mut ports, 0, 100), 1);
    }

    #[test]
    fn ports_are_known_by_number_whatever_the_candidates_of_a_packet() {
        let mut here = machine();
        assert_eq!(taken(&mut here, Time::ZERO, &mut Ports::waiting(&[3000, 0]), 9), [0, 9]);
        // Ports 0 and 2 are known; of 2 and 4 the second is new, and not emptier.
        let mut others = Ports::of(&[2, 4]);
        others.set(1, 3000);
        assert_eq!(taken(&mut here, Time::ZERO, &mut others, 9), [9, 0]);
        assert_eq!(others.looks(), 1);
    }
}
