//! Bins: the FIFOs that flows are hashed into, each with its own CoDel state where CoDel is used. An empty bin is
//! closed as soon as its CoDel state is equivalent to a fresh one, so that memory does not grow with the number of
//! flows ever seen.

use crate::problems::Invalid;
use crate::schedule::structures::lanes::Lanes;
use crate::stage::codel::Law;
use crate::stage::{Codel, codel};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::{FlowId, Span, Time, mix64};
use thalweg_wire::{Kind, Packet};

/// The state of a bin.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in crate::schedule) struct Bin {
    pub(in crate::schedule) packets: u32,
    /// It is on a list of those to be served.
    pub(in crate::schedule) listed: bool,
    /// It is among [`Bins::remembered`].
    remembered: bool,
    /// Bytes that it may still send in its turn, in orders that count bytes.
    pub(in crate::schedule) credits: i64,
    pub(in crate::schedule) codel: Codel,
}

/// The bins of a port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::schedule) struct Bins {
    pub(in crate::schedule) lanes: Lanes<Bin>,
    /// Bins that are on no list but whose CoDel state still differs from a fresh one.
    remembered: VecDeque<u32>,
    /// How many; `None`: one for each flow and direction.
    count: Option<u32>,
    salt: u64,
    /// How long CoDel remembers.
    memory: Option<(Span, Law)>,
}

impl Bins {
    /// `count` bins that flows are hashed to, or one for each flow and direction; different salts hash differently.
    ///
    /// # Errors
    /// If there are none.
    pub(in crate::schedule) fn new(
        count: Option<u32>,
        salt: u64,
        codel: Option<&codel::Params>,
    ) -> Result<Self, Invalid> {
        if count == Some(0) {
            return Err(Invalid::new("round robin needs at least one bin").at("bins"));
        }
        let memory = codel.map(|codel| (codel.interval, codel.law));
        Ok(Self { lanes: Lanes::default(), remembered: VecDeque::new(), count, salt, memory })
    }

    /// The packet's bin. The two directions of a connection are flows of their own.
    pub(in crate::schedule) fn open(&mut self, packet: &Packet) -> u32 {
        let back = matches!(packet.kind, Kind::Ack | Kind::SynAck);
        let flow = packet.flow.0.rotate_left(1) ^ u32::from(back);
        // Scaled down without a division's bias.
        let hash =
            |bins: u32| ((u128::from(mix64(u64::from(flow) ^ self.salt)) * u128::from(bins)) >> 64) as u32;
        self.lanes.open(FlowId(self.count.map_or(flow, hash)))
    }

    /// An empty bin leaves the lists.
    pub(in crate::schedule) fn retire(&mut self, now: Time, lane: u32) {
        self.lanes.state(lane).listed = false;
        let state = *self.lanes.state(lane);
        if state.remembered {
            return;
        }
        if self.memory.is_none_or(|(interval, law)| state.codel.is_forgettable(now, interval, law)) {
            self.lanes.close(lane);
        } else {
            self.lanes.state(lane).remembered = true;
            self.remembered.push_back(lane);
        }
    }

    /// Closes bins whose CoDel state is no longer needed. This frees memory and never changes what is sent.
    pub(in crate::schedule) fn forget(&mut self, now: Time) {
        while let (Some(&lane), Some((interval, law))) = (self.remembered.front(), self.memory) {
            let state = *self.lanes.state(lane);
            if !state.listed && !state.codel.is_forgettable(now, interval, law) {
                break;
            }
            self.remembered.pop_front();
            self.lanes.state(lane).remembered = false;
            if !state.listed {
                self.lanes.close(lane);
            }
        }
    }
}
