//! A run's packets as columns: what universal packet scheduling calls a schedule (ups §2.1).
//!
//! A packet's row is complete when it leaves the network; rows are handed out in the order in which packets
//! entered. The number of rows that wait is bounded: a packet that outlives [`WINDOW`] others is handed out late,
//! behind younger ones.

use crate::arena::Packets;
use crate::instruments::journal::{Hops, Journal, Trace};
use crate::paths::travels_forward;
use serde::{Deserialize, Serialize};
use thalweg_units::{PortId, Time};
use thalweg_wire::{Ecn, Handle, Kind, Packet};

/// Number of rows between two attempts to hand some out.
const STRIDE: usize = if cfg!(test) { 1 << 5 } else { 1 << 18 };
/// Largest number of rows that wait for an older packet.
const WINDOW: usize = if cfg!(test) { 1 << 7 } else { 1 << 20 };

/// Packets in the order in which their NICs began to transmit them (then by flow, direction, position), except for
/// late ones: see the module. Times in picoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The flow.
    pub flow: Vec<u32>,
    /// 1: travels with the flow's data; 0: comes back (ACKs).
    pub forward: Vec<u8>,
    /// What it is, by its place among [`Kind`]'s variants.
    pub kind: Vec<u8>,
    /// Data: offset of the first payload byte. ACK: next byte expected. `u64::MAX`: a message without a number.
    pub seq: Vec<u64>,
    /// Bytes on the wire.
    pub wire: Vec<u32>,
    /// When it was handed to its NIC.
    pub handed: Vec<u64>,
    /// i(p): when its NIC began to transmit it; if it was dropped there, when that was.
    pub ingress: Vec<u64>,
    /// o(p): when its last bit reached its host; `u64::MAX`: not before the run ended.
    pub exit: Vec<u64>,
    /// What was lost.
    pub losses: Losses,
    /// 1: it was marked CE on its way; 0: it was not, or it was lost.
    pub marked: Vec<u8>,
    /// Time spent waiting at switch ports.
    pub waited: Vec<u64>,
    /// Number of switch ports at which it had to wait: those that were busy or had others waiting when it came.
    pub queues: Vec<u8>,
    /// Number of switch ports that it came to.
    pub hops: Vec<u8>,
    /// If hops are recorded: the visits to these ports, packet by packet.
    pub visits: Visits,
}

/// Packets that were dropped, or lost on a link: a row for each packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// When; `u64::MAX`: never.
    pub at: Vec<u64>,
    /// The port; `u32::MAX`: none.
    pub port: Vec<u32>,
    /// 1: on the port's link, after its transmission had begun; 0: the port dropped it, or it was not lost.
    pub on_link: Vec<u8>,
}

/// Visits of packets to switch ports, `hops` of them for each packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visits {
    /// When it came.
    pub arrivals: Vec<u64>,
    /// When its service began; 0: not before the run ended, or it was lost there.
    pub starts: Vec<u64>,
    /// The port.
    pub ports: Vec<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    ingress: Time,
    flow: u32,
    kind: Kind,
    seq: u64,
    exit: Time,
    lost: Option<Lost>,
    marked: bool,
    handed: Time,
    waited: u64,
    wire: u32,
    queues: u8,
    hops: u8,
    /// Arrivals, then starts.
    times: Vec<u64>,
    ports: Vec<PortId>,
}

/// A packet's loss.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Lost {
    at: Time,
    port: PortId,
    on_link: bool,
}

/// The end of a packet's record.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// Its last bit has reached its host.
    Arrived(Time),
    /// It was dropped at this instant by this port.
    Dropped(Time, PortId),
    /// It was lost on this port's link, whose transmission began at this instant.
    LostOnLink(Time, PortId),
    /// It is still in the network at this instant.
    Inside(Time),
}

/// Rows to be handed out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Recorder {
    /// Complete rows: those that the last attempt left, by ingress, and then newer ones, by exit.
    done: Vec<Row>,
    /// Rows to be handed out next.
    ready: Vec<Row>,
    /// The next attempt is due when `done` has this many rows.
    due: usize,
}

