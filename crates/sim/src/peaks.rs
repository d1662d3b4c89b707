//! The most that switch memories have held: exact, although departures are booked late ([`crate::memory`]).
//!
//! The books never show too little. So a packet with which even they stay within the most seen so far can set no record, and
//! that costs a comparison; with any other the switch settles its books first.

use crate::events::Events;
use crate::sim::Sim;
use serde::{Deserialize, Serialize};
use thalweg_machines::buffer::Inputs;

/// The most that one switch's memory has held so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPeaks {
    /// By input: bytes stored, headroom included.
    pub inputs: Vec<u64>,
    /// By input: bytes in the headroom, where it is counted apart (dynamic threshold).
    pub headrooms: Vec<u64>,
    /// Bytes in the shared memory ([`Inputs::used`]).
    pub shared: u64,
}

impl MemoryPeaks {
    pub(crate) fn new(inputs: usize) -> Self {
        Self { inputs: vec![0; inputs], headrooms: vec![0; inputs], shared: 0 }
    }

    /// A packet of `wire` bytes that joins `input` may set a record.
    #[inline]
    pub(crate) fn may_grow(&self, memory: &Inputs, input: usize, wire: u32) -> bool {
        let wire = u64::from(wire);
        memory.inputs()[input].bytes + wire > self.inputs[input] || memory.used() + wire > self.shared
    }

    /// A packet has joined `input`, and the books are settled.
    pub(crate) fn note(&mut self, memory: &Inputs, input: usize) {
        let at = memory.inputs()[input];
        self.inputs[input] = self.inputs[input].max(at.bytes);
        self.headrooms[input] = self.headrooms[input].max(at.headroom);
        self.shared = self.shared.max(memory.used());
    }
}

impl<Q: Events> Sim<Q> {
    /// By switch, if the probes ask for it ([`crate::spec::ProbeSpec::memory`]); else empty.
    pub fn memory_peaks(&self) -> &[MemoryPeaks] {
        &self.memory.peaks
    }

    /// By switch, if switches count by input: what their memory is.
    pub fn memories(&self) -> &[Inputs] {
        &self.memory.switches
    }
}
