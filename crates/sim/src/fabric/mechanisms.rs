//! The state of the optional mechanisms at ports: header stages, congestion points and reliefs.

use crate::fabric::reliefs::Reliefs;
use serde::{Deserialize, Serialize};
use thalweg_machines::point::{Notices, PointMachine};
use thalweg_machines::slack::SlackClock;
use thalweg_machines::stage::{Carried, HeaderStage, StageMachine, View};
use thalweg_units::{PortId, Time};
use thalweg_wire::{Handle, Packet, Side};

/// What a network may have at its ports besides queues.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Mechanisms {
    /// Stages that read and write packet headers.
    pub headers: HeaderStages,
    /// Ports that send notices to sources.
    pub points: Points,
    /// What switches do about packets that wait behind a pause.
    pub relief: Reliefs,
}

/// State of the header stages: slack clocks of the NICs, what packets carry, and the stages that write into packets
/// as they leave a switch port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HeaderStages {
    /// By slot and direction: what the slack of the next packet depends on.
    clocks: Vec<SlackClock>,
    /// By handle: the slack that the NIC gave a data packet. Kept only where a receiving edge compares it with the
    /// slack that is left.
    initial_slack: Vec<i64>,
    /// The stages before and behind the queues of switches.
    pub carried: Carried,
    /// `per_port` stages for each port, one port after the other: they write as a transmission begins.
    writers: Vec<StageMachine>,
    /// Number of `writers` of each port.
    per_port: usize,
}

impl HeaderStages {
    /// `writers`: those of every port, one port after the other; `per_port` each.
    pub fn new(carried: Carried, writers: Vec<StageMachine>, per_port: usize) -> Self {
        Self { clocks: Vec::new(), initial_slack: Vec::new(), carried, writers, per_port }
    }

    /// The transmission of a packet begins at a switch port: its stages write into it.
    #[inline]
    pub fn write(&mut self, id: PortId, now: Time, view: &View, packet: &mut Packet, side: &mut Side) {
        for writer in &mut self.writers[id.at() * self.per_port..][..self.per_port] {
            writer.write(now, view, packet, side);
        }
    }

    /// The slack clock of one direction of a slot.
    pub fn clock(&mut self, slot: usize, back: bool) -> &mut SlackClock {
        let at = 2 * slot + usize::from(back);
        if self.clocks.len() <= at {
            self.clocks.resize(at + 1, SlackClock::default());
        }
        &mut self.clocks[at]
    }

    /// Keeps the slack that a data packet was given by its NIC.
    #[inline]
    pub fn begin_slack(&mut self, handle: Handle, slack: i64) {
        let at = handle.0 as usize;
        if self.initial_slack.len() <= at {
            self.initial_slack.resize(at + 1, 0);
        }
        self.initial_slack[at] = slack;
    }

    /// The slack that a data packet was given by its NIC.
    #[inline]
    pub fn initial_slack(&self, handle: Handle) -> i64 {
        self.initial_slack.get(handle.0 as usize).copied().unwrap_or(0)
    }

    /// Resets the clocks of a slot, which has a new flow.
    pub fn reset(&mut self, slot: usize) {
        self.clocks.iter_mut().skip(2 * slot).take(2).for_each(|clock| *clock = SlackClock::default());
    }
}

/// [`Packet::route`] of a congestion point's notice: no place in any table, so every switch looks up its next hop.
pub(crate) const LOOKED_UP: u32 = u32::MAX;

/// The congestion points of a network.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Points {
    /// By port; empty if there are none.
    pub by_port: Vec<Option<PointMachine>>,
    /// Within an event: the notices to be sent.
    #[serde(skip)]
    pub notices: Notices,
}

impl Points {
    /// The points of all ports.
    pub fn new(by_port: Vec<Option<PointMachine>>) -> Self {
        Self { by_port, notices: Notices::new() }
    }
    /// Number of ports in the table.
    pub fn len(&self) -> usize {
        self.by_port.len()
    }
    /// Whether a congestion point has sent this packet.
    #[inline]
    pub fn sent(&self, packet: &Packet) -> bool {
        packet.route == LOOKED_UP && !self.by_port.is_empty()
    }
}
