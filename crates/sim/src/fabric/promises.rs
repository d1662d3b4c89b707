//! What a relief promises over time, for checks of a run: Escape's invariants I10 and I11 (Menikkumbura,
//! Purdue 2022, §4.4).
//!
//! Between two looks much may happen that is not seen, so that only what many looks in a row find as it was
//! counts as standing still.

use crate::fabric::relief::look;
use crate::fabric::{Fabric, carried};
use crate::instruments::pauses::Deadlock;
use std::collections::BTreeMap;
use thalweg_machines::relief::{Passage, Relief};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{PortId, Span, Time};
use thalweg_wire::Handle;

/// Looks that must have found the same.
const LOOKS: u32 = 32;
/// I11: how long a cycle of pauses may stand still.
const CYCLE: Span = Span::from_ms(5);

/// What stood still when the network was last looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Promises {
    /// By paused port and flow that may pass: the flow's first packet there, and when the port's queue last sent.
    waits: BTreeMap<(PortId, u32), Still<(Handle, Time)>>,
    /// By cycle of pauses: packets that its ports have sent.
    cycles: BTreeMap<usize, Still<u64>>,
    /// The largest packet seen to wait (B).
    largest: u32,
}

#[derive(Clone, Copy, Debug)]
struct Still<T> {
    what: T,
    since: Time,
    looks: u32,
}

impl<T: PartialEq> Still<T> {
    /// It is seen, and was so `before`, or was not.
    fn again(what: T, before: Option<&Self>, now: Time) -> Self {
        let before = before.filter(|before| before.what == what);
        let (since, looks) = before.map_or((now, 0), |before| (before.since, before.looks + 1));
        Self { what, since, looks }
    }
    fn longer_than(&self, bound: Span, now: Time) -> bool {
        self.looks >= LOOKS && now.since(self.since) > bound
    }
}

/// A flow that may pass the pause of a port at which it waits.
struct Chance {
    port: PortId,
    flow: u32,
    first: Handle,
    /// Within which a packet of it is to be lifted.
    bound: Span,
}

impl Promises {
    /// Looks at the network, after an event.
    ///
    /// # Errors
    /// What is promised and has not happened.
    pub fn look(
        &mut self,
        fabric: &Fabric,
        spec: &NetworkSpec,
        now: Time,
        deadlocks: &[Deadlock],
    ) -> Result<(), String> {
        if spec.relief.is_none() {
            return Ok(());
        }
        let chances = self.chances(fabric, spec);
        self.look_at_cycles(fabric, now, deadlocks, &chances)?;
        let mut waits = BTreeMap::new();
        for Chance { port, flow, first, bound } in &chances {
            let what = (*first, fabric.stages.relief.last_sent[port.at()]);
            let still = Still::again(what, self.waits.get(&(*port, *flow)), now);
            if still.longer_than(*bound, now) {
                let waited = now.since(still.since);
                return Err(format!(
                    "the flow that signals call {flow} waits at the paused port {} and could pass, and for {waited} none of its packets has (at most {bound})",
                    port.0
                ));
            }
            waits.insert((*port, *flow), still);
        }
        self.waits = waits;
        Ok(())
    }

    /// I11. What no switch can name stands still for good (M9 of the algorithm: nothing open ahead, or flows
    /// that have never passed).
    fn look_at_cycles(
        &mut self,
        fabric: &Fabric,
        now: Time,
        deadlocks: &[Deadlock],
        chances: &[Chance],
    ) -> Result<(), String> {
        let mut cycles = BTreeMap::new();
        for (number, deadlock) in deadlocks.iter().enumerate().filter(|(_, d)| d.ended == Time::MAX) {
            let moved = deadlock.ports.iter().map(|id| carried::begun(fabric, *id, now).0).sum();
            let still = Still::again(moved, self.cycles.get(&number), now);
            let chance = || chances.iter().find(|chance| deadlock.ports.contains(&chance.port));
            if still.longer_than(CYCLE, now)
                && let Some(chance) = chance()
            {
                return Err(format!(
                    "no packet of a cycle of {} paused ports has moved for {}, and the flow that signals call {} could pass",
                    deadlock.ports.len(),
                    now.since(still.since),
                    chance.flow
                ));
            }
            cycles.insert(number, still);
        }
        self.cycles = cycles;
        Ok(())
    }

    /// Flows that wait at a paused port, and that the switch behind it can name: their output there is open,
    /// with places free at both.
    fn chances(&mut self, fabric: &Fabric, spec: &NetworkSpec) -> Vec<Chance> {
        let machines = &fabric.stages.relief.machines;
        let pool = spec.relief.map_or(0, |relief| relief.more());
        let (mut made, mut firsts) = (Vec::new(), BTreeMap::new());
        for (switch, machine) in machines.iter().enumerate() {
            let (passages, turn) = machine.passages(&look(fabric, spec.hosts, switch));
            for Passage { flow, input, output } in &passages {
                let port = fabric.memory.links[switch][*input].reverse();
                let at = &fabric.ports[port.at()];
                let before = &machines[at.place.owner as usize];
                if !fabric.gates[port.at()].paused.any() || !before.has_place(usize::from(at.place.number)) {
                    continue;
                }
                let theirs = firsts.entry(port).or_insert_with(|| self.firsts(fabric, port));
                let Some(first) = theirs.get(flow) else { continue };
                // I10: Δ^esc, there and back, and what is in the lane; for each that wants the same places.
                let others = passages.iter().filter(|p| p.output == *output).count() as u64;
                let once = at.span(self.largest).saturating_mul(pool + 2);
                let hop = spec.links[port.link().at()].delay().saturating_mul(4);
                let bound = (turn + hop + once).saturating_mul(others);
                made.push(Chance { port, flow: *flow, first: *first, bound });
            }
        }
        made
    }

    /// The first packet of each flow that waits at a port.
    fn firsts(&mut self, fabric: &Fabric, port: PortId) -> BTreeMap<u32, Handle> {
        let mut first = BTreeMap::new();
        let queue = fabric.queue(port).and_then(|queue| queue.liftable());
        for handle in queue.into_iter().flat_map(|queue| queue.in_order()) {
            let packet = &fabric.packets[handle];
            self.largest = self.largest.max(packet.wire);
            first.entry(fabric.stages.relief.name(packet)).or_insert(handle);
        }
        first
    }
}
