//! Paths by number: a transport that knows all paths of its packets numbers them, and writes the number into each
//! packet. At a switch with n candidates the value mod n says which, and the value over n travels on, so that the
//! numbers 0 to p-1 are p different paths where p is the product of the choices. What NDP calls for (Handley et al.,
//! SIGCOMM 2017, §3.3: sources choose the path of every packet), and a source route of few bits.

use super::{Around, Candidates, Needs, Parameters, Passing, Problems, RouteRule, Site};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// Every packet takes the path whose number its transport has written (`transport.ndp`): at each switch with n
/// candidates the number mod n chooses, and the quotient travels on.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Numbered;

    fn needs(&self) -> Needs {
        Needs { path_values: true, ..Needs::PACKET }
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        if !at.path_values {
            let why = "no transport numbers its paths, so that all packets take the first one";
            problems.useless("kind", why, "use the transport ndp, or \"ecmp\"");
        }
    }

    fn make(&self, _: &Site) -> Numbered {
        Numbered
    }
}

/// The machine of a switch, without state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbered;

impl RouteRule for Numbered {
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
    use super::super::tests::{Ports, at_switch, passing};
    use super::*;

    /// Four ways up from the edge and three from there: twelve numbers, twelve paths.
    #[test]
    fn twelve_numbers_are_the_twelve_paths_through_two_switches() {
        let mut here = Params {}.make(&at_switch(0));
        let mut paths: Vec<_> = (0..12)
            .map(|value| {
                let mut packet = Passing { value, ..passing(1) };
                [4, 3].map(|of| here.choose(Time::ZERO, &mut packet, &mut Ports::idle(of)))
            })
            .collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), 12);
    }
}
