//! Replay of a recorded schedule: packets are injected where and when they entered the recorded network (ups §2.1).
//!
//! Flows never start in a replay; they only name the paths of packets. Packets are pushed a few at a time, in the
//! order in which they enter: a replay needs memory for the packets in the network, not for the whole recording.

use crate::cx::Cx;
use crate::events::Phase;
use crate::fabric::Fabric;
use crate::paths::NO_SLOT;
use crate::port::flying::Flying;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{FlowId, PortId, Span, Time};
use thalweg_wire::{Handle, Kind, Packet};

/// A packet to be injected.
#[derive(Clone, Copy, Debug)]
pub struct Injection<'a> {
    /// The flow whose path it takes.
    pub flow: FlowId,
    /// Whether it travels with the flow's data; otherwise against it, as ACKs do.
    pub forward: bool,
    /// Bytes on the wire.
    pub wire: u32,
    /// The number that its [`Exit`] will have.
    pub number: u64,
    /// i(p): when its NIC begins to transmit it.
    pub at: Time,
    /// [`Packet::rank`] as it enters: slack, o(p), a priority, ps.
    pub header: i64,
    /// [`CarriedSpec::Timetable`](thalweg_machines::stage::CarriedSpec::Timetable): its priority at every
    /// switch port of its path; otherwise unused.
    pub times: &'a [i64],
}

/// A packet that has left the replayed network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Its number, as injected.
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
struct Pushed {
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
    input: VecDeque<Pushed>,
    /// Timetables of the input, one after the other.
    times: VecDeque<i64>,
    /// Nothing more will be pushed.
    ended: bool,
    /// By slot: number of packets in the network.
    packets: Vec<u32>,
    #[serde(skip)]
    exits: Vec<Exit>,
}

impl Replay {
    /// See [`crate::Sim::push`].
    pub fn push(&mut self, cx: &mut Cx, next: Injection<'_>) {
        let Injection { flow, forward, wire, number, at, header, times } = next;
        let first = self.input.is_empty();
        self.input.push_back(Pushed { flow, forward, wire, number, at, header, times: times.len() as u32 });
        self.times.extend(times);
        if first {
            cx.stopped = false;
            cx.schedule(at.max(cx.now), Phase::Inject, 0);
        }
    }

    /// See [`crate::Sim::push_end`].
    pub fn end(&mut self, cx: &mut Cx) {
        self.ended = true;
        cx.stopped = false;
    }

    /// Whether it waits for its next packet.
    pub fn needs_input(&self) -> bool {
        self.input.is_empty() && !self.ended
    }

    /// The packets that have left since the last call.
    pub fn take_exits(&mut self) -> Vec<Exit> {
        std::mem::take(&mut self.exits)
    }

    /// Injects the next packet.
    pub fn inject(&mut self, cx: &mut Cx, fabric: &mut Fabric) {
        let next = self.input.pop_front().expect("an injection has a packet");
        debug_assert!(next.at == cx.now, "packets are pushed in order");
        match self.input.front().map(|f| f.at) {
            Some(at) => cx.schedule(at.max(cx.now), Phase::Inject, 0),
            // The run must not continue before the next packet is known.
            None => cx.stopped = !self.ended,
        }
        let slot = match fabric.paths().slot(next.flow) {
            NO_SLOT => {
                let path = fabric.lay_path(&cx.spec, next.flow);
                fabric.open_path(cx, next.flow, &path)
            }
            slot => slot as usize,
        };
        let ends = &cx.spec.flows[next.flow.at()];
        let (dst, path) = match next.forward {
            true => (ends.dst, fabric.paths().start(slot)),
            false => (ends.src, fabric.paths().start(slot) + fabric.paths().middle()),
        };
        let packet = Packet {
            stamp: cx.now,
            seq: next.number,
            rank: next.header,
            flow: next.flow,
            wire: next.wire,
            dst,
            route: path as u32 + 1,
            kind: if next.forward { Kind::Data } else { Kind::Ack },
            ..Packet::default()
        };
        cx.instruments.tally.injected += 1;
        if self.packets.len() <= slot {
            self.packets.resize(slot + 1, 0);
        }
        self.packets[slot] += 1;
        let handle = fabric.insert_recorded(packet, self.times.drain(..next.times as usize));
        if let Some(journal) = &mut cx.instruments.journal {
            journal.hand(handle, cx.now);
        }
        let nic = fabric.paths().port(path);
        fabric.enqueue::<false, true>(cx, PortId::NONE, nic, Flying::new(handle, &packet), Span::ZERO);
    }

    /// Takes a packet that has reached its host out of the network.
    pub fn leave(&mut self, cx: &mut Cx, fabric: &mut Fabric, handle: Handle) {
        let packet = fabric.packets()[handle];
        cx.instruments.tally.delivered += 1;
        cx.mark_digest(packet.seq << 2 ^ packet.kind as u64);
        fabric.discard(handle, &packet);
        let slot = fabric.paths().slot(packet.flow) as usize;
        let back = if packet.kind == Kind::Data { 0 } else { fabric.paths().middle() };
        let first = (fabric.paths().start(slot) + back + 1) as u32;
        let alone = fabric.paths().time_to_exit(fabric.ports(), first, packet.wire);
        let mut exit = Exit {
            number: packet.seq,
            at: cx.now,
            waited: cx.now - packet.stamp - alone,
            header: packet.rank,
            arrivals: Vec::new(),
            starts: Vec::new(),
        };
        if let Some(journal) = &mut cx.instruments.journal {
            let trace = journal.leave(handle);
            let hops = journal.hops(handle, trace.hops);
            exit.arrivals.extend(hops.arrivals.iter().map(|t| Time::from_ps(*t)));
            exit.starts.extend(hops.starts.iter().map(|t| Time::from_ps(*t)));
        }
        self.exits.push(exit);
        self.packets[slot] -= 1;
        if self.packets[slot] == 0 {
            fabric.close_path(packet.flow);
        }
    }
}
