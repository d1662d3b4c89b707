//! One run on several threads.
//!
//! A network is cut along wires that take time ([`plan`]): hosts stay with their switch. Each [`part`] is the whole
//! network, of which only its own nodes do anything, with an event queue, packets and instruments of its own. Parts
//! run side by side through a *window*: from the first event anywhere until the least delay of a wire between two of
//! them has passed, nothing that happens in one can matter to another (Chandy and Misra, CACM 1981; windows as in
//! Lubachevsky's bounded lag, CACM 1989). Between windows packets change parts, and flows are closed.
//!
//! The result is that of the whole network, bit by bit: events of one instant have an order that no history decides
//! ([`crate::events`]), what is drawn is drawn per entity, and the digest is a sum. The instant at which a run ends
//! because all its flows are complete is found by taking turns: in a window in which that may happen, one thread
//! takes the events of all parts in their order.

mod crossing;
mod division;
mod gate;
mod part;
mod plan;
mod samples;
mod saved;
mod sync;
#[cfg(test)]
mod tests;
mod whole;

use crate::border::Batch;
use crate::events::{Event, Events};
use crate::results::Counters;
use crate::sim::{Pause, Sim};
use gate::Gate;
use part::Part;
pub use plan::{Plan, Undivided};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use thalweg_machines::congestion::decisions::Log;
use thalweg_machines::plugin::{self, Failed};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{FlowId, PortId, Span, Time};
use whole::Owners;

/// A network that is run in parts.
#[derive(Debug)]
pub struct Parted {
    parts: Vec<Mutex<Part>>,
    plan: Plan,
    score: Score,
}

impl Clone for Parted {
    fn clone(&self) -> Self {
        let parts = self.parts.iter().map(|part| Mutex::new(held(part).clone())).collect();
        Self { parts, plan: self.plan.clone(), score: self.score.clone() }
    }
}

/// What is known between windows.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Score {
    /// By flow: complete ends.
    ends: Vec<u8>,
    /// Flows that are complete, and may have packets in the network.
    closing: Vec<FlowId>,
    done: u64,
    measured_done: u64,
    measured_total: u64,
    /// Measured computations that are not over.
    works_left: u64,
    /// Of the flows from this number on none can be incomplete for longer than a window: see [`Score::goes_on`].
    unseen: usize,
    /// The ports that probes look at.
    probed: [Vec<PortId>; 2],
    stopped: bool,
}

/// What comes after a window.
enum Step {
    /// Another one, until this instant.
    Window(Time),
    /// None for now.
    Pause(Pause),
}

