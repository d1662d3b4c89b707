//! The contract of a transport: its two ends, and what it declares of itself.

use super::rdma;
use crate::congestion::decisions::Log;
use crate::congestion::{ControllerSpec, Interval, Permit, Report, Start};
use crate::problems::Invalid;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use thalweg_units::{Bytes, FlowId, Rate, Span, Stream, Time};
use thalweg_wire::{Packet, Side};

/// A kind of transport, by the parameters that its flows share.
pub trait Protocol: Clone + Debug + PartialEq + Serialize + DeserializeOwned {
    /// The machine at a flow's source.
    type Sender: SendingEnd<Spec = Self>;
    /// The machine at its destination.
    type Receiver: ReceivingEnd<Spec = Self>;

    /// A sender of `size` payload bytes (`u64::MAX`: without end) that has not started. `stream` is the flow's own.
    ///
    /// # Errors
    /// If a parameter is out of range, or parameters exclude each other; the message names them.
    fn sender(&self, flow: FlowId, size: u64, start: &Start, stream: Stream)
    -> Result<Self::Sender, Invalid>;

    /// A receiver of `size` payload bytes (`u64::MAX`: without end). `stream` is its own.
    fn receiver(&self, flow: FlowId, size: u64, stream: Stream) -> Self::Receiver;

    /// The sizes of its packets on the wire.
    fn wire(&self) -> Wire;

    /// The windows that its controllers are given; transports without a controller have none.
    fn windows(&self) -> Windows {
        Windows::default()
    }

    /// The congestion controller of its flows; `None` for transports without one.
    fn controller(&self) -> Option<&ControllerSpec> {
        None
    }

    /// What it needs of the network besides queues and routes.
    fn needs(&self) -> PathNeeds {
        PathNeeds::default()
    }

    /// Retransmissions of data that the receiver already holds are discarded at the sender, whether or not the ACK has
    /// arrived (a quirk of NetSys/simulator, see [`ReceivingEnd::holds`]).
    fn sees_receiver(&self) -> bool {
        false
    }

    /// Its connections can carry messages back to back ([`SendingEnd::append`]).
    fn streams(&self) -> bool {
        false
    }

    /// The initial conditions of its flows on a path with these properties. The owner adds the flow's identifier, its
    /// class and its random stream.
    fn start(&self, line_rate: Rate, base_rtt: Span, time_quantum: Span) -> Start {
        let Windows { initial, max, threshold } = self.windows();
        let wire = self.wire();
        Start {
            mss: wire.payload,
            header: wire.header.saturating_add(wire.extra_header),
            initial_window: initial,
            max_window: max,
            initial_threshold: threshold,
            line_rate,
            base_rtt,
            time_quantum,
            ..Start::default()
        }
    }
}

/// What a transport puts on the wire: bytes, headers of all layers included.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Wire {
    /// Payload of a full data packet.
    pub payload: u32,
    /// Headers of a data packet.
    pub header: u32,
    /// Further header bytes that ideal completion times do not count.
    pub extra_header: u32,
    /// An acknowledgement; `None`: the receiver sends nothing.
    pub ack: Option<u32>,
    /// Acknowledgements per data packet when nothing is lost (0 where only losses are answered).
    pub acks: f64,
    /// What is exchanged before the first data.
    pub set_up: Option<SetUp>,
}

/// One round trip before the first data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SetUp {
    /// Bytes of the sender's request.
    pub request: u32,
    /// Bytes of the answer.
    pub answer: u32,
}

