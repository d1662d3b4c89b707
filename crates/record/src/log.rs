//! The record of a port whose driver owns the packets: plain data that grows in memory.

use crate::encoder::{self, Encoder};
use crate::path::Fate;
use crate::port::Port;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thalweg_units::Time;
use thalweg_wire::{Ecn, Handle, Packet};

/// The record of a simulator's port. Several packets may arrive at one instant; the port decides after them, or between
/// them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Log {
    bytes: Vec<u8>,
    encoder: Encoder,
    /// Numbers of the waiting packets.
    waiting: BTreeMap<Handle, u64>,
    arrived: u64,
    /// When the port decided last, if nothing has arrived since then at that instant.
    decided: Option<Time>,
}

impl Log {
    /// Begins a record with the port.
    ///
    /// # Errors
    /// If the port cannot be encoded.
    pub fn new(port: &Port) -> Result<Self, String> {
        let bytes = encoder::head(port).map_err(|why| why.to_string())?;
        Ok(Self { bytes, ..Self::default() })
    }

    /// A packet arrives. Called before the machine is notified of it.
    pub fn arrives(&mut self, now: Time, handle: Handle, packet: &Packet) {
        if self.decided.take() == Some(now) {
            self.encoder.turn(now, &mut self.bytes);
        }
        self.encoder.packet(now, packet, &mut self.bytes);
        self.waiting.insert(handle, self.arrived);
        self.arrived += 1;
    }

    /// A packet was trimmed by `cut` bytes, and waits.
    pub fn trimmed(&mut self, now: Time, handle: Handle, cut: u32) {
        let number = self.waiting.get(&handle).copied();
        self.decision(now, number, Fate::Trimmed { cut });
    }

    /// A packet was dropped.
    pub fn dropped(&mut self, now: Time, handle: Handle) {
        let number = self.waiting.remove(&handle);
        self.decision(now, number, Fate::Dropped);
    }

    /// A packet begins to leave.
    pub fn sent(&mut self, now: Time, handle: Handle, until: Time, arrives: Option<Time>, ecn: Ecn) {
        let number = self.waiting.remove(&handle);
        self.decision(now, number, Fate::Sent { until, arrives, ecn });
    }

    /// The port has taken all decisions at this instant, unless more packets arrive.
    pub fn decided(&mut self, now: Time) {
        self.decided = Some(now);
    }

    /// The complete record up to an instant. Packets that arrived at that instant may have no decision yet.
    pub fn whole(&self, now: Time) -> Vec<u8> {
        let before = Time::from_ps(now.ps().saturating_sub(1));
        let mut bytes = self.bytes.clone();
        self.encoder.end(if self.decided == Some(now) { now } else { before }, &mut bytes);
        bytes
    }

    fn decision(&mut self, now: Time, number: Option<u64>, fate: Fate) {
        debug_assert!(number.is_some(), "what is decided of has arrived");
        if let Some(number) = number {
            self.encoder.decision(number, now, fate, &mut self.bytes);
        }
    }
}
