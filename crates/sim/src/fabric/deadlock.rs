//! Pauses that wait for each other.

use crate::fabric::gate::Gates;
use crate::fabric::memory::Memory;
use crate::instruments::pauses::Deadlock;
use crate::port::Port;
use thalweg_units::{PortId, Time};

/// Which paused ports wait for which: a paused port waits for the ingress at its far end, which waits for the
/// egresses that hold its bytes.
pub(crate) struct WaitGraph<'a> {
    pub ports: &'a [Port],
    pub gates: &'a Gates,
    pub memory: &'a Memory,
}

impl WaitGraph<'_> {
    /// A port has just been paused: does that close a cycle of ports that wait for each other, other than
    /// those `known`, and can it end?
    ///
    /// If each of the egresses that matter is paused itself, and so on around a cycle, no packet ever moves:
    /// the largest set of paused ports whose ingresses keep more than XON even if every egress outside the
    /// set drains.
    #[cold]
    pub fn deadlock(&self, from: PortId, at: Time, known: &[Deadlock]) -> Option<Deadlock> {
        if !self.closes_cycle(from) {
            return None;
        }
        let mut stuck: Vec<PortId> = (0..self.ports.len())
            .map(PortId::from)
            .filter(|id| self.holds_back(*id) && self.gates[id.at()].stopped)
            .collect();
        loop {
            let before = stuck.len();
            let set = stuck.clone();
            stuck.retain(|id| self.kept_by(*id, &set) > self.stuck_above(*id));
            if stuck.len() == before {
                break;
            }
        }
        let known = known
            .iter()
            .filter(|d| d.ended == Time::MAX)
            .any(|d| stuck.iter().all(|id| d.ports.contains(id)));
        (!stuck.is_empty() && !known).then_some(Deadlock { at, ended: Time::MAX, ports: stuck })
    }

    /// The ingress at the port's far end keeps it paused.
    fn holds_back(&self, id: PortId) -> bool {
        let back = &self.ports[(id.0 ^ 1) as usize];
        back.place.owner != u32::MAX
            && self.memory.switches[back.place.owner as usize].has_paused(usize::from(back.place.number))
    }

    fn stuck_above(&self, id: PortId) -> u64 {
        self.memory.switches[self.ports[(id.0 ^ 1) as usize].place.owner as usize].stuck_above()
    }

    /// Bytes of the ingress at the port's far end that wait for egresses of the set.
    fn kept_by(&self, id: PortId, set: &[PortId]) -> u64 {
        let back = &self.ports[(id.0 ^ 1) as usize];
        let switch = back.place.owner as usize;
        let held = |out: &PortId| self.memory.held(*out, back.place.number);
        self.memory.links[switch].iter().filter(|out| set.contains(out)).map(|out| u64::from(held(out))).sum()
    }

    /// Following paused egresses that hold bytes of the ingress leads back to it.
    fn closes_cycle(&self, from: PortId) -> bool {
        let mut seen = vec![from];
        let mut next = 0;
        while next < seen.len() {
            let back = &self.ports[(seen[next].0 ^ 1) as usize];
            next += 1;
            if back.place.owner == u32::MAX {
                continue;
            }
            let switch = back.place.owner as usize;
            for &out in &self.memory.links[switch] {
                let waits = self.memory.held(out, back.place.number) > 0;
                if waits && out == from {
                    return true;
                }
                if waits && self.gates[out.at()].stopped && !seen.contains(&out) {
                    seen.push(out);
                }
            }
        }
        false
    }
}
