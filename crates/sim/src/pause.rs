//! Priority flow control between neighbours: what was paused when, and by what.

use crate::events::Events;
use crate::sim::Sim;
use serde::{Deserialize, Serialize};
use thalweg_units::{PortId, Time};

/// A pause of a port, from the frame's arrival there to the next one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseRecord {
    /// The port that had to stop.
    pub port: PortId,
    /// When the frame arrived.
    pub began: Time,
    /// When the permission to go on arrived, or the last stop expired; [`Time::MAX`]: not yet.
    pub ended: Time,
    /// The pause that caused it, by its number in [`crate::Sim::pauses`]: that of the output that the packet which crossed
    /// the threshold was bound for; `u32::MAX`: a root, that output was merely busy.
    pub cause: u32,
}

/// A cycle of pauses that cannot end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlock {
    /// When it closed.
    pub at: Time,
    /// The ports that wait for each other.
    pub ports: Vec<PortId>,
}

impl<Q: Events> Sim<Q> {
    /// Every pause so far, in the order in which they began.
    pub fn pauses(&self) -> &[PauseRecord] {
        &self.pauses
    }

    /// Every deadlock found so far.
    pub fn deadlocks(&self) -> &[Deadlock] {
        &self.deadlocks
    }

    /// A port has just been stopped: does that close a cycle of ports that wait for each other, and can it end?
    ///
    /// A paused port waits for the input at its far end, which waits for the outputs that hold its bytes. If each of those
    /// that matter is paused itself, and so on around a cycle, nobody ever moves: the largest set of paused ports whose
    /// inputs keep more than XON even if every output outside the set drains.
    #[cold]
    pub(crate) fn look_for_deadlock(&mut self, from: PortId) {
        if !self.closes_cycle(from) {
            return;
        }
        let mut stuck: Vec<PortId> = (0..self.ports.len())
            .map(PortId::from)
            .filter(|id| self.asks(*id) && self.gates[id.at()].paused)
            .collect();
        loop {
            let before = stuck.len();
            let set = stuck.clone();
            stuck.retain(|id| self.kept_by(*id, &set) > self.stuck_above(*id));
            if stuck.len() == before {
                break;
            }
        }
        let known = self.deadlocks.iter().any(|d| stuck.iter().all(|id| d.ports.contains(id)));
        if !stuck.is_empty() && !known {
            self.deadlocks.push(Deadlock { at: self.now, ports: stuck });
        }
    }

    /// The input at the port's far end has asked it to stop.
    fn asks(&self, id: PortId) -> bool {
        let back = &self.ports[(id.0 ^ 1) as usize];
        back.owner != u32::MAX
            && self.memory.switches[back.owner as usize].inputs()[usize::from(back.number)].paused
    }

    fn stuck_above(&self, id: PortId) -> u64 {
        self.memory.switches[self.ports[(id.0 ^ 1) as usize].owner as usize].stuck_above()
    }

    /// Bytes of the input at the port's far end that wait for outputs of the set.
    fn kept_by(&self, id: PortId, set: &[PortId]) -> u64 {
        let back = &self.ports[(id.0 ^ 1) as usize];
        let switch = back.owner as usize;
        let held = |out: &PortId| self.memory.held(switch, back.number, self.ports[out.at()].number);
        self.switch_ports[switch].iter().filter(|out| set.contains(out)).map(|out| u64::from(held(out))).sum()
    }

    /// Following paused outputs that hold bytes of the input leads back to it.
    fn closes_cycle(&self, from: PortId) -> bool {
        let mut seen = vec![from];
        let mut next = 0;
        while next < seen.len() {
            let back = &self.ports[(seen[next].0 ^ 1) as usize];
            next += 1;
            if back.owner == u32::MAX {
                continue;
            }
            let switch = back.owner as usize;
            for &out in &self.switch_ports[switch] {
                let waits = self.memory.held(switch, back.number, self.ports[out.at()].number) > 0;
                if waits && out == from {
                    return true;
                }
                if waits && self.gates[out.at()].paused && !seen.contains(&out) {
                    seen.push(out);
                }
            }
        }
        false
    }
}
