//! What passed one direction, written as it runs: arrivals with stamps, sizes, flows and ECN bits, and what the port
//! decided. A thread of its own writes, so that a slow disk makes no packet late. A full or too slow disk ends the
//! record with a message, and not the run.

use crate::entry::{self, Entry, LAYOUT, MAGIC};
use crate::path::{Arrival, Decision};
use crate::port::Port;
use std::io::{self, Write};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use thalweg_units::Time;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Bytes that are handed to the writer at once.
const CHUNK: usize = 1 << 16;
/// Chunks that wait for the disk at most: 16 MB.
const CHUNKS: usize = 256;

/// Writes a record.
pub struct Recorder {
    buffer: Vec<u8>,
    scratch: Vec<u8>,
    digest: u64,
    to: Option<SyncSender<Vec<u8>>>,
    writer: Option<JoinHandle<io::Result<()>>>,
    stopped: Option<String>,
}

impl Recorder {
    /// Begins with the port.
    ///
    /// # Errors
    /// If the port cannot be written down, or no thread started.
    pub fn new(port: &Port, mut file: impl Write + Send + 'static) -> io::Result<Self> {
        let spec = postcard::to_stdvec(port).map_err(io::Error::other)?;
        let mut buffer = Vec::with_capacity(CHUNK + 64);
        buffer.extend(MAGIC);
        buffer.extend(LAYOUT.to_le_bytes());
        buffer.extend((spec.len() as u32).to_le_bytes());
        buffer.extend(spec);
        let (to, chunks) = sync_channel::<Vec<u8>>(CHUNKS);
        let write = move || {
            chunks.iter().try_for_each(|chunk| file.write_all(&chunk))?;
            file.flush()
        };
        let writer = std::thread::Builder::new().name("record".into()).spawn(write)?;
        let (to, writer) = (Some(to), Some(writer));
        Ok(Self { buffer, scratch: Vec::new(), digest: 0, to, writer, stopped: None })
    }

    /// A packet arrived.
    pub fn arrival(&mut self, arrival: &Arrival) {
        if self.to.is_some() {
            entry::write(&Entry::Arrival(*arrival), &mut self.buffer);
            self.pass_on(CHUNK);
        }
    }

    /// Something was decided.
    pub fn decision(&mut self, decision: &Decision) {
        if self.to.is_some() {
            self.digest = fold(self.digest, decision, &mut self.scratch);
            self.buffer.extend(&self.scratch);
            self.pass_on(CHUNK);
        }
    }

    /// Everything until `at` was decided. Why the record is not whole, if it is not.
    pub fn finish(mut self, at: Time) -> Option<String> {
        entry::write(&Entry::End(at, self.digest), &mut self.buffer);
        self.pass_on(0);
        self.stop(None);
        self.stopped
    }

    /// Why it has stopped, if it has.
    pub fn stopped(&self) -> Option<&str> {
        self.stopped.as_deref()
    }

    fn pass_on(&mut self, most: usize) {
        if self.buffer.len() < most.max(1) {
            return;
        }
        let Some(to) = &self.to else { return };
        let chunk = std::mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK + 64));
        // At the end there is time to wait.
        let sent = if most == 0 {
            to.send(chunk).map_err(|e| TrySendError::Disconnected(e.0))
        } else {
            to.try_send(chunk)
        };
        match sent {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => self.stop(Some("the disk is slower than the path")),
            Err(TrySendError::Disconnected(_)) => self.stop(None),
        }
    }

    fn stop(&mut self, why: Option<&str>) {
        self.to = None;
        let Some(writer) = self.writer.take() else { return };
        if let Some(why) = why {
            self.stopped = Some(why.to_owned());
            return; // what waits is still written, without anyone waiting for it
        }
        self.stopped = match writer.join() {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("its writer panicked".to_owned()),
        };
    }
}

/// The digest after one more decision, whose bytes are left in `scratch`.
pub(crate) fn fold(digest: u64, decision: &Decision, scratch: &mut Vec<u8>) -> u64 {
    scratch.clear();
    entry::write(&entry::entry(decision), scratch);
    xxh3_64_with_seed(scratch, digest)
}
