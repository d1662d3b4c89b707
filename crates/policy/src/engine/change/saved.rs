//! A changeable policy as plain data, and operations of drivers on its packets.

use super::{Generation, Running};
use crate::engine::contract::Engine;
use crate::engine::machine::rules::Rules;
use crate::engine::machine::{Machine, Misfit, Saved};
use crate::engine::packet::Stored;
use crate::normal::Policy;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use thalweg_wire::Handle;

/// All state except the policies.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SavedRunning {
    version: u32,
    queue_versions: Vec<u32>,
    port_versions: Vec<u32>,
    generations: Vec<(u32, Saved)>,
}

impl<R: Rules<Kept = Stored>> Running<Machine<R>> {
    /// The state from which [`Running::restored`] continues.
    pub fn save(&self) -> SavedRunning {
        let generations = self.generations.iter().map(|(version, one)| (*version, one.engine.save()));
        SavedRunning {
            version: self.version,
            queue_versions: self.queue_versions.clone(),
            port_versions: self.port_versions.clone(),
            generations: generations.collect(),
        }
    }

    /// Restores the state; `of`: the policy of each version.
    ///
    /// # Errors
    /// If the state belongs to other policies.
    pub fn restored(
        saved: &SavedRunning,
        of: impl Fn(u32) -> Option<(Arc<Policy>, R)>,
    ) -> Result<Self, Misfit> {
        let generation = |(version, state): &(u32, Saved)| {
            let (policy, rules) = of(*version).ok_or(Misfit)?;
            let engine = Machine::restored(&policy, rules, state)?;
            Ok((*version, Generation { policy, engine }))
        };
        let SavedRunning { version, queue_versions, port_versions, generations } = saved.clone();
        let running = Self {
            generations: generations.iter().map(generation).collect::<Result<_, Misfit>>()?,
            version,
            queue_versions,
            port_versions,
        };
        let newest = running.generations.get(&version).ok_or(Misfit)?;
        let alike = newest.policy.queues().len() == running.queue_versions.len()
            && newest.policy.ports().len() == running.port_versions.len();
        let mut named = running.queue_versions.iter().chain(&running.port_versions);
        let known = named.all(|version| running.generations.contains_key(version));
        if alike && known { Ok(running) } else { Err(Misfit) }
    }

    /// Calls `see` for every waiting packet, in no particular order.
    pub fn waiting(&self, see: &mut dyn FnMut(Handle)) {
        self.generations.values().for_each(|one| one.engine.waiting(see));
    }

    /// Removes all waiting packets that `belong`, and calls `left` for each.
    pub fn withdraw(&mut self, belongs: &mut dyn FnMut(Handle) -> bool, left: &mut dyn FnMut(Handle)) {
        self.generations.values_mut().for_each(|one| one.engine.withdraw(belongs, left));
        (0..self.queue_versions.len()).for_each(|queue| self.hold(queue));
    }

    /// Number of queues.
    pub fn queues(&self) -> usize {
        self.queue_versions.len()
    }

    /// Number of packets in this queue, under all policies.
    pub fn packets(&self, queue: usize) -> u32 {
        self.generations.values().map(|one| one.engine.packets(queue)).sum()
    }
}
