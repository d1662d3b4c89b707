//! The software datapath: a policy, arrivals, and ports that send, in virtual time. Pure: the same input gives the same
//! output on every machine. [`Bench`] measures the real cost of packets, with a clock of the caller.
//!
//! At an instant the policy changes first, then packets arrive, then free ports take their next packets, in the order
//! of their declarations. This is the order of the simulator, whose ports decide after all arrivals of an instant.

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

/// A packet that arrives at the policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Time of arrival; arrivals are sorted by it.
    pub at: Time,
    /// The fields that a classifier has set.
    pub offered: Offered,
}

/// How ports work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// Each port sends at its rate, which takes time for each packet. See [`line_rates`].
    Sending(Vec<Rate>),
    /// The same, with one core that does the work for all ports.
    OneCore(Vec<Rate>, Core),
    /// Each port works on one packet per cycle; a packet leaves with its last cycle. Cycles begin at multiples of this
    /// span.
    Cycles(Span),
}

/// Why a datapath cannot continue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The engine reports a fault.
    Fault(Fault),
    /// This arrival, counted from 0, is earlier than the one before it.
    Order(usize),
    /// More packets than handles.
    TooMany,
    /// A policy cannot replace the one before it.
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
    /// A datapath with this policy. `make` makes engines from policies and seeds.
    pub fn new(policy: &'a Policy, seed: u64, make: M) -> Self {
        Self { policy, changes: Vec::new(), seed, make }
    }

    /// Replaces the policy at this instant. Changes must be in the order of time.
    pub fn change(&mut self, at: Time, policy: &'a Policy) {
        self.changes.push((at, policy));
    }

    /// Runs until nothing can leave any more, or to this instant, even if packets wait then.
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