impl Wire {
    /// A full data packet, as ideal completion times count it.
    pub fn full(&self) -> u32 {
        self.payload.saturating_add(self.header)
    }
    /// The largest data packet that there is.
    pub fn largest(&self) -> u32 {
        self.full().saturating_add(self.extra_header)
    }
    /// Number of data packets of a flow of `size` bytes.
    pub fn packets(&self, size: u64) -> u64 {
        size.div_ceil(u64::from(self.payload.max(1)))
    }
    /// Wire size of the last packet of a flow of `size` bytes.
    pub fn last(&self, size: u64) -> u32 {
        let before = self.packets(size).saturating_sub(1) * u64::from(self.payload);
        (size - before) as u32 + self.header
    }
    /// Data is acknowledged even if nothing is lost.
    pub fn is_acknowledged(&self) -> bool {
        self.acks > 0.0
    }
}

/// Windows of a flow that starts, in payload bytes; [`Bytes::MAX`]: unlimited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Windows {
    /// At the start.
    pub initial: Bytes,
    /// The largest.
    pub max: Bytes,
    /// Slow-start threshold.
    pub threshold: Bytes,
}

impl Default for Windows {
    fn default() -> Self {
        Self { initial: Bytes::MAX, max: Bytes::MAX, threshold: Bytes::MAX }
    }
}

/// What a transport needs of the network besides queues and routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PathNeeds {
    /// Packets of the receiver must take the data's path in reverse (ExpressPass: its credits are metered on the data's
    /// links).
    pub symmetric: bool,
    /// NICs pull: which packet leaves is decided when the link is free, not before (receiver-driven transports).
    pub pulls: bool,
    /// NICs have queues, and poll for more packets when these are empty ([`SendingEnd::poll_idle`]).
    pub when_idle: bool,
    /// NICs have queues out of which packets can be taken ([`SendingEnd::discards_from_class`]).
    pub discards_queued: bool,
    /// Switches notify it of every packet that they drop ([`SendingEnd::on_drop`]).
    pub drop_notices: bool,
    /// Its senders can predict that pace or window will hold them back ([`SendingEnd::predict_idle`]).
    pub predicts_idle: bool,
    /// Switches hash the values that it writes into its packets ([`PathValues`](super::PathValues)).
    pub path_values: bool,
    /// Its senders pass notices of congestion points and CNPs on to their controllers; other transports ignore them.
    pub reads_notices: bool,
    /// Its receivers understand trimmed packets, of which switches have left only the header
    /// ([`Packet::is_trimmed`](thalweg_wire::Packet::is_trimmed)). The packets of other transports must not be trimmed.
    pub reads_trimmed: bool,
}

/// What [`Endpoint::poll_transmit`] returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Transmit {
    /// The packet was filled in; poll again.
    Packet,
    /// Nothing until something arrives or a timer fires.
    #[default]
    Idle,
    /// Nothing before this instant: the pace does not allow it.
    At(Time),
}

/// The result of draining an end: its next wake-up, and whether it is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drained {
    /// When it must be called again if nothing arrives: the earlier of its timer and its pace;
    /// [`Time::MAX`]: never.
    pub wake: Time,
    /// See [`Endpoint::is_done`].
    pub done: bool,
}

/// Not done, and waiting for an arrival.
impl Default for Drained {
    #[inline]
    fn default() -> Self {
        Self { wake: Time::MAX, done: false }
    }
}

/// What the end of a flow made of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reception {
    /// The packet is not meant for this end: a [`Message`](thalweg_wire::Message) of another transport, or of a
    /// congestion point to which the controller does not react. Nothing has changed.
    #[default]
    Ignored,
    /// The end has processed it.
    Taken,
    /// A sender has processed it and measured this round trip, as counted by [`SenderStats::rtt_sum`].
    RoundTrip(Span),
}

impl Reception {
    /// The round trip, if it measured one.
    #[inline(always)]
    pub fn round_trip(self) -> Option<Span> {
        if let Self::RoundTrip(rtt) = self { Some(rtt) } else { None }
    }
}

impl From<Option<Span>> for Reception {
    #[inline(always)]
    fn from(round_trip: Option<Span>) -> Self {
        round_trip.map_or(Self::Taken, Self::RoundTrip)
    }
}

