//! Assembles the parts of a network, to be read like an undivided run.

use crate::boundary::{Boundary, Number};
use crate::events::{Event, Events, Phase, Tag, Ties};
use crate::flows::FlowTally;
use crate::hosts::ends::{Receiving, Sending};
use crate::instruments::Instruments;
use crate::instruments::pauses::PauseRecord;
use crate::instruments::probe::Probes;
use crate::parts::samples;
use crate::paths::NO_SLOT;
use crate::sim::Sim;
use std::collections::BTreeMap;
use thalweg_units::{FlowId, PortId, Time, WorkId};

/// Which part owns each node, and what is known of the whole run only.
pub(super) struct Owners<'a> {
    pub of_node: &'a [Number],
    /// Number of complete flows: all, and measured ones.
    pub done: (u64, u64),
    /// Number of measured computations that are not over.
    pub works_left: u64,
    /// The ports that probes sample (queues, links), in the order of the scenario.
    pub probed: [Vec<PortId>; 2],
}

/// Assembles a network that can be read but not run: packets stay in the memory of their parts.
pub(super) fn gather(mut parts: Vec<Sim>, owners: &Owners<'_>) -> Sim {
    let mut whole = parts.remove(0);
    whole.cx.stopped = true;
    for (number, part) in (1..).zip(&mut parts) {
        take_nodes(&mut whole, part, owners.of_node, number);
        whole.processed += part.processed;
        whole.hosts.take_logs_of(&mut part.hosts);
    }
    let all = std::iter::once(&mut whole).chain(&mut parts).map(|part| &mut part.cx);
    let pauses =
        all.flat_map(|cx| with_names(std::mem::take(&mut cx.instruments.pauses), &cx.boundary)).collect();
    whole.cx.instruments.pauses = in_order(pauses, whole.cx.events.ties());
    take_flows(&mut whole, &mut parts, owners);
    for part in &mut parts {
        add_instruments(&mut whole.cx.instruments, &mut part.cx.instruments);
    }
    let [queues, links] = &owners.probed;
    let seen = &mut whole.cx.instruments.probes;
    let (of_queues, of_links) = (places(queues), places(links));
    seen.queues.sort_by_key(|sample| (sample.at, of_queues.get(&sample.port)));
    seen.links.sort_by_key(|sample| (sample.at, of_links.get(&sample.port)));
    // In the order in which the ACKs landed.
    let nic = |flow: FlowId| whole.fabric.routes().nic(whole.cx.spec.flows[flow.at()].src);
    sort_landed(&mut seen.completions, whole.cx.events.ties(), |one| (one.at, nic(one.flow)));
    if let Some((_, flows)) = &whole.cx.spec.probes.controllers {
        let all = std::iter::once(&whole).chain(&parts).map(|part| &part.cx.instruments.probes);
        let (controllers, own) = samples::combine(flows, &all.collect::<Vec<_>>());
        let seen = &mut whole.cx.instruments.probes;
        (seen.controllers, seen.own, seen.in_part) = (controllers, own, Vec::new());
    }
    let wanted = &mut whole.cx.spec.probes;
    for (probe, ports) in [(&mut wanted.queues, queues), (&mut wanted.links, links)] {
        probe.iter_mut().for_each(|(_, own)| own.clone_from(ports));
    }
    whole
}

/// Position of each port in a list.
fn places(ports: &[PortId]) -> BTreeMap<PortId, usize> {
    ports.iter().enumerate().map(|(place, port)| (*port, place)).collect()
}

/// Takes the ports of a part's nodes, with what waits there.
fn take_nodes(whole: &mut Sim, part: &mut Sim, of_node: &[Number], number: Number) {
    let (mine, its) = (&mut whole.fabric, &mut part.fabric);
    for id in 0..mine.ports().len() {
        if of_node[whole.cx.spec.ends(PortId::from(id)).0.at()] != number {
            continue;
        }
        mine.take_port(its, PortId::from(id));
        let (carried, its) = (&mut whole.cx.instruments.probes.carried, &part.cx.instruments.probes.carried);
        if let (Some(mine), Some(its)) = (carried.get_mut(id), its.get(id)) {
            *mine = *its;
        }
    }
    let first = whole.cx.spec.hosts as usize;
    let switches = whole.cx.spec.switches as usize;
    mine.take_switches(its, (0..switches).filter(|switch| of_node[first + switch] == number));
}

/// The pauses of a part, with their global names.
fn with_names(pauses: Vec<PauseRecord>, boundary: &Boundary) -> Vec<(u32, PauseRecord)> {
    pauses.into_iter().enumerate().map(|(number, pause)| (boundary.pause_name(number), pause)).collect()
}

/// Pauses in the order in which they began; causes become numbers in this order.
fn in_order(mut all: Vec<(u32, PauseRecord)>, ties: Ties) -> Vec<PauseRecord> {
    // Each began when a frame landed, over the wire that leads to its port.
    sort_landed(&mut all, ties, |(_, pause)| (pause.began, pause.port));
    let numbers: BTreeMap<u32, u32> = (0..).zip(&all).map(|(number, (name, _))| (*name, number)).collect();
    let numbered = |(_, pause): (u32, PauseRecord)| {
        let cause = pause.cause.and_then(|cause| numbers.get(&cause)).copied();
        PauseRecord { cause, ..pause }
    };
    all.into_iter().map(numbered).collect()
}

