//! DCTCP as csg-htsim has it (Broadcom/csg-htsim, `sim/dctcp.cpp`): an observation window is as many bytes as
//! the congestion window was when it began, and each one ends with a cut by α/2 as long as α > 0, whether or
//! not it held marks; a window grows by no more than the room that an ACK leaves in it.

use super::super::AckSample;
use super::super::newreno::NewReno;
use super::Dctcp;
use thalweg_units::Bytes;

/// Bytes of the first observation window: here `window_end` is a length.
pub(super) fn window_end(reno: &NewReno) -> u64 {
    reno.window
}

/// Bytes by which an ACK lets the window grow: at most a segment, and the room between flight and window.
pub(super) fn room(ack: &AckSample, reno: &NewReno) -> u64 {
    let room = reno.window.saturating_sub(ack.in_flight.get());
    ack.acked.get().min(u64::from(reno.mss)).min(room)
}

impl Dctcp {
    /// A mark ends slow start; the end of the window cuts.
    pub(super) fn cut_each_window(&mut self, ack: &AckSample) {
        if ack.marked > Bytes::ZERO {
            self.reno.threshold = self.reno.threshold.min(self.reno.window);
        }
        if self.acked >= self.window_end {
            self.close_window();
            if self.alpha > 0.0 {
                self.cut(ack.sent_to);
            }
            self.window_end = window_end(&self.reno);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Growth, Params};
    use super::*;
    use crate::congestion::CongestionControl;
    use crate::congestion::contract::conformance::{ack, start};

    /// Four segments of 1000 B, past slow start, g = 1/16, α = 1/2.
    fn htsims(growth: Growth) -> Dctcp {
        let (gain, initial_alpha, cut_without_marks) = (1.0 / 16.0, 0.5, true);
        let params = Params { gain, initial_alpha, growth, cut_without_marks, ..Params::default() };
        let mut c = Dctcp::new(&start(1000, 4), &params);
        c.reno.threshold = 4000;
        c
    }

    #[test]
    fn windows_without_marks_end_with_a_cut_too() {
        let mut c = htsims(Growth::UnmarkedAcks);
        for n in 1..=3u64 {
            c.on_ack(&AckSample { acked_to: n * 1000, sent_to: n * 1000 + 4000, ..ack(1000, 0) });
        }
        assert_eq!(c.reno.window, 4000 + 250 + 235 + 223);
        c.on_ack(&AckSample { acked_to: 4000, sent_to: 8000, ..ack(1000, 0) });
        // α = 15/32 after the window: 4708 × (1 − 15/64) = 3604.6, and the ACK's own growth, 10⁶/3604 and remainders
        assert_eq!((c.reno.window, c.reno.threshold), (3604 + 278, 3604));
    }

    #[test]
    fn a_full_window_does_not_grow_and_one_with_room_grows_by_no_more_than_the_room() {
        let room = |in_flight| {
            let ack = AckSample { in_flight: Bytes::new(in_flight), ..ack(1000, 0) };
            Growth::Room.of(1000, &ack, &htsims(Growth::Room).reno)
        };
        assert_eq!([4000, 5000, 3600, 1000].map(room), [0, 0, 400, 1000]);
    }
}
