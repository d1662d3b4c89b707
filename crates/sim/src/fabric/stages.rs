//! What the header stages of a network remember: slack clocks of the NICs, what packets carry, and the stages
//! that write into packets as they leave a switch port; and congestion points.

use crate::fabric::reliefs::Reliefs;
use serde::{Deserialize, Serialize};
use thalweg_machines::point::{Notices, PointMachine};
use thalweg_machines::slack::SlackClock;
use thalweg_machines::stage::{Carried, HeaderStage, StageMachine, View};
use thalweg_units::{PortId, Time};
use thalweg_wire::{Handle, Packet, Side};

/// State of the header stages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Stages {
    /// By slot and direction: what the slack of the next packet depends on.
    clocks: Vec<SlackClock>,
    /// By handle, outside of the packets as timetables are: the slack that a data packet's NIC gave it. Only
    /// where a receiving edge compares it with what is left.
    initial_slack: Vec<i64>,
    /// Around the queues of switches.
    pub carried: Carried,
    /// By port, as many for each: what writes as transmission begins.
    writers: Vec<StageMachine>,
    /// How many.
    per_port: usize,
    /// Ports that write to sources.
    pub points: Points,
    /// What switches do about packets that wait behind a pause.
    pub relief: Reliefs,
}

impl Stages {
    /// `writers`: those of every port, one port after the other; `per_port` each.
    pub fn new(
        carried: Carried,
        writers: Vec<StageMachine>,
        per_port: usize,
        points: Points,
        relief: Reliefs,
    ) -> Self {
        Self { clocks: Vec::new(), initial_slack: Vec::new(), carried, writers, per_port, points, relief }
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

    /// A data packet begins with this slack.
    #[inline]
    pub fn begin_slack(&mut self, handle: Handle, slack: i64) {
        let at = handle.0 as usize;
        if self.initial_slack.len() <= at {
            self.initial_slack.resize(at + 1, 0);
        }
        self.initial_slack[at] = slack;
    }

    /// The slack with which a data packet began.
    #[inline]
    pub fn initial_slack(&self, handle: Handle) -> i64 {
        self.initial_slack.get(handle.0 as usize).copied().unwrap_or(0)
    }

    /// A slot has a new flow.
    pub fn reset(&mut self, slot: usize) {
        self.clocks.iter_mut().skip(2 * slot).take(2).for_each(|clock| *clock = SlackClock::default());
    }
}

/// [`Packet::route`] of what a congestion point has sent: no place in any table.
pub(crate) const LOOKED_UP: u32 = u32::MAX;

/// The congestion points of a network.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Points {
    /// By port; empty if there are none.
    pub by_port: Vec<Option<PointMachine>>,
    /// Within an event: what is to be sent.
    #[serde(skip)]
    pub notices: Notices,
}

impl Points {
    /// Those of every port.
    pub fn new(by_port: Vec<Option<PointMachine>>) -> Self {
        Self { by_port, notices: Notices::new() }
    }
    /// So many ports have a place.
    pub fn len(&self) -> usize {
        self.by_port.len()
    }
    /// A congestion point has sent it.
    #[inline]
    pub fn sent(&self, packet: &Packet) -> bool {
        packet.route == LOOKED_UP && !self.by_port.is_empty()
    }
}
