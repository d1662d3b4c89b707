//! The software datapath: a policy, what arrives, and ports that send, in virtual time. Pure: given the same it does
//! the same, everywhere. What packets really cost is measured by [`Bench`], with a clock that the caller brings.
//!
//! At an instant the policy changes first, then packets arrive, then ports that are free take their next, in the order
//! of their declarations: as in the simulator, whose ports decide once an instant's packets have come.

mod account;
mod boxed;
mod cost;
mod cycles;
mod lines;
mod measure;
mod outcome;
mod select;
mod sending;
mod traffic;

pub use boxed::{bytecode, interpreter};
pub use cost::Core;
pub use lines::{TooFast, line_rates};
pub use measure::{Bench, Lap, Pace};
pub use outcome::{Counters, Fate, Outcome, Record};
pub use traffic::{Mix, Traffic, entrances};

use crate::engine::{Engine, Fault, Offered};
use crate::normal::Policy;
use account::Account;
use std::fmt;
use thalweg_units::{Rate, Span, Time};

/// A packet on its way to the policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When it comes. Arrivals are in this order.
    pub at: Time,
    /// What a classifier says of it.
    pub offered: Offered,
}

/// What ports do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// Each sends at its rate: a packet occupies it for its bytes. See [`line_rates`].
    Sending(Vec<Rate>),
    /// The same, and one core does the work of all of them.
    OneCore(Vec<Rate>, Core),
    /// Each works on one packet a cycle, which leaves with its last one; cycles begin at the multiples of this span.
    Cycles(Span),
}

/// Why a datapath cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The engine cannot.
    Fault(Fault),
    /// This arrival, from 0, comes before the one in front of it.
    Order(usize),
    /// More packets than handles.
    TooMany,
    /// A policy cannot take the place of the one before it.
    Unlike(String),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(fault) => fault.fmt(f),
            Self::Order(nth) => write!(f, "packet {nth} arrives before packet {}", nth.wrapping_sub(1)),
            Self::TooMany => write!(f, "more than 4294967294 packets"),
            Self::Unlike(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Stop {}

/// A datapath.
pub struct Datapath<'a, M> {
    policy: &'a Policy,
    changes: Vec<(Time, &'a Policy)>,
    seed: u64,
    make: M,
}

impl<'a, E: Engine, M: Fn(&Policy, u64) -> E> Datapath<'a, M> {
    /// Of a policy, run by the engines that `make` makes of policies and seeds.
    pub fn new(policy: &'a Policy, seed: u64, make: M) -> Self {
        Self { policy, changes: Vec::new(), seed, make }
    }

    /// The policy becomes another at this instant. Changes are in the order of their instants.
    pub fn change(&mut self, at: Time, policy: &'a Policy) {
        self.changes.push((at, policy));
    }

    /// Runs until nothing can leave any more, or to this instant, whatever waits then.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn run(self, work: &Work, arrivals: &[Arrival], until: Option<Time>) -> Result<Record, Stop> {
        if let Some(nth) = arrivals.windows(2).position(|pair| pair[1].at < pair[0].at) {
            return Err(Stop::Order(nth + 1));
        }
        if arrivals.len() >= u32::MAX as usize {
            return Err(Stop::TooMany);
        }
        let until = until.unwrap_or(Time::MAX);
        let mut account = Account::new(self.policy, self.changes, self.seed, self.make, arrivals);
        match work {
            Work::Sending(rates) => sending::run(&mut account, rates, until)?,
            Work::OneCore(rates, core) => cost::run(&mut account, rates, core, until)?,
            Work::Cycles(cycle) => cycles::run(&mut account, *cycle, until)?,
        }
        Ok(account.close(until))
    }
}

#[cfg(test)]
mod tests;
