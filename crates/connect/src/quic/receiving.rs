//! Receives files from all peers that connect, into one folder.

use super::file::{Header, Reply};
use super::link::{Link, Waits};
use super::socket::{Arrival, Socket};
use super::{Error, Fingerprint, clock, tls};
use quinn_proto::{
    ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event, IdleTimeout, Incoming, ReadError,
    ServerConfig, StreamEvent, StreamId, Transmit, TransportConfig, VarInt,
};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use thalweg_machines::congestion::ControllerSpec;

/// Idle timeout of a sender.
const SILENCE_MS: u32 = 30_000;
/// Flow-control window of a sender: 300 Mb/s over 850 ms.
const WINDOW: u32 = 32 << 20;
/// Bytes of a file that are written together, because they arrive packet by packet.
const BUFFER: usize = 64 << 10;
/// Largest number of concurrent connections.
const MOST: usize = 64;

/// A file that has arrived whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// Its place.
    pub path: PathBuf,
    /// Size in bytes.
    pub size: u64,
    /// The sender.
    pub from: SocketAddr,
    /// Seconds from its first byte to its last.
    pub seconds: f64,
}

/// A file that is being received, under a temporary name until it is complete.
struct Part {
    header: Header,
    temporary: PathBuf,
    file: BufWriter<File>,
    written: u64,
    begun: std::time::Instant,
}

impl Part {
    fn new(folder: &Path, number: u64, header: Header) -> Result<Self, String> {
        // Without the file's own name, which may already have the maximum length.
        let temporary = folder.join(format!(".thalweg-{}-{number}.part", std::process::id()));
        if folder.join(header.name()).exists() {
            return Err(format!("`{}` is there already", header.name()));
        }
        let file = File::create_new(&temporary).map_err(|error| error.to_string())?;
        let file = BufWriter::with_capacity(BUFFER, file);
        Ok(Self { header, temporary, file, written: 0, begun: clock::now() })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.written += bytes.len() as u64;
        if self.written > self.header.size() {
            return Err("more comes than was announced".into());
        }
        self.file.write_all(bytes).map_err(|error| error.to_string())
    }

    /// Gives the file its name, unless another file has taken it in the meantime.
    fn keep(&mut self, folder: &Path) -> Result<PathBuf, String> {
        if self.written < self.header.size() {
            return Err(format!("{} of {} bytes came", self.written, self.header.size()));
        }
        let path = folder.join(self.header.name());
        self.file.flush().map_err(|error| error.to_string())?;
        // A link fails if the name is taken; the temporary name is removed when this value is dropped.
        fs::hard_link(&self.temporary, &path).map_err(|error| error.to_string())?;
        Ok(path)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
    }
}

/// The state of a sender's stream.
enum Stage {
    Waiting,
    Header(StreamId, Vec<u8>),
    Body(StreamId, Box<Part>),
    /// The answer was sent.
    Answered,
}

struct Guest {
    link: Link<ControllerSpec>,
    stage: Stage,
}

/// A receiver of files.
pub struct Receiving {
    socket: Socket,
    endpoint: Endpoint,
    config: Arc<ServerConfig>,
    fingerprint: Fingerprint,
    folder: PathBuf,
    guests: BTreeMap<usize, Guest>,
    arrived: Vec<Received>,
    /// Number of files begun so far.
    begun: u64,
}