/// Which timer has expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Expiry {
    /// None, or one that is of no interest outside.
    #[default]
    Other,
    /// The retransmission timer expired.
    Retransmission,
    /// The controller's timer, or that of the host's rate limiter.
    Controller,
    /// The controller's timer, and the controller now waits for a decision from outside.
    Decision,
}

/// One end of one flow.
pub trait Endpoint {
    /// The parameters that all flows of this transport share.
    type Spec;
    /// A packet for this end has arrived; `side` holds its cold headers, if it carried any. What a
    /// [`Message`](thalweg_wire::Message) says is in its variant: those that are not meant for this end change nothing.
    fn on_packet(&mut self, spec: &Self::Spec, now: Time, packet: &Packet, side: Option<&Side>) -> Reception;
    /// The instant named by [`Endpoint::timer`] has come (calls before it are ignored).
    fn on_timer(&mut self, spec: &Self::Spec, now: Time) -> Expiry;
    /// Fills in the next packet: every field but destination and route, which are left at their defaults (the route
    /// but of transports that write path values: [`PathNeeds::path_values`]). Its
    /// class is the transport's to write: that of its flow ([`Start::class`]), or another. To send cold
    /// headers, it fills `side` and sets `packet.side` to 0; otherwise `packet.side` is
    /// [`NO_SIDE`](thalweg_wire::NO_SIDE) and `side` is undefined.
    fn poll_transmit(
        &mut self,
        spec: &Self::Spec,
        now: Time,
        packet: &mut Packet,
        side: &mut Side,
    ) -> Transmit;
    /// Polls until no more packets may leave now, and passes each to `out`. It is called after every event at an end
    /// whose packets need not wait for the NIC.
    #[inline(always)]
    fn drain(
        &mut self,
        spec: &Self::Spec,
        now: Time,
        (packet, side): (&mut Packet, &mut Side),
        mut out: impl FnMut(&mut Packet, &mut Side),
    ) -> Drained
    where
        Self: Sized,
    {
        let paced = loop {
            match self.poll_transmit(spec, now, packet, side) {
                Transmit::Packet => out(packet, side),
                Transmit::Idle => break Time::MAX,
                Transmit::At(at) => break at,
            }
        };
        self.after_drain(paced)
    }
    /// Its state after draining, when its pace allows nothing before `paced`.
    #[inline(always)]
    fn after_drain(&self, paced: Time) -> Drained {
        Drained { wake: self.timer().unwrap_or(Time::MAX).min(paced), done: self.is_done() }
    }
    /// The next instant at which [`Endpoint::on_timer`] must be called.
    fn timer(&self) -> Option<Time>;
    /// Sender: every byte is acknowledged (UDP: sent). Receiver: every byte has arrived.
    fn is_done(&self) -> bool;
}

