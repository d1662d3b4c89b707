//! The record of a port whose driver holds the packets: plain data, which grows in memory.

use crate::encoder::{self, Encoder};
use crate::path::Fate;
use crate::port::Port;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thalweg_units::Time;
use thalweg_wire::{Ecn, Handle, Packet};

/// What passes a port of a simulator. Several packets may arrive at one instant; the port decides after them, or in
/// between.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Log {
    bytes: Vec<u8>,
    encoder: Encoder,
    /// Numbers of the packets that wait.
    waiting: BTreeMap<Handle, u64>,
    arrived: u64,
    /// When the port decided last, if nothing has arrived since at that instant.
    decided: Option<Time>,
}

impl Log {
    /// Begins with the port.
    ///
    /// # Errors
    /// If it cannot be written down.
    pub fn new(port: &Port) -> Result<Self, String> {
        let bytes = encoder::head(port).map_err(|why| why.to_string())?;
        Ok(Self { bytes, ..Self::default() })
    }

    /// A packet arrives: before the machine is notified of it.
    pub fn arrives(&mut self, now: Time, handle: Handle, packet: &Packet) {
        if self.decided.take() == Some(now) {
            self.encoder.turn(now, &mut self.bytes);
        }
        self.encoder.packet(now, packet, &mut self.bytes);
        self.waiting.insert(handle, self.arrived);
        self.arrived += 1;
    }

    /// A packet was cut by so many bytes, and waits.
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

    /// The port has decided all that it does now, unless more arrives.
    pub fn decided(&mut self, now: Time) {
        self.decided = Some(now);
    }

    /// The whole record, as of an instant. What has arrived just then and waits for the port's decision may have none.
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
