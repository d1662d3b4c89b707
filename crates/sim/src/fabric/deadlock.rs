//! Search for deadlocks: pauses that wait for each other.

use crate::fabric::gate::Gates;
use crate::fabric::memory::Memory;
use crate::port::Port;
use thalweg_units::PortId;

/// Which paused ports wait for which: a paused port waits for the ingress at its far end, which waits for the
/// egresses that hold its bytes.
pub(crate) struct WaitGraph<'a> {
    pub ports: &'a [Port],
    pub gates: &'a Gates,
    pub memory: &'a Memory,
}

impl WaitGraph<'_> {
    /// The deadlock that a port is part of, when it has just been paused, or a packet of a paused ingress has
    /// joined its queue: the ports that wait for each other around a cycle that cannot end, and those behind them.
    /// Empty: there is none.
    ///
    /// If each of the egresses that matter is paused itself, and so on around a cycle, no packet ever moves. The
    /// result is the largest set of paused ports whose ingresses would keep them paused even if every egress
    /// outside the set drained and nothing more arrived.
    #[cold]
    pub fn deadlock(&self, from: PortId) -> Vec<PortId> {
        if !self.closes_cycle(from) {
            return Vec::new();
        }
        let mut stuck: Vec<PortId> = (0..self.ports.len())
            .map(PortId::from)
            .filter(|id| self.holds_back(*id) && self.gates[id.at()].stopped)
            .collect();
        loop {
            let before = stuck.len();
            let set = stuck.clone();
            stuck.retain(|id| !self.resumes_with(*id, &set));
            if stuck.len() == before {
                break;
            }
        }
        self.connected(from, stuck)
    }

    /// Those ports of a set that wait for a port, directly or indirectly, or for which it waits.
    fn connected(&self, from: PortId, mut set: Vec<PortId>) -> Vec<PortId> {
        let mut found: Vec<PortId> = set.extract_if(.., |id| *id == from).collect();
        let mut next = 0;
        while let Some(&id) = found.get(next) {
            next += 1;
            found
                .extend(set.extract_if(.., |other| self.waits_for(id, *other) || self.waits_for(*other, id)));
        }
        found.sort_unstable();
        found
    }

    /// Whether the ingress at the port's far end has bytes that wait for the egress `out`.
    fn waits_for(&self, id: PortId, out: PortId) -> bool {
        let back = &self.ports[id.reverse().at()];
        back.place.switch() == self.ports[out.at()].place.switch()
            && self.memory.held(out, back.place.number) > 0
    }

    /// Whether the ingress at the port's far end keeps it paused.
    pub fn holds_back(&self, id: PortId) -> bool {
        let back = self.ports[id.reverse().at()].place.at_switch();
        back.is_some_and(|(switch, number)| self.memory.switches[switch].has_paused(number))
    }

    /// Whether the ingress at the port's far end would resume it if only what waits for egresses of the set were
    /// left in the switch.
    fn resumes_with(&self, id: PortId, set: &[PortId]) -> bool {
        let Some((switch, number)) = self.ports[id.reverse().at()].place.at_switch() else { return false };
        let set: Vec<PortId> =
            self.memory.links[switch].iter().copied().filter(|out| set.contains(out)).collect();
        let left = |input: usize| set.iter().map(|out| u64::from(self.memory.held(*out, input as u8))).sum();
        self.memory.switches[switch].resumes_with(number, left)
    }

    /// Whether following paused egresses that hold bytes of the ingress leads back to the port.
    fn closes_cycle(&self, from: PortId) -> bool {
        let mut seen = vec![from];
        let mut next = 0;
        while next < seen.len() {
            let back = &self.ports[seen[next].reverse().at()];
            next += 1;
            let Some(switch) = back.place.switch() else { continue };
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