type Parts<'a> = Vec<MutexGuard<'a, Part>>;

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Parted {
    /// A network of which nothing has happened, in the parts of a plan for it.
    pub fn new(whole: &Sim, plan: Plan) -> Self {
        let spec = &whole.cx.spec;
        let ports = |probe: &Option<(Span, Vec<PortId>)>| {
            probe.as_ref().map_or(Vec::new(), |(_, ports)| ports.clone())
        };
        let score = Score {
            ends: vec![0; spec.flows.len()],
            closing: Vec::new(),
            done: 0,
            measured_done: 0,
            measured_total: whole.flows.measured_total(),
            works_left: whole.flows.works_left(),
            unseen: spec.flows.len(),
            probed: [ports(&spec.probes.queues), ports(&spec.probes.links)],
            stopped: false,
        };
        let parts = (0..plan.parts()).map(|me| Mutex::new(Part::new(whole, &plan, me))).collect();
        Self { parts, plan, score }
    }

    /// The plan that it is run by.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// As [`Sim::run_until`], on so many threads; a window that has begun is taken to its end.
    pub fn run_until(&mut self, threads: usize, max_events: u64, at: Time) -> Pause {
        let threads = threads.clamp(1, self.parts.len());
        let Self { parts, plan, score } = self;
        let parts = &parts[..];
        let goal = events(parts).saturating_add(max_events);
        let (gate, end, over) = (Gate::new(threads), AtomicU64::new(0), AtomicBool::new(false));
        let failed: Mutex<Option<Box<dyn Any + Send>>> = Mutex::new(None);
        // Of users' machines, with the part that each is in.
        let failures: Mutex<Vec<(usize, Failed)>> = Mutex::new(Vec::new());
        let window = |first: usize| {
            let end = Time::from_ps(end.load(Ordering::Acquire));
            let run = || {
                for (number, part) in parts.iter().enumerate().skip(first).step_by(threads) {
                    held(part).run_before(end);
                    if let Some(failed) = plugin::take_failure() {
                        held(&failures).push((number, failed));
                    }
                }
            };
            if let Err(what) = catch_unwind(AssertUnwindSafe(run)) {
                held(&failed).get_or_insert(what);
            }
        };
        let pause = std::thread::scope(|scope| {
            for thread in 1..threads {
                let (gate, over, window) = (&gate, &over, &window);
                scope.spawn(move || {
                    loop {
                        gate.pass();
                        if over.load(Ordering::Acquire) {
                            break;
                        }
                        window(thread);
                        gate.pass();
                    }
                });
            }
            let conduct = || {
                loop {
                    match score.step(parts, plan, goal, at) {
                        Step::Pause(pause) => return pause,
                        Step::Window(until) => end.store(until.ps(), Ordering::Release),
                    }
                    gate.pass();
                    window(0);
                    gate.pass();
                    if held(&failed).is_some() {
                        return Pause::Ended;
                    }
                    // The first one, as if it had been run whole (what is made before a call has no instant), on this
                    // thread: where failures are looked for.
                    let first = held(&failures).drain(..).min_by_key(|(number, failed)| (failed.at, *number));
                    if let Some((_, first)) = first {
                        plugin::fail(first);
                        score.stopped = true;
                        return Pause::Ended;
                    }
                }
            };
            let pause = catch_unwind(AssertUnwindSafe(conduct));
            // The others wait for the next window.
            over.store(true, Ordering::Release);
            gate.pass();
            pause
        });
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        match (pause, failed) {
            (Err(what), _) | (_, Some(what)) => resume_unwind(what),
            (Ok(pause), None) => pause,
        }
    }

    /// The whole network as it is at present, to be read; it goes nowhere.
    pub fn view(&self) -> Sim {
        gather(&self.plan, &self.score, self.parts.iter().map(|part| held(part).clone()).collect())
    }

    /// The same of a run that has ended, without a copy.
    pub fn into_view(self) -> Sim {
        let parts =
            self.parts.into_iter().map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner));
        gather(&self.plan, &self.score, parts.collect())
    }

    /// As [`Sim::take_decisions`].
    pub fn take_decisions(&mut self) -> Vec<Log> {
        let mut logs: Vec<Log> = self.parts.iter().flat_map(|part| held(part).sim.take_decisions()).collect();
        logs.sort_by_key(Log::flow);
        logs
    }

    /// The instant of the last event.
    pub fn now(&self) -> Time {
        self.parts.iter().map(|part| held(part).sim.cx.now).max().unwrap_or(Time::ZERO)
    }

    /// What has happened so far.
    pub fn counters(&self) -> Counters {
        let parts = self.parts.iter().map(|part| held(part).sim.counters());
        let sum = parts.reduce(|sum, part| sum.plus(&part)).unwrap_or_default();
        let Score { done, measured_done, .. } = self.score;
        Counters { flows_done: done, measured_done, ..sum }
    }
}

fn gather(plan: &Plan, score: &Score, parts: Vec<Part>) -> Sim {
    let Score { done, measured_done, works_left, probed, stopped, .. } = score;
    let done = (*done, *measured_done);
    let owners = Owners { of_node: plan.of_node(), done, works_left: *works_left, probed: probed.clone() };
    let now = parts.iter().map(|part| part.sim.cx.now).max().unwrap_or(Time::ZERO);
    let ready = |mut part: Part| {
        part.come_in();
        part.sim.cx.now = now;
        part.sim.cx.stopped = *stopped;
        part.sim.catch_up();
        part.sim
    };
    whole::gather(parts.into_iter().map(ready).collect(), &owners)
}

/// Events that have been processed.
fn events(parts: &[Mutex<Part>]) -> u64 {
    parts.iter().map(|part| held(part).sim.processed).sum()
}

impl Score {
    /// Packets change parts, flows are closed, and the next window is found, or why there is none.
    fn step(&mut self, parts: &[Mutex<Part>], plan: &Plan, goal: u64, at: Time) -> Step {
        let mut parts: Parts<'_> = parts.iter().map(held).collect();
        loop {
            self.exchange(&mut parts);
            if self.stopped {
                return Step::Pause(Pause::Ended);
            }
            let Some(next) = parts.iter().filter_map(|part| part.next()).min() else {
                self.stopped = true;
                return Step::Pause(Pause::Ended);
            };
            let stop = parts[0].sim.cx.spec.stop.until;
            let until = stop.min(at);
            if next > until {
                if until < stop {
                    return Step::Pause(Pause::Reached);
                }
                parts[0].sim.cx.now = until;
                self.stopped = true;
                return Step::Pause(Pause::Ended);
            }
            if parts.iter().map(|part| part.sim.processed).sum::<u64>() >= goal {
                return Step::Pause(Pause::Budget);
            }
            let end = next.saturating_add(plan.lookahead()).min(until.saturating_add(Span::from_ps(1)));
            if self.goes_on(&parts, plan, end - next) {
                return Step::Window(end);
            }
            self.take_turns(&mut parts, end);
        }
    }

