//! Gentle flow control, buffer-based: an input that fills up has its neighbour send at half, a quarter, an eighth … of the link's rate, and never
//! stop. Qian, Cheng, Zhang, Ren, "Gentle Flow Control: Avoiding Deadlock in Lossless Networks", SIGCOMM 2019, §4.2.
//!
//! Stage k holds from B_k = B_m − (B_m − B_1)/2^(k−1) on; below B_1 the neighbour sends at full rate.

use super::{Frame, Held, Passing, PausePolicy};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Time};

/// Parameters of [`Gfc`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GfcSpec {
    /// B_1: from here on the neighbour is slowed down.
    pub first: Bytes,
    /// B_m, where the rate would be zero.
    pub last: Bytes,
    /// The rate is never below that of the link divided by 2 to the power of this.
    pub stages: u8,
    /// A frame on the wire.
    pub frame_wire: u32,
}

/// The policy of one switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gfc {
    spec: GfcSpec,
    /// By input: what its neighbour was told last.
    told: Vec<u8>,
    slowing: u32,
}

impl Gfc {
    /// A switch with so many inputs, which slows nobody down.
    ///
    /// # Errors
    /// If B_m is not above B_1, or there are no stages.
    pub fn new(spec: &GfcSpec, inputs: usize) -> Result<Self, String> {
        if spec.last <= spec.first || !(1..=16).contains(&spec.stages) {
            return Err(format!(
                "stages 1 to {} from {} on up to {} do not rise",
                spec.stages, spec.first, spec.last
            ));
        }
        Ok(Self { spec: *spec, told: vec![0; inputs], slowing: 0 })
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
        let before = std::mem::replace(&mut self.told[input], stage);
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
    /// It goes on, if slowly.
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
    use crate::packet::Packet;

    const SPEC: GfcSpec =
        GfcSpec { first: Bytes::new(1000), last: Bytes::new(1800), stages: 10, frame_wire: 64 };

    #[test]
    fn each_stage_halves_the_rate_and_begins_half_as_far_from_the_end() {
        let gfc = Gfc::new(&SPEC, 1).unwrap();
        let stages = [0, 999, 1000, 1399, 1400, 1599, 1600, 1700, 1799, 5000].map(|bytes| gfc.stage(bytes));
        assert_eq!(stages, [0, 0, 1, 1, 2, 2, 3, 4, 10, 10]);
    }

    #[test]
    fn a_neighbour_is_told_of_every_other_stage_once() {
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
    fn stages_that_do_not_rise_are_refused() {
        assert!(
            Gfc::new(&GfcSpec { last: Bytes::new(1000), ..SPEC }, 1).unwrap_err().contains("do not rise")
        );
        assert!(Gfc::new(&GfcSpec { stages: 0, ..SPEC }, 1).is_err());
    }
}