impl Receiving {
    /// Listens at an address for files that go into a folder.
    ///
    /// # Errors
    /// If there is no such folder, or the address is not available.
    pub fn new(listen: SocketAddr, folder: &Path) -> Result<Self, Error> {
        let shown = folder.display().to_string();
        if !fs::metadata(folder).map_err(Error::io(shown.clone()))?.is_dir() {
            return Err(Error::Malformed(format!("{shown} is no folder")));
        }
        let (mut config, fingerprint) = tls::server()?;
        let mut transport = TransportConfig::default();
        transport
            .stream_receive_window(VarInt::from_u32(WINDOW))
            .receive_window(VarInt::from_u32(WINDOW))
            .max_concurrent_bidi_streams(VarInt::from_u32(1))
            .max_concurrent_uni_streams(VarInt::from_u32(0))
            .max_idle_timeout(Some(IdleTimeout::from(VarInt::from_u32(SILENCE_MS))));
        config.transport_config(Arc::new(transport));
        let config = Arc::new(config);
        // Its packets are acknowledgements, and are not ECN-capable.
        let socket = Socket::bind(listen, false)?;
        let server = Some(Arc::clone(&config));
        let endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), server, socket.finds_mtu(), None);
        let (guests, arrived) = (BTreeMap::new(), Vec::new());
        let folder = folder.to_owned();
        Ok(Self { socket, endpoint, config, fingerprint, folder, guests, arrived, begun: 0 })
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// If the system does not know it.
    pub fn address(&self) -> Result<SocketAddr, Error> {
        self.socket.address()
    }

    /// The fingerprint of its certificate, new at every start.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Bytes received of files that are not complete, and their total size.
    pub fn progress(&self) -> (u64, u64) {
        self.guests.values().fold((0, 0), |(written, size), guest| match &guest.stage {
            Stage::Body(_, part) => (written + part.written, size + part.header.size()),
            _ => (written, size),
        })
    }

    /// Works for at most this time. Returns as soon as files have arrived.
    ///
    /// # Errors
    /// If the socket fails. Errors of one sender are reported to that sender only.
    pub fn step(&mut self, limit: Duration) -> Result<Vec<Received>, Error> {
        let end = clock::now() + limit;
        loop {
            self.receive()?;
            let (mut until, mut room) = (end, false);
            let mut busy = false;
            let handles: Vec<usize> = self.guests.keys().copied().collect();
            for handle in handles {
                let Some(mut guest) = self.guests.remove(&handle) else { continue };
                guest.link.advance(clock::now(), &mut self.endpoint);
                self.serve(&mut guest);
                match guest.link.transmit(&self.socket)? {
                    Waits::Not => busy = true,
                    Waits::Until(instant) => until = until.min(instant),
                    Waits::Room => room = true,
                    Waits::Timer => {}
                }
                guest.link.advance(clock::now(), &mut self.endpoint);
                if let Some(timeout) = guest.link.connection.poll_timeout() {
                    until = until.min(timeout);
                }
                if !guest.link.connection.is_drained() {
                    self.guests.insert(handle, guest);
                }
            }
            let now = clock::now();
            if !self.arrived.is_empty() || now >= end {
                return Ok(std::mem::take(&mut self.arrived));
            }
            if !busy {
                self.socket.wait(until.saturating_duration_since(now), room)?;
            }
        }
    }

    fn receive(&mut self) -> Result<(), Error> {
        for Arrival { from, local, ecn, data } in self.socket.receive()? {
            let (now, mut buffer) = (clock::now(), Vec::new());
            match self.endpoint.handle(now, from, local, ecn, data, &mut buffer) {
                Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                    if let Some(guest) = self.guests.get_mut(&handle.0) {
                        guest.link.receive(event);
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) => self.welcome(incoming)?,
                Some(DatagramEvent::Response(transmit)) => self.respond(&transmit, &buffer)?,
                None => {}
            }
        }
        Ok(())
    }

    fn welcome(&mut self, incoming: Incoming) -> Result<(), Error> {
        let mut buffer = Vec::new();
        if self.guests.len() >= MOST {
            let transmit = self.endpoint.refuse(incoming, &mut buffer);
            return self.respond(&transmit, &buffer);
        }
        let config = Some(Arc::clone(&self.config));
        match self.endpoint.accept(incoming, clock::now(), &mut buffer, config) {
            Ok((ConnectionHandle(number), connection)) => {
                let link = Link::new(ConnectionHandle(number), connection, None);
                self.guests.insert(number, Guest { link, stage: Stage::Waiting });
                Ok(())
            }
            Err(error) => error.response.map_or(Ok(()), |transmit| self.respond(&transmit, &buffer)),
        }
    }

    /// Sends a datagram outside of connections; it is lost if the socket has no room.
    fn respond(&self, transmit: &Transmit, buffer: &[u8]) -> Result<(), Error> {
        self.socket.send(transmit, &buffer[..transmit.size]).map(drop)
    }

    /// Reads a sender's stream, and answers at its end.
    fn serve(&mut self, guest: &mut Guest) {
        while let Some(event) = guest.link.connection.poll() {
            match event {
                Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => {
                    if let Some(stream) = guest.link.connection.streams().accept(Dir::Bi) {
                        guest.stage = Stage::Header(stream, Vec::new());
                    }
                }
                // The incomplete file is removed, too.
                Event::ConnectionLost { .. } => guest.stage = Stage::Answered,
                _ => {}
            }
        }
        let (Stage::Header(stream, _) | Stage::Body(stream, _)) = &guest.stage else { return };
        let stream = *stream;
        let reply = match self.read(guest, stream) {
            Ok(false) => return,
            Ok(true) => Reply::Kept,
            Err(why) => Reply::Refused(why),
        };
        guest.stage = Stage::Answered;
        let connection = &mut guest.link.connection;
        let _ = connection.recv_stream(stream).stop(VarInt::from_u32(1));
        let mut answer = connection.send_stream(stream);
        let _ = answer.write(&reply.encode());
        let _ = answer.finish();
    }

    /// Reads the stream. Returns true if it has ended and the file is kept; an error is the reason why it is not kept.
    fn read(&mut self, guest: &mut Guest, stream: StreamId) -> Result<bool, String> {
        let mut reading = guest.link.connection.recv_stream(stream);
        let mut chunks = reading.read(true).map_err(|_| "the stream is closed")?;
        let ended = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    Self::take(&mut guest.stage, &self.folder, &mut self.begun, &chunk.bytes)?;
                }
                Ok(None) => break true,
                Err(ReadError::Blocked) => break false,
                Err(ReadError::Reset(_)) => return Err("the sender broke off".into()),
            }
        };
        // This gives flow-control credit, which is sent with the next transmission.
        let _ = chunks.finalize();
        if !ended {
            return Ok(false);
        }
        let Stage::Body(_, part) = &mut guest.stage else { return Err("no file came".into()) };
        let path = part.keep(&self.folder)?;
        let seconds = clock::now().saturating_duration_since(part.begun).as_secs_f64();
        let (size, from) = (part.written, guest.link.connection.remote_address());
        self.arrived.push(Received { path, size, from, seconds });
        Ok(true)
    }

    fn take(stage: &mut Stage, folder: &Path, begun: &mut u64, bytes: &[u8]) -> Result<(), String> {
        match stage {
            Stage::Body(_, part) => part.write(bytes),
            Stage::Header(stream, head) => {
                head.extend_from_slice(bytes);
                let parsed = Header::parse(head).map_err(|error| error.to_string())?;
                let Some((header, length)) = parsed else { return Ok(()) };
                *begun += 1;
                let mut part = Part::new(folder, *begun, header)?;
                part.write(&head[length..])?;
                *stage = Stage::Body(*stream, Box::new(part));
                Ok(())
            }
            Stage::Waiting | Stage::Answered => Ok(()),
        }
    }
}
