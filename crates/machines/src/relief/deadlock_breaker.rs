//! The deadlock breaker of Menikkumbura, Purdue 2022, §4.6.4: cycles are found as [`super::detect`] describes, and
//! turned: every port on one sends the first packet that the cycle brought it, pause or not, into a place
//! that each input keeps for that. Nothing is lost or reordered.
//!
//! ```text
//! CHOICE Escape §4.6.4: not the first of the whole queue, as the paper has it: that may have come by another
//! input, and then the cycle's own holds one packet more after every round, until its reserved place does not
//! do.
//! ```

use super::detect::{Detector, FURTHEST};
use super::{Act, Parameters, Problems, Relief, Site, SwitchView, Tally};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};
use thalweg_wire::Signal;

/// Detects deadlocks by messages that travel round the cycle, and resolves them by advancing one packet per port, for
/// which each input reserves a place (Menikkumbura, Purdue 2022, §4.6.4).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// A port that holds packets and has sent none for this time is suspected.
    pub after: Span,
}

impl Default for Params {
    // CHOICE Escape §4.6.4: no number in the paper.
    fn default() -> Self {
        Self { after: Span::from_ms(1) }
    }
}

impl Parameters for Params {
    type Machine = DeadlockBreaker;

    fn check(&self, problems: &mut Problems) {
        Detector::check(self.after, problems);
    }
    /// One that comes before the own one has left.
    fn more(&self) -> u64 {
        2
    }
    fn make(&self, _: &Site) -> DeadlockBreaker {
        DeadlockBreaker { detector: Detector::new(self.after), turning: None, tally: Tally::default() }
    }
}

/// The deadlock breaker of one switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeadlockBreaker {
    detector: Detector,
    /// The output whose cycle is being turned, and until when its ADVANCE may come back.
    turning: Option<(usize, Time)>,
    tally: Tally,
}

impl DeadlockBreaker {
    /// A packet of the input that is to get one: its place is free then.
    fn advance(&mut self, input: usize, output: usize, id: u32, hops: u16, acts: &mut Vec<Act>) {
        self.tally.lifted += 1;
        self.tally.signals += 1;
        acts.push(Act::LiftFirst { output, input });
        acts.push(Act::Signal(output, Signal::Advance { id, hops }));
    }
}

impl Relief for DeadlockBreaker {
    fn next(&self, now: Time) -> Time {
        self.detector.next(now)
    }
    fn is_active(&self, view: &impl SwitchView) -> bool {
        Detector::is_active(view)
    }
    fn tick(&mut self, now: Time, view: &impl SwitchView, acts: &mut Vec<Act>) {
        self.detector.tick(now, view, acts);
    }
    fn on_signal(
        &mut self,
        now: Time,
        port: usize,
        signal: Signal,
        view: &impl SwitchView,
        acts: &mut Vec<Act>,
    ) {
        match signal {
            Signal::Detect { id, hops } => {
                let turns = self.turning.is_some_and(|(_, until)| now < until);
                if let Some(output) =
                    self.detector.on_detect(now, port, id, hops, view, acts).filter(|_| !turns)
                {
                    self.tally.cycles += 1;
                    self.turning = Some((output, self.detector.next(now)));
                    self.advance(port, output, id, FURTHEST, acts);
                }
            }
            Signal::Advance { id, hops } => {
                let Some(output) = self.detector.behind(now, port, view).next() else {
                    self.turning = None;
                    return;
                };
                if view.id(output) == id {
                    // Round: once more, as long as it is still suspected.
                    self.turning = Some((output, self.detector.next(now)));
                    self.advance(port, output, id, FURTHEST, acts);
                } else if hops > 0 {
                    self.advance(port, output, id, hops - 1, acts);
                }
            }
            Signal::Token { .. } | Signal::Release { .. } => {}
        }
    }
    fn tally(&self) -> Tally {
        Tally { signals: self.tally.signals + self.detector.sent, ..self.tally }
    }
}
