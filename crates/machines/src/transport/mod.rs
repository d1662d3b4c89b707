//! Reliability, apart from congestion control: a sender and a receiver machine per flow.
//!
//! Both are driven alike: `on_packet` and `on_timer` feed observations in, `poll_transmit` hands packets
//! out one by one until it says why it stops, and `timer` names the next deadline (the owner re-arms
//! lazily: a deadline may move later at any time). After *every* `on_packet`, `on_timer` and
//! [`Sender::start`], poll until it answers something else than [`Transmit::Packet`]. The owner adds what
//! only the network knows: destination, route, class.
//!
//! What all flows of one kind of transport share (a [`TransportSpec`]) is not kept in each of them but
//! passed to every call: always the one that the machine was made with.
//!
//! [`Sender`] and [`Receiver`] are the lists of transports, dispatched statically; [`Endpoint`] is the
//! contract behind them.

mod delivery;
mod rank;
pub mod rdma;
mod rto;
mod spec;
pub mod tcp;
pub mod udp;

pub use rto::Rto;
pub use spec::*;

use crate::congestion::Start;
use crate::packet::{Packet, Side};
use rdma::{RdmaReceiver, RdmaSender};
use serde::{Deserialize, Serialize};
use tcp::{TcpReceiver, TcpSender};
use thalweg_units::{Bytes, FlowId, Rate, Span, Stream, Time};
use udp::{UdpReceiver, UdpSender};

/// The answer to "anything to send?".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transmit {
    /// The packet was filled in; ask again.
    Packet,
    /// Nothing until something arrives or a timer fires.
    Idle,
    /// Nothing before this instant: the pace does not allow it.
    At(Time),
}

/// What a packet told the end of a flow that is of interest outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Heard {
    /// A sender: a round trip, as [`SenderStats::rtt_sum`] counts them.
    pub round_trip: Option<Span>,
}

/// Why a timer was due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expiry {
    /// It was not, or a controller's or some other clock's.
    Other,
    /// The retransmission timer expired.
    Retransmission,
}

/// One end of one flow.
pub trait Endpoint {
    /// What its kind of transport shares between flows.
    type Spec;
    /// A packet for this end has arrived; `side` holds its cold headers, if it carried any.
    fn on_packet(&mut self, spec: &Self::Spec, now: Time, packet: &Packet, side: Option<&Side>) -> Heard;
    /// The instant named by [`Endpoint::timer`] has come (calls before it are ignored).
    fn on_timer(&mut self, spec: &Self::Spec, now: Time) -> Expiry;
    /// Fills in the next packet: every field but destination, route and class, which are left at
    /// their defaults. To send cold headers, it fills `side` and sets `packet.side` to 0; otherwise
    /// `packet.side` is [`NO_SIDE`](crate::NO_SIDE) and `side` is undefined.
    fn poll_transmit(
        &mut self,
        spec: &Self::Spec,
        now: Time,
        packet: &mut Packet,
        side: &mut Side,
    ) -> Transmit;
    /// The next instant at which [`Endpoint::on_timer`] must be called.
    fn timer(&self) -> Option<Time>;
    /// Sender: every byte is acknowledged (UDP: sent). Receiver: every byte has arrived.
    fn is_done(&self) -> bool;
}

/// What a sender has done and where it stands, for tables and time series.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SenderStats {
    /// Payload bytes acknowledged cumulatively (UDP: sent).
    pub acked_bytes: u64,
    /// Data packets handed out, retransmissions included, probes and set-up not.
    pub sent_packets: u64,
    /// Of these, retransmissions.
    pub retransmitted_packets: u64,
    /// Expiries of the retransmission timer, those of the set-up included.
    pub timeouts: u64,
    /// The controller's window.
    pub window: Bytes,
    /// The controller's slow-start threshold; [`Bytes::MAX`]: none.
    pub threshold: Bytes,
    /// Payload bytes believed to be in the network.
    pub in_flight: Bytes,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
    /// Sum of the round trips that ACKs of new data measured by their time stamps, those of segments sent again and of
    /// the set-up included (RFC 7323 §4.1). RDMA: of those that the controller was told.
    pub rtt_sum: Span,
    /// How many these were.
    pub rtt_samples: u32,
    /// The controller's pace, if it has one.
    pub pace: Option<Rate>,
}

