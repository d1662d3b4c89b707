//! Observers that change nothing: tallies, digest, probes, records of packets and of pauses.

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
    /// Packets discarded by ports: see [`crate::Counters::packets_dropped`].
    pub dropped: u64,
    /// Packets lost on lossy links.
    pub lost: u64,
    /// Packets cut to their headers; later these are delivered or dropped like others.
    pub trimmed: u64,
    /// These counts in bytes of payload.
    pub payload: PayloadTally,
    /// Frames sent that stop or slow down a neighbour, of any pause policy.
    pub pause_frames: u64,
    /// Frames sent that let a neighbour go on, of any pause policy.
    pub resume_frames: u64,
    /// Packets that made a queue too long and were exempt from backpressure, lest pauses form a cycle.
    pub exempt_packets: u64,
    /// What the queue management at receiving edges has done.
    pub edge: EdgeTally,
}

impl Tally {
    /// Adds the counts of another part.
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
            exempt_packets,
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
            (exempt_packets, other.exempt_packets),
            (&mut edge.dropped, other.edge.dropped),
            (&mut edge.marked, other.edge.marked),
        ];
        sums.into_iter().for_each(|(mine, its)| *mine += its);
    }

    /// Where queues trim, checks that the payload injected is the payload delivered, dropped, cut off, or in the
    /// network (`live`), and that ports and flows count the same trimmed packets.
    ///
    /// # Errors
    /// Names what does not add up, with the numbers.
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

/// Bytes of payload. `dropped` and `cut` are always counted, the other two only where queues trim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PayloadTally {
    /// Handed to NICs.
    pub injected: u64,
    /// Delivered at hosts.
    pub delivered: u64,
    /// Dropped by ports, or lost on links.
    pub dropped: u64,
    /// Cut off by trimming.
    pub cut: u64,
}

/// What the queue management at receiving edges has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeTally {
    /// Packets that reached their host and were dropped there.
    pub dropped: u64,
    /// Packets marked there.
    pub marked: u64,
    /// Edge CoDel: how often a flow's state was refreshed, and why.
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
    /// By group of flows: waiting times of their data packets, if these are measured.
    pub delays: Vec<Delays>,
    /// Waiting times are measured for packets that arrive from the first instant on and before the second.
    pub delay_window: (Time, Time),
    /// Where packets have been, in recorded runs and in replays that keep hops.
    pub journal: Option<Journal>,
    pub recorder: Option<Recorder>,
    pub pauses: Vec<PauseRecord>,
    pub deadlocks: Vec<Deadlock>,
    pub firsts: Firsts,
}

impl Instruments {
    /// The instruments of a network whose paths have at most `longest` ports.
    pub fn new(spec: &NetworkSpec, longest: usize) -> Self {
        let ports = if spec.probes.priority_histogram.is_some() { 2 * spec.links.len() } else { 0 };
        // A replay needs a journal only for hops: the waiting time of a packet follows from its exit time.
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

    /// Adds something that happens at an instant to the digest.
    #[inline(always)]
    pub fn mark(&mut self, at: Time, what: u64) {
        self.digest = self.digest.wrapping_add(fold64(at.ps(), what));
    }

    /// Notes a deadlock of these ports, unless the list is empty: a new one, or the growth of one that stands.
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

    /// Ends the deadlocks that a port was part of, because it was resumed.
    pub fn end_deadlocks(&mut self, port: PortId, now: Time) {
        let stands = |d: &&mut Deadlock| d.ended == Time::MAX && d.ports.contains(&port);
        self.deadlocks.iter_mut().filter(stands).for_each(|d| d.ended = now);
    }

    /// Records a packet of a recorded run that has reached its host or is lost.
    pub fn record(&mut self, handle: Handle, packet: &Packet, end: End, now: Time) {
        match (&mut self.recorder, &mut self.journal) {
            (Some(recorder), Some(journal)) => recorder.record(journal, handle, packet, end, now),
            (None, Some(journal)) => drop(journal.leave(handle)),
            _ => {}
        }
    }

    /// The recorded packets that are ready; at the `end` of a recorded run all of them, including those still in
    /// the network.
    pub fn take_recorded(&mut self, end: bool, packets: &Packets, now: Time) -> Recorded {
        match (&mut self.recorder, &self.journal) {
            (Some(recorder), Some(journal)) if end => recorder.take_all(journal, packets, now),
            (Some(recorder), Some(_)) => recorder.take(),
            _ => Recorded::default(),
        }
    }
}
