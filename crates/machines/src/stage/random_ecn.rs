//! Random marking independent of the queue, to test how a controller reacts to marks, as independent losses test its
//! reaction to losses (Goyal, "Congestion Control in Highly Variable Networks", MIT 2022, §2.6, examines this for ABC).

use super::{Acts, Around, Arrival, HeaderStage, Parameters, Problems, View};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Stream, Time};
use thalweg_wire::{Ecn, Packet};

/// Marks every ECN-capable packet with the same probability, regardless of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Marking probability of each packet, independent of all others.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0, "examples" = [0.05]))]
    pub probability: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { probability: 0.05 } // a scenario says which
    }
}

impl Parameters for Params {
    type Machine = RandomEcn;

    fn acts(&self) -> Acts {
        Acts::Marks
    }
    fn check(&self, _: &Around, problems: &mut Problems) {
        if !(self.probability > 0.0 && self.probability <= 1.0) {
            let reason = format!("{} is out of range", self.probability);
            problems.wrong("probability", reason, "allowed: above 0, at most 1");
        }
    }
    fn make(&self, stream: Stream, _: Rate) -> Result<RandomEcn, Invalid> {
        Ok(RandomEcn { probability: self.probability, stream })
    }
}

/// The dice of one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RandomEcn {
    probability: f64,
    stream: Stream,
}

impl HeaderStage for RandomEcn {
    fn on_arrival(&mut self, _: Time, _: &View, packet: &Packet) -> Arrival {
        // (Packets that cannot be marked draw nothing.)
        let marks = packet.ecn != Ecn::NotEct && self.stream.unit() < self.probability;
        if marks { Arrival::Mark } else { Arrival::Admit }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::finds;
    use super::*;

    #[test]
    fn one_in_twenty_is_marked_of_those_that_can_be() {
        let mut m = Params::default().make(Stream::new(1, "random", 0), Rate::ZERO).unwrap();
        for (ecn, least, most) in [(Ecn::Ect0, 4800, 5200), (Ecn::Ect1, 4800, 5200), (Ecn::NotEct, 0, 0)] {
            let packet = Packet { ecn, wire: 1500, ..Packet::default() };
            let mut arrives = || m.on_arrival(Time::ZERO, &finds(0, 0, 1500), &packet);
            let marked = (0..100_000).filter(|_| arrives() == Arrival::Mark).count();
            assert!((least..=most).contains(&marked), "{ecn:?}: {marked}");
        }
    }
}
