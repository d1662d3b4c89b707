//! Open-loop datagrams: no feedback, no repair. The receiver only counts.

use super::{
    Endpoint, Expiry, Protocol, Rank, ReceivingEnd, Reception, SenderStats, SendingEnd, Transmit, Wire,
};
use crate::congestion::Start;
use crate::problems::Invalid;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, FlowId, Rate, Span, Stream, Time};
use thalweg_wire::{Flags, Kind, Packet, Side};

/// Open-loop datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UdpSpec {
    /// Payload bytes of a datagram.
    pub payload: u32,
    /// Header bytes on the wire.
    pub header: u32,
    /// When datagrams leave.
    pub pace: UdpPace,
    /// What senders write into the rank header ([`Rank::None`] or [`Rank::FlowSize`]).
    pub rank: Rank,
}

/// Departure process of open-loop datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum UdpPace {
    /// All at once, when the flow starts.
    Burst,
    /// Evenly spaced at this wire rate.
    Constant(Rate),
    /// Exponential gaps with this mean wire rate.
    Poisson(Rate),
}

impl Protocol for UdpSpec {
    type Sender = UdpSender;
    type Receiver = UdpReceiver;

    fn sender(&self, flow: FlowId, size: u64, start: &Start, stream: Stream) -> Result<UdpSender, Invalid> {
        UdpSender::new(self, flow, size, start, stream)
    }
    fn receiver(&self, _: FlowId, size: u64, _: Stream) -> UdpReceiver {
        UdpReceiver::new(size)
    }
    fn wire(&self) -> Wire {
        Wire { payload: self.payload, header: self.header, ..Wire::default() }
    }
}

/// Sends datagrams by their departure process, without feedback.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UdpSender {
    flow: FlowId,
    class: u8,
    started: bool,
    size: u64,
    sent: u64,
    packets: u64,
    /// When the next datagram may leave.
    next: Time,
    stream: Stream,
}

impl UdpSender {
    /// A sender that has nothing to send.
    pub(super) fn idle(flow: FlowId) -> Self {
        let stream = Stream::default();
        Self { flow, class: 0, started: false, size: 0, sent: 0, packets: 0, next: Time::MAX, stream }
    }

    /// A sender of `size` bytes (`u64::MAX`: without end).
    ///
    /// # Errors
    /// If a parameter is out of range or has no meaning without acknowledgements.
    fn new(spec: &UdpSpec, flow: FlowId, size: u64, start: &Start, stream: Stream) -> Result<Self, Invalid> {
        let refuse = |key: &'static str, why: &'static str| Err(Invalid::new(why).of("udp").at(key));
        if spec.payload == 0 {
            return refuse("payload", "payload is 0, allowed: at least 1");
        }
        if size == 0 {
            return refuse("size", "a flow of 0 bytes");
        }
        match spec.pace {
            UdpPace::Burst if size == u64::MAX => {
                return refuse("pace", "a burst without end; give the flow a size or a rate");
            }
            UdpPace::Constant(Rate::ZERO) | UdpPace::Poisson(Rate::ZERO) => {
                return refuse("pace", "the rate is 0");
            }
            UdpPace::Constant(Rate::INFINITE) | UdpPace::Poisson(Rate::INFINITE) => {
                return refuse("pace", "the rate is infinite; use a burst");
            }
            _ => {}
        }
        if !matches!(spec.rank, Rank::None | Rank::FlowSize) {
            return refuse("rank", "rank needs acknowledgements; allowed: none, flow size");
        }
        Ok(Self {
            flow,
            class: start.class,
            started: false,
            size,
            sent: 0,
            packets: 0,
            next: Time::ZERO,
            stream,
        })
    }

    /// From the departure of a datagram of `wire` bytes to the next.
    fn gap(&mut self, spec: &UdpSpec, wire: u32) -> Span {
        match spec.pace {
            UdpPace::Burst => Span::ZERO,
            UdpPace::Constant(rate) => Bytes::new(u64::from(wire)) / rate,
            UdpPace::Poisson(rate) => {
                let mean = f64::from(wire) * 8.0 / rate.bps() as f64;
                Span::from_secs_f64(self.stream.exponential(mean))
            }
        }
    }
}

impl Endpoint for UdpSender {
    type Spec = UdpSpec;
    fn on_packet(&mut self, _: &UdpSpec, _: Time, _: &Packet, _: Option<&Side>) -> Reception {
        Reception::Ignored
    }
    fn on_timer(&mut self, _: &UdpSpec, _: Time) -> Expiry {
        Expiry::Other
    }
    fn poll_transmit(&mut self, spec: &UdpSpec, now: Time, packet: &mut Packet, _: &mut Side) -> Transmit {
        if !self.started || self.is_done() {
            return Transmit::Idle;
        }
        if now < self.next {
            return Transmit::At(self.next);
        }
        let payload = (self.size - self.sent).min(u64::from(spec.payload)) as u32;
        let wire = payload + spec.header;
        *packet = Packet {
            stamp: now,
            seq: self.sent,
            rank: spec.rank.of(self.size, 0, 0, 0),
            flow: self.flow,
            wire,
            payload,
            kind: Kind::Data,
            class: self.class,
            ..Packet::default()
        };
        self.sent += u64::from(payload);
        self.packets += 1;
        if self.is_done() {
            packet.flags.set(Flags::LAST);
        }
        // From the planned instant, not from now, so that late polls do not lower the rate.
        let gap = self.gap(spec, wire);
        self.next = self.next.saturating_add(gap);
        Transmit::Packet
    }
    /// Always none: [`Transmit::At`] states when the next datagram leaves.
    fn timer(&self) -> Option<Time> {
        None
    }
    fn is_done(&self) -> bool {
        self.sent == self.size
    }
}

