//! The state of gated ports besides their queues: frames to be sent, packets that bypass the queue, and pauses.

use crate::arena::Arena;
use crate::port::flying::Flying;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_machines::pause::{Outbox, Paused, Posted};
use thalweg_units::{FlowId, PortId, Time};
use thalweg_wire::Frame;

/// Event entity of [`crate::events::Phase::Quanta`]: 2 · port + `EXPIRY` or `REFRESH`.
pub(super) const EXPIRY: u32 = 0;
pub(super) const REFRESH: u32 = 1;

/// The word that a sent frame contributes to the digest.
pub(crate) fn frame_mark(id: PortId, frame: &Frame) -> u64 {
    1 << 62 | u64::from(id.0) << 32 | frame_word(frame)
}

fn frame_word(frame: &Frame) -> u64 {
    let word = match frame {
        Frame::Xoff { .. } => u32::MAX,
        Frame::Xon { .. } => u32::MAX - 1,
        Frame::PauseQueue { queue } => (1 << 30) + 2 * u32::from(*queue) + 1,
        Frame::ResumeQueue { queue } => (1 << 30) + 2 * u32::from(*queue),
        Frame::PauseFlow { flow } => (3 << 28) ^ (2 * (flow.0 & (u32::MAX >> 5)) + 1),
        Frame::ResumeFlow { flow } => (3 << 28) ^ (2 * (flow.0 & (u32::MAX >> 5))),
        Frame::Slow { halvings } => (1 << 29) + u32::from(*halvings),
        Frame::Signal(signal) => signal.word(),
        Frame::Bitmap(queues) => {
            (1 << 31) + (queues.iter().fold(0, |h: u32, q| h.rotate_left(7) ^ u32::from(q)) >> 1)
        }
    };
    u64::from(word)
}

/// The gates of a network, by port, and the frames on wires; empty if no port is gated.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gates {
    by_port: Vec<Gate>,
    /// Frames on the wire.
    pub frames: Arena<Posted>,
}

impl Gates {
    /// Gates for `ports` ports, all open.
    pub fn new(ports: usize) -> Self {
        Self { by_port: vec![Gate::default(); ports], frames: Arena::default() }
    }
    /// Whether no port is gated.
    pub fn is_empty(&self) -> bool {
        self.by_port.is_empty()
    }
    /// Number of gates.
    pub fn len(&self) -> usize {
        self.by_port.len()
    }
    /// The gate of a port.
    pub fn get(&self, port: usize) -> Option<&Gate> {
        self.by_port.get(port)
    }
    /// The gate of a port, to be changed.
    pub fn get_mut(&mut self, port: usize) -> Option<&mut Gate> {
        self.by_port.get_mut(port)
    }
    /// All gates.
    pub fn iter(&self) -> impl Iterator<Item = &Gate> {
        self.by_port.iter()
    }
}

impl std::ops::Index<usize> for Gates {
    type Output = Gate;
    #[inline(always)]
    fn index(&self, port: usize) -> &Gate {
        &self.by_port[port]
    }
}

impl std::ops::IndexMut<usize> for Gates {
    #[inline(always)]
    fn index_mut(&mut self, port: usize) -> &mut Gate {
        &mut self.by_port[port]
    }
}

/// The state of what a NIC foresaw: [`crate::hosts`], NIC scheduling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Foresight {
    /// Nothing is foreseen, or the link has become free as foreseen.
    #[default]
    Nothing,
    /// Nothing has happened since that would change it.
    Stands(Foreseen),
    /// Something has happened before the link was free: its flows are to be polled after all.
    Recalled(Foreseen),
}

/// The prediction that the only flow on a NIC's list will have nothing to send when the link is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Foreseen {
    /// The flow, whose packet the NIC is sending.
    pub flow: FlowId,
    /// When the flow's pace allows its next packet; [`Time::MAX`]: that depends on other events.
    pub paced: Time,
}

/// The state of a gated port.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gate {
    /// Paused so that nothing that waits in the queue, or at the flows of the host, may be sent.
    pub stopped: bool,
    /// [`crate::port::State::tx_pending`] is set but no event is pending: the port waits to be woken.
    pub blocked: bool,
    /// Flows of its host may have something to send ([`crate::hosts`], NIC scheduling).
    pub input_ready: bool,
    /// What is foreseen of its host's flows.
    pub foresight: Foresight,
    /// An event for the end of a pause is pending; it may be early.
    pub expiry_pending: bool,
    /// The name of the pause in force ([`crate::boundary::Boundary::pause_name`]).
    pub record: Option<u32>,
    /// Frames to be sent; on the reference lane the machine keeps them.
    pub frames: Outbox,
    /// Packets that bypass the queue.
    pub control: VecDeque<Flying>,
    /// What the neighbour has paused.
    pub paused: Paused,
    /// Queues were resumed for which flows of its host, whose NIC pulls, may have waited.
    pub freed: bool,
    /// Packets waiting here that are counted against a queue of the previous hop.
    pub held_back: u32,
    /// The pause that this port has requested from its neighbour, if pauses expire.
    pub requested: Requested,
    /// The bypass limit of the port, kept while paused queues have all packets join the queue.
    pub bypass_limit: Option<u64>,
    /// The instant before which its queue lets nothing leave; an event is pending then.
    pub remind_at: Option<Time>,
}

/// What a port that has sent an XOFF with quanta, or a bitmap, keeps in order to repeat it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Requested {
    /// When it is sent again, if its ingress still needs it.
    pub refresh: Time,
    /// An event for that is pending; it may be early.
    pub pending: bool,
    /// What made it necessary ([`crate::PauseRecord::cause`]).
    pub cause: Option<u32>,
    /// Consecutive reminders that reported that nothing is paused.
    pub idle: u8,
}

impl Default for Requested {
    fn default() -> Self {
        Self { refresh: Time::MAX, pending: false, cause: None, idle: 0 }
    }
}
