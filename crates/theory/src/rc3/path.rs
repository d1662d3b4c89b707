//! One flow on a path of slots: a packet per slot, a NIC that serves classes by strict priority, a fixed round trip.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use thalweg_machines::transport::{Receiver, Sender, Transmit, TransportSpec};
use thalweg_units::{FlowId, Rate, Span, Stream, Time};
use thalweg_wire::{Kind, NO_SIDE, Packet, Side};

/// Slots from a departure to the arrival of its ACK: the thesis' pipe of 50 packets.
pub const ROUND_TRIP: u64 = 50;
/// Payload of a segment.
pub const MSS: u64 = 1460;
const CLASSES: usize = 16;
/// A slot: a packet of 1500 B at 1 Gb/s.
const SLOT: Span = Span::from_us(12);

/// A departure, or a packet handed to the NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// In which slot.
    pub slot: u64,
    /// Its segment, the first being 1, as the thesis counts.
    pub segment: u64,
    /// Its class: 0 is the primary loop's.
    pub class: u8,
}

/// The path and its flow.
pub struct Path {
    spec: TransportSpec,
    sender: Sender,
    receiver: Receiver,
    nic: [VecDeque<Packet>; CLASSES],
    forth: BTreeMap<u64, Vec<Packet>>,
    back: BTreeMap<u64, Vec<(Packet, Side)>>,
    named: BTreeSet<u64>,
    now: u64,
    /// What was handed to the NIC.
    pub handed: Vec<Sent>,
    /// What left it.
    pub wire: Vec<Sent>,
    /// Segments by who brought them first, and when.
    pub first: BTreeMap<u64, Sent>,
    /// Window, bytes, after each ACK of class 0.
    pub windows: Vec<(u64, u64)>,
    /// Packets of class 0 that carry what an ACK had named before.
    pub known: u64,
    /// Windows that moved with an ACK of another class.
    pub moved: u64,
    /// Slot in which the last segment arrived.
    pub received: u64,
    /// Slot in which the sender knew.
    pub done: u64,
}

impl Path {
    /// A flow of so many segments.
    ///
    /// # Errors
    /// As [`TransportSpec::sender`].
    pub fn new(spec: TransportSpec, segments: u64) -> Result<Self, String> {
        let start = spec.start(Rate::from_gbps(1), Span::from_ps(SLOT.ps() * ROUND_TRIP), Span::ZERO);
        let size = segments * MSS;
        let mut sender = spec.sender(FlowId(0), size, &start, Stream::new(1, "path", 0))?;
        let receiver = spec.receiver(FlowId(0), size, Stream::default());
        sender.start(&spec, Time::ZERO);
        Ok(Self {
            spec,
            sender,
            receiver,
            nic: Default::default(),
            forth: BTreeMap::new(),
            back: BTreeMap::new(),
            named: BTreeSet::new(),
            now: 0,
            handed: vec![],
            wire: vec![],
            first: BTreeMap::new(),
            windows: vec![],
            known: 0,
            moved: 0,
            received: u64::MAX,
            done: u64::MAX,
        })
    }

    /// Until the sender is done, or for so many slots; what `lost` names does not arrive.
    pub fn run(&mut self, slots: u64, mut lost: impl FnMut(Sent) -> bool) {
        while self.done == u64::MAX && self.now < slots {
            self.slot(&mut lost);
        }
    }

    fn slot(&mut self, lost: &mut impl FnMut(Sent) -> bool) {
        let now = Time::from_ps(self.now * SLOT.ps());
        for packet in self.forth.remove(&self.now).unwrap_or_default() {
            self.arrive(now, &packet);
        }
        for (ack, side) in self.back.remove(&self.now).unwrap_or_default() {
            let before = self.sender.stats().window;
            self.sender.on_packet(&self.spec, now, &ack, Some(&side));
            let after = self.sender.stats().window;
            self.named.extend(1..=ack.seq.div_ceil(MSS));
            for (from, to) in side.sack() {
                self.named.extend(from / MSS + 1..=to.div_ceil(MSS));
            }
            match (ack.kind, ack.class) {
                (Kind::Ack, 0) => self.windows.push((self.now, after.get())),
                (Kind::Ack, _) => self.moved += u64::from(before != after),
                _ => {}
            }
            self.poll(now);
        }
        if self.sender.timer().is_some_and(|at| at <= now) {
            self.sender.on_timer(&self.spec, now);
        }
        self.poll(now);
        if self.sender.is_done() {
            self.done = self.now;
        }
        if let Some(packet) = self.nic.iter_mut().find_map(VecDeque::pop_front) {
            let sent = Sent { slot: self.now, segment: packet.seq / MSS + 1, class: packet.class };
            self.wire.push(sent);
            if !lost(sent) {
                self.forth.entry(self.now + ROUND_TRIP / 2).or_default().push(packet);
            }
        }
        self.now += 1;
    }

    fn arrive(&mut self, now: Time, packet: &Packet) {
        let (mut answer, mut side) = (Packet::default(), Side::default());
        let had = self.receiver.holds(packet.seq, packet.payload);
        self.receiver.on_packet(&self.spec, now, packet, None);
        if !had {
            let segment = packet.seq / MSS + 1;
            self.first.insert(segment, Sent { slot: self.now, segment, class: packet.class });
        }
        while self.receiver.poll_transmit(&self.spec, now, &mut answer, &mut side) == Transmit::Packet {
            let carried = if answer.side == NO_SIDE { Side::Empty } else { side };
            self.back.entry(self.now + ROUND_TRIP / 2).or_default().push((answer, carried));
        }
        if self.receiver.is_done() && self.received == u64::MAX {
            self.received = self.now;
        }
    }

    fn poll(&mut self, now: Time) {
        let (mut packet, mut side) = (Packet::default(), Side::default());
        while self.sender.poll_transmit(&self.spec, now, &mut packet, &mut side) == Transmit::Packet {
            let segment = packet.seq / MSS + 1;
            self.known += u64::from(packet.class == 0 && self.named.contains(&segment));
            self.handed.push(Sent { slot: self.now, segment, class: packet.class });
            self.nic[usize::from(packet.class).min(CLASSES - 1)].push_back(packet);
        }
    }

    /// Segments handed to the NIC in this class.
    pub fn handed_in(&self, class: u8) -> Vec<u64> {
        self.handed.iter().filter(|h| h.class == class).map(|h| h.segment).collect()
    }

    /// Expiries of the retransmission timer, and whether a loss was ever inferred.
    pub fn repaired(&self) -> (u64, bool) {
        let stats = self.sender.stats();
        (stats.timeouts, stats.threshold != thalweg_units::Bytes::MAX)
    }
}
