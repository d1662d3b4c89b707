//! A recorded schedule run again: packets are injected where and when they entered the recorded network (ups §2.1).
//!
//! Flows never start in a replay; they only say where their packets go. Packets are fed a few at a time, in the
//! order in which they enter: a replay needs memory for what is in the network, not for the recording.

use crate::events::{Events, Phase};
use crate::flow::NO_CONNECTION;
use crate::port::Flying;
use crate::sim::Sim;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_machines::{Handle, Kind, Packet};
use thalweg_units::{FlowId, PortId, Span, Time};

/// A packet to be injected.
#[derive(Clone, Copy, Debug)]
pub struct Injection<'a> {
    /// The flow whose path it takes.
    pub flow: FlowId,
    /// With the flow's data; otherwise against it, as ACKs.
    pub forward: bool,
    /// Bytes on the wire.
    pub wire: u32,
    /// What its [`Exit`] will be called.
    pub number: u64,
    /// i(p): when its NIC begins to transmit it.
    pub at: Time,
    /// [`Packet::rank`] as it enters: slack, o(p), a priority, ps.
    pub header: i64,
    /// [`crate::spec::HopRule::Timetable`]: its priority at every switch port of its path; otherwise unused.
    pub times: &'a [i64],
}

/// A packet that has left the replayed network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// As injected.
    pub number: u64,
    /// o'(p): when its last bit reached its host.
    pub at: Time,
    /// Time spent waiting (at switch ports, unless it was injected while its NIC was busy).
    pub waited: Span,
    /// [`Packet::rank`] when it left.
    pub header: i64,
    /// If hops are recorded: i'(p, α), when it came to each switch port.
    pub arrivals: Vec<Time>,
    /// If hops are recorded: when its service began there (where transmissions are interrupted: its end minus the
    /// transmission time).
    pub starts: Vec<Time>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Fed {
    flow: FlowId,
    forward: bool,
    wire: u32,
    number: u64,
    at: Time,
    header: i64,
    times: u32,
}

/// A replay under way.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Replay {
    fed: VecDeque<Fed>,
    /// Timetables of `fed`, one after the other.
    times: VecDeque<i64>,
    /// Nothing more will be fed.
    ended: bool,
    /// By handle: switch ports come to.
    hops: Vec<u8>,
    /// Timetables by handle, `stride` each.
    timetables: Vec<i64>,
    stride: usize,
    /// By connection: packets in the network.
    packets: Vec<u32>,
    #[serde(skip)]
    exits: Vec<Exit>,
}

impl Replay {
    pub fn new(stride: usize) -> Self {
        Self { stride, ..Self::default() }
    }

    /// A packet passes a switch port that never asks for its timetable.
    pub fn pass(&mut self, handle: Handle) {
        self.hops[handle.0 as usize] += 1;
    }

    /// What the timetable says about the switch port to which a packet has come.
    pub fn timetable(&mut self, handle: Handle) -> i64 {
        let at = handle.0 as usize;
        let hop = usize::from(self.hops[at]);
        self.hops[at] += 1;
        self.timetables[at * self.stride + hop]
    }

    fn begin(&mut self, handle: Handle, fed: &Fed) {
        let at = handle.0 as usize;
        if self.hops.len() <= at {
            self.hops.resize(at + 1, 0);
        }
        self.hops[at] = 0;
        let n = fed.times as usize;
        if n > 0 {
            if self.timetables.len() < (at + 1) * self.stride {
                self.timetables.resize((at + 1) * self.stride, 0);
            }
            let table = &mut self.timetables[at * self.stride..][..n];
            table.iter_mut().zip(self.times.drain(..n)).for_each(|(slot, time)| *slot = time);
        }
    }
}

impl<Q: Events> Sim<Q> {
    /// Gives a replay its next packet. Packets come in the order in which they enter, none before [`Sim::now`].
    ///
    /// # Panics
    /// If the network is not a replay, the flow does not exist or the timetable is longer than its path can be.
    pub fn feed(&mut self, next: Injection<'_>) {
        let replay = self.replay.as_mut().expect("a replay");
        assert!(next.flow.at() < self.spec.flows.len() && next.times.len() <= replay.stride);
        let Injection { flow, forward, wire, number, at, header, times } = next;
        let first = replay.fed.is_empty();
        replay.fed.push_back(Fed { flow, forward, wire, number, at, header, times: times.len() as u32 });
        replay.times.extend(times);
        if first {
            self.stopped = false;
            self.schedule(at.max(self.now), Phase::Inject, 0);
        }
    }

    /// Nothing more will be fed: the replay ends when its last packet has left.
    pub fn feed_end(&mut self) {
        if let Some(replay) = &mut self.replay {
            replay.ended = true;
            self.stopped = false;
        }
    }

