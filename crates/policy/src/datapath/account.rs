//! Runs the engine and accounts for every packet.

use super::outcome::{Fate, Level, Outcome, Record};
use super::select::Selects;
use super::{Arrival, Stop};
use crate::engine::{Cycle, Effect, Engine, Offered, Running, Served, Stored};
use crate::normal::Policy;
use thalweg_units::{Span, Time};
use thalweg_wire::Handle;

/// A packet that a port has taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    nth: u32,
    /// Its bytes.
    pub size: u32,
    /// The packet enters another queue, or was dropped there.
    goes_on: bool,
}

/// See the module.
pub(super) struct Account<'a, E, M> {
    running: Running<E>,
    make: M,
    seed: u64,
    policies: Vec<&'a Policy>,
    /// Changes of the policy that are still to come, the next one last.
    changes: Vec<(Time, &'a Policy)>,
    selects: Vec<Selects>,
    arrivals: &'a [Arrival],
    next: usize,
    outcomes: Vec<Outcome>,
    departures: Vec<u32>,
    levels: Vec<Level>,
    effects: Vec<Effect>,
    resident: usize,
    end: Time,
    busy: Span,
}

impl<'a, E: Engine, M: Fn(&Policy, u64) -> E> Account<'a, E, M> {
    pub(super) fn new(
        policy: &'a Policy,
        mut changes: Vec<(Time, &'a Policy)>,
        seed: u64,
        make: M,
        arrivals: &'a [Arrival],
    ) -> Self {
        changes.reverse();
        let outcome = |arrival: &Arrival| Outcome {
            queue: arrival.offered.queue,
            fate: Fate::Waiting,
            at: arrival.at,
            marked: false,
            notices: 0,
            version: 0,
        };
        Self {
            running: Running::new(policy.clone(), make(policy, seed)),
            make,
            seed,
            policies: vec![policy],
            changes,
            selects: vec![Selects::new(policy, seed)],
            outcomes: arrivals.iter().map(outcome).collect(),
            arrivals,
            next: 0,
            departures: Vec::new(),
            levels: Level::of(policy),
            effects: Vec::new(),
            resident: 0,
            end: Time::ZERO,
            busy: Span::ZERO,
        }
    }

    /// The current policy. Ports and queues have the same names in all versions.
    pub(super) fn policy(&self) -> &'a Policy {
        self.policies[self.policies.len() - 1]
    }

    /// Time of the next arrival.
    pub(super) fn next_arrival(&self) -> Option<Time> {
        self.arrivals.get(self.next).map(|arrival| arrival.at)
    }

    /// Time of the next change of the policy.
    pub(super) fn next_change(&self) -> Option<Time> {
        self.changes.last().map(|(at, _)| *at)
    }

    /// Number of packets in queues.
    pub(super) fn resident(&self) -> usize {
        self.resident
    }

    /// Applies the changes that are due.
    pub(super) fn change(&mut self, now: Time) -> Result<(), Stop> {
        while let Some((_, policy)) = self.changes.pop_if(|(at, _)| *at <= now) {
            // Each version has random streams of its own.
            let seed = self.seed.wrapping_add(self.policies.len() as u64);
            let changed = self.running.change(policy.clone(), (self.make)(policy, seed));
            changed.map_err(|why| Stop::Unlike(why.to_string()))?;
            self.policies.push(policy);
            self.selects.push(Selects::new(policy, seed));
        }
        Ok(())
    }

    /// Takes the next arrival off the trace.
    pub(super) fn take_arrival(&mut self) -> Option<u32> {
        let nth = self.next;
        self.next += 1;
        (nth < self.arrivals.len()).then_some(nth as u32)
    }

    /// The fields of a packet.
    pub(super) fn offered(&self, nth: u32) -> &Offered {
        &self.arrivals[nth as usize].offered
    }

    /// A packet was lost because the ring before the core was full.
    pub(super) fn overrun(&mut self, nth: u32) {
        self.outcomes[nth as usize].fate = Fate::Overrun;
    }

