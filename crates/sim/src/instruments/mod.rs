//! What looks on and changes nothing: tallies, digest, probes, records of packets and of pauses.

pub(crate) mod contests;
pub mod delays;
pub(crate) mod firsts;
pub(crate) mod journal;
pub mod own;
pub mod pauses;
pub mod ports;
pub mod probe;
pub mod recording;

use crate::arena::Packets;
use contests::Contests;
use delays::Delays;
use firsts::Firsts;
use journal::Journal;
use pauses::{Deadlock, PauseRecord};
use probe::Probes;
use recording::{End, Recorded, Recorder};
use serde::{Deserialize, Serialize};
use thalweg_machines::stage::Refreshes;
use thalweg_net::spec::NetworkSpec;
use thalweg_units::{PortId, Time, fold64};
use thalweg_wire::{Handle, Packet};

/// Running totals of packets and frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Packets handed to NICs.
    pub injected: u64,
    /// Packets that reached their host.
    pub delivered: u64,
    /// Packets dropped in queues.
    pub dropped: u64,
    /// Packets lost on links.
    pub lost: u64,
    /// Packets cut to their headers: these are delivered, or dropped, as others are.
    pub trimmed: u64,
    /// The same in bytes of payload.
    pub payload: PayloadTally,
    /// Pause frames sent: XOFF.
    pub pause_frames: u64,
    /// Pause frames sent: XON.
    pub resume_frames: u64,
    /// Packets that made a queue too long and are exempt from accounting, lest pauses form a cycle.
    pub spared: u64,
    /// What the queue management at receiving edges has done.
    pub edge: EdgeTally,
}

impl Tally {
    /// Adds what was counted elsewhere.
    pub(crate) fn add(&mut self, other: &Self) {
        let Self {
            injected,
            delivered,
            dropped,
            lost,
            trimmed,
            payload,
            pause_frames,
            resume_frames,
            spared,
            edge,
        } = self;
        let sums = [
            (injected, other.injected),
            (delivered, other.delivered),
            (dropped, other.dropped),
            (lost, other.lost),
            (trimmed, other.trimmed),
            (&mut payload.injected, other.payload.injected),
            (&mut payload.delivered, other.payload.delivered),
            (&mut payload.dropped, other.payload.dropped),
            (&mut payload.cut, other.payload.cut),
            (pause_frames, other.pause_frames),
            (resume_frames, other.resume_frames),
            (spared, other.spared),
            (&mut edge.dropped, other.edge.dropped),
            (&mut edge.marked, other.edge.marked),
        ];
        sums.into_iter().for_each(|(mine, its)| *mine += its);
    }

    /// Where queues trim: what was sent is what has arrived, was dropped, was cut off, or is in the network (`live`);
    /// and ports and flows count the same packets.
    ///
    /// # Errors
    /// If it is not so, with the numbers.
    pub(crate) fn check_payload(&self, live: u64, at_ports: u64, of_flows: u64) -> Result<(), String> {
        let PayloadTally { injected, delivered, dropped, cut } = self.payload;
        if injected != delivered + dropped + cut + live {
            return Err(format!(
                "payload is conserved: {injected} B injected, {delivered} B delivered, {dropped} B dropped, {cut} B cut \
                 off, {live} B in the network"
            ));
        }
        let trimmed = self.trimmed;
        if [at_ports, of_flows] != [trimmed; 2] {
            return Err(format!(
                "{trimmed} packets were trimmed, {at_ports} at ports and {of_flows} of flows"
            ));
        }
        Ok(())
    }
}

/// Bytes of payload: of all packets that were dropped or cut, and, where queues trim, of all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PayloadTally {
    /// HandOver to NICs.
    pub injected: u64,
    /// At their hosts.
    pub delivered: u64,
    /// Dropped in queues, or lost on links.
    pub dropped: u64,
    /// Cut off.
    pub cut: u64,
}

