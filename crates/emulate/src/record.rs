//! What passed one direction, written as it runs: arrivals with stamps, sizes, flows and ECN bits, and what the port
//! decided.

use crate::chunks::Chunks;
use std::io::{self, Write};
use thalweg_record::Port;
use thalweg_record::encoder::{self, Encoder};
use thalweg_record::path::{Arrival, Decision};
use thalweg_units::Time;

/// Writes a record. A full or too slow disk ends it with a message, and not the run.
pub struct Recorder {
    out: Chunks,
    scratch: Vec<u8>,
    encoder: Encoder,
}

impl Recorder {
    /// Begins with the port.
    ///
    /// # Errors
    /// If the port cannot be written down, or no thread started.
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

    /// Something was decided.
    pub fn decision(&mut self, decision: &Decision) {
        if self.out.is_open() {
            self.scratch.clear();
            self.encoder.decision(decision.packet, decision.at, decision.fate, &mut self.scratch);
            self.out.push(&self.scratch);
        }
    }

    /// Everything until `at` was decided. Why the record is not whole, if it is not.
    pub fn finish(mut self, at: Time) -> Option<String> {
        self.scratch.clear();
        self.encoder.end(at, &mut self.scratch);
        self.out.push(&self.scratch);
        self.out.finish()
    }

    /// Why it has stopped, if it has.
    pub fn stopped(&self) -> Option<&str> {
        self.out.stopped()
    }
}
