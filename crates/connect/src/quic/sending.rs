//! Sends one file to one receiver, with a controller of this project.

use super::controller::{DrivenFactory, check};
use super::file::{Header, Reply};
use super::link::{Governor, Link, Waits};
use super::socket::Socket;
use super::{BELOW, Error, Fingerprint, IPV6_MORE, clock, tls};
use crate::{Datapath, Make, Sender};
use quinn_proto::{
    ClientConfig, ConnectionError, DatagramEvent, Dir, Endpoint, EndpointConfig, Event, IdleTimeout,
    ReadError, ReadableError, StreamId, TransportConfig, TransportErrorCode, VarInt, WriteError,
};
use std::fs::File;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use thalweg_machines::congestion::decisions::Log;
use thalweg_machines::congestion::{CongestionControl, Permit};

/// Idle timeout of the receiver.
const SILENCE_MS: u32 = 10_000;
/// Largest number of unacknowledged bytes that are written to QUIC.
const AHEAD: u64 = 32 << 20;
/// Bytes read from the file at a time.
const CHUNK: usize = 64 << 10;

/// Statistics of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Size of the file, bytes.
    pub size: u64,
    /// Bytes of the file handed to QUIC.
    pub written: u64,
    /// Seconds from the start of the connection until the receiver's answer.
    pub seconds: f64,
    /// The last estimate of the round trip, in seconds.
    pub rtt: f64,
    /// The shortest round trip, in seconds.
    pub min_rtt: f64,
    /// Packets sent.
    pub sent_packets: u64,
    /// Packets declared lost.
    pub lost_packets: u64,
    /// Losses and marks that may have been reported to the controller.
    pub congestion_events: u64,
    /// The last permit of the controller, if the connection was opened.
    pub permit: Option<Permit>,
}

impl Statistics {
    /// Bits of the file per second; 0 before any could have arrived.
    pub fn goodput(&self) -> f64 {
        if self.seconds > 0.0 { self.written as f64 * 8.0 / self.seconds } else { 0.0 }
    }
}

/// The state of a transfer.
enum Stage {
    Connecting,
    Writing(StreamId),
    /// All is written; the bytes of the receiver's answer so far.
    Answering(StreamId, Vec<u8>),
    /// The receiver has the file; the connection closes.
    Done,
}

/// The transfer of a file to a receiver.
pub struct Sending<M: Make> {
    socket: Socket,
    endpoint: Endpoint,
    link: Link<M>,
    file: File,
    size: u64,
    /// Bytes read from the file that QUIC has not taken yet.
    chunk: Vec<u8>,
    /// Bytes handed to QUIC, of the header and the file.
    written: u64,
    header: u64,
    stage: Stage,
    begun: Instant,
    ended: Option<Instant>,
    peer: SocketAddr,
    pinned: Fingerprint,
}

