//! Runs the policy: a fixed one, or one that is replaced by others during the run. A fixed policy has no overhead for
//! changes.

use super::Params;
use super::text::Compiled;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use thalweg_policy::{
    Bytecode, Effect, Engine as _, Fault, Machine, Misfit, Offered, Running, Saved, SavedRunning,
};
use thalweg_units::{Time, mix64};
use thalweg_wire::Handle;

/// A machine whose code all that run it share.
type Port = Machine<Arc<Bytecode>>;

/// See the module.
#[derive(Clone, Debug)]
pub(super) enum Engine {
    /// One policy.
    Fixed(Port),
    /// Several.
    Changing(Box<Changing>),
}

/// Policies that replace each other.
#[derive(Clone, Debug)]
pub(super) struct Changing {
    running: Running<Port>,
    /// Changes that have taken place.
    done: usize,
    /// When the next one does.
    next: Option<Time>,
    seed: u64,
}

/// Its state, apart from what its policies say.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum SavedEngine {
    /// Of one policy.
    Fixed(Saved),
    /// Of several: that, the changes done, and the seed of what is still to come.
    Changing(SavedRunning, u32, u64),
}

fn machine(of: &Compiled, seed: u64) -> Port {
    Machine::new(&of.policy, Arc::clone(&of.code), seed)
}

fn instant(params: &Params, nth: usize) -> Option<Time> {
    params.changes.get(nth).map(|change| Time::from_ps(change.at.ps()))
}

impl Engine {
    /// Of the first of these policies; `None`: there is none.
    pub(super) fn new(versions: &[&Compiled], params: &Params, seed: u64) -> Option<Self> {
        let first = versions.first()?;
        let port = machine(first, seed);
        if versions.len() == 1 {
            return Some(Self::Fixed(port));
        }
        let running = Running::new(Arc::clone(&first.policy), port);
        Some(Self::Changing(Box::new(Changing { running, done: 0, next: instant(params, 0), seed })))
    }

    /// A packet arrives.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        now: Time,
        offered: &Offered,
        handle: Handle,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Fault> {
        match self {
            Self::Fixed(port) => port.arrive(now, offered, handle, effects).map(drop),
            Self::Changing(all) => all.running.arrive(now, offered, handle, effects).map(drop),
        }
    }

    /// This port of the policy is free.
    #[inline]
    pub(super) fn dequeue(
        &mut self,
        port: usize,
        now: Time,
        effects: &mut Vec<Effect>,
    ) -> Result<Option<Handle>, Fault> {
        match self {
            Self::Fixed(all) => Ok(all.dequeue(port, now, effects)?.map(|served| served.handle)),
            Self::Changing(all) => {
                Ok(all.running.dequeue(port, now, effects)?.map(|(_, served)| served.handle))
            }
        }
    }

    /// Its queue's victim; nothing where there are several, of which none is the one to make room for other ports.
    pub(super) fn give_up(&mut self) -> Result<Option<Handle>, Fault> {
        match self {
            Self::Fixed(port) if port.queues() == 1 => port.give_up(0),
            Self::Fixed(_) | Self::Changing(_) => Ok(None),
        }
    }

    /// Takes out the waiting packets that `belong`.
    pub(super) fn withdraw(&mut self, belongs: &mut dyn FnMut(Handle) -> bool, left: &mut dyn FnMut(Handle)) {
        match self {
            Self::Fixed(port) => port.withdraw(belongs, left),
            Self::Changing(all) => all.running.withdraw(belongs, left),
        }
    }

    /// How many of its queues hold any packets.
    pub(super) fn filled(&self) -> u32 {
        let filled = |queues: usize, packets: &dyn Fn(usize) -> u32| {
            (0..queues).filter(|queue| packets(*queue) > 0).count() as u32
        };
        match self {
            Self::Fixed(port) => filled(port.queues(), &|queue| port.packets(queue)),
            Self::Changing(all) => filled(all.running.queues(), &|queue| all.running.packets(queue)),
        }
    }

    /// When the next change takes place.
    pub(super) fn wake(&self) -> Option<Time> {
        match self {
            Self::Fixed(_) => None,
            Self::Changing(all) => all.next,
        }
    }

    /// Changes that are due take place.
    pub(super) fn on_tick(&mut self, now: Time, params: &Params) {
        let (Self::Changing(all), Some(versions)) = (self, params.versions()) else { return };
        while all.next.is_some_and(|at| at <= now) {
            all.done += 1;
            let new = versions[all.done];
            let port = machine(new, mix64(all.seed ^ all.done as u64));
            let changed = all.running.change(Arc::clone(&new.policy), port);
            debug_assert!(changed.is_ok(), "policies that are not alike are refused");
            all.next = instant(params, all.done);
        }
    }

    /// The state for [`Engine::restored`].
    pub(super) fn save(&self) -> SavedEngine {
        match self {
            Self::Fixed(port) => SavedEngine::Fixed(port.save()),
            Self::Changing(all) => SavedEngine::Changing(all.running.save(), all.done as u32, all.seed),
        }
    }

    /// Restores a saved state.
    pub(super) fn restored(saved: &SavedEngine, params: &Params) -> Result<Self, Misfit> {
        let versions = params.versions().ok_or(Misfit)?;
        match saved {
            SavedEngine::Fixed(state) => {
                let first = versions.first().ok_or(Misfit)?;
                Machine::restored(&first.policy, Arc::clone(&first.code), state).map(Self::Fixed)
            }
            SavedEngine::Changing(state, done, seed) => {
                let of = |version: u32| {
                    let one = versions.get(version as usize)?;
                    Some((Arc::clone(&one.policy), Arc::clone(&one.code)))
                };
                let running = Running::restored(state, of)?;
                let (done, seed) = (*done as usize, *seed);
                let all = Changing { running, done, next: instant(params, done), seed };
                Ok(Self::Changing(Box::new(all)))
            }
        }
    }
}