impl Recorder {
    fn add(&mut self, packet: &Packet, trace: Trace, ends: End, hops: Hops<'_>) {
        let mut times = [hops.arrivals, hops.starts].concat();
        let (exit, lost, trace) = match ends {
            End::Arrived(at) => (at, None, trace),
            End::Dropped(at, port) => (Time::MAX, Some(Lost { at, port, on_link: false }), trace),
            End::LostOnLink(at, port) => (Time::MAX, Some(Lost { at, port, on_link: true }), trace),
            End::Inside(now) => {
                // Service that is only booked has not begun.
                if let Some(start) = times.last_mut().filter(|start| **start > now.ps()) {
                    *start = 0;
                }
                (Time::MAX, None, trace.as_of(now))
            }
        };
        self.done.push(Row {
            ingress: trace.ingress.min(lost.map_or(Time::MAX, |lost| lost.at)),
            lost,
            // Marks of dropped packets are not recorded: they depend on the order of events at the port.
            marked: packet.ecn == Ecn::Ce && lost.is_none(),
            flow: packet.flow.0,
            kind: packet.kind,
            seq: packet.seq,
            exit,
            handed: trace.handed,
            waited: trace.waited,
            wire: packet.wire,
            queues: trace.queues,
            hops: trace.hops,
            times,
            ports: hops.ports.to_vec(),
        });
    }

    fn sort(&mut self) {
        self.done
            .sort_unstable_by_key(|r| (r.ingress, r.flow, !travels_forward(r.kind), r.seq, r.exit, r.handed));
    }

    /// Moves the rows behind which no older packet can come to `ready`, or the older half if too many wait.
    fn flush(&mut self, earliest: Time) {
        self.sort();
        let mut settled = self.done.partition_point(|r| r.ingress < earliest);
        if settled < STRIDE / 4 && self.done.len() >= WINDOW {
            settled = self.done.len() / 2;
        }
        self.ready.extend(self.done.drain(..settled));
        self.due = self.done.len() + STRIDE;
    }

    /// Records a packet that has left the network.
    pub fn record(&mut self, journal: &mut Journal, handle: Handle, packet: &Packet, end: End, now: Time) {
        let trace = journal.leave(handle);
        self.add(packet, trace, end, journal.hops(handle, trace.hops));
        if self.done.len() >= self.due.max(STRIDE) {
            self.flush(journal.earliest().min(now));
        }
    }

    /// Takes the rows that are ready.
    pub fn take(&mut self) -> Recorded {
        columns(std::mem::take(&mut self.ready))
    }

    /// Takes all rows, including those of packets that are still in the network.
    pub fn take_all(&mut self, journal: &Journal, packets: &Packets, now: Time) -> Recorded {
        for (handle, trace) in journal.inside(now) {
            self.add(&packets[handle], trace, End::Inside(now), journal.hops(handle, trace.hops));
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
        out.visits.arrivals.extend_from_slice(arrivals);
        out.visits.starts.extend_from_slice(starts);
        out.flow.push(row.flow);
        out.forward.push(u8::from(travels_forward(row.kind)));
        out.kind.push(row.kind as u8);
        out.seq.push(row.seq);
        out.wire.push(row.wire);
        out.handed.push(row.handed.ps());
        out.ingress.push(row.ingress.ps());
        out.exit.push(row.exit.ps());
        out.losses.at.push(row.lost.map_or(u64::MAX, |lost| lost.at.ps()));
        out.losses.port.push(row.lost.map_or(u32::MAX, |lost| lost.port.0));
        out.losses.on_link.push(u8::from(row.lost.is_some_and(|lost| lost.on_link)));
        out.marked.push(u8::from(row.marked));
        out.visits.ports.extend(row.ports.iter().map(|port| port.0));
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

    /// Packets that enter one after the other and leave at random times, one of them much later than all others.
    /// Returns what is handed out, in order.
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
            recorder.add(&packet, trace, End::Arrived(Time::from_ps(exit)), Hops::default());
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
