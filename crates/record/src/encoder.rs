//! A record as bytes, entry by entry.

use crate::entry::{self, Entry, LAYOUT, MAGIC};
use crate::path::{Arrival, Decision, Fate};
use crate::port::Port;
use serde::{Deserialize, Serialize};
use thalweg_units::Time;
use thalweg_wire::Packet;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The beginning of a record: the port.
///
/// # Errors
/// If the port cannot be encoded.
pub fn head(port: &Port) -> Result<Vec<u8>, postcard::Error> {
    let spec = postcard::to_stdvec(port)?;
    let (layout, length) = (LAYOUT.to_le_bytes(), (spec.len() as u32).to_le_bytes());
    Ok([MAGIC, &layout[..], &length, &spec].concat())
}

/// Appends entries to a record, and computes the digest of its decisions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    digest: u64,
}

impl Encoder {
    /// An arrival of a packet that its IP header describes completely.
    pub fn arrival(&self, arrival: &Arrival, out: &mut Vec<u8>) {
        entry::write(&Entry::Arrival(*arrival), out);
    }

    /// An arrival of a packet with its whole simulated header.
    pub fn packet(&self, at: Time, packet: &Packet, out: &mut Vec<u8>) {
        entry::write(&Entry::Packet(at, *packet), out);
    }

    /// The port has decided at this instant; further entries of the same instant follow.
    pub fn turn(&self, at: Time, out: &mut Vec<u8>) {
        entry::write(&Entry::Turn(at), out);
    }

    /// A decision about the packet with this number.
    pub fn decision(&mut self, packet: u64, at: Time, fate: Fate, out: &mut Vec<u8>) {
        let before = out.len();
        entry::write(&Entry::Decision(packet, at, fate), out);
        self.digest = xxh3_64_with_seed(&out[before..], self.digest);
    }

    /// The end: everything until `at` was decided.
    pub fn end(&self, at: Time, out: &mut Vec<u8>) {
        entry::write(&Entry::End(at, self.digest), out);
    }

    /// Digest of all decisions so far.
    pub fn digest(&self) -> u64 {
        self.digest
    }
}

impl From<&Decision> for Entry {
    fn from(decision: &Decision) -> Self {
        Self::Decision(decision.packet, decision.at, decision.fate)
    }
}
