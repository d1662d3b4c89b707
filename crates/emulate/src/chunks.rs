//! A file written by a thread of its own, so that a slow disk does not delay packets. A full disk, or one that is too
//! slow, ends the file with a message, but not the run.

use std::io::{self, Write};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// Bytes that are handed to the writer at a time.
const CHUNK: usize = 1 << 16;
/// Largest number of chunks that wait for the disk: 16 MB.
const CHUNKS: usize = 256;

/// Takes bytes without blocking and without errors.
pub(crate) struct Chunks {
    buffer: Vec<u8>,
    to: Option<SyncSender<Vec<u8>>>,
    writer: Option<JoinHandle<io::Result<()>>>,
    stopped: Option<String>,
}

impl Chunks {
    /// # Errors
    /// If no thread can be started.
    pub fn new(mut file: impl Write + Send + 'static) -> io::Result<Self> {
        let (to, chunks) = sync_channel::<Vec<u8>>(CHUNKS);
        let write = move || {
            chunks.iter().try_for_each(|chunk| file.write_all(&chunk))?;
            file.flush()
        };
        let writer = std::thread::Builder::new().name("record".into()).spawn(write)?;
        let buffer = Vec::with_capacity(CHUNK + 64);
        Ok(Self { buffer, to: Some(to), writer: Some(writer), stopped: None })
    }

    /// True while bytes are still written.
    pub fn is_open(&self) -> bool {
        self.to.is_some()
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.to.is_some() {
            self.buffer.extend(bytes);
            self.pass_on(CHUNK);
        }
    }

    /// Ends the file. Returns the reason if it is incomplete.
    pub fn finish(mut self) -> Option<String> {
        self.pass_on(0);
        self.stop(None);
        self.stopped
    }

    /// The reason if writing has stopped.
    pub fn stopped(&self) -> Option<&str> {
        self.stopped.as_deref()
    }

    fn pass_on(&mut self, most: usize) {
        if self.buffer.len() < most.max(1) {
            return;
        }
        let Some(to) = &self.to else { return };
        let chunk = std::mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK + 64));
        // At the end it may block.
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

impl Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