/// What the queue management at receiving edges has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeTally {
    /// Packets that reached their host and were dropped there.
    pub dropped: u64,
    /// Packets marked there.
    pub marked: u64,
    /// Edge CoDel: how often a flow started afresh, and why.
    pub refreshes: Refreshes,
}

/// The instruments of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Instruments {
    /// A hash of every event and what happened in it.
    pub digest: u64,
    pub tally: Tally,
    pub contests: Contests,
    pub probes: Probes,
    /// By group of flows: what their data packets waited on their way, if that is measured.
    pub delays: Vec<Delays>,
    /// Of packets that arrive from the one instant on and before the other.
    pub delay_window: (Time, Time),
    /// Where packets have been: of recorded runs.
    pub journal: Option<Journal>,
    pub recorder: Option<Recorder>,
    pub pauses: Vec<PauseRecord>,
    pub deadlocks: Vec<Deadlock>,
    pub firsts: Firsts,
}

impl Instruments {
    /// For paths of at most `longest` ports.
    pub fn new(spec: &NetworkSpec, longest: usize) -> Self {
        let ports = if spec.probes.priority_histogram.is_some() { 2 * spec.links.len() } else { 0 };
        // A replay needs a journal only for hops: what a packet waited follows from when it left.
        let hops = spec.probes.record.is_some_and(|r| r.hops);
        let journal = if spec.replay { hops } else { spec.probes.record.is_some() };
        Self {
            delay_window: spec.probes.delays.as_ref().map_or((Time::MAX, Time::MAX), |d| (d.from, d.until)),
            delays: vec![Delays::default(); spec.probes.delays.as_ref().map_or(0, |d| d.groups.len())],
            probes: Probes { priorities: vec![Vec::new(); ports], ..Probes::default() },
            journal: journal.then(|| Journal::new(longest, hops)),
            recorder: spec.probes.record.filter(|_| !spec.replay).map(|_| Recorder::default()),
            firsts: Firsts::new(spec.flows.len()),
            ..Self::default()
        }
    }

    /// Adds what happens at an instant to the digest.
    #[inline(always)]
    pub fn mark(&mut self, at: Time, what: u64) {
        self.digest = self.digest.wrapping_add(fold64(at.ps(), what));
    }

    /// These ports wait for each other, if they are any: a deadlock, or one that stands and has grown.
    pub fn note_deadlock(&mut self, ports: Vec<PortId>, now: Time) {
        let stands = |d: &&mut Deadlock| d.ended == Time::MAX && d.ports.iter().any(|id| ports.contains(id));
        match self.deadlocks.iter_mut().find(stands) {
            _ if ports.is_empty() => {}
            Some(same) => {
                same.ports.extend(ports);
                same.ports.sort_unstable();
                same.ports.dedup();
            }
            None => self.deadlocks.push(Deadlock { at: now, ended: Time::MAX, ports }),
        }
    }

    /// A port goes on: cycles that it was part of are broken.
    pub fn end_deadlocks(&mut self, port: PortId, now: Time) {
        let stands = |d: &&mut Deadlock| d.ended == Time::MAX && d.ports.contains(&port);
        self.deadlocks.iter_mut().filter(stands).for_each(|d| d.ended = now);
    }

    /// A packet of a recorded run has reached its host, or is lost.
    pub fn record(&mut self, handle: Handle, packet: &Packet, end: End, now: Time) {
        match (&mut self.recorder, &mut self.journal) {
            (Some(recorder), Some(journal)) => recorder.record(journal, handle, packet, end, now),
            (None, Some(journal)) => drop(journal.leave(handle)),
            _ => {}
        }
    }

    /// The rows that are ready; at the `end` of a recorded run all, packets that are still in the network included.
    pub fn take_recorded(&mut self, end: bool, packets: &Packets, now: Time) -> Recorded {
        match (&mut self.recorder, &self.journal) {
            (Some(recorder), Some(journal)) if end => recorder.take_all(journal, packets, now),
            (Some(recorder), Some(_)) => recorder.take(),
            _ => Recorded::default(),
        }
    }
}