    /// A replay cannot go on before it is given more packets, or told that there are none.
    pub fn hungry(&self) -> bool {
        self.replay.as_ref().is_some_and(|r| r.fed.is_empty() && !r.ended)
    }

    /// The packets that have left since the last call, in the order in which they left.
    pub fn take_exits(&mut self) -> Vec<Exit> {
        self.replay.as_mut().map(|r| std::mem::take(&mut r.exits)).unwrap_or_default()
    }

    /// t_min(p, NIC, destination) of a packet of `wire` bytes that travels with (or against) a flow's data: all
    /// transmission and propagation on its path.
    pub fn t_min(&self, flow: FlowId, forward: bool, wire: u32) -> Span {
        let ports = self.path(flow, forward).into_iter().map(|id| &self.ports[id.at()]);
        ports.map(|p| p.span(wire) + p.delay).sum()
    }

    /// The ports that packets with (or against) a flow's data pass, the NIC first.
    pub fn path(&self, flow: FlowId, forward: bool) -> Vec<PortId> {
        let both = self.lay_path(flow);
        let (data, ack) = both.split_at(self.stride / 2);
        if forward { data } else { ack }.iter().copied().take_while(|id| *id != PortId::NONE).collect()
    }

    /// The next packet enters.
    pub(crate) fn inject_recorded(&mut self) {
        let replay = self.replay.as_mut().expect("a replay");
        let fed = replay.fed.pop_front().expect("an injection has a packet");
        debug_assert!(fed.at == self.now, "packets are fed in order");
        match replay.fed.front().map(|f| f.at) {
            Some(at) => self.schedule(at.max(self.now), Phase::Inject, 0),
            // Not a moment further without knowing what comes.
            None => self.stopped = !self.replay.as_ref().is_some_and(|r| r.ended),
        }
        let slot = match self.connections[fed.flow.at()] {
            NO_CONNECTION => self.open_path(fed.flow),
            slot => slot as usize,
        };
        let spec = &self.spec.flows[fed.flow.at()];
        let (dst, path) = match fed.forward {
            true => (spec.dst, slot * self.stride),
            false => (spec.src, slot * self.stride + self.stride / 2),
        };
        let packet = Packet {
            stamp: self.now,
            seq: fed.number,
            rank: fed.header,
            flow: fed.flow,
            wire: fed.wire,
            dst,
            route: path as u32 + 1,
            kind: if fed.forward { Kind::Data } else { Kind::Ack },
            ..Packet::default()
        };
        self.tally.injected += 1;
        let handle = self.packets.insert(packet);
        let replay = self.replay.as_mut().expect("a replay");
        if replay.packets.len() <= slot {
            replay.packets.resize(slot + 1, 0);
        }
        replay.packets[slot] += 1;
        replay.begin(handle, &fed);
        if let Some(journal) = &mut self.journal {
            journal.hand(handle, self.now);
        }
        self.enqueue::<false>(self.paths[path], Flying::new(handle, &packet), Span::ZERO);
    }

    /// A packet of a replay has reached its host.
    pub(crate) fn leave_replay(&mut self, handle: Handle) {
        let packet = self.packets[handle];
        self.tally.delivered += 1;
        self.mark_digest(packet.seq << 2 ^ packet.kind as u64);
        self.packets.remove(handle);
        let slot = self.connections[packet.flow.at()];
        let back = if packet.kind == Kind::Data { 0 } else { self.stride / 2 };
        let alone = self.time_to_exit((slot as usize * self.stride + back + 1) as u32, packet.wire);
        let mut exit = Exit {
            number: packet.seq,
            at: self.now,
            waited: self.now - packet.stamp - alone,
            header: packet.rank,
            arrivals: Vec::new(),
            starts: Vec::new(),
        };
        if let Some(journal) = &mut self.journal {
            let trace = journal.leave(handle);
            let (arrivals, starts) = journal.hop_times(handle, trace.hops);
            exit.arrivals.extend(arrivals.iter().map(|t| Time::from_ps(*t)));
            exit.starts.extend(starts.iter().map(|t| Time::from_ps(*t)));
        }
        let Some(replay) = &mut self.replay else { return };
        replay.exits.push(exit);
        let left = &mut replay.packets[slot as usize];
        *left -= 1;
        if *left == 0 {
            self.connections[packet.flow.at()] = NO_CONNECTION;
            self.free_connections.push(slot);
        }
    }

    /// Gives a flow a place in the path table.
    fn open_path(&mut self, flow: FlowId) -> usize {
        let path = self.lay_path(flow);
        let slot = match self.free_connections.pop() {
            Some(slot) => {
                self.paths[slot as usize * self.stride..][..self.stride].copy_from_slice(&path);
                slot
            }
            None => {
                self.paths.extend_from_slice(&path);
                (self.paths.len() / self.stride - 1) as u32
            }
        };
        self.connections[flow.at()] = slot;
        slot as usize
    }
}
