//! Random order: whenever the port is free, a waiting packet is drawn uniformly. A packet that does not fit is dropped.
//! The default of "arbitrary" schedules in Mittal et al., NSDI 2016, §2.3.

use super::{At, Entry, Needs, Order, Parameters, Preemptible};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Stream, Time, mix64};
use thalweg_wire::{Handle, Packet};

/// A waiting packet drawn uniformly; drops the arriving packet.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters for Params {
    type Machine = Random;

    fn needs(&self) -> Needs {
        Needs { overtakes: true, ..Needs::NOTHING }
    }
    fn make(&self, at: &At) -> Result<Random, Invalid> {
        Ok(Random::new(at.stream))
    }
}

/// The waiting packets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Random {
    bag: Vec<Entry>,
    served: Option<Entry>,
    /// A packet already drawn as part of a preemption.
    drawn: Option<u32>,
    stream: Stream,
}

impl Random {
    /// Draws from a stream of its own, derived from `stream`, which marking may draw from too.
    pub fn new(mut stream: Stream) -> Self {
        let stream = Stream::new(mix64(stream.bits()), "random order", 0);
        Self { bag: Vec::new(), served: None, drawn: None, stream }
    }
}

impl Order for Random {
    #[inline]
    fn pushes_out(&self) -> bool {
        false
    }
    fn is_transparent(&self) -> bool {
        true
    }
    #[inline]
    fn push(&mut self, _now: Time, packet: &Packet, handle: Handle) {
        self.bag.push(Entry::new(packet, handle));
    }
    #[inline]
    fn pop(&mut self, _now: Time) -> Option<Entry> {
        if self.bag.is_empty() {
            return None;
        }
        let at = match self.drawn.take() {
            Some(at) => at as usize,
            None if self.bag.len() == 1 => 0, // nothing is drawn: a port without a queue leaves no trace
            None => self.stream.below(self.bag.len() as u64) as usize,
        };
        self.served = Some(self.bag.swap_remove(at));
        self.served
    }
    /// The newest, unless a packet has left since it came: then any.
    fn push_out(&mut self, _arriving: Handle) -> Option<Entry> {
        self.bag.pop()
    }
    fn preemptible(&mut self) -> Option<&mut dyn Preemptible> {
        Some(self)
    }
}

impl Preemptible for Random {
    /// Draws again among all that wait and the one in service.
    fn preempt(&mut self, _now: Time) -> Option<Entry> {
        let served = self.served?;
        let at = self.stream.below(self.bag.len() as u64 + 1) as u32;
        if at as usize == self.bag.len() {
            return None; // itself
        }
        self.served = None;
        self.drawn = Some(at);
        self.bag.push(served);
        Some(served)
    }
}
