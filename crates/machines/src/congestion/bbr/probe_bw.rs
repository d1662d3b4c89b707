//! The cycle of PROBE_BW: eight phases of about a round trip. One of them probes for more bandwidth, and the
//! next one drains the queue that this may have built. §4.3.4.

use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Stream, Time};

/// BBRGainCycleLen gains.
const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cycle {
    /// `cycle_index`, `cycle_stamp`.
    pub(super) phase: u8,
    pub(super) since: Time,
}

impl Cycle {
    /// Any phase but that of the lower gain comes first.
    pub(super) fn begin(&mut self, now: Time, stream: &mut Stream) {
        self.phase = 7 - stream.below(7) as u8;
        self.advance(now);
    }

    /// BBRAdvanceCyclePhase.
    pub(super) fn advance(&mut self, now: Time) {
        *self = Self { phase: (self.phase + 1) % GAINS.len() as u8, since: now };
    }

    pub(super) fn gain(&self) -> f64 {
        GAINS[usize::from(self.phase)]
    }

    /// This phase probes for more bandwidth.
    pub(super) fn probes(&self) -> bool {
        self.phase == 0
    }

    /// The phase has lasted for longer than a round trip.
    pub(super) fn is_full(&self, now: Time, rtprop: Option<Span>) -> bool {
        rtprop.is_some_and(|rtprop| now.since(self.since) > rtprop)
    }
}
