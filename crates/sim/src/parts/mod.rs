//! One run on several threads: conservative parallel simulation.
//!
//! A network is partitioned along wires with a propagation delay ([`plan`]); hosts stay with their switch. Each
//! [`part`] (a logical process) is a copy of the whole network in which only its own nodes act, with an event
//! queue, packets and instruments of its own. Parts run in parallel through a *window*: from the first event
//! anywhere until the smallest delay of a wire between two parts (the *lookahead*) has passed, nothing that happens
//! in one part can affect another (Chandy and Misra, CACM 1981; windows as in Lubachevsky's bounded lag, CACM
//! 1989). At the barrier between windows, packets move between parts, and flows are closed.
//!
//! The result is that of the undivided network, bit by bit: the order of events of one instant does not depend on
//! history ([`crate::events`]), random numbers are drawn per entity, and the digest is a sum. A run that ends when
//! all its measured flows are complete must end at the exact instant: in a window in which that may happen, one
//! thread processes the events of all parts in their order.

mod barrier;
mod division;
mod part;
mod plan;
mod samples;
mod saved;
mod sync;
mod team;
#[cfg(test)]
mod tests;
mod transfer;
mod whole;

use crate::boundary::Batch;
use crate::events::{Event, Events};
use crate::results::Counters;
use crate::sim::{Halt, Sim};
use barrier::Barrier;
use part::Part;
pub use plan::{Plan, Undivided};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use sync::now;
use team::Team;
use thalweg_machines::congestion::decisions::Log;
use thalweg_machines::plugin::{self, Failed};
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{FlowId, PortId, Span, Time};
use whole::Owners;

/// A partitioned network.
#[derive(Debug)]
pub struct Partitioned {
    parts: Vec<Mutex<Part>>,
    plan: Plan,
    state: BarrierState,
    team: Team,
}

impl Clone for Partitioned {
    fn clone(&self) -> Self {
        let parts = self.parts.iter().map(|part| Mutex::new(lock(part).clone())).collect();
        Self { parts, plan: self.plan.clone(), state: self.state.clone(), team: self.team }
    }
}

/// What is known of the whole run at the barrier between windows.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct BarrierState {
    /// By flow: number of complete ends.
    ends: Vec<u8>,
    /// Flows that are complete and may still have packets in the network.
    closing: Vec<FlowId>,
    done: u64,
    measured_done: u64,
    measured_total: u64,
    /// Number of measured computations that are not over.
    works_left: u64,
    /// No flow from this number on can keep the run going for a window: see [`BarrierState::outlasts`].
    unchecked: usize,
    /// The ports that probes sample: queues, links.
    probed: [Vec<PortId>; 2],
    stopped: bool,
}

/// What follows a barrier.
enum Next {
    /// Another window, until this instant.
    Window(Time),
    /// No further window for now.
    Halt(Halt),
}

