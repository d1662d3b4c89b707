//! What the header stages of a network remember: slack clocks of the NICs, timetables of a replay, and the stages that write
//! into packets as they leave a switch port.

use serde::{Deserialize, Serialize};
use thalweg_machines::slack::SlackClock;
use thalweg_machines::stage::{HeaderStage, StageMachine, View};
use thalweg_machines::{Handle, Packet, Side};
use thalweg_units::{PortId, Time};

/// State of the header stages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Stages {
    /// By slot and direction: what the slack of the next packet depends on.
    clocks: Vec<SlackClock>,
    /// Of a replay.
    pub timetables: Option<Timetables>,
    /// By port, as many for each: what writes as transmission begins.
    writers: Vec<StageMachine>,
    /// How many.
    per_port: usize,
}

impl Stages {
    /// `writers`: those of every port, one port after the other; `per_port` each.
    pub fn new(timetables: Option<Timetables>, writers: Vec<StageMachine>, per_port: usize) -> Self {
        Self { clocks: Vec::new(), timetables, writers, per_port }
    }

    /// The transmission of a packet begins at a switch port: its stages write into it.
    #[inline]
    pub fn write(&mut self, id: PortId, now: Time, view: &View, packet: &mut Packet, side: &mut Side) {
        for writer in &mut self.writers[id.at() * self.per_port..][..self.per_port] {
            writer.write(now, view, packet, side);
        }
    }

    /// The clock of one direction of a slot.
    pub fn clock(&mut self, slot: usize, back: bool) -> &mut SlackClock {
        let at = 2 * slot + usize::from(back);
        if self.clocks.len() <= at {
            self.clocks.resize(at + 1, SlackClock::default());
        }
        &mut self.clocks[at]
    }

    /// A slot has a new flow.
    pub fn reset(&mut self, slot: usize) {
        self.clocks.iter_mut().skip(2 * slot).take(2).for_each(|clock| *clock = SlackClock::default());
    }
}

/// Priorities at every hop, for the packets of a replay, by handle.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Timetables {
    /// Switch ports come to.
    hops: Vec<u8>,
    /// `stride` priorities each.
    rows: Vec<i64>,
    stride: usize,
}

impl Timetables {
    /// For paths of at most `stride` ports.
    pub fn new(stride: usize) -> Self {
        Self { stride, ..Self::default() }
    }

    /// How long a packet's timetable can be.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// A packet enters with its timetable.
    pub fn enter(&mut self, handle: Handle, times: impl ExactSizeIterator<Item = i64>) {
        let at = handle.0 as usize;
        if self.hops.len() <= at {
            self.hops.resize(at + 1, 0);
        }
        self.hops[at] = 0;
        if times.len() > 0 {
            if self.rows.len() < (at + 1) * self.stride {
                self.rows.resize((at + 1) * self.stride, 0);
            }
            self.rows[at * self.stride..].iter_mut().zip(times).for_each(|(slot, time)| *slot = time);
        }
    }

    /// A packet passes a switch port that never needs its timetable.
    pub fn pass(&mut self, handle: Handle) {
        self.hops[handle.0 as usize] += 1;
    }

    /// What the timetable says about the switch port to which a packet has come.
    pub fn next(&mut self, handle: Handle) -> i64 {
        let at = handle.0 as usize;
        let hop = usize::from(self.hops[at]);
        self.hops[at] += 1;
        self.rows[at * self.stride + hop]
    }
}