impl SendingEnd for UdpSender {
    fn start(&mut self, spec: &UdpSpec, now: Time) {
        self.started = true;
        self.next = now;
        // A Poisson process is stationary: its first event, too, comes after an exponential gap.
        if let UdpPace::Poisson(_) = spec.pace {
            self.next = now.saturating_add(self.gap(spec, spec.payload + spec.header));
        }
    }

    fn stop(&mut self, _: &UdpSpec, _: Time) -> u64 {
        self.size = self.size.min(self.sent);
        self.size
    }

    fn remaining(&self) -> u64 {
        if self.size == u64::MAX { u64::MAX } else { self.size - self.sent }
    }

    fn stats(&self) -> SenderStats {
        SenderStats {
            acked_bytes: self.sent,
            sent_packets: self.packets,
            window: Bytes::MAX,
            threshold: Bytes::MAX,
            ..SenderStats::default()
        }
    }
}

/// Counts what arrives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UdpReceiver {
    size: u64,
    received: u64,
}

impl UdpReceiver {
    /// Expects `size` bytes.
    fn new(size: u64) -> Self {
        Self { size, received: 0 }
    }
}

impl Endpoint for UdpReceiver {
    type Spec = UdpSpec;
    #[inline]
    fn on_packet(&mut self, _: &UdpSpec, _: Time, packet: &Packet, _: Option<&Side>) -> Reception {
        if packet.kind == Kind::Data {
            self.received += u64::from(packet.payload);
        }
        Reception::Taken
    }
    fn on_timer(&mut self, _: &UdpSpec, _: Time) -> Expiry {
        Expiry::Other
    }
    fn poll_transmit(&mut self, _: &UdpSpec, _: Time, _: &mut Packet, _: &mut Side) -> Transmit {
        Transmit::Idle
    }
    fn timer(&self) -> Option<Time> {
        None
    }
    /// Never true once a datagram is lost.
    fn is_done(&self) -> bool {
        self.received >= self.size
    }
}

impl ReceivingEnd for UdpReceiver {
    fn resize(&mut self, size: u64) {
        self.size = size;
    }
    /// Payload bytes that arrived (datagrams have no order to wait for).
    fn received(&self) -> u64 {
        self.received
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: UdpSpec = UdpSpec { payload: 1000, header: 250, pace: UdpPace::Burst, rank: Rank::FlowSize };

    /// Departures of a whole flow: (instant, payload).
    fn departures(spec: &UdpSpec, size: u64, at: Time) -> Vec<(Time, u32)> {
        let mut sender =
            UdpSender::new(spec, FlowId(0), size, &Start::default(), Stream::new(1, "udp", 0)).unwrap();
        let (mut now, mut out) = (at, vec![]);
        let (mut p, mut side) = (Packet::default(), Side::default());
        assert_eq!(sender.poll_transmit(spec, now, &mut p, &mut side), Transmit::Idle);
        sender.start(spec, now);
        loop {
            match sender.poll_transmit(spec, now, &mut p, &mut side) {
                Transmit::Packet => out.push((now, p.payload)),
                Transmit::At(next) => now = next,
                Transmit::Idle => return out,
            }
        }
    }

    #[test]
    fn a_burst_leaves_at_once_and_a_constant_rate_evenly() {
        let at = Time::from_us(3);
        assert_eq!(departures(&SPEC, 2500, at), [(at, 1000), (at, 1000), (at, 500)]);
        let spec = UdpSpec { pace: UdpPace::Constant(Rate::from_gbps(1)), ..SPEC };
        let gap = Span::from_us(10); // 1250 B at 1 Gb/s
        assert_eq!(departures(&spec, 2500, at), [(at, 1000), (at + gap, 1000), (at + gap + gap, 500)]);
    }

    #[test]
    fn a_poisson_rate_is_the_mean() {
        let spec = UdpSpec { pace: UdpPace::Poisson(Rate::from_gbps(1)), ..SPEC };
        let sent = departures(&spec, 20_000_000, Time::ZERO);
        let (last, n) = (sent.last().unwrap().0, sent.len() as f64);
        assert!((last.secs() / n / 10e-6 - 1.0).abs() < 0.02, "{last:?}");
        assert_ne!(sent[0].0, Time::ZERO);
    }

    #[test]
    fn what_cannot_work_is_refused() {
        let refuse = |spec: UdpSpec, size| {
            UdpSender::new(&spec, FlowId(0), size, &Start::default(), Stream::new(1, "udp", 0)).is_err()
        };
        assert!(refuse(SPEC, u64::MAX));
        assert!(refuse(UdpSpec { payload: 0, ..SPEC }, 1));
        assert!(refuse(UdpSpec { rank: Rank::Remaining, ..SPEC }, 1));
        assert!(refuse(UdpSpec { pace: UdpPace::Constant(Rate::ZERO), ..SPEC }, 1));
    }
}
