//! Worked examples, brute-force oracles, and one conformance suite that runs for every order.

mod examples;
mod fq_codel;
mod fq_codel_bytes;
mod fq_oracle;
mod input_round_robin;
pub(crate) mod laws;
mod lstf;
mod pifo_oracle;
mod preemption;
mod rank_oracle;
mod round_robin;
mod strict_priority;

use super::*;
use crate::stage::{MarkAt, StageSpec, codel, red, step_ecn};
use thalweg_units::notation::Length;
use thalweg_units::{Bytes, FlowId, Rate, Span, Stream};
use thalweg_wire::{Ecn, Kind};

/// 8 Gb/s: a byte lasts exactly 1 ns.
const RATE: Rate = Rate::from_gbps(8);

fn spec(order: OrderSpec, limit: Limit) -> DisciplineSpec {
    DisciplineSpec { order, limit, front: Vec::new(), stage: StageSpec::tail_drop(), preemptive: false }
}
fn make(spec: &DisciplineSpec) -> Queue {
    spec.make(Stream::new(1, "queue", 0), RATE).unwrap()
}
fn data(flow: u32, rank: i64, wire: u32) -> Packet {
    Packet { flow: FlowId(flow), rank, wire, ..Packet::default() }
}
fn ack(flow: u32) -> Packet {
    Packet { flow: FlowId(flow), wire: 40, kind: Kind::Ack, ..Packet::default() }
}

fn drr(quantum: u64, overflow: FairOverflow) -> OrderSpec {
    drr::Params { quantum: Bytes::new(quantum), overflow }.into()
}
fn fq(overflow: FairOverflow) -> OrderSpec {
    fq::Params { overflow }.into()
}
fn srpt(flow_order: bool) -> OrderSpec {
    srpt::Params { flow_order }.into()
}
fn fq_codel(bins: Option<u32>, codel: codel::Params) -> OrderSpec {
    let codel::Params { target, interval, mtu, law, .. } = codel;
    let count = crate::schedule::fq_codel::Count::Packets;
    crate::schedule::fq_codel::Params { count, bins, target, interval, mtu, law, ..Default::default() }.into()
}

/// A queue that numbers its arrivals and describes in words what happened.
struct Port {
    queue: Queue,
    arrivals: u32,
}

impl Port {
    fn new(order: OrderSpec, limit: Limit) -> Self {
        Self { queue: make(&spec(order, limit)), arrivals: 0 }
    }
    /// Its transmissions give way, where the order can.
    fn preemptive(order: OrderSpec, limit: Limit) -> Self {
        let mut spec = spec(order, limit);
        spec.preemptive = true;
        Self { queue: make(&spec), arrivals: 0 }
    }
    /// All that was dropped because of this packet, itself included.
    fn arrive_at(&mut self, ns: u64, packet: Packet) -> Vec<u32> {
        let (handle, mut out) = (Handle(self.arrivals), vec![]);
        self.arrivals += 1;
        if self.queue.enqueue(Time::from_ns(ns), &packet, handle, &mut out) == Verdict::Dropped {
            out.push(handle);
        }
        out.iter().map(|h| h.0).collect()
    }
    fn arrive(&mut self, packet: Packet) -> Vec<u32> {
        self.arrive_at(0, packet)
    }
    fn leave_at(&mut self, ns: u64) -> Option<u32> {
        self.queue.dequeue(Time::from_ns(ns), &mut vec![]).map(|s| s.handle.0)
    }
    fn drain(&mut self) -> Vec<u32> {
        std::iter::from_fn(|| self.leave_at(0)).collect()
    }
}