impl SenderStats {
    /// Mean of the measured round trips; `None` before the first.
    pub fn mean_rtt(&self) -> Option<Span> {
        (self.rtt_samples > 0).then(|| self.rtt_sum / u64::from(self.rtt_samples))
    }
}

/// A flow's sending end.
#[derive(Clone, Debug, Serialize, Deserialize)]
// Most flows are TCP's: boxing the larger arm would cost them a cache miss.
#[allow(clippy::large_enum_variant)]
pub enum Sender {
    /// Byte stream with acknowledgements.
    Tcp(TcpSender),
    /// Open-loop datagrams.
    Udp(UdpSender),
    /// A queue pair's requester side.
    Rdma(Box<RdmaSender>),
}

/// A flow's receiving end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Receiver {
    /// Byte stream with acknowledgements.
    Tcp(TcpReceiver),
    /// Open-loop datagrams.
    Udp(UdpReceiver),
    /// A queue pair's responder side.
    Rdma(RdmaReceiver),
}

/// The machine and its part of the spec; a pair that does not match is the owner's bug, and then nothing happens.
macro_rules! dispatch {
    ($end:ident, $self:expr, $spec:expr, $otherwise:expr, |$machine:ident, $part:ident| $call:expr) => {
        match ($self, $spec) {
            ($end::Tcp($machine), TransportSpec::Tcp($part)) => $call,
            ($end::Udp($machine), TransportSpec::Udp($part)) => $call,
            ($end::Rdma($machine), TransportSpec::Rdma($part)) => $call,
            _ => {
                debug_assert!(false, "a transport was called with another one's spec");
                $otherwise
            }
        }
    };
}

macro_rules! endpoint_methods {
    ($end:ident) => {
        /// See [`Endpoint::on_packet`].
        #[inline]
        pub fn on_packet(
            &mut self,
            spec: &TransportSpec,
            now: Time,
            packet: &Packet,
            side: Option<&Side>,
        ) -> Heard {
            dispatch!($end, self, spec, Heard::default(), |m, part| m.on_packet(part, now, packet, side))
        }
        /// See [`Endpoint::on_timer`].
        #[inline]
        pub fn on_timer(&mut self, spec: &TransportSpec, now: Time) -> Expiry {
            dispatch!($end, self, spec, Expiry::Other, |m, part| m.on_timer(part, now))
        }
        /// See [`Endpoint::poll_transmit`].
        #[inline]
        pub fn poll_transmit(
            &mut self,
            spec: &TransportSpec,
            now: Time,
            packet: &mut Packet,
            side: &mut Side,
        ) -> Transmit {
            dispatch!($end, self, spec, Transmit::Idle, |m, part| m.poll_transmit(part, now, packet, side))
        }
        /// See [`Endpoint::timer`].
        #[inline]
        pub fn timer(&self) -> Option<Time> {
            match self {
                Self::Tcp(m) => m.timer(),
                Self::Udp(m) => m.timer(),
                Self::Rdma(m) => m.timer(),
            }
        }
        /// See [`Endpoint::is_done`].
        #[inline]
        pub fn is_done(&self) -> bool {
            match self {
                Self::Tcp(m) => m.is_done(),
                Self::Udp(m) => m.is_done(),
                Self::Rdma(m) => m.is_done(),
            }
        }
    };
}

