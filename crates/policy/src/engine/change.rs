//! Changes of a policy while packets wait (DYNAMISM): old packets leave in their old order before newer ones do, and
//! ports whose part of the policy stays the same are not affected.
//!
//! CHOICE OpenQueue §2.5.1: old packets leave first, count against the new sizes, and can no longer be pushed out.
//! Other reading: all packets are sorted anew, which takes n log n and breaks priorities that old packets already had.

mod saved;

pub use saved::SavedRunning;

use super::contract::{Cycle, Effect, Engine, Fault, Served, Verdict};
use super::packet::Offered;
use crate::normal::Policy;
use std::collections::BTreeMap;
use std::sync::Arc;
use thalweg_units::Time;
use thalweg_wire::Handle;

/// A policy, and the engine that runs it.
#[derive(Clone, Debug)]
struct Generation<E> {
    policy: Arc<Policy>,
    engine: E,
}

/// A policy that can be changed.
#[derive(Clone, Debug)]
pub struct Running<E> {
    generations: BTreeMap<u32, Generation<E>>,
    version: u32,
    /// For each queue, and for each port: the version that admits arrivals.
    queue_versions: Vec<u32>,
    port_versions: Vec<u32>,
}

/// Why a policy cannot replace another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unlike(String);

impl std::fmt::Display for Unlike {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unlike {}

impl Unlike {
    /// Checks that `new` may replace `old`.
    ///
    /// # Errors
    /// If it has other queues or ports, by name and in this order: packets name queues by number.
    pub fn check(old: &Policy, new: &Policy) -> Result<(), Self> {
        let queues = |policy: &Policy| policy.queues().iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        let ports = |policy: &Policy| policy.ports().iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        if queues(old) == queues(new) && ports(old) == ports(new) {
            return Ok(());
        }
        let reason = "the new policy has other queues or ports: give it the same names in the same order";
        Err(Self(reason.to_owned()))
    }
}

impl<E: Engine> Running<E> {
    /// Starts with a first policy, version 0.
    pub fn new(policy: impl Into<Arc<Policy>>, engine: E) -> Self {
        let policy = policy.into();
        Self {
            version: 0,
            queue_versions: vec![0; policy.queues().len()],
            port_versions: vec![0; policy.ports().len()],
            generations: BTreeMap::from([(0, Generation { policy, engine })]),
        }
    }

    /// Replaces the current policy by `policy`, with a new engine for it. Returns the version. Only ports that the
    /// change affects use the new version.
    ///
    /// # Errors
    /// If it has other queues or ports, by name and in this order: packets name queues by number.
    pub fn change(&mut self, policy: impl Into<Arc<Policy>>, mut engine: E) -> Result<u32, Unlike> {
        let policy = policy.into();
        let newest = &self.generations[&self.version].policy;
        Unlike::check(newest, &policy)?;
        let changed = changed_ports(newest, &policy);
        self.version += 1;
        engine.set_version(self.version);
        for (port, version) in self.port_versions.iter_mut().enumerate() {
            if changed[port] {
                *version = self.version;
            }
        }
        for (queue, version) in self.queue_versions.iter_mut().enumerate() {
            if changed[policy.queues()[queue].port] {
                *version = self.version;
            }
        }
        self.generations.insert(self.version, Generation { policy, engine });
        (0..self.queue_versions.len()).for_each(|queue| self.hold(queue));
        Ok(self.version)
    }

    /// The current version.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The version that admits arrivals to this queue, if there is such a queue.
    pub fn version_of(&self, queue: usize) -> Option<u32> {
        self.queue_versions.get(queue).copied()
    }

    /// Packets of older versions in a queue take room in the version that admits arrivals.
    fn hold(&mut self, queue: usize) {
        let current = self.queue_versions[queue];
        let older = self.generations.range(..current);
        let held = older.fold((0, 0), |(packets, bytes), (_, old)| {
            (packets + old.engine.packets(queue), bytes + old.engine.bytes(queue))
        });
        if let Some(generation) = self.generations.get_mut(&current) {
            generation.engine.hold(queue, held.0, held.1);
        }
    }

    /// The oldest version with packets for this port, or the version that admits arrivals.
    fn oldest(&self, port: usize) -> Option<u32> {
        let current = *self.port_versions.get(port)?;
        let waits = |(_, one): &(&u32, &Generation<E>)| {
            one.policy.ports()[port].queues.iter().any(|queue| one.engine.packets(*queue) > 0)
        };
        self.generations.range(..current).find(waits).map(|(version, _)| *version).or(Some(current))
    }

