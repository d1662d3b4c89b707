//! HyStart++: slow start ends when round trips grow. RFC 9406 (Balasubramanian, Huang, Olson, 2023), §4.2 and
//! its constants.

use super::super::AckSample;
use serde::{Deserialize, Serialize};
use thalweg_units::Span;

const MIN_RTT_THRESH: Span = Span::from_ms(4);
const MAX_RTT_THRESH: Span = Span::from_ms(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// L, segments per ACK, without pacing.
// CHOICE RFC 9406 §4.3: with pacing, too. Other reading: no bound there; that would differ only for ACKs of
// more than eight segments.
const L: f64 = 8.0;

/// Conservative slow start, entered when round trips grow; it is left again if that turns out to have been noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Conservative {
    /// cssBaselineMinRtt.
    baseline: Span,
    /// Rounds of it so far, this one included.
    rounds: u32,
}

/// The first slow start of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HyStart {
    /// windowEnd: a round ends when this byte is acknowledged; zero: none has begun.
    pub(super) window_end: u64,
    /// lastRoundMinRTT; [`Span::MAX`]: none.
    last: Span,
    /// currentRoundMinRTT; [`Span::MAX`]: none.
    current: Span,
    /// rttSampleCount.
    samples: u32,
    pub(super) conservative: Option<Conservative>,
}

impl Default for HyStart {
    fn default() -> Self {
        Self { window_end: 0, last: Span::MAX, current: Span::MAX, samples: 0, conservative: None }
    }
}

impl HyStart {
    /// By how many segments an ACK of `acked` segments enlarges the window.
    pub(super) fn growth(&self, acked: f64) -> f64 {
        acked.min(L) / if self.conservative.is_some() { CSS_GROWTH_DIVISOR } else { 1.0 }
    }

    /// An ACK of new data in slow start. Returns true if congestion avoidance begins.
    pub(super) fn on_ack(&mut self, ack: &AckSample) -> bool {
        if let Some(rtt) = ack.rtt {
            self.current = self.current.min(rtt);
            self.samples += 1;
        }
        let sampled = self.samples >= N_RTT_SAMPLE;
        match &mut self.conservative {
            None if sampled && self.last != Span::MAX => {
                let threshold = (self.last / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if self.current >= self.last + threshold {
                    // The rest of this round counts as one (§4.2).
                    self.conservative = Some(Conservative { baseline: self.current, rounds: 1 });
                }
            }
            Some(css) if sampled && self.current < css.baseline => self.conservative = None,
            _ => {}
        }
        if ack.acked_to < self.window_end {
            return false;
        }
        let begun = self.window_end > 0;
        self.window_end = ack.sent_to.max(1);
        if !begun {
            return false; // the first ACK belongs to the first round
        }
        (self.last, self.current, self.samples) = (self.current, Span::MAX, 0);
        match &mut self.conservative {
            Some(css) if css.rounds >= CSS_ROUNDS => true,
            Some(css) => {
                css.rounds += 1;
                false
            }
            None => false,
        }
    }
}
