//! Last come, first served; a packet that does not fit is dropped.

use super::{At, Entry, Needs, Order, Parameters, Preemptible};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;
use thalweg_wire::{Handle, Packet};

/// Last come, first served; drops the arriving packet.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Lifo;

    fn needs(&self) -> Needs {
        Needs { overtakes: true, ..Needs::NOTHING }
    }
    fn make(&self, _: &At) -> Result<Lifo, Invalid> {
        Ok(Lifo::default())
    }
}

/// A stack.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Lifo {
    stack: Vec<Entry>,
    /// The packet last served, and how many lay below it: whatever lies higher came later.
    served: Option<(Entry, u32)>,
}

impl Order for Lifo {
    #[inline]
    fn pushes_out(&self) -> bool {
        false
    }
    fn is_transparent(&self) -> bool {
        true
    }
    #[inline]
    fn push(&mut self, _now: Time, packet: &Packet, handle: Handle) {
        self.stack.push(Entry::new(packet, handle));
    }
    #[inline]
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        let entry = self.stack.pop()?;
        self.served = Some((entry, self.stack.len() as u32));
        Some(entry)
    }
    fn push_out(&mut self, _arriving: Handle) -> Option<Entry> {
        self.stack.pop()
    }
    fn preemptible(&mut self) -> Option<&mut dyn Preemptible> {
        Some(self)
    }
}

impl Preemptible for Lifo {
    /// The packet that came last goes first.
    fn preempt(&mut self, _now: Time) -> Option<Entry> {
        let (entry, below) = self.served.filter(|&(_, below)| self.stack.len() > below as usize)?;
        self.served = None;
        self.stack.insert(below as usize, entry);
        Some(entry)
    }
}
