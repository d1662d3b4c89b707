//! No active management: a packet is refused only when the buffer is full.

use super::{Advice, Aqm, Backlog};
use crate::packet::Packet;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;

/// Admits everything; the queue's limit does the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TailDrop;

impl Aqm for TailDrop {
    #[inline(always)]
    fn on_arrival(&mut self, _now: Time, _backlog: Backlog, _packet: &Packet) -> Advice {
        Advice::Admit
    }
}
