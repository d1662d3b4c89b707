//! The loop breaker of Menikkumbura, Purdue 2022, §4.6.4: cycles are found as [`super::detect`] describes, and
//! broken by giving packets up. (That of Shpiner et al., HotNets 2016, sends them another way.)

use super::detect::Detector;
use super::{Act, Parameters, Problems, Relief, Site, SwitchView, Tally};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};
use thalweg_wire::Signal;

/// Detects deadlocks by messages that travel round the cycle, and resolves them by dropping packets (Shpiner et al.,
/// HotNets 2016; Menikkumbura, Purdue 2022, §4.6.4).
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
    type Machine = LoopBreaker;

    fn check(&self, problems: &mut Problems) {
        Detector::check(self.after, problems);
    }
    fn more(&self) -> u64 {
        0
    }
    fn drops(&self) -> bool {
        true
    }
    fn make(&self, _: &Site) -> LoopBreaker {
        LoopBreaker { detector: Detector::new(self.after), tally: Tally::default() }
    }
}

/// The loop breaker of one switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopBreaker {
    detector: Detector,
    tally: Tally,
}

impl Relief for LoopBreaker {
    fn next(&self, now: Time) -> Time {
        self.detector.next(now)
    }
    fn is_active(&self, view: &impl SwitchView) -> bool {
        Detector::is_active(view)
    }
    fn tick(&mut self, now: Time, view: &impl SwitchView, acts: &mut Vec<Act>) {
        self.detector.tick(now, view, acts);
    }
    // CHOICE Escape §4.6.4: the queue is given up from its head on until every input that it holds packets of
    // may go on; retransmissions are the transport's affair.
    fn on_signal(
        &mut self,
        now: Time,
        port: usize,
        signal: Signal,
        view: &impl SwitchView,
        acts: &mut Vec<Act>,
    ) {
        let Signal::Detect { id, hops } = signal else { return };
        if let Some(output) = self.detector.on_detect(now, port, id, hops, view, acts) {
            self.tally.cycles += 1;
            acts.push(Act::GiveUp(output));
        }
    }
    fn tally(&self) -> Tally {
        Tally { signals: self.detector.sent, ..self.tally }
    }
}
