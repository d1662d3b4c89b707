//! Deficit round robin. Shreedhar & Varghese, "Efficient Fair Queuing Using Deficit Round Robin", SIGCOMM
//! 1995, §3 (Figure 2). O(1) per packet where the quantum is at least the largest packet.

use super::structures::lanes::Lanes;
use super::{Around, At, Entry, FairOverflow, Order, Parameters, Problems};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Bytes, Time};
use thalweg_wire::{Handle, Packet};

/// Deficit round robin over flows (Shreedhar & Varghese, SIGCOMM 1995).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Bytes added to a flow's deficit per round.
    pub quantum: Bytes,
    /// Which packet is dropped when the port is full.
    pub overflow: FairOverflow,
}

impl Default for Params {
    fn default() -> Self {
        // One full Ethernet payload.
        Self { quantum: Bytes::new(1500), overflow: FairOverflow::default() }
    }
}

impl Parameters for Params {
    type Machine = Drr;

    fn check(&self, at: &Around, problems: &mut Problems) {
        // With a quantum of zero nothing would ever be sent.
        problems.size("quantum", self.quantum, |size| format!("a quantum of {size} is impossible"), "1500B");
        self.overflow.check(at, problems);
    }
    fn make(&self, _: &At) -> Result<Drr, Invalid> {
        let (lanes, active) = (Lanes::default(), VecDeque::new());
        let Self { quantum, overflow } = *self;
        Ok(Drr { lanes, active, arrived_at_front: true, quantum: quantum.get(), overflow })
    }
    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![
            Self { overflow: FairOverflow::Tail, ..Self::default() },
            Self { quantum: Bytes::new(700), overflow: FairOverflow::LongestQueue },
        ]
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Flow {
    /// DC_i: bytes it may still send in this round.
    deficit: u64,
    /// It is in the active list.
    active: bool,
}

/// One FIFO per flow that waits, visited in turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Drr {
    lanes: Lanes<Flow>,
    /// ActiveList: lanes, the one being served in front.
    active: VecDeque<u32>,
    /// The lane in front has not had its quantum in this round.
    arrived_at_front: bool,
    quantum: u64,
    overflow: FairOverflow,
}

impl Drr {
    /// The lane in front leaves the active list and loses its deficit.
    fn retire_front(&mut self, lane: u32) {
        self.active.pop_front();
        self.lanes.close(lane);
        self.arrived_at_front = true;
    }
}

impl Order for Drr {
    #[inline]
    fn pushes_out(&self) -> bool {
        self.overflow == FairOverflow::LongestQueue
    }
    #[inline]
    fn refuses(&self, _: &Packet) -> bool {
        self.lanes.is_full()
    }
    fn push(&mut self, _now: Time, packet: &Packet, handle: Handle) {
        let lane = self.lanes.open(packet.flow);
        if !self.lanes.state(lane).active {
            self.lanes.state(lane).active = true;
            self.active.push_back(lane);
        }
        self.lanes.append(lane, Entry::new(packet, handle), 0, ());
    }
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        loop {
            let lane = *self.active.front()?;
            if self.lanes.lane_is_empty(lane) {
                self.retire_front(lane); // its packets were pushed out
                continue;
            }
            if std::mem::take(&mut self.arrived_at_front) {
                self.lanes.state(lane).deficit += self.quantum;
            }
            let head = self.lanes.lane(lane).head;
            let wire = u64::from(self.lanes.node(head).entry.wire);
            if wire <= self.lanes.state(lane).deficit {
                self.lanes.state(lane).deficit -= wire;
                let node = self.lanes.take(head);
                if self.lanes.lane_is_empty(lane) {
                    self.retire_front(lane);
                }
                return Some(node.entry);
            }
            self.active.rotate_left(1);
            self.arrived_at_front = true;
        }
    }
    /// CHOICE Shreedhar & Varghese §3: they drop from the longest queue (McKenney 1990) without stating how
    /// long is measured; here in bytes.
    fn push_out(&mut self, _arriving: Handle) -> Option<Entry> {
        let victim = self.lanes.tail_of_longest()?;
        let node = self.lanes.take(victim);
        if self.lanes.lane_is_empty(node.lane) {
            // The flow keeps its place in the round until it is visited, but does not keep its deficit.
            self.lanes.state(node.lane).deficit = 0;
        }
        Some(node.entry)
    }
}
