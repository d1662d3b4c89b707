//! Pauses that expire (IEEE 802.1Qbb; IEEE 802.3 Annex 31B).
//!
//! A frame that stops a port says for how long, in quanta of 512 bit times of its link; a frame of zero quanta is the
//! permission to go on. Whoever asked asks again while its input holds too much. So a frame that is lost costs time or, at
//! worst, what comes until the next: a stop is repeated, and a permission that never arrives is replaced by the end of the
//! quanta.

use crate::events::{Events, Phase};
use crate::sim::Sim;
use serde::{Deserialize, Serialize};
use thalweg_machines::buffer::Pause;
use thalweg_units::{PortId, Span, Time};

/// Bytes in a quantum: 512 bit times.
const QUANTUM: u32 = 64;

/// What the two ends of a pause that expires remember, by port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timed {
    /// The stopped port goes on then, unless another frame comes.
    expires: Time,
    /// An event for that is pending; it may be early.
    expiry_pending: bool,
    /// The port that has sent a stop sends it again then, if its input still asks for it.
    refresh: Time,
    /// An event for that is pending; it may be early.
    refresh_pending: bool,
    /// What made the stop necessary ([`crate::PauseRecord::cause`]).
    cause: u32,
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

const EXPIRY: u32 = 0;
const REFRESH: u32 = 1;

impl<Q: Events> Sim<Q> {
    /// How long a stop lasts at this port's rate; `None`: until the permission to go on.
    fn quanta(&self, id: PortId) -> Option<Span> {
        let quanta = self.spec.inputs?.pfc?.quanta?;
        Some(self.ports[id.at()].span(QUANTUM * u32::from(quanta)))
    }

    /// A stop has reached a port, the first or another.
    pub(crate) fn stop_expires(&mut self, id: PortId) {
        let Some(quanta) = self.quanta(id) else { return };
        let timed = &mut self.gates[id.at()].timed;
        timed.expires = self.now.saturating_add(quanta);
        if !timed.expiry_pending {
            timed.expiry_pending = true;
            let at = timed.expires;
            self.schedule(at, Phase::Quanta, 2 * id.0 + EXPIRY);
        }
    }

    /// A stop leaves a port: it is to be sent again in time.
    // CHOICE IRN §4.3.1: when half of the quanta are over; the standard leaves it open. What the new frame may have to wait for, a
    // packet, must fit into the other half.
    pub(crate) fn refresh_later(&mut self, id: PortId, cause: u32) {
        let Some(quanta) = self.quanta(id) else { return };
        let timed = &mut self.gates[id.at()].timed;
        timed.refresh = self.now.saturating_add(quanta / 2);
        timed.cause = cause;
        if !timed.refresh_pending {
            timed.refresh_pending = true;
            let at = timed.refresh;
            self.schedule(at, Phase::Quanta, 2 * id.0 + REFRESH);
        }
    }

    /// The time of one of the two has come, unless it was put off.
    pub(crate) fn quanta_over(&mut self, entity: u32) {
        let (id, what) = (PortId(entity / 2), entity % 2);
        let timed = &mut self.gates[id.at()].timed;
        let (due, pending) = match what {
            EXPIRY => (timed.expires, &mut timed.expiry_pending),
            _ => (timed.refresh, &mut timed.refresh_pending),
        };
        *pending = due > self.now;
        if due > self.now {
            return self.schedule(due, Phase::Quanta, entity);
        }
        let cause = timed.cause;
        if what == EXPIRY {
            self.catch_up(id, self.now);
            self.resume_port(id);
        } else if self.keeps_waiting(id) && !(self.unreliable && self.is_down(id)) {
            self.post_frame(id, Pause::Off, cause);
        }
    }

    /// The input behind this port of a switch wants its neighbour to stop.
    pub(crate) fn keeps_waiting(&self, id: PortId) -> bool {
        let port = &self.ports[id.at()];
        self.counting
            && port.owner != u32::MAX
            && self.memory.switches[port.owner as usize].inputs()[usize::from(port.number)].paused
    }
}
