//! Checks of what relief guarantees within some time: Escape's invariants I10 and I11 (Menikkumbura, Purdue 2022,
//! §4.4).
//!
//! Much may happen unseen between two observations, so something counts as standing still only after many
//! observations in a row without change.

use crate::fabric::{Fabric, carried, relief};
use crate::instruments::pauses::Deadlock;
use std::collections::BTreeMap;
use thalweg_machines::relief::{Passage, Relief};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{PortId, Span, Time};
use thalweg_wire::Handle;

/// Number of observations without change.
const OBSERVATIONS: u32 = 32;
/// I11: how long a cycle of pauses may stand still.
const CYCLE: Span = Span::from_ms(5);

/// What had not changed at the last observations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Promises {
    /// By paused port and flow that may pass: the flow's first packet there, and when the port last sent.
    waits: BTreeMap<(PortId, u32), Unchanged<(Handle, Time)>>,
    /// By cycle of pauses: the number of packets that its ports have sent.
    cycles: BTreeMap<usize, Unchanged<u64>>,
    /// The largest packet seen to wait (B).
    largest: u32,
}

#[derive(Clone, Copy, Debug)]
struct Unchanged<T> {
    what: T,
    since: Time,
    observations: u32,
}

impl<T: PartialEq> Unchanged<T> {
    /// Observes `what`; `before`: the previous observation, if any.
    fn observed(what: T, before: Option<&Self>, now: Time) -> Self {
        let before = before.filter(|before| before.what == what);
        let (since, observations) = before.map_or((now, 0), |before| (before.since, before.observations + 1));
        Self { what, since, observations }
    }
    fn longer_than(&self, bound: Span, now: Time) -> bool {
        self.observations >= OBSERVATIONS && now.since(self.since) > bound
    }
}

/// A flow that may pass the pause of a port at which it waits.
struct Passable {
    port: PortId,
    flow: u32,
    first: Handle,
    /// Time within which one of its packets must be lifted.
    bound: Span,
}

impl Promises {
    /// Observes the network after an event.
    ///
    /// # Errors
    /// Names what was guaranteed and has not happened.
    pub fn observe(
        &mut self,
        fabric: &Fabric,
        spec: &NetworkSpec,
        now: Time,
        deadlocks: &[Deadlock],
    ) -> Result<(), String> {
        if spec.relief.is_none() {
            return Ok(());
        }
        let passable = self.passable(fabric, spec);
        self.observe_cycles(fabric, now, deadlocks, &passable)?;
        let mut waits = BTreeMap::new();
        for Passable { port, flow, first, bound } in &passable {
            let what = (*first, fabric.mechanisms.relief.last_sent[port.at()]);
            let still = Unchanged::observed(what, self.waits.get(&(*port, *flow)), now);
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

    /// Checks I11. Flows that no switch can name may stand still for ever (M9 of the algorithm: nothing open ahead,
    /// or flows that have never passed).
    fn observe_cycles(
        &mut self,
        fabric: &Fabric,
        now: Time,
        deadlocks: &[Deadlock],
        passable: &[Passable],
    ) -> Result<(), String> {
        let mut cycles = BTreeMap::new();
        for (number, deadlock) in deadlocks.iter().enumerate().filter(|(_, d)| d.ended == Time::MAX) {
            let moved = deadlock.ports.iter().map(|id| carried::begun(fabric, *id, now).0).sum();
            let still = Unchanged::observed(moved, self.cycles.get(&number), now);
            let flow = || passable.iter().find(|flow| deadlock.ports.contains(&flow.port));
            if still.longer_than(CYCLE, now)
                && let Some(flow) = flow()
            {
                return Err(format!(
                    "no packet of a cycle of {} paused ports has moved for {}, and the flow that signals call {} could pass",
                    deadlock.ports.len(),
                    now.since(still.since),
                    flow.flow
                ));
            }
            cycles.insert(number, still);
        }
        self.cycles = cycles;
        Ok(())
    }

    /// Flows that wait at a paused port and can be named by the switch behind it: their output there is open, and
    /// places are free at both switches.
    fn passable(&mut self, fabric: &Fabric, spec: &NetworkSpec) -> Vec<Passable> {
        let machines = &fabric.mechanisms.relief.machines;
        let pool = spec.relief.map_or(0, |relief| relief.more());
        let (mut made, mut firsts) = (Vec::new(), BTreeMap::new());
        for (switch, machine) in machines.iter().enumerate() {
            let (passages, turn) = machine.passages(&relief::view(fabric, spec.hosts, switch));
            for Passage { flow, input, output } in &passages {
                let port = fabric.memory.links[switch][*input].reverse();
                let at = &fabric.ports[port.at()];
                let has_place = |(switch, number): (usize, usize)| machines[switch].has_place(number);
                if !fabric.gates[port.at()].paused.any() || !at.place.at_switch().is_some_and(has_place) {
                    continue;
                }
                let theirs = firsts.entry(port).or_insert_with(|| self.first_packets(fabric, port));
                let Some(first) = theirs.get(flow) else { continue };
                // I10: Δ^esc, twice the round trip of the link, and the escape queue; for each flow that competes
                // for the same places.
                let others = passages.iter().filter(|p| p.output == *output).count() as u64;
                let once = at.span(self.largest).saturating_mul(pool + 2);
                let hop = spec.links[port.link().at()].delay().saturating_mul(4);
                let bound = (turn + hop + once).saturating_mul(others);
                made.push(Passable { port, flow: *flow, first: *first, bound });
            }
        }
        made
    }

    /// The first packet of each flow that waits at a port.
    fn first_packets(&mut self, fabric: &Fabric, port: PortId) -> BTreeMap<u32, Handle> {
        let mut first = BTreeMap::new();
        let queue = fabric.queue(port).and_then(|queue| queue.liftable());
        for handle in queue.into_iter().flat_map(|queue| queue.in_order()) {
            let packet = &fabric.packets[handle];
            self.largest = self.largest.max(packet.wire);
            first.entry(fabric.mechanisms.relief.name(packet)).or_insert(handle);
        }
        first
    }
}
