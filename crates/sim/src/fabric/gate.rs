//! What a gated port has besides its queue.

use crate::port::flying::{Flying, Frame};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{Span, Time};

/// The state of a gated port.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gate {
    /// The frame to be sent, and what made it necessary ([`crate::PauseRecord::cause`]): a newer one replaces it.
    pub frame: Option<(Frame, u32)>,
    /// Packets that bypass the queue, by their priority.
    pub control: VecDeque<Flying>,
    /// The neighbour has sent XOFF.
    pub paused: bool,
    /// Since when.
    pub since: Time,
    /// Its record.
    pub record: u32,
    /// [`crate::port::PortTotals::pauses`].
    pub pauses: u64,
    /// Pauses that are over, ps.
    pub paused_for: u64,
    /// [`crate::port::State::tx_pending`] is set but no event is pending: the port waits to be woken.
    pub blocked: bool,
    /// Flows of its host may have something to send ([`crate::hosts`], NIC scheduling).
    pub input_ready: bool,
    /// Pauses that expire.
    pub timed: Timed,
}

impl Gate {
    /// For how long it has been paused in all.
    pub fn paused(&self, now: Time) -> Span {
        let standing = if self.paused { now.since(self.since) } else { Span::ZERO };
        Span::from_ps(self.paused_for) + standing
    }
}

/// What the two ends of a pause that expires remember, by port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timed {
    /// The paused port resumes then, unless another frame comes.
    pub expires: Time,
    /// An event for that is pending; it may be early.
    pub expiry_pending: bool,
    /// The port that has sent XOFF sends it again then, if its ingress still needs it.
    pub refresh: Time,
    /// An event for that is pending; it may be early.
    pub refresh_pending: bool,
    /// What made the XOFF necessary ([`crate::PauseRecord::cause`]).
    pub cause: u32,
}

impl Default for Timed {
    fn default() -> Self {
        Self {
            expires: Time::MAX,
            expiry_pending: false,
            refresh: Time::MAX,
            refresh_pending: false,
            cause: u32::MAX,
        }
    }
}
