//! What a transport is: its two ends, and what it declares to all others.

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

    /// What it puts on the wire.
    fn wire(&self) -> Wire;

    /// The windows that its controllers are given; transports without a controller have none.
    fn windows(&self) -> Windows {
        Windows::default()
    }

    /// What its flows' controllers are made of; transports without a controller have none.
    fn controller(&self) -> Option<&ControllerSpec> {
        None
    }

    /// What it needs of the network besides queues and routes.
    fn needs(&self) -> PathNeeds {
        PathNeeds::default()
    }

    /// A sender knows what its receiver has, whether or not the ACK has come (a quirk of NetSys/simulator):
    /// the owner of both ends discards what would be sent again for nothing ([`ReceivingEnd::holds`]).
    fn sees_receiver(&self) -> bool {
        false
    }

    /// Its connections can carry messages back to back ([`SendingEnd::append`]).
    fn streams(&self) -> bool {
        false
    }

    /// What its flows are given when they start, on such a path: the owner adds which flow it is, its class,
    /// and a stream.
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
    /// More of them, which an ideal completion time does not count.
    pub extra_header: u32,
    /// An acknowledgement; `None`: nothing ever comes back.
    pub ack: Option<u32>,
    /// Acknowledgements per data packet, without losses. (None at all, where only losses are answered.)
    pub acks: f64,
    /// What is exchanged before the first data.
    pub set_up: Option<SetUp>,
}

/// One round trip before the first data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SetUp {
    /// Bytes of what the sender sends.
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
    /// The data packets of a flow of `size` bytes.
    pub fn packets(&self, size: u64) -> u64 {
        size.div_ceil(u64::from(self.payload.max(1)))
    }
    /// The last of them: what is left, and a header.
    pub fn last(&self, size: u64) -> u32 {
        let before = self.packets(size).saturating_sub(1) * u64::from(self.payload);
        (size - before) as u32 + self.header
    }
    /// Acknowledgements come even where nothing is lost.
    pub fn is_acknowledged(&self) -> bool {
        self.acks > 0.0
    }
}

/// Windows of flows that start, in payload bytes; [`Bytes::MAX`]: none.
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
    /// What comes back passes the same switches as the data, in reverse (ExpressPass' credits meter the data's links).
    pub symmetric: bool,
    /// NICs pull: which packet leaves is decided when the link is free, not before (receiver-driven transports).
    pub pulls: bool,
    /// NICs have queues, and request more when these are empty ([`SendingEnd::poll_idle`]).
    pub when_idle: bool,
    /// NICs have queues out of which packets can be taken ([`SendingEnd::takes_back`]).
    pub takes_back: bool,
    /// Switches notify it of every packet that they drop ([`SendingEnd::on_drop`]).
    pub drop_notices: bool,
    /// Its senders, which wait for a pace or a window, can say beforehand that they will ([`SendingEnd::foresee`]).
    pub foresees: bool,
    /// Switches hash the values that it writes into its packets ([`PathValues`](super::PathValues)).
    pub path_values: bool,
    /// Its senders hand what switches write to them, notices and CNPs, to their controllers; others ignore it.
    pub reads_notices: bool,
    /// Its receivers know what a packet is of which switches have left the header alone
    /// ([`Packet::is_trimmed`](thalweg_wire::Packet::is_trimmed)); others must not meet any.
    pub reads_trimmed: bool,
}

/// The answer to "anything to send?".
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

/// Where an end stands when it has sent what it may.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// When it is to be polled again, unless something arrives: the earlier of its timer and its pace;
    /// [`Time::MAX`]: never.
    pub wake: Time,
    /// See [`Endpoint::is_done`].
    pub done: bool,
}

/// It waits for an arrival.
impl Default for Standing {
    #[inline]
    fn default() -> Self {
        Self { wake: Time::MAX, done: false }
    }
}

/// What a packet was to the end of a flow, as far as that is of interest outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reception {
    /// It says nothing to this end: a [`Message`](thalweg_wire::Message) of another transport's, or of a congestion
    /// point that the controller takes none from. Nothing has changed.
    Ignored,
    /// The end has taken it.
    #[default]
    Taken,
    /// A sender has taken it, and it measured a round trip, as [`SenderStats::rtt_sum`] counts them.
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

/// Why a timer was due.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Expiry {
    /// It was not, or some other clock's.
    #[default]
    Other,
    /// The retransmission timer expired.
    Retransmission,
    /// The controller's clock, or that of the host's rate limiter.
    Controller,
    /// The controller's clock, and it waits for a decision from outside.
    Decision,
}