/// The end at a flow's source.
///
/// ```
/// use thalweg_machines::transport::{Endpoint, Protocol, Rank, SendingEnd, Transmit, UdpPace, UdpSpec};
/// use thalweg_units::{FlowId, Rate, Span, Stream, Time};
/// use thalweg_wire::{Packet, Side};
///
/// let spec = UdpSpec { payload: 1000, header: 40, pace: UdpPace::Burst, rank: Rank::None };
/// let start = spec.start(Rate::from_gbps(10), Span::from_us(10), Span::ZERO);
/// let mut sender = spec.sender(FlowId(0), 1500, &start, Stream::default())?;
/// sender.start(&spec, Time::ZERO);
///
/// let (mut packet, mut side, mut sizes) = (Packet::default(), Side::default(), Vec::new());
/// while sender.poll_transmit(&spec, Time::ZERO, &mut packet, &mut side) == Transmit::Packet {
///     sizes.push(packet.wire);
/// }
/// assert_eq!(sizes, [1040, 540]);
/// assert!(sender.is_done() && sender.stats().sent_packets == 2);
/// # Ok::<(), thalweg_machines::Invalid>(())
/// ```
pub trait SendingEnd: Endpoint {
    /// The flow starts: from now on `poll_transmit` returns its packets.
    fn start(&mut self, spec: &Self::Spec, now: Time);
    /// Ends the flow with what it has sent so far, which is still repaired until the receiver has it. Returns the
    /// flow's new size in bytes, for the receiver ([`ReceivingEnd::resize`]).
    fn stop(&mut self, spec: &Self::Spec, now: Time) -> u64;
    /// Counters and state of the sender.
    fn stats(&self) -> SenderStats;
    /// Its controller's internal quantities:
    /// [`CongestionControl::report`](crate::congestion::CongestionControl::report).
    fn report(&self, _report: &mut Report) {}
    /// The decisions that its controller has recorded since the last call:
    /// [`CongestionControl::take_log`](crate::congestion::CongestionControl::take_log).
    fn take_log(&mut self) -> Option<Log> {
        None
    }
    /// What its controller has observed since its last decision from outside:
    /// [`CongestionControl::interval`](crate::congestion::CongestionControl::interval).
    fn interval(&self) -> Option<&Interval> {
        None
    }
    /// A decision from outside for its controller, in force from the next [`Endpoint::on_timer`], which is due at once:
    /// [`CongestionControl::on_decision`](crate::congestion::CongestionControl::on_decision).
    fn on_decision(&mut self, _now: Time, _decided: Permit) {}
    /// When the pace allows the next packet, regardless of the window; `None` if there is no packet to send, no pace,
    /// or if the host posts segments.
    fn next_departure(&self) -> Option<Time> {
        None
    }
    /// Predicts that [`Endpoint::poll_transmit`] returns this, and no packet, at the instant `at` if nothing happens
    /// until then. `None`: it would return a packet, or it cannot be predicted without changing state. Only of
    /// transports that can ([`PathNeeds::predicts_idle`]).
    fn predict_idle(&self, _spec: &Self::Spec, _at: Time) -> Option<Transmit> {
        None
    }
    /// Claims another turn at the link: whether the sender may have a packet now. Called after it has sent one, for
    /// transports whose hosts have an agent; a sender that claims no turn leaves the list of those that wait for the
    /// link.
    fn claim_turn(&mut self, _spec: &Self::Spec) -> bool {
        true
    }
    /// Called before it is polled: this many other flows of its host contend for the link. Only for transports whose
    /// hosts have an agent.
    fn on_contending(&mut self, _others: usize) {}
    /// A switch has dropped the data packet that begins at byte `seq`; the sender is notified of it at the
    /// instant `at`, by its timer ([`PathNeeds::drop_notices`]).
    fn on_drop(&mut self, _spec: &Self::Spec, _seq: u64, _at: Time) {}
    /// When the pace allows the next packet, if that has changed since the last call.
    fn take_rescheduled(&mut self) -> Option<Time> {
        None
    }
    /// Class of the next packet that may leave only when the NIC has nothing else to send; it is polled by
    /// [`SendingEnd::poll_idle`]. `None`: there is none. Only for transports that declare [`PathNeeds::when_idle`].
    fn waits_for_idle(&self, _spec: &Self::Spec) -> Option<u8> {
        None
    }
    /// As [`Endpoint::poll_transmit`] for packets that wait until the NIC has nothing else to send.
    fn poll_idle(
        &mut self,
        _spec: &Self::Spec,
        _now: Time,
        _packet: &mut Packet,
        _side: &mut Side,
    ) -> Transmit {
        Transmit::Idle
    }
    /// The flow is over: its data of this class and of less important ones is discarded from the NIC's queue. Only for
    /// transports that declare [`PathNeeds::discards_queued`].
    fn discards_from_class(&self, _spec: &Self::Spec) -> Option<u8> {
        None
    }
    /// Payload bytes that were never sent; `u64::MAX` for flows without end.
    fn remaining(&self) -> u64;
    /// The state with which the next flow of the same connection continues; `None`: a connection carries one flow.
    fn hand_over(&self) -> Option<HandOver> {
        None
    }
    /// Continues with the state of the flow before it on the connection. Called before [`SendingEnd::start`].
    fn take_over(&mut self, _before: HandOver) {}
    /// Appends a message of `bytes` to a flow that is a stream of messages, each in packets of its own (0 bytes: what
    /// there is so far becomes the first message). Returns the offset of its end; `None`: flows of this transport are
    /// one message.
    fn append(&mut self, _spec: &Self::Spec, _now: Time, _bytes: u64) -> Option<u64> {
        None
    }
    /// Offsets of the first byte never sent and of the first that is not acknowledged.
    fn progress(&self) -> Progress {
        let acked = self.stats().acked_bytes;
        Progress { sent: acked, acked }
    }
}

