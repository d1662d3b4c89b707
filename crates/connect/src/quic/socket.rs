//! A UDP socket with ECN bits and waiting times in nanoseconds.

use super::Error;
use bytes::BytesMut;
use quinn_proto::{EcnCodepoint, Transmit};
use quinn_udp::{BATCH_SIZE, RecvMeta, UdpSocketState};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

/// Receive buffer of the kernel, as far as allowed.
const BUFFER: usize = 4 << 20;

/// A received datagram.
pub(super) struct Arrival {
    pub(super) from: SocketAddr,
    pub(super) local: Option<IpAddr>,
    pub(super) ecn: Option<EcnCodepoint>,
    pub(super) data: BytesMut,
}

/// A UDP socket.
pub(super) struct Socket {
    socket: UdpSocket,
    state: UdpSocketState,
    buffer: Vec<u8>,
    /// True if packets are sent ECN-capable.
    ect: bool,
}

impl Socket {
    /// Bound to an address.
    pub(super) fn bind(address: SocketAddr, ect: bool) -> Result<Self, Error> {
        let socket = UdpSocket::bind(address).map_err(Error::io(format!("socket on {address}")))?;
        let state = UdpSocketState::new((&socket).into()).map_err(Error::io("socket"))?;
        // As large as allowed; a smaller one is no error.
        let _ = state.set_recv_buffer_size((&socket).into(), BUFFER);
        let _ = state.set_send_buffer_size((&socket).into(), BUFFER);
        let length = state.gro_segments() * 1500 * BATCH_SIZE;
        Ok(Self { socket, state, buffer: vec![0; length.max(65_536 * BATCH_SIZE)], ect })
    }

    /// Where it is bound.
    pub(super) fn address(&self) -> Result<SocketAddr, Error> {
        self.socket.local_addr().map_err(Error::io("socket"))
    }

    /// True if packets are never fragmented on the path, so that the path's MTU can be probed.
    pub(super) fn finds_mtu(&self) -> bool {
        !self.state.may_fragment()
    }

    /// Reads received datagrams, at most a batch.
    pub(super) fn receive(&mut self) -> Result<Vec<Arrival>, Error> {
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let size = self.buffer.len() / BATCH_SIZE;
        let mut slices: Vec<IoSliceMut<'_>> = self.buffer.chunks_mut(size).map(IoSliceMut::new).collect();
        let count = match self.state.recv((&self.socket).into(), &mut slices[..BATCH_SIZE], &mut metas) {
            Ok(count) => count,
            Err(error) if is_passing(&error) => return Ok(Vec::new()),
            Err(source) => return Err(Error::Io { what: "socket".into(), source }),
        };
        let mut arrivals = Vec::with_capacity(count);
        for (meta, data) in metas.iter().zip(&slices).take(count) {
            // The kernel may combine datagrams of one length, the last of which may be shorter.
            for datagram in data[..meta.len].chunks(meta.stride.max(1)) {
                let ecn = meta.ecn.and_then(|ecn| EcnCodepoint::from_bits(ecn as u8));
                let data = BytesMut::from(datagram);
                arrivals.push(Arrival { from: meta.addr, local: meta.dst_ip, ecn, data });
            }
        }
        Ok(arrivals)
    }

    /// Sends a datagram. Returns false if the kernel has no room now.
    pub(super) fn send(&self, transmit: &Transmit, contents: &[u8]) -> Result<bool, Error> {
        let ecn = transmit.ecn.filter(|_| self.ect);
        let sent = self.state.try_send(
            (&self.socket).into(),
            &quinn_udp::Transmit {
                destination: transmit.destination,
                ecn: ecn.and_then(|ecn| quinn_udp::EcnCodepoint::from_bits(ecn as u8)),
                contents,
                segment_size: transmit.segment_size,
                src_ip: transmit.src_ip,
            },
        );
        match sent {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            // A temporary error of the network, or a probe that was too large, is a loss like any other.
            Err(_) => Ok(true),
        }
    }

    /// Sleeps until a datagram comes, there is room to write (if `writes`), or the time is over.
    pub(super) fn wait(&self, timeout: Duration, writes: bool) -> Result<(), Error> {
        let flags = if writes { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let (tv_sec, tv_nsec) = (timeout.as_secs().min(3600) as i64, i64::from(timeout.subsec_nanos()));
        match poll(&mut [PollFd::new(&self.socket, flags)], Some(&Timespec { tv_sec, tv_nsec })) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(Error::Io { what: "socket".into(), source: error.into() }),
        }
    }
}

/// True if there is nothing to read, or for an ICMP error of an earlier datagram.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::ConnectionRefused
    )
}
