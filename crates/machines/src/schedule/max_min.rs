//! Two queues whose shares give every flow its max-min fair rate, whichever queue it is in. Goyal, "Congestion Control
//! in Highly Variable Networks" (MIT, 2022), §2.4.3.
//!
//! In every interval the K largest flows of each queue are measured ([`SpaceSaving`](super::structures::space_saving));
//! of each of these the demand is a little more than its rate, of all others together their rate. The link is
//! then filled max-min, and a queue's share is what its flows got. A large flow that does not grow loses at
//! most that little.
//!
//! CHOICE ABC §2.4.3: neither the interval nor K is published, nor whether arrivals or departures are measured. 500 ms,
//! since ABC and CUBIC are bursty over a round trip; 10; what joins. Of a counter only the bytes that are certainly the
//! flow's are used.

use super::structures::space_saving::SpaceSaving;
use super::structures::two_queues::{LEAST, TwoQueues, Weights};
use super::{Around, At, Limit, Machine, Manages, Needs, Parameters, Problems};
use crate::problems::Invalid;
use crate::stage::StageSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Rate, Span, Time};

/// Two queues, for traffic of class 0 and for all else (ABC's), whose shares are max-min fair to the flows of
/// both (Goyal et al., NSDI 2020); `marking` is that of the second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// K: number of the largest flows of each queue that are measured individually.
    #[schemars(range(min = 1, max = 1000))]
    pub flows: u32,
    /// Interval over which rates are measured before shares change.
    pub interval: Span,
    /// X: the demand of a measured flow is its rate plus this fraction.
    #[schemars(extend("minimum" = 0.0, "maximum" = 10.0))]
    pub headroom: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { flows: 10, interval: Span::from_ms(500), headroom: 0.1 } // X: §2.4.3
    }
}

impl Parameters for Params {
    type Machine = MaxMin;

    fn needs(&self) -> Needs {
        Needs { classes: Some(2), manages: Manages::Shares, fixed_rate: true, keeps: true, ..Needs::NOTHING }
    }
    fn check(&self, at: &Around, problems: &mut Problems) {
        if !(1..=1000).contains(&self.flows) {
            problems.wrong("flows", format!("{} is out of range", self.flows), "allowed: 1 to 1000");
        }
        problems.positive("interval", self.interval, "500ms");
        if self.interval >= at.end {
            let why = format!("the run ends at {}, before shares change", at.end);
            problems.useless("interval", &why, "write a shorter one or raise `run.until`");
        }
        if !(0.0..=10.0).contains(&self.headroom) {
            problems.wrong("headroom", format!("{} is out of range", self.headroom), "allowed: 0 to 10");
        }
    }
    fn make(&self, at: &At) -> Result<MaxMin, Invalid> {
        let top = || SpaceSaving::new(self.flows);
        Ok(MaxMin { p: *self, rate: at.rate, began: None, share: 0.5, top: [top(), top()] })
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { interval: Span::from_us(50), flows: 2, ..Self::default() }]
    }
}

/// What is measured at one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaxMin {
    p: Params,
    rate: Rate,
    /// The interval, with its first packet.
    began: Option<Time>,
    share: f64,
    top: [SpaceSaving; 2],
}

impl MaxMin {
    /// Shares follow from what joined in a time of so many seconds.
    fn measured(&mut self, seconds: f64) {
        let capacity = self.rate.bps() as f64 / 8.0 * seconds;
        let (mut short, mut demands) = ([0.0; 2], Vec::new());
        for (queue, top) in self.top.iter_mut().enumerate() {
            let certain: u64 = top.certain().sum();
            short[queue] = (top.seen() - certain) as f64;
            demands.extend(top.certain().map(|bytes| (bytes as f64 * (1.0 + self.p.headroom), queue)));
            top.clear();
        }
        let [none, abc] = fill(capacity, short, &mut demands);
        if none + abc > 0.0 {
            self.share = (abc / (none + abc)).clamp(LEAST, 1.0 - LEAST);
        }
    }
}

/// What each queue gets of a capacity if short flows get what they want first and no large flow gets more
/// than another that wants more.
fn fill(capacity: f64, short: [f64; 2], demands: &mut [(f64, usize)]) -> [f64; 2] {
    let mut given = short;
    let mut rest = (capacity - short[0] - short[1]).max(0.0);
    demands.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    for (n, (demand, queue)) in demands.iter().enumerate() {
        let gets = demand.min(rest / (demands.len() - n) as f64);
        rest -= gets;
        given[*queue] += gets;
    }
    given
}

impl Weights for MaxMin {
    fn joined(&mut self, now: Time, queue: usize, flow: FlowId, wire: u32) {
        let began = *self.began.get_or_insert(now);
        let passed = now.since(began);
        if passed >= self.p.interval {
            self.measured(passed.secs());
            self.began = Some(now);
        }
        self.top[queue].add(flow, u64::from(wire));
    }
    fn share(&mut self, _: Time) -> f64 {
        self.share
    }
}

impl Machine for MaxMin {
    type Queue = TwoQueues<Self>;
    fn queue(self, limit: Limit, stage: &StageSpec, at: &At) -> Result<TwoQueues<Self>, Invalid> {
        TwoQueues::new(self, limit, stage, at)
    }
}

#[cfg(test)]
mod tests;