/// The end at a flow's destination.
///
/// ```
/// use thalweg_machines::transport::{Endpoint, Protocol, Rank, ReceivingEnd, UdpPace, UdpSpec};
/// use thalweg_units::{FlowId, Stream, Time};
/// use thalweg_wire::Packet;
///
/// let spec = UdpSpec { payload: 1000, header: 40, pace: UdpPace::Burst, rank: Rank::None };
/// let mut receiver = spec.receiver(FlowId(0), 1000, Stream::default());
/// receiver.on_packet(&spec, Time::ZERO, &Packet { payload: 1000, wire: 1040, ..Packet::default() }, None);
/// assert!(receiver.is_done() && receiver.received() == 1000);
/// ```
pub trait ReceivingEnd: Endpoint {
    /// Changes the flow's size to `size` bytes ([`SendingEnd::stop`], [`SendingEnd::append`]).
    fn resize(&mut self, size: u64);
    /// Payload bytes received in order, which the application can read.
    fn received(&self) -> u64;
    /// Distinct payload bytes received, including those above a gap.
    fn unique_bytes(&self) -> u64 {
        self.received()
    }
    /// All `len` bytes from `seq` on have arrived.
    fn holds(&self, _seq: u64, _len: u32) -> bool {
        false
    }
}

/// How far a sender is, in offsets of its flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// The first byte that was never sent.
    pub sent: u64,
    /// The first that is not acknowledged.
    pub acked: u64,
}

/// State that a connection carries from one flow to the next.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HandOver(pub(super) rdma::State);

/// Counters and state of a sender, for tables and time series.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SenderStats {
    /// Payload bytes acknowledged cumulatively (UDP: sent).
    pub acked_bytes: u64,
    /// Data packets sent, including retransmissions but not probes and the handshake.
    pub sent_packets: u64,
    /// Of these, retransmissions.
    pub retransmitted_packets: u64,
    /// Expiries of the retransmission timer, including those of the handshake.
    pub timeouts: u64,
    /// The controller's window.
    pub window: Bytes,
    /// The controller's slow-start threshold; [`Bytes::MAX`]: none.
    pub threshold: Bytes,
    /// Payload bytes believed to be in the network.
    pub in_flight: Bytes,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
    /// Sum in picoseconds of the round trips measured by the time stamps of ACKs of new data, including those of
    /// retransmitted segments and of the handshake (RFC 7323 §4.1). RDMA: only of ACKs whose round trip the controller
    /// was given.
    pub rtt_sum: u128,
    /// Number of round trips in `rtt_sum`.
    pub rtt_samples: u64,
    /// The controller's pace, if it has one.
    pub pace: Option<Rate>,
    /// Credits that arrived when there was nothing to send (ExpressPass).
    pub wasted_credits: u64,
}

impl SenderStats {
    /// Mean of the measured round trips; `None` before the first.
    #[cfg(test)]
    pub(crate) fn mean_rtt(&self) -> Option<Span> {
        (self.rtt_samples > 0).then(|| Span::from_ps((self.rtt_sum / u128::from(self.rtt_samples)) as u64))
    }
}