type Parts<'a> = Vec<MutexGuard<'a, Part>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Partitioned {
    /// Partitions a network at time zero by a plan for it.
    pub fn new(whole: &Sim, plan: Plan) -> Self {
        let spec = &whole.cx.spec;
        let ports = |probe: &Option<(Span, Vec<PortId>)>| {
            probe.as_ref().map_or(Vec::new(), |(_, ports)| ports.clone())
        };
        let state = BarrierState {
            ends: vec![0; spec.flows.len()],
            closing: Vec::new(),
            done: 0,
            measured_done: 0,
            measured_total: whole.flows.measured_total(),
            works_left: whole.flows.works_left(),
            unchecked: spec.flows.len(),
            probed: [ports(&spec.probes.queues), ports(&spec.probes.links)],
            stopped: false,
        };
        let parts = (0..plan.parts()).map(|me| Mutex::new(Part::new(whole, &plan, me))).collect();
        Self { parts, plan, state, team: Team::default() }
    }

    /// The plan of the partition.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// As [`Sim::run_until`], on `threads` threads, or on one while that is faster; a window that has begun is
    /// completed.
    pub fn run_until(&mut self, threads: usize, max_events: u64, at: Time) -> Halt {
        let threads = threads.clamp(1, self.parts.len());
        let Self { parts, plan, state, team } = self;
        let parts = &parts[..];
        let events = || processed(&lock_all(parts));
        let before = events();
        let goal = before.saturating_add(max_events);
        team.begin(threads, now(), before);
        let (barrier, end, over) = (Barrier::new(threads), AtomicU64::new(0), AtomicBool::new(false));
        let failed: Mutex<Option<Box<dyn Any + Send>>> = Mutex::new(None);
        // Failures of users' machines, with the number of the part.
        let failures: Mutex<Vec<(usize, Failed)>> = Mutex::new(Vec::new());
        let run_window = |first: usize, step: usize| {
            let end = Time::from_ps(end.load(Ordering::Acquire));
            let run = || {
                for (number, part) in parts.iter().enumerate().skip(first).step_by(step) {
                    lock(part).run_before(end);
                    if let Some(failed) = plugin::take_failure() {
                        lock(&failures).push((number, failed));
                    }
                }
            };
            if let Err(what) = catch_unwind(AssertUnwindSafe(run)) {
                lock(&failed).get_or_insert(what);
            }
        };
        let halt = std::thread::scope(|scope| {
            for thread in 1..threads {
                let (barrier, over, run_window) = (&barrier, &over, &run_window);
                scope.spawn(move || {
                    loop {
                        barrier.wait();
                        if over.load(Ordering::Acquire) {
                            break;
                        }
                        run_window(thread, threads);
                        barrier.wait();
                    }
                });
            }
            let coordinate = || {
                loop {
                    match state.next_window(parts, plan, goal, at) {
                        Next::Halt(halt) => return halt,
                        Next::Window(until) => end.store(until.ps(), Ordering::Release),
                    }
                    let alone = team.is_alone();
                    if !alone {
                        barrier.wait();
                    }
                    let begun = now();
                    run_window(0, if alone { 1 } else { threads });
                    let worked = begun.elapsed();
                    if !alone {
                        barrier.wait();
                    }
                    team.note_window(now(), worked, events);
                    if lock(&failed).is_some() {
                        return Halt::Ended;
                    }
                    // Report the first failure, as an undivided run would have (failures before any call have no
                    // instant), on this thread, where failures are looked for.
                    let first = lock(&failures).drain(..).min_by_key(|(number, failed)| (failed.at, *number));
                    if let Some((_, first)) = first {
                        plugin::fail(first);
                        state.stopped = true;
                        return Halt::Ended;
                    }
                }
            };
            let halt = catch_unwind(AssertUnwindSafe(coordinate));
            // The other threads wait for the next window: release them.
            over.store(true, Ordering::Release);
            barrier.wait();
            halt
        });
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        match (halt, failed) {
            (Err(what), _) | (_, Some(what)) => resume_unwind(what),
            (Ok(halt), None) => halt,
        }
    }

    /// The whole network in its present state, to be read; it cannot be run.
    pub fn view(&self) -> Sim {
        gather(&self.plan, &self.state, self.parts.iter().map(|part| lock(part).clone()).collect())
    }

    /// As [`Partitioned::view`] for a run that has ended, without a copy.
    pub fn into_view(self) -> Sim {
        let parts =
            self.parts.into_iter().map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner));
        gather(&self.plan, &self.state, parts.collect())
    }

    /// As [`Sim::take_decisions`].
    pub fn take_decisions(&mut self) -> Vec<Log> {
        let mut logs: Vec<Log> = self.parts.iter().flat_map(|part| lock(part).sim.take_decisions()).collect();
        logs.sort_by_key(Log::flow);
        logs
    }

    /// The instant of the last event.
    pub fn now(&self) -> Time {
        self.parts.iter().map(|part| lock(part).sim.cx.now).max().unwrap_or(Time::ZERO)
    }

    /// What the run has done so far.
    pub fn counters(&self) -> Counters {
        let parts = self.parts.iter().map(|part| lock(part).sim.counters());
        let sum = parts.reduce(|sum, part| sum.plus(&part)).unwrap_or_default();
        let BarrierState { done, measured_done, .. } = self.state;
        Counters { flows_done: done, measured_done, ..sum }
    }
}

fn gather(plan: &Plan, state: &BarrierState, parts: Vec<Part>) -> Sim {
    let BarrierState { done, measured_done, works_left, probed, stopped, .. } = state;
    let done = (*done, *measured_done);
    let owners = Owners { of_node: plan.of_node(), done, works_left: *works_left, probed: probed.clone() };
    let now = parts.iter().map(|part| part.sim.cx.now).max().unwrap_or(Time::ZERO);
    let ready = |mut part: Part| {
        part.import();
        part.sim.cx.now = now;
        part.sim.cx.stopped = *stopped;
        part.sim.catch_up();
        part.sim
    };
    whole::gather(parts.into_iter().map(ready).collect(), &owners)
}

fn lock_all(parts: &[Mutex<Part>]) -> Parts<'_> {
    parts.iter().map(lock).collect()
}

/// Events that all parts have processed.
fn processed(parts: &Parts<'_>) -> u64 {
    parts.iter().map(|part| part.sim.processed).sum()
}

