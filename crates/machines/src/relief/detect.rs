//! Detection of deadlocks, cycles of ports that wait for each other: Shpiner, Zahavi, Zdornov, Anker, Kadosh,
//! "Unlocking credit loop deadlocks", HotNets 2016, as Menikkumbura, Purdue 2022, §4.6.4, uses it.
//!
//! An output that holds packets and has sent none for a while is suspected, and from time to time sends a DETECT with
//! its number. A switch that receives one passes it on through each suspected output that holds packets of that input,
//! if the output's own number is smaller; if it is the same, a cycle is found.

use super::{Act, Problems, SwitchView};
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};
use thalweg_wire::Signal;

/// Signals end after this many hops; no cycle is longer.
pub(super) const FURTHEST: u16 = 64;

/// Suspicion at one switch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detector {
    after: Span,
    pub sent: u64,
}

impl Detector {
    /// Checks `after`.
    pub fn check(after: Span, problems: &mut Problems) {
        if after.is_zero() {
            problems.wrong("after", "a time of 0 never passes", "for example \"1ms\"");
        }
    }

    /// Outputs are suspected after so long.
    pub fn new(after: Span) -> Self {
        Self { after, sent: 0 }
    }

    /// Twice in that time, at instants that are the same everywhere.
    pub fn next(&self, now: Time) -> Time {
        let every = (self.after.ps() / 2).max(1);
        Time::from_ps((now.ps() / every + 1).saturating_mul(every))
    }

    /// Some output might be suspected.
    pub fn is_active(view: &impl SwitchView) -> bool {
        (0..view.ports()).any(|output| view.is_paused(output))
    }

    /// It holds packets and has sent none for long.
    pub fn suspects(&self, now: Time, output: usize, view: &impl SwitchView) -> bool {
        view.is_paused(output) && view.waiting(output) > 0 && now.since(view.last_sent(output)) >= self.after
    }

    /// All suspected ports send a signal.
    pub fn tick(&mut self, now: Time, view: &impl SwitchView, acts: &mut Vec<Act>) {
        let before = acts.len();
        let suspected = (0..view.ports()).filter(|output| self.suspects(now, *output, view));
        acts.extend(
            suspected
                .map(|output| Act::Signal(output, Signal::Detect { id: view.id(output), hops: FURTHEST })),
        );
        self.sent += (acts.len() - before) as u64;
    }

    /// Suspected outputs that hold packets of the input.
    pub fn behind(&self, now: Time, input: usize, view: &impl SwitchView) -> impl Iterator<Item = usize> {
        (0..view.ports())
            .filter(move |output| view.held(*output, input) > 0 && self.suspects(now, *output, view))
    }

    /// A DETECT has come by an input: the output at which its cycle closes.
    pub fn on_detect(
        &mut self,
        now: Time,
        input: usize,
        id: u32,
        hops: u16,
        view: &impl SwitchView,
        acts: &mut Vec<Act>,
    ) -> Option<usize> {
        let (mut closed, before) = (None, acts.len());
        for output in self.behind(now, input, view) {
            let own = view.id(output);
            if own == id {
                closed = Some(output);
            } else if own < id && hops > 0 {
                acts.push(Act::Signal(output, Signal::Detect { id, hops: hops - 1 }));
            }
        }
        self.sent += (acts.len() - before) as u64;
        closed
    }
}