impl<M: Make> Sending<M> {
    /// Begins to send a file to the receiver with this fingerprint.
    ///
    /// # Errors
    /// If QUIC cannot run the controller, the file cannot be read, or no socket can be opened.
    pub fn new(
        path: &Path,
        to: SocketAddr,
        pinned: Fingerprint,
        make: M,
        sender: Sender,
    ) -> Result<Self, Error> {
        check(&make, &sender, Datapath::QUIC)?;
        let ect = make.needs().marks.by_default();
        let shown = path.display().to_string();
        let file = File::open(path).map_err(Error::io(shown.clone()))?;
        let size = file.metadata().map_err(Error::io(shown))?.len();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let chunk = Header::new(name, size)?.encode();

        let any: IpAddr =
            if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = Socket::bind((any, 0).into(), ect)?;
        let below = BELOW + if to.is_ipv4() { 0 } else { IPV6_MORE };
        let factory = Arc::new(DrivenFactory::new(make, sender, below));
        let mut config = tls::client(pinned)?;
        transport(&mut config, &factory);
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, socket.finds_mtu(), None);
        let begun = clock::now();
        let (handle, connection) =
            endpoint.connect(begun, config, to, "thalweg").map_err(|e| Error::Malformed(e.to_string()))?;
        let link = Link::new(handle, connection, Some(Governor::new(factory, below)));
        let (header, stage) = (chunk.len() as u64, Stage::Connecting);
        let (written, ended) = (0, None);
        Ok(Self {
            socket,
            endpoint,
            link,
            file,
            size,
            chunk,
            written,
            header,
            stage,
            begun,
            ended,
            peer: to,
            pinned,
        })
    }

    /// Works for at most this time. Returns true once the receiver has the file.
    ///
    /// # Errors
    /// If the transfer has failed.
    pub fn step(&mut self, limit: Duration) -> Result<bool, Error> {
        let end = clock::now() + limit;
        clock::wake_in_time();
        loop {
            self.receive()?;
            let now = clock::now();
            let wake = self.link.advance(now, &mut self.endpoint);
            self.events()?;
            let written = self.write()?;
            let waits = self.link.transmit(&self.socket)?;
            if matches!(self.stage, Stage::Done) {
                return Ok(true);
            }
            let now = clock::now();
            if now >= end {
                return Ok(false);
            }
            let (mut until, mut room) = (end, false);
            match waits {
                Waits::Not => continue,
                // QUIC has sent all that it had, perhaps because it needs more of the file.
                Waits::Timer if written => continue,
                Waits::Until(instant) => until = until.min(instant),
                Waits::Room => room = true,
                Waits::Timer => {}
            }
            for instant in [self.link.connection.poll_timeout(), wake].into_iter().flatten() {
                until = until.min(instant);
            }
            self.socket.wait(until.saturating_duration_since(now), room)?;
        }
    }

    /// The statistics so far.
    pub fn statistics(&self) -> Statistics {
        let path = self.link.connection.stats().path;
        let until = self.ended.unwrap_or_else(clock::now);
        let governor = self.link.governor.as_ref().and_then(Governor::controller);
        Statistics {
            size: self.size,
            written: self.written.saturating_sub(self.header),
            seconds: until.saturating_duration_since(self.begun).as_secs_f64(),
            rtt: path.rtt.as_secs_f64(),
            min_rtt: path.min_rtt.as_secs_f64(),
            sent_packets: path.sent_packets,
            lost_packets: path.lost_packets,
            congestion_events: path.congestion_events,
            permit: governor.and_then(|shared| shared.lock().adapter().map(|adapter| adapter.permit())),
        }
    }

    /// The controller's decision log since the last call ([`Sender::records`]).
    pub fn take_log(&self) -> Option<Log> {
        let shared = self.link.governor.as_ref()?.controller()?;
        shared.lock().adapter()?.take_log()
    }

    /// Applies `look` to the controller, if the connection is open: recorders keep their records there.
    pub fn controller<R>(&self, look: impl FnOnce(&M::Controller) -> R) -> Option<R>
    where
        M::Controller: CongestionControl,
    {
        let shared = self.link.governor.as_ref()?.controller()?;
        let mut core = shared.lock();
        core.adapter().map(|adapter| look(adapter.controller()))
    }

    fn receive(&mut self) -> Result<(), Error> {
        let arrivals = self.socket.receive()?;
        let now = clock::now();
        let mut buffer = Vec::new();
        for arrival in arrivals {
            let (from, local, ecn) = (arrival.from, arrival.local, arrival.ecn);
            match self.endpoint.handle(now, from, local, ecn, arrival.data, &mut buffer) {
                Some(DatagramEvent::ConnectionEvent(_, event)) => self.link.receive(event),
                Some(DatagramEvent::NewConnection(stranger)) => self.endpoint.ignore(stranger),
                Some(DatagramEvent::Response(_)) | None => {}
            }
        }
        Ok(())
    }

    fn events(&mut self) -> Result<(), Error> {
        while let Some(event) = self.link.connection.poll() {
            match event {
                Event::Connected => self.open()?,
                Event::ConnectionLost { reason } => return self.lost(reason),
                _ => {}
            }
        }
        let failed = self.link.governor.as_ref().and_then(Governor::controller);
        if let Some(invalid) = failed.and_then(|shared| shared.lock().failure().cloned()) {
            return Err(invalid.into());
        }
        self.answer()
    }

    fn open(&mut self) -> Result<(), Error> {
        let opened = self.link.connection.streams().open(Dir::Bi);
        let stream = opened.ok_or_else(|| Error::Malformed("the receiver takes no streams".into()))?;
        self.stage = Stage::Writing(stream);
        Ok(())
    }

    /// Hands a chunk of the file to QUIC. Returns true if QUIC took some of it.
    ///
    /// One chunk at a time: the receiver grants megabytes of credit at once, and no packet is sent while data is
    /// copied.
    fn write(&mut self) -> Result<bool, Error> {
        let Stage::Writing(stream) = self.stage else { return Ok(false) };
        if self.chunk.is_empty() {
            self.chunk.resize(CHUNK, 0);
            let read = self.file.read(&mut self.chunk).map_err(Error::io("the file"))?;
            self.chunk.truncate(read);
            let left = self.size + self.header - self.written;
            if read as u64 > left || (read == 0 && left > 0) {
                return Err(Error::Malformed("the file changes while it is sent".into()));
            }
        }
        let mut open = self.link.connection.send_stream(stream);
        let taken = if self.chunk.is_empty() {
            // (A receiver that has stopped gives the reason in its answer.)
            let _ = open.finish();
            None
        } else {
            match open.write(&self.chunk) {
                Ok(taken) => Some(taken),
                Err(WriteError::Blocked) => return Ok(false),
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => None,
            }
        };
        let Some(taken) = taken else {
            self.stage = Stage::Answering(stream, Vec::new());
            return Ok(false);
        };
        self.chunk.drain(..taken);
        self.written += taken as u64;
        Ok(true)
    }

    /// Reads the receiver's answer.
    fn answer(&mut self) -> Result<(), Error> {
        let Stage::Answering(stream, answer) = &mut self.stage else { return Ok(()) };
        let malformed = || Error::Malformed("the receiver broke off its answer".into());
        let mut reading = self.link.connection.recv_stream(*stream);
        let mut chunks = match reading.read(true) {
            Ok(chunks) => chunks,
            Err(ReadableError::ClosedStream | ReadableError::IllegalOrderedRead) => return Err(malformed()),
        };
        let ended = loop {
            match chunks.next(4096) {
                Ok(Some(chunk)) if answer.len() < 4096 => answer.extend_from_slice(&chunk.bytes),
                Ok(Some(_)) => return Err(malformed()),
                Ok(None) => break true,
                Err(ReadError::Blocked) => break false,
                Err(ReadError::Reset(_)) => return Err(malformed()),
            }
        };
        let _ = chunks.finalize();
        if !ended {
            return Ok(());
        }
        let reply = Reply::parse(answer)?;
        let now = clock::now();
        self.ended = Some(now);
        self.link.close(now);
        self.stage = Stage::Done;
        match reply {
            Reply::Kept => Ok(()),
            Reply::Refused(why) => Err(Error::Kept(why)),
        }
    }

    fn lost(&self, reason: ConnectionError) -> Result<(), Error> {
        let (peer, pinned) = (self.peer.to_string(), self.pinned.to_string());
        let connecting = matches!(self.stage, Stage::Connecting);
        Err(match reason {
            ConnectionError::TimedOut if connecting => Error::Silent { peer },
            ConnectionError::TransportError(error)
                if connecting && error.code == TransportErrorCode::crypto(ACCESS_DENIED) =>
            {
                Error::Stranger { peer, pinned }
            }
            other => Error::Lost { peer, why: other.to_string() },
        })
    }
}

/// TLS's alert for a certificate that the application does not accept (access_denied, RFC 8446 §6).
const ACCESS_DENIED: u8 = 49;

fn transport<M: Make>(config: &mut ClientConfig, factory: &Arc<DrivenFactory<M>>) {
    let mut transport = TransportConfig::default();
    transport
        .congestion_controller_factory(Arc::clone(factory) as _)
        .send_window(AHEAD)
        .max_idle_timeout(Some(IdleTimeout::from(VarInt::from_u32(SILENCE_MS))))
        .enable_segmentation_offload(false);
    config.transport_config(Arc::new(transport));
}