    /// Updates the room that older versions take in a port's queues, and removes versions that are empty and no longer
    /// used.
    fn settle(&mut self, port: usize, version: u32) {
        if version == self.port_versions[port] {
            return;
        }
        let queues = self.generations[&version].policy.ports()[port].queues.clone();
        queues.into_iter().for_each(|queue| self.hold(queue));
        let used = |version: &u32| self.port_versions.contains(version);
        let empty =
            |one: &Generation<E>| (0..one.policy.queues().len()).all(|queue| one.engine.packets(queue) == 0);
        let newest = self.version;
        let gone: Vec<u32> = self
            .generations
            .iter()
            .filter(|(version, one)| **version != newest && !used(version) && empty(one))
            .map(|(version, _)| *version)
            .collect();
        gone.iter().for_each(|version| {
            self.generations.remove(version);
        });
    }
}

/// Ports whose queues, buffers or wires differ, and all that share a buffer or a wire with such a port.
fn changed_ports(old: &Policy, new: &Policy) -> Vec<bool> {
    let differs = |port: usize| {
        let (was, is) = (&old.ports()[port], &new.ports()[port]);
        let queue = |one: usize| {
            let (was, is) = (&old.queues()[one], &new.queues()[one]);
            let buffer =
                |policy: &Policy, buffer: Option<usize>| buffer.map(|nth| policy.buffers()[nth].clone());
            was != is || buffer(old, was.buffer) != buffer(new, is.buffer)
        };
        was != is || is.queues.iter().any(|one| queue(*one))
    };
    let mut changed: Vec<bool> = (0..new.ports().len()).map(differs).collect();
    let neighbours = |policy: &Policy, port: usize| {
        let port = &policy.ports()[port];
        let shared = port.queues.iter().filter_map(|queue| policy.queues()[*queue].buffer);
        let shared = shared.flat_map(|buffer| policy.buffers()[buffer].queues.clone());
        let wired = port.wire.iter().flat_map(|wire| wire.to.clone());
        shared.chain(wired).map(|queue| policy.queues()[queue].port).collect::<Vec<_>>()
    };
    loop {
        let before = changed.clone();
        for port in 0..changed.len() {
            for policy in [old, new] {
                for other in neighbours(policy, port) {
                    let either = changed[port] || changed[other];
                    (changed[port], changed[other]) = (either, either);
                }
            }
        }
        if changed == before {
            return changed;
        }
    }
}

impl<E: Engine> Running<E> {
    /// See [`Engine::arrive`].
    ///
    /// # Errors
    /// As there.
    pub fn arrive(
        &mut self,
        now: Time,
        offered: &Offered,
        handle: Handle,
        effects: &mut Vec<Effect>,
    ) -> Result<Verdict, Fault> {
        let version = self.queue_versions.get(offered.queue as usize);
        let version = version.ok_or(Fault::NoSuchQueue(offered.queue))?;
        let generation = self.generations.get_mut(version).ok_or(Fault::NoSuchQueue(offered.queue))?;
        generation.engine.arrive(now, offered, handle, effects)
    }

    /// See [`Engine::dequeue`]. Also returns the version under which the packet was admitted.
    ///
    /// # Errors
    /// As there.
    pub fn dequeue(
        &mut self,
        port: usize,
        now: Time,
        effects: &mut Vec<Effect>,
    ) -> Result<Option<(u32, Served)>, Fault> {
        let version = self.oldest(port).ok_or(Fault::NoSuchPort(port as u32))?;
        let generation = self.generations.get_mut(&version).ok_or(Fault::NoSuchPort(port as u32))?;
        let served = generation.engine.dequeue(port, now, effects)?;
        self.settle(port, version);
        Ok(served.map(|served| (version, served)))
    }

    /// See [`Engine::cycle`].
    ///
    /// # Errors
    /// As there.
    pub fn cycle(&mut self, port: usize, now: Time, effects: &mut Vec<Effect>) -> Result<Cycle, Fault> {
        let version = self.oldest(port).ok_or(Fault::NoSuchPort(port as u32))?;
        let generation = self.generations.get_mut(&version).ok_or(Fault::NoSuchPort(port as u32))?;
        let cycle = generation.engine.cycle(port, now, effects)?;
        self.settle(port, version);
        Ok(cycle)
    }
}