    /// What has left a part comes to where it goes, and flows end.
    fn exchange(&mut self, parts: &mut Parts<'_>) {
        for from in 0..parts.len() {
            for to in 0..parts.len() {
                if parts[from].sim.cx.border.out[to].crossings().is_empty() {
                    continue;
                }
                let empty = std::mem::take(&mut parts[to].inbox[from]);
                debug_assert!(empty.crossings().is_empty(), "what was sent before has come in");
                parts[to].inbox[from] = std::mem::replace(&mut parts[from].sim.cx.border.out[to], empty);
            }
            self.note_ends(&mut parts[from]);
        }
        let mut closing = std::mem::take(&mut self.closing);
        closing.retain(|flow| {
            let left = parts.iter().fold(0u32, |sum, part| sum.wrapping_add(part.balance(*flow)));
            if left == 0 {
                parts.iter_mut().for_each(|part| part.close(*flow));
            }
            left != 0
        });
        self.closing = closing;
    }

    /// All measured flows are complete, all measured computations over.
    fn waits_for_nothing(&self) -> bool {
        self.measured_done == self.measured_total && self.works_left == 0
    }

    /// Counts the ends of flows that have become complete in a part, and computations that are over; true: the run is
    /// over.
    ///
    fn note_ends(&mut self, part: &mut Part) -> bool {
        let cx = &mut part.sim.cx;
        for flow in cx.border.ended.drain(..) {
            self.ends[flow.at()] += 1;
            if self.ends[flow.at()] < 2 {
                continue;
            }
            self.done += 1;
            self.measured_done += u64::from(cx.spec.flows[flow.at()].measured);
            self.closing.push(flow);
            let all = cx.spec.flows[flow.at()].measured && self.waits_for_nothing();
            self.stopped |= all && cx.spec.stop.when_measured_done;
        }
        let over = std::mem::take(&mut cx.border.works_ended);
        if over > 0 {
            self.works_left -= over;
            self.stopped |= self.waits_for_nothing() && cx.spec.stop.when_measured_done;
        }
        self.stopped
    }

    /// Some flow that the run waits for cannot become complete within a window of that length: its ends are in two
    /// parts, neither is complete, and the sender is only once an ACK of all has come to it; or what its receiver lacks
    /// does not fit through its link.
    fn goes_on(&mut self, parts: &Parts<'_>, plan: &Plan, window: Span) -> bool {
        let spec: &NetworkSpec = &parts[0].sim.cx.spec;
        if !spec.stop.when_measured_done || self.waits_for_nothing() {
            return true;
        }
        while let Some(flow) = self.unseen.checked_sub(1).map(FlowId::from) {
            let ends = &spec.flows[flow.at()];
            let transport = &spec.transports[usize::from(ends.transport)];
            if ends.measured && self.ends[flow.at()] < 2 {
                let crosses = plan.of_node()[ends.src.at()] != plan.of_node()[ends.dst.at()];
                if self.ends[flow.at()] == 0 && crosses && transport.wire().ack.is_some() {
                    return true;
                }
                let part = &parts[usize::from(plan.of_node()[ends.dst.at()])].sim;
                let port = &part.fabric.ports()[part.fabric.routes().nic(ends.dst).reverse().at()];
                let bytes =
                    u128::from(port.serializer.rate().bps()) * u128::from(window.ps()) / 8_000_000_000_000;
                let packet = transport.wire().full();
                let most = bytes + 2 * u128::from(packet);
                let slot = part.fabric.paths().slot(flow);
                let arrived = part.hosts.ends(slot).map_or(0, |(_, receiver)| receiver.unique_bytes());
                if u128::from(arrived) + most < u128::from(ends.size) {
                    return true;
                }
            }
            self.unseen -= 1;
        }
        false
    }

    /// The events before `end` in their order, wherever they are, or until the run is over.
    fn take_turns(&mut self, parts: &mut Parts<'_>, end: Time) {
        parts.iter_mut().for_each(|part| part.come_in());
        let ties = parts[0].sim.cx.events.ties();
        let earlier = |a: Event, b: Event| if b.precedes(&a, ties) { b } else { a };
        loop {
            let firsts = parts.iter().enumerate().filter_map(|(at, part)| Some((at, part.first()?)));
            let next = firsts.clone().reduce(|a, b| if b.1.precedes(&a.1, ties) { b } else { a });
            let Some((turn, _)) = next.filter(|(_, event)| event.at < end) else { return };
            let second = firsts.filter(|(at, _)| *at != turn).map(|(_, event)| event).reduce(earlier);
            parts[turn].take_turn(second);
            if self.note_ends(&mut parts[turn]) {
                return;
            }
        }
    }
}

const _: () = {
    /// Batches and parts go from thread to thread.
    const fn moves<T: Send>() {}
    moves::<Batch>();
    moves::<Part>();
};
