//! The packets of one direction as pcapng, with the decisions of the ports: packets as they leave each port, and
//! dropped ones.

use crate::chunks::Chunks;
use crate::clock::Wall;
use crate::way::Way;
use std::io::{self, Write};
use thalweg_capture::pcapng::Way::Out;
use thalweg_capture::pcapng::{ETHERNET, Seen, Writer};
use thalweg_record::path::{Decision, Fate};

/// Writes a capture with an interface for each port.
pub(crate) struct Capture {
    out: Writer<Chunks>,
    wall: Wall,
}

impl Capture {
    /// # Errors
    /// If no thread can be started.
    pub fn new(way: &Way, file: impl Write + Send + 'static) -> io::Result<Self> {
        let mut out = Writer::new(Chunks::new(file)?, "emulated by thalweg")?;
        for port in way.ports() {
            out.interface(ETHERNET, &port.name, Some(port.rate().bps()))?;
        }
        Ok(Self { out, wall: Wall::default() })
    }

    /// Sets the wall clock for timestamps.
    pub fn begin(&mut self, wall: Wall) {
        self.wall = wall;
    }

    /// Writes the decision of a port about a frame, with the bytes as they leave the port.
    pub fn decided(&mut self, hop: usize, decision: &Decision, frame: &[u8]) {
        let comment = match decision.fate {
            Fate::Dropped => Some("dropped"),
            Fate::Trimmed { .. } => Some("trimmed"),
            Fate::Sent { arrives: None, .. } => Some("lost on the link"),
            Fate::Sent { .. } if decision.marked => Some("marked"),
            Fate::Sent { .. } => None,
        };
        let at_ns = self.wall.stamp(decision.at);
        let wire = frame.len() as u32;
        let interface = hop as u32;
        let seen = Seen { at_ns, interface, way: Out, wire, bytes: frame, comment };
        self.out.packet(&seen).expect("there is this interface, and chunks do not fail");
    }

    /// Ends the capture. Returns the reason if it is incomplete.
    pub fn finish(self) -> Option<String> {
        self.out.finish().map_or_else(|e| Some(e.to_string()), Chunks::finish)
    }
}