impl BarrierState {
    /// Moves packets between parts, closes flows, and finds the next window, or why there is none.
    fn next_window(&mut self, parts: &[Mutex<Part>], plan: &Plan, goal: u64, at: Time) -> Next {
        let mut parts = lock_all(parts);
        loop {
            self.exchange(&mut parts);
            if self.stopped {
                return Next::Halt(Halt::Ended);
            }
            let Some(next) = parts.iter().filter_map(|part| part.next()).min() else {
                self.stopped = true;
                return Next::Halt(Halt::Ended);
            };
            let stop = parts[0].sim.cx.spec.stop.until;
            let until = stop.min(at);
            if next > until {
                if until < stop {
                    return Next::Halt(Halt::Reached);
                }
                parts[0].sim.cx.now = until;
                self.stopped = true;
                return Next::Halt(Halt::Ended);
            }
            if processed(&parts) >= goal {
                return Next::Halt(Halt::Budget);
            }
            let end = next.saturating_add(plan.lookahead()).min(until.saturating_add(Span::from_ps(1)));
            if self.outlasts(&parts, plan, end - next) {
                return Next::Window(end);
            }
            self.run_sequentially(&mut parts, end);
        }
    }

    /// Hands the batches of all parts to their destinations, and closes flows without packets.
    fn exchange(&mut self, parts: &mut Parts<'_>) {
        for from in 0..parts.len() {
            for to in 0..parts.len() {
                if parts[from].sim.cx.boundary.out[to].transfers().is_empty() {
                    continue;
                }
                let empty = std::mem::take(&mut parts[to].inbox[from]);
                debug_assert!(empty.transfers().is_empty(), "earlier transfers were imported");
                parts[to].inbox[from] = std::mem::replace(&mut parts[from].sim.cx.boundary.out[to], empty);
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

    /// Whether all measured flows are complete and all measured computations over.
    fn is_all_done(&self) -> bool {
        self.measured_done == self.measured_total && self.works_left == 0
    }

    /// Counts the ends of flows that have become complete in a part, and computations that are over. True if the
    /// run is over.
    fn note_ends(&mut self, part: &mut Part) -> bool {
        let cx = &mut part.sim.cx;
        for flow in cx.boundary.ended.drain(..) {
            self.ends[flow.at()] += 1;
            if self.ends[flow.at()] < 2 {
                continue;
            }
            self.done += 1;
            self.measured_done += u64::from(cx.spec.flows[flow.at()].measured);
            self.closing.push(flow);
            let all = cx.spec.flows[flow.at()].measured && self.is_all_done();
            self.stopped |= all && cx.spec.stop.when_measured_done;
        }
        let over = std::mem::take(&mut cx.boundary.works_ended);
        if over > 0 {
            self.works_left -= over;
            self.stopped |= self.is_all_done() && cx.spec.stop.when_measured_done;
        }
        self.stopped
    }

    /// Whether the run certainly does not end within a window of that length: its end does not depend on flows, or
    /// some flow that it waits for cannot complete in the window. Either the flow's ends are in two parts and
    /// neither is complete: the sender completes only when an ACK of everything has crossed. Or what its receiver
    /// lacks does not fit through its link.
    fn outlasts(&mut self, parts: &Parts<'_>, plan: &Plan, window: Span) -> bool {
        let spec: &NetworkSpec = &parts[0].sim.cx.spec;
        if !spec.stop.when_measured_done || self.is_all_done() {
            return true;
        }
        while let Some(flow) = self.unchecked.checked_sub(1).map(FlowId::from) {
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
            self.unchecked -= 1;
        }
        false
    }

    /// Processes the events of all parts before `end` in their order on this thread, until the run is over.
    fn run_sequentially(&mut self, parts: &mut Parts<'_>, end: Time) {
        parts.iter_mut().for_each(|part| part.import());
        let ties = parts[0].sim.cx.events.ties();
        let earlier = |a: Event, b: Event| if b.precedes(&a, ties) { b } else { a };
        loop {
            let firsts = parts.iter().enumerate().filter_map(|(at, part)| Some((at, part.first()?)));
            let next = firsts.clone().reduce(|a, b| if b.1.precedes(&a.1, ties) { b } else { a });
            let Some((turn, _)) = next.filter(|(_, event)| event.at < end) else { return };
            let second = firsts.filter(|(at, _)| *at != turn).map(|(_, event)| event).reduce(earlier);
            parts[turn].process_first(second);
            if self.note_ends(&mut parts[turn]) {
                return;
            }
        }
    }
}

const _: () = {
    /// Batches and parts move between threads.
    const fn moves<T: Send>() {}
    moves::<Batch>();
    moves::<Part>();
};