    /// Offers a packet to the policy.
    pub(super) fn arrive(&mut self, now: Time, nth: u32) -> Result<(), Stop> {
        self.note_end(now);
        let offered = self.arrivals[nth as usize].offered;
        let version = self.running.version_of(offered.queue as usize).unwrap_or(0);
        let policy = self.policies[version as usize];
        let queue = self.selects[version as usize].queue(policy, &offered);
        self.running.arrive(now, &offered, Handle(nth), &mut self.effects)?;
        self.resident += 1;
        let outcome = &mut self.outcomes[nth as usize];
        (outcome.queue, outcome.version) = (queue, version);
        self.levels[queue as usize].enter(now);
        self.apply(now);
        self.levels[queue as usize].note_peak();
        Ok(())
    }

    /// A port takes the packet that leaves it, if there is one.
    pub(super) fn take(&mut self, port: usize, now: Time) -> Result<Option<Taken>, Stop> {
        self.note_end(now);
        let Some((_, served)) = self.running.dequeue(port, now, &mut self.effects)? else { return Ok(None) };
        Ok(Some(self.served(now, &served)))
    }

    /// A port works for a cycle. Returns whether there was work, and the packet that it has completed.
    pub(super) fn work(&mut self, port: usize, now: Time) -> Result<(bool, Option<Taken>), Stop> {
        self.note_end(now);
        match self.running.cycle(port, now, &mut self.effects)? {
            Cycle::Idle => Ok((false, None)),
            Cycle::Worked(_) => {
                self.apply(now);
                Ok((true, None))
            }
            Cycle::Left(served) => Ok((true, Some(self.served(now, &served)))),
        }
    }

    /// The last bit of a packet has been sent.
    pub(super) fn leave(&mut self, taken: Taken, at: Time) {
        if !taken.goes_on {
            let outcome = &mut self.outcomes[taken.nth as usize];
            (outcome.fate, outcome.at) = (Fate::Sent, at);
            self.departures.push(taken.nth);
            self.end = self.end.max(at);
        }
    }

    fn served(&mut self, now: Time, served: &Served) -> Taken {
        let nth = served.handle.0;
        let arrival = &self.arrivals[nth as usize];
        let (size, policy) = (arrival.offered.size, self.policy());
        self.levels[served.queue as usize].serve(now);
        let wire = &policy.ports()[policy.queues()[served.queue as usize].port].wire;
        if let Some(wire) = wire {
            // The packet is in the next queue, or was dropped there on arrival.
            let stored = Stored::new(&arrival.offered, served.queue, now.ps() as i64, 0);
            let next =
                served.next.map(|next| next as usize).or_else(|| wire.next(|field| stored.field(field)));
            if let Some(next) = next {
                self.outcomes[nth as usize].queue = next as u32;
                self.levels[next].enter(now);
            }
            self.apply(now);
            if let Some(next) = next {
                self.levels[next].note_peak();
            }
        } else {
            self.resident -= 1;
            self.apply(now);
        }
        Taken { nth, size: size.max(1), goes_on: wire.is_some() }
    }

    fn apply(&mut self, now: Time) {
        for effect in self.effects.drain(..) {
            match effect {
                Effect::Dropped(Handle(nth)) => {
                    let outcome = &mut self.outcomes[nth as usize];
                    (outcome.fate, outcome.at) = (Fate::Dropped, now);
                    self.levels[outcome.queue as usize].drop(now);
                    self.resident -= 1;
                }
                Effect::Marked(Handle(nth)) => self.outcomes[nth as usize].marked = true,
                Effect::Notified(Handle(nth), _) => self.outcomes[nth as usize].notices += 1,
            }
        }
    }

    fn note_end(&mut self, now: Time) {
        self.end = self.end.max(now);
    }

    /// Adds to the working time of the core.
    pub(super) fn spend(&mut self, span: Span) {
        self.busy += span;
    }

    /// The results, at the end of the run or at this instant.
    pub(super) fn close(mut self, until: Time) -> Record {
        let end = if until == Time::MAX { self.end } else { until };
        self.levels.iter_mut().for_each(|level| level.pass(end));
        Record {
            outcomes: self.outcomes,
            departures: self.departures,
            counters: self.levels.into_iter().map(Level::into_counters).collect(),
            lasted: end.since(Time::ZERO),
            busy: self.busy,
        }
    }
}
