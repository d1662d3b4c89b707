//! Gentle flow control, buffer-based: an input that fills up has its neighbour send at half, a quarter, an
//! eighth … of the link's rate, and never stop. Qian, Cheng, Zhang, Ren, "Gentle Flow Control: Avoiding
//! Deadlock in Lossless Networks", SIGCOMM 2019, §4.2.
//!
//! Stage k holds from B_k = B_m − (B_m − B_1)/2^(k−1) on; below B_1 the neighbour sends at full rate.

use super::{Claims, Effects, Held, Parameters, Passing, PausePolicy, Reach, Site, smallest_frame};
use crate::problems::{Invalid, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Time};
use thalweg_wire::Frame;

/// Gentle flow control, buffer-based (Qian et al., SIGCOMM 2019): in stage k, from last − (last −
/// first)/2^(k−1) on, the upstream neighbour of an input sends at its link's rate divided by 2^k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// B_1: bytes held at which the first stage begins.
    #[schemars(extend("x-quantity" = "room", "examples" = ["500KB"]))]
    pub first: Bytes,
    /// B_m: bytes to which the beginnings of the stages converge.
    #[schemars(extend("x-quantity" = "room", "examples" = ["523KB"]))]
    pub last: Bytes,
    /// Number of stages.
    // CHOICE Escape §4.6.4: the paper has no number. The slowest is a thousandth of the rate.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 16))]
    pub stages: u8,
    /// Size of a frame on the wire.
    #[serde(default = "smallest_frame")]
    pub frame: Bytes,
}

fn ten() -> u8 {
    10
}

impl Parameters for Params {
    type Machine = Gfc;

    fn check(&self, at: &Site, problems: &mut Problems) {
        if self.last <= self.first {
            let reason = format!("{} is not above `first`, {}", self.last, self.first);
            problems.wrong("last", reason, "write more than `first`");
        }
        if let Some(memory) = at.memory.filter(|memory| *memory < self.last) {
            let reason = format!("{} is above the memory of an input, {memory}", self.last);
            problems.wrong("last", reason, "raise `switch.inputs.memory`");
        }
    }

    fn effects(&self) -> Effects {
        Effects { frame: self.frame, reach: Reach::Rates, claims: Claims::None, lossless: false }
    }

    fn make(&self, inputs: usize) -> Result<Gfc, Invalid> {
        Gfc::new(self, inputs)
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        let one = |stages| Self {
            first: Bytes::new(1000),
            last: Bytes::new(1800),
            stages,
            frame: smallest_frame(),
        };
        vec![one(10), one(1)]
    }
}

/// The policy of one switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gfc {
    spec: Params,
    /// By input: the stage that was last sent to its neighbour.
    reported: Vec<u8>,
    slowing: u32,
}

impl Gfc {
    /// A switch with so many inputs, which slows no neighbour down.
    ///
    /// # Errors
    /// If B_m is not above B_1, or there are no stages.
    pub fn new(spec: &Params, inputs: usize) -> Result<Self, Invalid> {
        if spec.last <= spec.first || !(1..=16).contains(&spec.stages) {
            let Params { stages, first, last, .. } = spec;
            let why = format!("stages 1 to {stages} from {first} on up to {last} do not rise");
            return Err(Invalid::new(why).at("stages"));
        }
        Ok(Self { spec: *spec, reported: vec![0; inputs], slowing: 0 })
    }

    fn stage(&self, bytes: u64) -> u8 {
        let (first, last) = (self.spec.first.get(), self.spec.last.get());
        if bytes < first {
            return 0;
        }
        let mut stage = 1;
        while stage < self.spec.stages && bytes >= last - ((last - first) >> stage) {
            stage += 1;
        }
        stage
    }

    fn follow(&mut self, input: usize, held: Held) -> Option<Frame> {
        let stage = self.stage(held.bytes);
        let before = std::mem::replace(&mut self.reported[input], stage);
        self.slowing = self.slowing + u32::from(stage > 0) - u32::from(before > 0);
        (stage != before).then_some(Frame::Slow { halvings: stage })
    }
}

impl PausePolicy for Gfc {
    #[inline]
    fn on_taken(&mut self, _: Time, at: Passing<'_>, held: Held) -> Option<Frame> {
        self.follow(at.input, held)
    }
    #[inline]
    fn on_released(&mut self, _: Time, input: usize, held: Held) -> Option<Frame> {
        self.follow(input, held)
    }
    fn restate(&self, input: usize) -> Vec<Frame> {
        let halvings = self.reported[input];
        if halvings > 0 { vec![Frame::Slow { halvings }] } else { Vec::new() }
    }
    /// A neighbour never stops completely.
    fn has_paused(&self, _: usize) -> bool {
        false
    }
    #[inline]
    fn is_pausing(&self) -> bool {
        self.slowing > 0
    }
    #[inline]
    fn is_quiet(&self, bytes: u64) -> bool {
        self.slowing == 0 && bytes < self.spec.first.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_wire::Packet;

    const SPEC: Params =
        Params { first: Bytes::new(1000), last: Bytes::new(1800), stages: 10, frame: Bytes::new(64) };

    #[test]
    fn each_stage_halves_the_rate_and_begins_half_as_far_from_the_end() {
        let gfc = Gfc::new(&SPEC, 1).unwrap();
        let stages = [0, 999, 1000, 1399, 1400, 1599, 1600, 1700, 1799, 5000].map(|bytes| gfc.stage(bytes));
        assert_eq!(stages, [0, 0, 1, 1, 2, 2, 3, 4, 10, 10]);
    }

    #[test]
    fn a_neighbour_is_notified_once_per_stage() {
        let mut gfc = Gfc::new(&SPEC, 2).unwrap();
        let held = |bytes| Held { bytes, headroom: 0, threshold: u64::MAX };
        let packet = Packet::default();
        let mut taken =
            |bytes| gfc.on_taken(Time::ZERO, Passing { input: 1, output: 0, packet: &packet }, held(bytes));
        let slow = |halvings| Some(Frame::Slow { halvings });
        assert_eq!([taken(900), taken(1000), taken(1100), taken(1450)], [None, slow(1), None, slow(2)]);
        assert!(gfc.is_pausing());
        assert_eq!(
            [gfc.on_released(Time::ZERO, 1, held(1200)), gfc.on_released(Time::ZERO, 1, held(10))],
            [slow(1), slow(0)]
        );
        assert!(!gfc.is_pausing() && gfc.is_quiet(999) && !gfc.is_quiet(1000));
    }

    #[test]
    fn a_neighbour_whose_link_comes_back_is_notified_of_the_stage_again() {
        let mut switch = Gfc::new(&SPEC, 2).unwrap();
        let held = |bytes| Held { bytes, headroom: 0, threshold: u64::MAX };
        let at = Passing { input: 1, output: 0, packet: &Packet::default() };
        assert_eq!(switch.on_taken(Time::ZERO, at, held(1500)), Some(Frame::Slow { halvings: 2 }));
        assert_eq!([0, 1].map(|input| switch.restate(input)), [vec![], vec![Frame::Slow { halvings: 2 }]]);
    }

    #[test]
    fn stages_that_do_not_rise_are_refused() {
        assert!(
            Gfc::new(&Params { last: Bytes::new(1000), ..SPEC }, 1)
                .unwrap_err()
                .to_string()
                .contains("do not rise")
        );
        assert!(Gfc::new(&Params { stages: 0, ..SPEC }, 1).is_err());
    }
}
