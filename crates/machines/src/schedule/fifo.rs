//! First come, first served; a packet that does not fit is dropped.

use super::{At, Entry, Needs, Order, Parameters};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use thalweg_units::Time;
use thalweg_wire::{Handle, Packet};

/// First come, first served; drops the arriving packet.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Fifo;

    fn needs(&self) -> Needs {
        Needs { foretells: true, ..Needs::NOTHING }
    }
    fn make(&self, _: &At) -> Result<Fifo, Invalid> {
        Ok(Fifo::default())
    }
    fn memory(&self, _: f64) -> f64 {
        0.0 // most of its ports have no queue at all
    }
}

/// A FIFO queue.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Fifo {
    ring: VecDeque<Entry>,
}

impl Order for Fifo {
    #[inline]
    fn pushes_out(&self) -> bool {
        false
    }
    fn is_transparent(&self) -> bool {
        true
    }
    #[inline]
    fn push(&mut self, _now: Time, packet: &Packet, handle: Handle) {
        self.ring.push_back(Entry::new(packet, handle));
    }
    #[inline]
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        self.ring.pop_front()
    }
    fn push_out(&mut self, _arriving: Handle) -> Option<Entry> {
        self.ring.pop_back()
    }
    #[inline]
    fn upcoming(&self) -> Option<Handle> {
        self.head()
    }
    fn head(&self) -> Option<Handle> {
        self.ring.front().map(|entry| entry.handle)
    }
    fn waiting(&self, see: &mut dyn FnMut(Handle)) -> Option<u32> {
        let data = self.ring.iter().filter(|entry| !entry.control);
        data.for_each(|entry| see(entry.handle));
        Some(u32::from(!self.ring.is_empty()))
    }
}