/// Sorts by the landing that caused each entry: its instant and port. Entries of one landing keep their order.
fn sort_landed<T>(list: &mut [T], ties: Ties, of: impl Fn(&T) -> (Time, PortId)) {
    let landed = |one: &T| {
        let (at, port) = of(one);
        Event { at, tag: Tag::new(Phase::Arrive, port.reverse().0) }
    };
    list.sort_by(|a, b| {
        let (a, b) = (landed(a), landed(b));
        b.precedes(&a, ties).cmp(&a.precedes(&b, ties))
    });
}

/// The ends of a part's flows by slot; `None`: taken.
type Ends = (Vec<Option<Sending>>, Vec<Option<Receiving>>);

/// Takes both ends of every flow, and combines its counts.
fn take_flows(whole: &mut Sim, parts: &mut [Sim], owners: &Owners<'_>) {
    // Ends by part and slot.
    let mut ends: Vec<Ends> = std::iter::once(&mut *whole)
        .chain(parts.iter_mut())
        .map(|part| {
            let (sending, receiving) = part.hosts.take_ends();
            (sending.into_iter().map(Some).collect(), receiving.into_iter().map(Some).collect())
        })
        .collect();
    let mut paths = whole.fabric.paths().emptied();
    for number in 0..whole.flows.records().len() {
        let flow = FlowId::from(number);
        let spec = whole.cx.spec.flows[number];
        let [from, to] = [spec.src, spec.dst].map(|host| owners.of_node[host.at()]);
        let part = |of: Number| usize::from(of).checked_sub(1).map_or(&*whole, |at| &parts[at]);
        let mut record = part(from).flows.records()[number];
        let arrived = part(to).flows.records()[number];
        record.received = arrived.received;
        record.delivered = arrived.delivered;
        let counts = std::iter::once(&*whole).chain(&*parts).map(|part| part.flows.records()[number].counts);
        (record.counts.drops, record.counts.data_drops, record.counts.trims) = counts
            .fold((0, 0, 0), |sum, counts| {
                (sum.0 + counts.drops, sum.1 + counts.data_drops, sum.2 + counts.trims)
            });
        let slots = std::iter::once(&*whole).chain(&*parts).map(|part| part.fabric.paths().slot(flow));
        let slots: Vec<u32> = slots.collect();
        let begun = part(from).cx.instruments.firsts.of(flow);
        let open = slots[usize::from(from)];
        let path = (open != NO_SLOT).then(|| part(from).fabric.paths().of(open as usize).to_vec());
        whole.cx.instruments.firsts.leave(flow, begun);
        whole.flows.set_record(flow, record);
        let Some(path) = path else { continue };
        paths.open(flow, &path, false);
        // The balances of all parts add up to the packets in the network, wherever these were sent, lost or
        // received.
        let mut balance = 0u32;
        for ((sending, receiving), slot) in ends.iter().zip(&slots) {
            let place = *slot as usize;
            let sent = sending.get(place).and_then(Option::as_ref).map_or(0, |end| end.balance);
            let taken = receiving.get(place).and_then(Option::as_ref).map_or(0, |end| end.balance);
            balance = balance.wrapping_add(sent).wrapping_add(taken);
        }
        // If no packet has reached the receiver's part, the receiver is still in its initial state.
        let there = if slots[usize::from(to)] == NO_SLOT { from } else { to };
        let sending = ends[usize::from(from)].0[open as usize].take().expect("one flow has a slot");
        let place = slots[usize::from(there)] as usize;
        let receiving = ends[usize::from(there)].1[place].take().expect("one flow has a slot");
        whole.hosts.put_ends(Sending { balance, ..sending }, Receiving { balance: 0, ..receiving });
    }
    whole.fabric.set_paths(paths);
    let started = std::iter::once(&*whole).chain(&*parts).map(|part| part.flows.tally().started).sum();
    let tally = FlowTally { started, done: owners.done.0, measured_done: owners.done.1 };
    whole.flows.set_tally(tally, owners.works_left);
    for work in (0..whole.flows.works().len()).map(WorkId::from) {
        let host = whole.cx.spec.works[work.at()].host;
        if let Some(part) = usize::from(owners.of_node[host.at()]).checked_sub(1) {
            whole.flows.set_work(work, parts[part].flows.works()[work.at()]);
        }
    }
}

/// Adds what the instruments of a part have recorded.
fn add_instruments(whole: &mut Instruments, part: &mut Instruments) {
    whole.digest = whole.digest.wrapping_add(part.digest);
    whole.tally.add(&part.tally);
    whole.contests.decided += part.contests.decided;
    whole.delays.iter_mut().zip(&part.delays).for_each(|(mine, its)| mine.merge(its));
    let Probes { queues, links, completions, .. } = &mut part.probes;
    whole.probes.queues.append(queues);
    whole.probes.links.append(links);
    whole.probes.completions.append(completions);
}
