//! The record of a port of one direction, written during the run: arrivals with timestamps, sizes, flows and ECN bits,
//! and the port's decisions.

use crate::chunks::Chunks;
use std::io::{self, Write};
use thalweg_record::Port;
use thalweg_record::encoder::{self, Encoder};
use thalweg_record::path::{Arrival, Decision};
use thalweg_units::Time;

/// Writes a record. A full disk, or one that is too slow, ends it with a message, but not the run.
pub struct Recorder {
    out: Chunks,
    scratch: Vec<u8>,
    encoder: Encoder,
}

impl Recorder {
    /// Begins a record with the port.
    ///
    /// # Errors
    /// If the port cannot be encoded, or no thread can be started.
    pub fn new(port: &Port, file: impl Write + Send + 'static) -> io::Result<Self> {
        let head = encoder::head(port).map_err(io::Error::other)?;
        let mut out = Chunks::new(file)?;
        out.push(&head);
        Ok(Self { out, scratch: Vec::new(), encoder: Encoder::default() })
    }

    /// A packet arrived.
    pub fn arrival(&mut self, arrival: &Arrival) {
        if self.out.is_open() {
            self.scratch.clear();
            self.encoder.arrival(arrival, &mut self.scratch);
            self.out.push(&self.scratch);
        }
    }

    /// The port has decided about a packet.
    pub fn decision(&mut self, decision: &Decision) {
        if self.out.is_open() {
            self.scratch.clear();
            self.encoder.decision(decision.packet, decision.at, decision.fate, &mut self.scratch);
            self.out.push(&self.scratch);
        }
    }

    /// Ends the record: everything until `at` was decided. Returns the reason if the record is incomplete.
    pub fn finish(mut self, at: Time) -> Option<String> {
        self.scratch.clear();
        self.encoder.end(at, &mut self.scratch);
        self.out.push(&self.scratch);
        self.out.finish()
    }

    /// The reason if writing has stopped.
    pub fn stopped(&self) -> Option<&str> {
        self.out.stopped()
    }
}
