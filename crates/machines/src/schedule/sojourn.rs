//! CoDel in front of any order: when each waiting packet came, by its handle, and the control law they feed.

use super::Entry;
use super::flow_table::FlowTable;
use crate::aqm::{Codel, CodelSpec, Departure};
use crate::packet::Handle;
use serde::{Deserialize, Serialize};
use thalweg_units::{FlowId, Time};

/// One CoDel for all of a port's packets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sojourn {
    spec: CodelSpec,
    codel: Codel,
    /// From handle to slot.
    slots: FlowTable,
    came: Vec<Time>,
    free: Vec<u32>,
}

impl Sojourn {
    /// An empty port.
    pub fn new(spec: CodelSpec) -> Self {
        Self { spec, codel: Codel::default(), slots: FlowTable::default(), came: vec![], free: vec![] }
    }

    /// The packet starts to wait.
    pub fn joined(&mut self, now: Time, handle: Handle) {
        let slot = self.free.pop().unwrap_or(self.came.len() as u32);
        match self.came.get_mut(slot as usize) {
            Some(came) => *came = now,
            None => self.came.push(now),
        }
        self.slots.insert(FlowId(handle.0), slot);
    }

    /// The packet waits no longer; since when it did.
    pub fn left(&mut self, handle: Handle) -> Time {
        let Some(slot) = self.slots.get(FlowId(handle.0)) else { return Time::MAX };
        self.slots.remove(FlowId(handle.0));
        self.free.push(slot);
        self.came[slot as usize]
    }

    /// The next packet to send out of a queue of `bytes`; `pop` takes the next one out, `drop` gets those before it.
    pub fn serve(
        &mut self,
        now: Time,
        bytes: u64,
        mut pop: impl FnMut() -> Option<Entry>,
        drop: impl FnMut(Entry),
    ) -> Option<Entry> {
        let (spec, mut codel) = (self.spec, self.codel);
        let mut behind = bytes;
        let take = || {
            let entry = pop()?;
            behind -= u64::from(entry.wire);
            let waited = now.since(self.left(entry.handle));
            Some((entry, Departure { waited, nearly_empty: behind <= u64::from(spec.mtu) }))
        };
        let served = codel.serve(&spec, now, take, drop);
        self.codel = codel;
        served
    }
}
