//! RC3 on a path of slots: a packet per slot, a NIC of strict priority, a round trip of 50 slots.

mod example;
mod properties;

use super::super::testing::{MSS, tcp};
use super::super::*;
use super::*;
use crate::transport::{AckSpec, Handed};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use thalweg_units::Bytes;
use thalweg_wire::{Kind, NO_SIDE};

/// Slots from a departure to the arrival of its ACK.
pub const ROUND_TRIP: u64 = 50;
const CLASSES: usize = 6;

/// §2.4.1: initial window 4, levels of 40, 400, ..
pub fn rc3() -> Rc3Spec {
    let primary = TcpSpec {
        initial_window: Bytes::new(4 * MSS),
        limited_transmit: false,
        acks_in_class: true,
        ack: AckSpec { every: 1, delay: Span::ZERO },
        rto: RtoRule::Rfc6298 {
            initial: Span::from_ms(1000),
            min: Span::from_ms(200),
            max: Span::from_ms(60_000),
        },
        ..tcp()
    };
    Rc3Spec::published(primary)
}

/// A departure: slot, segment (from 1, as the thesis counts), class.
pub type Sent = (u64, u64, u8);

/// One flow on the path.
pub struct Slots {
    spec: TransportSpec,
    pub sender: Sender,
    receiver: Receiver,
    nic: [VecDeque<Packet>; CLASSES],
    /// By slot: what reaches the receiver, and what reaches the sender.
    forth: BTreeMap<u64, Vec<Packet>>,
    back: BTreeMap<u64, Vec<(Packet, Side)>>,
    /// What left the NIC.
    pub wire: Vec<Sent>,
    /// What was handed to it.
    pub handed: Vec<Sent>,
    /// Which departure first brought a segment to the receiver: slot of arrival, class.
    pub first: BTreeMap<u64, (u64, u8)>,
    /// Segments that ACKs have named.
    named: BTreeSet<u64>,
    /// Window after each ACK of class 0.
    pub windows: Vec<(u64, u64)>,
    pub received_in: u64,
    pub done_in: u64,
    now: u64,
}

impl Slots {
    pub fn new(spec: TransportSpec, segments: u64) -> Self {
        let start = spec.start(Rate::from_gbps(1), Span::from_us(ROUND_TRIP), Span::ZERO);
        let sender = spec.sender(FlowId(0), segments * MSS, &start, Stream::new(1, "test", 0)).unwrap();
        let receiver = spec.receiver(FlowId(0), segments * MSS, Stream::default());
        let mut all = Self {
            spec,
            sender,
            receiver,
            nic: Default::default(),
            forth: BTreeMap::new(),
            back: BTreeMap::new(),
            wire: vec![],
            handed: vec![],
            first: BTreeMap::new(),
            named: BTreeSet::new(),
            windows: vec![],
            received_in: u64::MAX,
            done_in: u64::MAX,
            now: 0,
        };
        all.sender.start(&all.spec, Time::ZERO);
        all
    }

    fn time(&self) -> Time {
        Time::ZERO + Span::from_us(self.now)
    }

    /// Until the sender is done; `lost(departure)` are lost on the way.
    pub fn run(&mut self, mut lost: impl FnMut(Sent) -> bool) {
        while self.done_in == u64::MAX {
            assert!(self.now < 2_000_000, "it never ends");
            self.slot(&mut lost);
        }
    }

    fn slot(&mut self, lost: &mut impl FnMut(Sent) -> bool) {
        let (now, mut packet, mut side) = (self.time(), Packet::default(), Side::default());
        for arrived in self.forth.remove(&self.now).unwrap_or_default() {
            let had = self.receiver.holds(arrived.seq, arrived.payload);
            self.receiver.on_packet(&self.spec, now, &arrived, None);
            if !had {
                self.first.insert(arrived.seq / MSS + 1, (self.now, arrived.class));
            }
            while self.receiver.poll_transmit(&self.spec, now, &mut packet, &mut side) == Transmit::Packet {
                let carried = if packet.side == NO_SIDE { Side::Empty } else { side };
                self.back.entry(self.now + ROUND_TRIP / 2).or_default().push((packet, carried));
            }
            if self.receiver.is_done() && self.received_in == u64::MAX {
                self.received_in = self.now;
            }
        }
        for (ack, carried) in self.back.remove(&self.now).unwrap_or_default() {
            self.sender.on_packet(&self.spec, now, &ack, Some(&carried));
            self.named.extend(1..=ack.seq.div_ceil(MSS));
            for (from, to) in carried.sack() {
                self.named.extend(from / MSS + 1..=to.div_ceil(MSS));
            }
            if ack.class == 0 && ack.kind == Kind::Ack {
                self.windows.push((self.now, self.sender.stats().window.get() / MSS));
            }
            self.poll(now);
        }
        if self.sender.timer().is_some_and(|at| at <= now) {
            self.sender.on_timer(&self.spec, now);
        }
        self.poll(now);
        if self.sender.is_done() {
            self.done_in = self.now;
        }
        let next = self.nic.iter_mut().find_map(VecDeque::pop_front);
        if let Some(packet) = next.or_else(|| self.pull(now)) {
            let sent = (self.now, packet.seq / MSS + 1, packet.class);
            self.wire.push(sent);
            if !lost(sent) {
                self.forth.entry(self.now + ROUND_TRIP / 2).or_default().push(packet);
            }
        }
        self.now += 1;
    }

    fn poll(&mut self, now: Time) {
        let (mut packet, mut side) = (Packet::default(), Side::default());
        while self.sender.poll_transmit(&self.spec, now, &mut packet, &mut side) == Transmit::Packet {
            let segment = packet.seq / MSS + 1;
            let harvested = packet.kind == Kind::Data && packet.class == 0 && self.named.contains(&segment);
            assert!(!harvested, "segment {segment} is delivered, and the primary loop sends it");
            self.handed.push((self.now, segment, packet.class));
            self.nic[usize::from(packet.class)].push_back(packet);
        }
    }

    /// The NIC has nothing else to send.
    fn pull(&mut self, now: Time) -> Option<Packet> {
        let (mut packet, mut side) = (Packet::default(), Side::default());
        let class = self.sender.waits_for_idle(&self.spec);
        let answer = self.sender.poll_idle(&self.spec, now, &mut packet, &mut side);
        assert_eq!(answer == Transmit::Packet, class.is_some());
        if answer != Transmit::Packet {
            return None;
        }
        assert_eq!(Some(packet.class), class);
        let segment = packet.seq / MSS + 1;
        let reached = self.handed_in(0).into_iter().max();
        assert!(
            Some(segment) > reached,
            "segment {segment} although the primary loop has reached {reached:?}"
        );
        self.handed.push((self.now, segment, packet.class));
        Some(packet)
    }

    /// Segments that were handed to the NIC in this class, in order.
    pub fn handed_in(&self, class: u8) -> Vec<u64> {
        self.handed.iter().filter(|h| h.2 == class).map(|h| h.1).collect()
    }
}

pub fn path(spec: Rc3Spec, segments: u64) -> Slots {
    Slots::new(TransportSpec::Rc3(spec), segments)
}
