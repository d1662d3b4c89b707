//! A run's packets as columns: what universal packet scheduling calls a schedule (ups §2.1).
//!
//! A packet's row is complete when it leaves; rows are handed out in the order in which packets entered. What
//! waits to be handed out is bounded: a packet that outlives [`WINDOW`] others comes late, behind younger ones.

use crate::arena::Packets;
use crate::instruments::journal::{Journal, Trace};
use crate::paths::travels_forward;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;
use thalweg_wire::{Handle, Packet};

/// Rows between two attempts to hand some out.
const STRIDE: usize = if cfg!(test) { 1 << 5 } else { 1 << 18 };
/// Most rows that wait for an older packet.
const WINDOW: usize = if cfg!(test) { 1 << 7 } else { 1 << 20 };

/// Packets in the order in which their NICs began to transmit them (then by flow, direction, position), but for
/// those that come late: see the module. Times in picoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The flow.
    pub flow: Vec<u32>,
    /// 1: travels with the flow's data; 0: comes back (ACKs).
    pub forward: Vec<u8>,
    /// Data: offset of the first payload byte. ACK: next byte expected.
    pub seq: Vec<u64>,
    /// Bytes on the wire.
    pub wire: Vec<u32>,
    /// When it was given to its NIC.
    pub handed: Vec<u64>,
    /// i(p): when its NIC began to transmit it.
    pub ingress: Vec<u64>,
    /// o(p): when its last bit reached its host; `u64::MAX`: not before the run ended.
    pub exit: Vec<u64>,
    /// Time spent waiting at switch ports.
    pub waited: Vec<u64>,
    /// Switch ports at which it had to wait: those that were busy or had others waiting when it came.
    pub queues: Vec<u8>,
    /// Switch ports it came to.
    pub hops: Vec<u8>,
    /// If hops are recorded: when it came to each of them, packets one after the other.
    pub arrivals: Vec<u64>,
    /// If hops are recorded: when its service began at each of them; 0: not before the run ended.
    pub starts: Vec<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    ingress: Time,
    flow: u32,
    forward: bool,
    seq: u64,
    exit: Time,
    handed: Time,
    waited: u64,
    wire: u32,
    queues: u8,
    hops: u8,
    /// Arrivals, then starts.
    times: Vec<u64>,
}

/// Rows on their way out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Recorder {
    /// Complete, in order of exit or, since the last attempt, of ingress.
    done: Vec<Row>,
    /// To be handed out next.
    ready: Vec<Row>,
    /// The next attempt is due when this many are done.
    due: usize,
}

impl Recorder {
    fn add(&mut self, packet: &Packet, trace: Trace, exit: Time, (arrivals, starts): (&[u64], &[u64])) {
        self.done.push(Row {
            ingress: trace.ingress,
            flow: packet.flow.0,
            forward: travels_forward(packet.kind),
            seq: packet.seq,
            exit,
            handed: trace.handed,
            waited: trace.waited,
            wire: packet.wire,
            queues: trace.queues,
            hops: trace.hops,
            times: [arrivals, starts].concat(),
        });
    }

    fn sort(&mut self) {
        self.done.sort_unstable_by_key(|r| (r.ingress, r.flow, !r.forward, r.seq, r.exit));
    }

    /// Hands out the rows behind which no older packet can come, or the older half if too many wait.
    fn flush(&mut self, earliest: Time) {
        self.sort();
        let mut settled = self.done.partition_point(|r| r.ingress < earliest);
        if settled < STRIDE / 4 && self.done.len() >= WINDOW {
            settled = self.done.len() / 2;
        }
        self.ready.extend(self.done.drain(..settled));
        self.due = self.done.len() + STRIDE;
    }

    /// A packet has left the network.
    pub fn record_exit(&mut self, journal: &mut Journal, handle: Handle, packet: &Packet, now: Time) {
        let trace = journal.leave(handle);
        self.add(packet, trace, now, journal.hop_times(handle, trace.hops));
        if self.done.len() >= self.due.max(STRIDE) {
            self.flush(journal.earliest().min(now));
        }
    }

    /// The rows that are ready.
    pub fn take(&mut self) -> Recorded {
        columns(std::mem::take(&mut self.ready))
    }

    /// All rows, those of packets that are still in the network included.
    pub fn take_all(&mut self, journal: &Journal, packets: &Packets, now: Time) -> Recorded {
        for (handle, trace) in journal.inside(now) {
            let times = journal.hop_times(handle, trace.hops);
            self.add(&packets[handle], trace, Time::MAX, times);
        }
        self.sort();
        self.ready.append(&mut self.done);
        self.take()
    }
}

fn columns(rows: Vec<Row>) -> Recorded {
    let mut out = Recorded::default();
    for row in rows {
        let (arrivals, starts) = row.times.split_at(row.times.len() / 2);
        out.arrivals.extend_from_slice(arrivals);
        out.starts.extend_from_slice(starts);
        out.flow.push(row.flow);
        out.forward.push(u8::from(row.forward));
        out.seq.push(row.seq);
        out.wire.push(row.wire);
        out.handed.push(row.handed.ps());
        out.ingress.push(row.ingress.ps());
        out.exit.push(row.exit.ps());
        out.waited.push(row.waited);
        out.queues.push(row.queues);
        out.hops.push(row.hops);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{FlowId, Stream};

    /// Packets that enter one after the other and leave at random, one of them much later than all others:
    /// what is handed out, in order.
    fn hand_out(packets: u64, straggler: Option<u64>) -> Vec<Row> {
        let mut draw = Stream::new(1, "recording", 0);
        let mut exits: Vec<(u64, u64)> = (0..packets)
            .map(|n| (if Some(n) == straggler { 10 * packets } else { n + 1 + draw.below(40) }, n))
            .collect();
        exits.sort_unstable();
        let mut recorder = Recorder::default();
        let mut inside: std::collections::BTreeSet<u64> = (0..packets).collect();
        for (exit, n) in exits {
            inside.remove(&n);
            let trace = Trace::of(Time::from_ps(n), Time::from_ps(n));
            let packet = Packet { flow: FlowId(n as u32), ..Packet::default() };
            recorder.add(&packet, trace, Time::from_ps(exit), (&[], &[]));
            if recorder.done.len() >= recorder.due.max(STRIDE) {
                recorder.flush(Time::from_ps(inside.first().copied().unwrap_or(u64::MAX)));
            }
            assert!(recorder.done.len() <= WINDOW + STRIDE, "what waits is bounded");
        }
        recorder.sort();
        recorder.ready.append(&mut recorder.done);
        recorder.ready
    }

    #[test]
    fn rows_come_in_the_order_of_entry() {
        let rows = hand_out(5_000, None);
        assert!(rows.iter().map(|r| r.ingress.ps()).eq(0..5_000));
    }

    #[test]
    fn a_straggler_comes_late_and_no_other_row_does() {
        let rows = hand_out(5_000, Some(7));
        let mut newest = 0;
        let mut late = Vec::new();
        for row in &rows {
            if row.ingress.ps() < newest {
                late.push(row.ingress.ps())
            }
            newest = newest.max(row.ingress.ps());
        }
        assert_eq!((rows.len(), late), (5_000, vec![7]));
    }
}
