//! What passed one direction, written as it runs: arrivals with stamps, sizes, flows and ECN bits, and what the port
//! decided.

use crate::chunks::Chunks;
use crate::entry::{self, Entry, LAYOUT, MAGIC};
use crate::path::{Arrival, Decision};
use crate::port::Port;
use std::io::{self, Write};
use thalweg_units::Time;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Writes a record. A full or too slow disk ends it with a message, and not the run.
pub struct Recorder {
    out: Chunks,
    scratch: Vec<u8>,
    digest: u64,
}

impl Recorder {
    /// Begins with the port.
    ///
    /// # Errors
    /// If the port cannot be written down, or no thread started.
    pub fn new(port: &Port, file: impl Write + Send + 'static) -> io::Result<Self> {
        let spec = postcard::to_stdvec(port).map_err(io::Error::other)?;
        let mut out = Chunks::new(file)?;
        out.push(MAGIC);
        out.push(&LAYOUT.to_le_bytes());
        out.push(&(spec.len() as u32).to_le_bytes());
        out.push(&spec);
        Ok(Self { out, scratch: Vec::new(), digest: 0 })
    }

    /// A packet arrived.
    pub fn arrival(&mut self, arrival: &Arrival) {
        if self.out.is_open() {
            self.entry(&Entry::Arrival(*arrival));
        }
    }

    /// Something was decided.
    pub fn decision(&mut self, decision: &Decision) {
        if self.out.is_open() {
            self.digest = fold(self.digest, decision, &mut self.scratch);
            self.out.push(&self.scratch);
        }
    }

    /// Everything until `at` was decided. Why the record is not whole, if it is not.
    pub fn finish(mut self, at: Time) -> Option<String> {
        self.entry(&Entry::End(at, self.digest));
        self.out.finish()
    }

    /// Why it has stopped, if it has.
    pub fn stopped(&self) -> Option<&str> {
        self.out.stopped()
    }

    fn entry(&mut self, entry: &Entry) {
        self.scratch.clear();
        entry::write(entry, &mut self.scratch);
        self.out.push(&self.scratch);
    }
}

/// The digest after one more decision, whose bytes are left in `scratch`.
pub(crate) fn fold(digest: u64, decision: &Decision, scratch: &mut Vec<u8>) -> u64 {
    scratch.clear();
    entry::write(&entry::entry(decision), scratch);
    xxh3_64_with_seed(scratch, digest)
}
