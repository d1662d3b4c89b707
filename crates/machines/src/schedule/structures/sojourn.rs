//! Arrival times of waiting packets by handle, for stages that need sojourn times.

use crate::schedule::structures::flow_table::FlowTable;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Time};
use thalweg_wire::Handle;

/// Arrival times of a port's packets. Slots are recycled.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sojourn {
    /// From handle to slot.
    slots: FlowTable,
    came: Vec<Time>,
    free: Vec<u32>,
}

impl Sojourn {
    /// The packet starts to wait.
    pub fn joined(&mut self, now: Time, handle: Handle) {
        let slot = self.free.pop().unwrap_or(self.came.len() as u32);
        match self.came.get_mut(slot as usize) {
            Some(came) => *came = now,
            None => self.came.push(now),
        }
        self.slots.insert(FlowId(handle.0), slot);
    }

    /// The packet leaves. Returns since when it waited.
    pub fn left(&mut self, handle: Handle) -> Time {
        let Some(slot) = self.slots.get(FlowId(handle.0)) else { return Time::MAX };
        self.slots.remove(FlowId(handle.0));
        self.free.push(slot);
        self.came[slot as usize]
    }
}