impl Sender {
    /// A sender of `size` payload bytes (`u64::MAX`: without end) that has not started. `stream` is the
    /// flow's own; only Poisson datagrams draw from it.
    ///
    /// # Errors
    /// If a parameter is out of range; the message names it.
    pub fn new(
        spec: &TransportSpec,
        flow: FlowId,
        size: u64,
        start: &Start,
        stream: Stream,
    ) -> Result<Self, String> {
        match spec {
            TransportSpec::Tcp(part) => TcpSender::new(part, flow, size, start).map(Self::Tcp),
            TransportSpec::Udp(part) => UdpSender::new(part, flow, size, stream).map(Self::Udp),
            TransportSpec::Rdma(part) => {
                RdmaSender::new(part, flow, size, start, stream).map(|sender| Self::Rdma(Box::new(sender)))
            }
        }
    }

    /// The flow starts: from now on `poll_transmit` answers.
    pub fn start(&mut self, spec: &TransportSpec, now: Time) {
        dispatch!(Sender, self, spec, (), |m, part| m.start(part, now));
    }

    /// The flow ends with what it has sent (RDMA: to the end of what one acknowledgement covers); that is still repaired
    /// until the receiver has it. How many bytes that is: the receiver is to be told ([`Receiver::stop`]).
    pub fn stop(&mut self, spec: &TransportSpec, now: Time) -> u64 {
        match (self, spec) {
            (Self::Tcp(m), _) => m.stop(),
            (Self::Udp(m), _) => m.stop(),
            (Self::Rdma(m), TransportSpec::Rdma(part)) => m.stop(part, now),
            (Self::Rdma(_), _) => {
                debug_assert!(false, "a transport was called with another one's spec");
                0
            }
        }
    }

    endpoint_methods!(Sender);

    /// What it has done and where it stands.
    pub fn stats(&self) -> SenderStats {
        match self {
            Self::Tcp(m) => m.stats(),
            Self::Udp(m) => m.stats(),
            Self::Rdma(m) => m.stats(),
        }
    }
}

impl Receiver {
    /// A receiver of `size` payload bytes (`u64::MAX`: without end).
    pub fn new(spec: &TransportSpec, flow: FlowId, size: u64) -> Self {
        match spec {
            TransportSpec::Tcp(_) => Self::Tcp(TcpReceiver::new(flow, size)),
            TransportSpec::Udp(_) => Self::Udp(UdpReceiver::new(size)),
            TransportSpec::Rdma(part) => Self::Rdma(RdmaReceiver::new(part, flow, size)),
        }
    }

    /// The flow has no more than `size` bytes after all ([`Sender::stop`]).
    pub fn stop(&mut self, size: u64) {
        match self {
            Self::Tcp(m) => m.stop(size),
            Self::Udp(m) => m.stop(size),
            Self::Rdma(m) => m.stop(size),
        }
    }

    endpoint_methods!(Receiver);

    /// Payload bytes received in order: what the application has got.
    pub fn received(&self) -> u64 {
        match self {
            Self::Tcp(m) => m.received(),
            Self::Udp(m) => m.received(),
            Self::Rdma(m) => m.received(),
        }
    }

    /// All `len` bytes from `seq` on have arrived.
    pub fn holds(&self, seq: u64, len: u32) -> bool {
        match self {
            Self::Tcp(m) => m.holds(seq, len),
            Self::Udp(_) | Self::Rdma(_) => false,
        }
    }

    /// Distinct payload bytes received, those above a gap included.
    pub fn unique_bytes(&self) -> u64 {
        match self {
            Self::Tcp(m) => m.unique_bytes(),
            Self::Udp(m) => m.received(),
            Self::Rdma(m) => m.unique_bytes(),
        }
    }
}

impl TcpSpec {
    /// What this transport's controllers are told at the start of a flow on such a path.
    pub fn start(&self, line_rate: Rate, base_rtt: Span) -> Start {
        Start {
            flow: FlowId(0),
            stream: Stream::default(),
            mss: self.mss,
            initial_window: self.initial_window,
            max_window: self.max_window,
            initial_threshold: self.initial_threshold,
            line_rate,
            base_rtt,
            time_quantum: Span::ZERO,
        }
    }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