/// One end of one flow.
pub trait Endpoint {
    /// What its kind of transport shares between flows.
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
    /// Polls until no more may leave now, and hands every packet to `out`: what follows every arrival at an
    /// end that need not wait for its NIC, as one call.
    #[inline(always)]
    fn drain(
        &mut self,
        spec: &Self::Spec,
        now: Time,
        (packet, side): (&mut Packet, &mut Side),
        mut out: impl FnMut(&mut Packet, &mut Side),
    ) -> Standing
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
        self.standing(paced)
    }
    /// Where it stands, if its pace allows nothing before that instant.
    #[inline(always)]
    fn standing(&self, paced: Time) -> Standing {
        Standing { wake: self.timer().unwrap_or(Time::MAX).min(paced), done: self.is_done() }
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
    /// The flow starts: from now on `poll_transmit` answers.
    fn start(&mut self, spec: &Self::Spec, now: Time);
    /// The flow ends with what it has sent; that is still repaired until the receiver has it. Returns how
    /// many bytes that is, for the receiver ([`ReceivingEnd::resize`]).
    fn stop(&mut self, spec: &Self::Spec, now: Time) -> u64;
    /// What it has done and where it stands.
    fn stats(&self) -> SenderStats;
    /// What its controller reports of itself:
    /// [`CongestionControl::report`](crate::congestion::CongestionControl::report).
    fn report(&self, _report: &mut Report) {}
    /// What its controller has recorded since the last time:
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
    /// When the pace allows the next packet, whatever the window says; `None` if there is no packet to send
    /// or no pace, or if the host posts them.
    fn next_departure(&self) -> Option<Time> {
        None
    }
    /// What [`Endpoint::poll_transmit`] would answer at the instant `at` if nothing happened until then, and
    /// that is no packet. `None`: it would be one, or this cannot be known, or to find out would change
    /// something. Only of transports that can ([`PathNeeds::foresees`]).
    fn foresee(&self, _spec: &Self::Spec, _at: Time) -> Option<Transmit> {
        None
    }
    /// Whether [`Endpoint::poll_transmit`] may have a packet now. It is called after it has had one, of transports
    /// whose hosts have an agent: one that has nothing leaves the list of those that wait for the link at once.
    fn may_send(&mut self, _spec: &Self::Spec) -> bool {
        true
    }
    /// It is polled next, and so many other flows of its host wait for the link. Only of transports whose hosts have an
    /// agent.
    fn on_company(&mut self, _others: usize) {}
    /// A switch has dropped the data packet that begins at byte `seq`; the sender is notified of it at the
    /// instant `at`, by its timer ([`PathNeeds::drop_notices`]).
    fn on_drop(&mut self, _spec: &Self::Spec, _seq: u64, _at: Time) {}
    /// When the pace allows the next packet, if an ACK has moved that since the last call.
    fn take_moved(&mut self) -> Option<Time> {
        None
    }
    /// Class of the next packet that is to leave only when its NIC has nothing else to send: it is requested
    /// by [`SendingEnd::poll_idle`]. `None`: there is none. Only of transports that need it
    /// ([`PathNeeds::when_idle`]).
    fn waits_for_idle(&self, _spec: &Self::Spec) -> Option<u8> {
        None
    }
    /// The NIC has nothing else to send: as [`Endpoint::poll_transmit`], of such packets.
    fn poll_idle(
        &mut self,
        _spec: &Self::Spec,
        _now: Time,
        _packet: &mut Packet,
        _side: &mut Side,
    ) -> Transmit {
        Transmit::Idle
    }
    /// The flow is over: of what waits in its NIC's queue, data of this class and less important ones is of
    /// no use. Only of transports that need it ([`PathNeeds::takes_back`]).
    fn takes_back(&self, _spec: &Self::Spec) -> Option<u8> {
        None
    }
    /// Payload bytes from the next packet on; of a flow without end the largest number.
    fn remaining(&self) -> u64;
    /// What the next flow of the same connection goes on with; `None`: its connections carry one flow.
    fn hand_over(&self) -> Option<HandOver> {
        None
    }
    /// This flow follows another on its connection. Before [`SendingEnd::start`].
    fn take_over(&mut self, _before: HandOver) {}
    /// The flow is a stream of messages, each in packets of its own: `bytes` more follow at its end (0: what
    /// there is so far is the first message). The offset behind them; `None`: a flow of this kind is one
    /// message.
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
    /// The flow has `size` bytes after all ([`SendingEnd::stop`], [`SendingEnd::append`]).
    fn resize(&mut self, size: u64);
    /// Payload bytes received in order: what the application has got.
    fn received(&self) -> u64;
    /// Distinct payload bytes received, those above a gap included.
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

/// What a connection carries from one flow to the next.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HandOver(pub(super) rdma::State);

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
    /// the set-up included (RFC 7323 §4.1), in picoseconds. RDMA: of those that the controller was given.
    pub rtt_sum: u128,
    /// How many these were.
    pub rtt_samples: u64,
    /// The controller's pace, if it has one.
    pub pace: Option<Rate>,
    /// Credits that came when there was nothing to send (ExpressPass).
    pub wasted_credits: u64,
}

impl SenderStats {
    /// Mean of the measured round trips; `None` before the first.
    pub fn mean_rtt(&self) -> Option<Span> {
        (self.rtt_samples > 0).then(|| Span::from_ps((self.rtt_sum / u128::from(self.rtt_samples)) as u64))
    }
}
