//! What flows without end do in the measured window: their sums when it opens and when it closes.

use crate::engine::Engine;
use serde::{Deserialize, Serialize};
use thalweg_net::spec::NetworkSpec;
use thalweg_sim::FlowOutcome;
use thalweg_units::{FlowId, Time};

/// Sums of a flow so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Sums {
    /// Payload delivered.
    delivered: u64,
    /// Round trips measured, and all of them together, ps.
    round_trips: u64,
    waited: u128,
}

impl Sums {
    fn of(outcome: &FlowOutcome) -> Self {
        Self { delivered: outcome.delivered, round_trips: outcome.rtts, waited: outcome.rtt_sum }
    }
}

/// The measured window, as far as the run has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Window {
    from: Time,
    until: Time,
    /// The flows without end, by number.
    flows: Vec<FlowId>,
    /// Their sums when it opened and when it closed; empty: not yet.
    opened: Vec<Sums>,
    closed: Vec<Sums>,
}

/// What a flow without end has done in the window.
pub(crate) struct Share {
    /// Payload delivered, over so many seconds.
    pub delivered: u64,
    pub seconds: f64,
    /// Mean round trip, ps, if one was measured.
    pub rtt: Option<u64>,
}

impl Window {
    /// Of a run of which nothing has happened.
    pub fn new(spec: &NetworkSpec, (from, until): (Time, Time)) -> Self {
        let endless = |(at, flow): (usize, &thalweg_net::spec::FlowSpec)| {
            (flow.size == u64::MAX).then_some(FlowId(at as u32))
        };
        let flows: Vec<FlowId> = spec.flows.iter().enumerate().filter_map(endless).collect();
        let opened = if from == Time::ZERO { vec![Sums::default(); flows.len()] } else { Vec::new() };
        Self { from, until, flows, opened, closed: Vec::new() }
    }

    /// An instant lies in it.
    pub fn holds(&self, at: Time) -> bool {
        at >= self.from && at < self.until
    }

    /// What has not happened by an instant might have happened in it, had the run gone on.
    pub fn may_hold_after(&self, now: Time) -> bool {
        now <= self.until
    }

    /// The instant at which sums are noted next; [`Time::MAX`]: none is left.
    pub fn next(&self) -> Time {
        match (self.flows.is_empty(), self.opened.is_empty(), self.closed.is_empty()) {
            (true, ..) => Time::MAX,
            (_, true, _) => self.from,
            (_, _, true) => self.until,
            _ => Time::MAX,
        }
    }

    /// That instant has come.
    pub fn note(&mut self, engine: &Engine) {
        let sums = self.flows.iter().map(|flow| Sums::of(&engine.outcome(*flow))).collect();
        let list = if self.opened.is_empty() { &mut self.opened } else { &mut self.closed };
        *list = sums;
    }

    /// What a flow has done in it so far; `None`: it had no time to.
    pub fn share(&self, flow: FlowId, outcome: &FlowOutcome, now: Time) -> Option<Share> {
        let place = self.flows.binary_search(&flow).ok()?;
        let before = *self.opened.get(place)?;
        let sums = self.closed.get(place).copied().unwrap_or_else(|| Sums::of(outcome));
        let begin = outcome.started?.max(self.from);
        let end = outcome.received.unwrap_or(now).min(now).min(self.until);
        let seconds = if end > begin { (end - begin).secs() } else { return None };
        let round_trips = sums.round_trips - before.round_trips;
        let waited = sums.waited - before.waited;
        let mean = waited.checked_div(u128::from(round_trips));
        let rtt = mean.map(|mean| u64::try_from(mean).unwrap_or(u64::MAX));
        Some(Share { delivered: sums.delivered - before.delivered, seconds, rtt })
    }
}
