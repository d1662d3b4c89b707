//! What gated ports have besides their queues: frames to be sent, packets that bypass the queue, and pauses.

use crate::arena::Arena;
use crate::port::flying::Flying;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_machines::pause::{Outbox, Paused, Posted};
use thalweg_units::{FlowId, PortId, Time};
use thalweg_wire::Frame;

/// Entities of [`crate::events::Phase::Quanta`]: twice the port, and this.
pub(super) const EXPIRY: u32 = 0;
pub(super) const REFRESH: u32 = 1;

/// How the digest of a run knows that a port sends a frame.
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

/// The gates of a network, by port, and the frames on their wires; empty if no port is gated.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gates {
    by_port: Vec<Gate>,
    /// Frames on the wire.
    pub frames: Arena<Posted>,
}

impl Gates {
    /// So many, all open.
    pub fn new(ports: usize) -> Self {
        Self { by_port: vec![Gate::default(); ports], frames: Arena::default() }
    }
    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.by_port.is_empty()
    }
    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_port.len()
    }
    /// That of a port.
    pub fn get(&self, port: usize) -> Option<&Gate> {
        self.by_port.get(port)
    }
    /// That of a port.
    pub fn get_mut(&mut self, port: usize) -> Option<&mut Gate> {
        self.by_port.get_mut(port)
    }
    /// All of them.
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

/// What has become of what a NIC foresaw: [`crate::hosts`], NIC scheduling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Foresight {
    /// Nothing was foreseen, or it has come so.
    #[default]
    Nothing,
    /// Nothing has happened since.
    Stands(Foreseen),
    /// Something has, before the link was free: its flows are to be polled after all.
    Recalled(Foreseen),
}

/// That the only flow in turn will have nothing to send when the link is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Foreseen {
    /// Which, whose packet it sent.
    pub flow: FlowId,
    /// When the flow may send the next; [`Time::MAX`]: that depends on others.
    pub paced: Time,
}

/// The state of a gated port.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gate {
    /// Nothing that waits in the queue, or at the flows of the host, may be sent.
    pub stopped: bool,
    /// [`crate::port::State::tx_pending`] is set but no event is pending: the port waits to be woken.
    pub blocked: bool,
    /// Flows of its host may have something to send ([`crate::hosts`], NIC scheduling).
    pub input_ready: bool,
    /// Its host's flows have declared beforehand that they will have nothing when the link is free.
    pub foresight: Foresight,
    /// An event for the end of a pause is pending; it may be early.
    pub expiry_pending: bool,
    /// The name of the pause that stands ([`crate::border::Border::name`]).
    pub record: Option<u32>,
    /// Frames to be sent; on the reference lane the machine has them.
    pub frames: Outbox,
    /// Packets that bypass the queue, by their priority.
    pub control: VecDeque<Flying>,
    /// What the neighbour has paused.
    pub paused: Paused,
    /// Single queues were resumed that flows of its host, a NIC that pulls, may have waited for.
    pub freed: bool,
    /// Packets waiting here for which a queue of the hop before is paused.
    pub held_back: u32,
    /// The pause that this port has requested from its neighbour, if it expires.
    pub requested: Requested,
    /// The bypass limit of the port, while a pause of single queues has it see every packet.
    pub bypass_limit: Option<u64>,
    /// Its queue lets nothing leave before: an event is pending then.
    pub remind_at: Option<Time>,
}

/// What a port remembers that has sent an XOFF for a time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Requested {
    /// It sends it again then, if its ingress still needs it.
    pub refresh: Time,
    /// An event for that is pending; it may be early.
    pub pending: bool,
    /// What made it necessary ([`crate::PauseRecord::cause`]).
    pub cause: u32,
    /// Reminders sent since nothing was paused any more.
    pub idle: u8,
}

impl Default for Requested {
    fn default() -> Self {
        Self { refresh: Time::MAX, pending: false, cause: u32::MAX, idle: 0 }
    }
}
