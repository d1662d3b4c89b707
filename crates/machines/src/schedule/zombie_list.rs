//! Two queues whose shares equalise the mean rate per flow, based on estimates of the number of flows in each. RCP
//! shares links with other traffic this way, and Goyal compares max-min shares with it ("Congestion Control in Highly
//! Variable Networks", MIT 2022, §2.4.3, Figure 2-13b). The estimate is SRED's: Ott, Lakshman, Wong, "SRED: Stabilized
//! RED", INFOCOM 1999, §2.
//!
//! Every packet is compared with one of a list of those that came before, at random. With N flows that send
//! alike it is of the same flow one time in N; a moving mean of that estimates 1/N. A packet that differs takes
//! the place of the other by chance.
//!
//! It fails as short flows are many: each counts as much as a long one, and the queue they are in gets a
//! share for all of them.
//!
//! CHOICE ABC §2.4.3: the list's size, chances and steps are those of the authors' published queue.

use super::structures::two_queues::{LEAST, TwoQueues, Weights};
use super::{Around, At, Limit, Machine, Manages, Needs, Parameters, Problems};
use crate::problems::Invalid;
use crate::stage::StageSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Stream, Time};

/// Two queues, for traffic of class 0 and for all else (ABC's), whose shares follow from estimates of the
/// number of flows in each (RCP's zombie lists, as in Goyal, MIT 2022, §2.4.3); `marking` is that of the
/// second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// M: number of packets in each zombie list.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub zombies: u32,
    /// p: probability that a packet of another flow replaces the one it was compared with.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub overwrite: f64,
    /// Step by which shares change per packet that leaves, at the largest difference of the mean rates per flow.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub step: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { zombies: 1000, overwrite: 0.25, step: 0.001 }
    }
}

impl Parameters for Params {
    type Machine = ZombieList;

    fn needs(&self) -> Needs {
        Needs { classes: Some(2), manages: Manages::Shares, fixed_rate: true, keeps: true, ..Needs::NOTHING }
    }
    fn check(&self, _: &Around, problems: &mut Problems) {
        if !(1..=1_000_000).contains(&self.zombies) {
            problems.wrong("zombies", format!("{} is out of range", self.zombies), "allowed: 1 to 1000000");
        }
        for (key, value) in [("overwrite", self.overwrite), ("step", self.step)] {
            if !(value > 0.0 && value <= 1.0) {
                problems.wrong(key, format!("{value} is out of range"), "allowed: above 0, at most 1");
            }
        }
    }
    fn make(&self, at: &At) -> Result<ZombieList, Invalid> {
        let list = || List { flows: Vec::new(), hits: 1.0 };
        Ok(ZombieList { p: *self, share: 0.5, lists: [list(), list()], stream: at.stream })
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { zombies: 5, ..Self::default() }]
    }
}

/// A queue's list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct List {
    flows: Vec<FlowId>,
    /// P: how often a packet is of the flow that it is compared with.
    hits: f64,
}

impl List {
    fn saw(&mut self, flow: FlowId, p: &Params, stream: &mut Stream) {
        let alpha = p.overwrite / f64::from(p.zombies);
        self.hits *= 1.0 - alpha;
        let slot = stream.below(u64::from(p.zombies)) as usize;
        if slot >= self.flows.len() {
            self.flows.push(flow);
            self.hits += alpha;
        } else if self.flows[slot] == flow {
            self.hits += alpha;
        } else if stream.unit() < p.overwrite {
            self.flows[slot] = flow;
        }
    }

    /// N.
    fn count(&self) -> f64 {
        (1.0 / self.hits).max(1.0)
    }
}

/// What is estimated at one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ZombieList {
    p: Params,
    share: f64,
    lists: [List; 2],
    stream: Stream,
}

impl Weights for ZombieList {
    fn joined(&mut self, _: Time, queue: usize, flow: FlowId, _wire: u32) {
        self.lists[queue].saw(flow, &self.p, &mut self.stream);
    }
    fn share(&mut self, _: Time) -> f64 {
        let [other, own] = [(1.0 - self.share) / self.lists[0].count(), self.share / self.lists[1].count()];
        self.share += self.p.step * (other - own) / (other + own);
        self.share = self.share.clamp(LEAST, 1.0 - LEAST);
        self.share
    }
}

impl Machine for ZombieList {
    type Queue = TwoQueues<Self>;
    fn queue(self, limit: Limit, stage: &StageSpec, at: &At) -> Result<TwoQueues<Self>, Invalid> {
        TwoQueues::new(self, limit, stage, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Rate;

    fn lists() -> ZombieList {
        let at = At {
            rate: Rate::from_mbps(8),
            back: Rate::from_mbps(8),
            stream: Stream::new(1, "queue", 0),
            preemptive: false,
        };
        Params::default().make(&at).unwrap()
    }

    #[test]
    fn flows_that_send_alike_are_counted() {
        for flows in [1, 3, 10] {
            let mut m = lists();
            for n in 0..100_000 {
                m.joined(Time::ZERO, 0, FlowId(n % flows), 1500);
            }
            let count = m.lists[0].count();
            assert!((count / f64::from(flows) - 1.0).abs() < 0.1, "{flows}: {count}");
        }
    }

    #[test]
    fn shares_settle_where_each_flow_has_as_much_and_short_flows_count_as_long_ones() {
        let mut m = lists();
        for n in 0..100_000 {
            m.joined(Time::ZERO, 0, FlowId(n % 3), 1500);
            m.joined(Time::ZERO, 1, FlowId(100 + n % 9), 1500);
            m.share(Time::ZERO);
        }
        assert!((m.share - 0.75).abs() < 0.03, "{}", m.share);
        // Every third packet of queue 0 is now a flow of its own.
        for n in 0..100_000 {
            m.joined(Time::ZERO, 0, if n % 3 == 0 { FlowId(1000 + n) } else { FlowId(n % 2) }, 1500);
            m.joined(Time::ZERO, 1, FlowId(100 + n % 9), 1500);
            m.share(Time::ZERO);
        }
        // One in 4.5 is of the same flow: 9 / 13.5.
        assert!((m.share - 0.667).abs() < 0.03, "{}", m.share);
    }
}
