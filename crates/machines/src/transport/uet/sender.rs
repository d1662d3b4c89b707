//! The sender (UET §3.5 and §3.6): what may leave, what is sent again, and how much credit it requests.

use super::super::counts::Counts;
use super::super::{
    Endpoint, Expiry, PathFeedback, PathSelector, Reception, SenderStats, SendingEnd, Transmit,
};
use super::UetSpec;
use super::delays::Delays;
use super::outstanding::{Outstanding, Packet as Record};
use super::spec::QUANTUM;
use super::window::{Acked, Common, Nacked, Sample, Window};
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, FlowId, Rate, Stream, Time};
use thalweg_wire::{Ecn, Flags, Kind, Message, Packet, PacketAck, Side};

/// The source's end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UetSender {
    flow: FlowId,
    size: u64,
    started: bool,
    /// Offset of the first byte never sent.
    next: u64,
    /// Payload bytes acknowledged.
    acked: u64,
    outstanding: Outstanding,
    /// Bytes on the wire in flight, according to what the receiver has reported. Temporarily negative if a packet
    /// arrives after it was considered lost, as it is then subtracted twice.
    in_flight: i64,
    /// Bytes that the receiver last reported as received.
    received: u64,
    window: Window,
    credit: Credit,
    paths: Option<PathSelector>,
    delays: Delays,
    /// A request to send is due.
    probe: bool,
    /// When the last one left.
    probed: Option<Time>,
    counts: Counts,
}

/// What a receiver has granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Credit {
    /// Bytes on the wire that may leave; below 0 by up to a packet.
    left: i64,
    /// Quanta that have been granted.
    pulled: u64,
    /// Nothing has come back yet: packets leave speculatively.
    speculating: bool,
    /// Other flows that contend for the NIC.
    contending: u32,
    /// When a request to send is due, because there is no credit left and no packet in flight whose answer could bring
    /// more.
    starved: Option<Time>,
}

impl Credit {
    /// Something has come back: the remaining speculative credit lapses.
    fn settle(&mut self) {
        if self.speculating {
            (self.speculating, self.left) = (false, self.left.min(0));
        }
    }
}

impl UetSender {
    /// A sender that has not started.
    pub(super) fn new(spec: &UetSpec, flow: FlowId, size: u64, line_rate: Rate, stream: Stream) -> Self {
        let common = Common { mtu: spec.full(), payload: spec.payload, line_rate, base_rtt: spec.base_rtt };
        let first = spec.credits.map_or(0, |credits| credits.initial.get());
        Self {
            flow,
            size,
            started: false,
            next: 0,
            acked: 0,
            outstanding: Outstanding::default(),
            in_flight: 0,
            received: 0,
            window: spec.window.make(&common),
            credit: Credit { left: signed(first), speculating: true, ..Credit::default() },
            paths: spec.path_selection.as_ref().map(|selection| selection.make(stream)),
            delays: Delays::new(spec.base_rtt),
            probe: false,
            probed: None,
            counts: Counts::default(),
        }
    }

    /// Bytes on the wire that were never sent.
    fn backlog(&self, spec: &UetSpec) -> u64 {
        let left = self.size - self.next;
        left + spec.packets(left) * u64::from(spec.header)
    }

    fn payload_at(&self, spec: &UetSpec, offset: u64) -> u32 {
        (self.size - offset).min(u64::from(spec.payload)) as u32
    }

    /// Bytes on the wire of the next packet; `None`: nothing waits.
    fn next_wire(&mut self, spec: &UetSpec) -> Option<u32> {
        if let Some((_, packet)) = self.outstanding.first_lost() {
            return Some(packet.wire);
        }
        (self.next < self.size).then(|| self.payload_at(spec, self.next) + spec.header)
    }

    // CHOICE UET §3.6: a source that has no credit left and nothing under way sends a request to send once it has
    // waited for `retry`: pulls may be lost, and are not acknowledged. Other reading: it waits, as in the consortium's
    // simulator, whose links lose no pulls.
    fn await_credit(&mut self, spec: &UetSpec, now: Time) {
        let starved = !self.has_credit(spec)
            && !self.probe
            && !self.is_done()
            && self.outstanding.oldest().is_none()
            && self.next_wire(spec).is_some();
        self.credit.starved = starved.then(|| now.saturating_add(spec.retry));
    }

    fn fits_window(&self, wire: u32) -> bool {
        signed(self.window.size()) >= self.in_flight + i64::from(wire)
    }

    /// After a packet of these bytes, which is under way, another one of as many fits into the window.
    fn has_room_after(&self, wire: u32) -> bool {
        self.in_flight + i64::from(wire) < signed(self.window.size())
    }

    /// Bytes on the wire in flight, as windows are notified of them.
    fn under_way(&self) -> u64 {
        self.in_flight.max(0).unsigned_abs()
    }

    fn has_credit(&self, spec: &UetSpec) -> bool {
        spec.credits.is_none() || self.credit.left > 0
    }

    /// The entropy value of a packet that leaves now.
    fn path(&mut self, spec: &UetSpec, now: Time) -> u32 {
        let window = self.window.size() / u64::from(spec.full());
        let (Some(paths), Some(selection)) = (&mut self.paths, &spec.path_selection) else { return 0 };
        paths.next(selection, now, window)
    }

    fn feedback(&mut self, spec: &UetSpec, now: Time, value: u32, what: PathFeedback) {
        if let (Some(paths), Some(selection)) = (&mut self.paths, &spec.path_selection) {
            paths.on_feedback(selection, now, value, what);
        }
    }

    /// The pull target: credit for what waits, as far as the window has room for it, less the credit that is left;
    /// divided among the flows of the host that contend for its link.
    fn target(&self, spec: &UetSpec) -> i64 {
        let Some(credits) = spec.credits else { return 0 };
        let backlog = self.backlog(spec);
        let room = self.window.size().saturating_add(u64::from(spec.full()));
        let waits = (backlog + self.outstanding.lost_bytes()).min(room);
        let mut wanted = signed(waits.min(credits.initial.get())) - self.credit.left;
        if self.credit.speculating && wanted < i64::from(spec.full()) && backlog > 0 {
            wanted = i64::from(spec.full());
        }
        wanted = wanted.div_euclid(i64::from(self.credit.contending) + 1);
        signed(self.credit.pulled)
            + wanted.div_euclid(QUANTUM as i64)
            + i64::from(wanted.rem_euclid(QUANTUM as i64) > 0)
    }

    fn on_ack(&mut self, spec: &UetSpec, now: Time, packet: &Packet, ack: &PacketAck) -> Reception {
        let marked = packet.flags.has(Flags::ECE);
        let new = ack.received.saturating_sub(self.received);
        self.received += new;
        self.in_flight -= signed(new);
        // Karn: for a retransmitted packet the answer shows only whether it is of the first transmission or of a later
        // one.
        let echoed = packet.flags.has(Flags::RETRANSMISSION);
        let answered = self.outstanding.sent(ack.number);
        let timed = answered.filter(|record| record.resent == u16::from(echoed));
        let rtt = timed.map(|record| Sample { rtt: now.since(record.sent), lowers_base: record.payload > 0 });
        for number in ack.unmarked.iter().filter(|number| *number != ack.number) {
            if let Some(record) = self.outstanding.sent(number) {
                let value = record.value;
                self.feedback(spec, now, value, PathFeedback::Good);
            }
        }
        for number in self.outstanding.first()..ack.expected.min(self.outstanding.next()) {
            self.acknowledge(number);
        }
        let mut above = ack.above;
        while above != 0 {
            self.acknowledge(ack.base + u64::from(above.trailing_zeros()));
            above &= above - 1;
        }
        let what = if marked { PathFeedback::Marked } else { PathFeedback::Good };
        self.feedback(spec, now, packet.route, what);
        self.window.on_ack(&spec.window, &Acked { now, new, rtt, marked, in_flight: self.under_way() });
        self.credit.settle();
        let Some(Sample { rtt, .. }) = rtt else { return Reception::Taken };
        self.delays.on_round_trip(now, rtt, spec.retry);
        self.counts.round_trip(rtt);
        Reception::RoundTrip(rtt)
    }

    fn acknowledge(&mut self, number: u64) {
        let Some((record, was_lost)) = self.outstanding.acknowledge(number) else { return };
        self.acked += u64::from(record.payload);
        if was_lost && record.payload > 0 {
            // It was subtracted when it was considered lost, and once more with what the receiver reports.
            self.in_flight += i64::from(record.wire);
        }
    }

    fn on_nack(&mut self, spec: &UetSpec, now: Time, packet: &Packet, number: u64) -> Reception {
        let Some(record) = self.outstanding.sent(number).copied() else { return Reception::Taken };
        let last_hop = packet.flags.has(Flags::LAST_HOP);
        // CHOICE UET §3.6: with credits what is trimmed at the port to the receiver is the receiver's to mend.
        let spares = last_hop && spec.credits.is_some();
        let (bytes, rtt) = (record.wire, Some(now.since(record.sent)));
        self.window.on_nack(&spec.window, &Nacked { now, bytes, rtt, spares, in_flight: self.under_way() });
        self.outstanding.lose(number);
        self.in_flight -= i64::from(record.wire);
        self.credit.settle();
        let what = match (last_hop, packet.flags.has(Flags::ECE)) {
            (true, false) => PathFeedback::Good,
            (true, true) => PathFeedback::Marked,
            (false, _) => PathFeedback::Trimmed,
        };
        self.feedback(spec, now, packet.route, what);
        Reception::Taken
    }

    /// The packet that was sent longest ago is considered lost.
    fn expire(&mut self, spec: &UetSpec, now: Time, number: u64) {
        let others = self.outstanding.lost() > 0;
        let Record { wire, value, payload, .. } = self.outstanding.lose(number);
        self.counts.timeouts += 1;
        if payload > 0 {
            self.in_flight -= i64::from(wire);
        }
        self.window.on_timeout(&spec.window, wire);
        if let (Some(paths), Some(selection)) = (&mut self.paths, &spec.path_selection) {
            paths.on_timeout(selection, now, value, self.delays.longest());
        }
        if others {
            self.credit.settle();
            self.probe |= spec.credits.is_some();
        } else {
            self.probe |= !self.fits_window(wire) || !self.has_credit(spec);
        }
        // Packets in flight will request credit in time; otherwise the request waits until it may leave.
        self.probe &= now >= self.probe_at(spec) || self.outstanding.oldest().is_none();
    }

    /// When a request to send may leave: at most one for each base round trip, if there is a window.
    fn probe_at(&self, spec: &UetSpec) -> Time {
        let last = self.probed.filter(|_| spec.has_window());
        last.map_or(Time::ZERO, |at| at.saturating_add(spec.base_rtt))
    }

    /// A request to send, which takes a number as data does.
    fn send_probe(&mut self, spec: &UetSpec, now: Time, packet: &mut Packet, side: &mut Side) {
        (self.probe, self.probed) = (false, Some(now));
        let (number, value) = (self.outstanding.next(), self.path(spec, now));
        self.outstanding.push(Record::new(self.next, 0, spec.control, value, now), spec.retry);
        self.fill_probe(spec, now, (number, value), (packet, side));
    }

    fn fill_probe(
        &self,
        spec: &UetSpec,
        now: Time,
        (number, value): (u64, u32),
        (packet, side): (&mut Packet, &mut Side),
    ) {
        let target = Message::PullTarget { quanta: self.target(spec), probe: Some(number) };
        *packet = side.packet_of(target, now, self.flow, spec.control);
        packet.route = value;
    }

    fn fill_data(&self, spec: &UetSpec, now: Time, data: Packet, packet: &mut Packet, side: &mut Side) {
        let end = data.seq + u64::from(data.payload) == self.size;
        *packet = Packet { stamp: now, flow: self.flow, kind: Kind::Data, ecn: Ecn::Ect0, ..data };
        if end {
            packet.flags.set(Flags::LAST);
        }
        if spec.credits.is_some() {
            *side = Side::Message(Message::PullTarget { quanta: self.target(spec), probe: None });
            packet.side = 0;
        }
    }
}

impl Endpoint for UetSender {
    type Spec = UetSpec;

    fn on_packet(&mut self, spec: &UetSpec, now: Time, packet: &Packet, side: Option<&Side>) -> Reception {
        let reception = match side.and_then(Side::message) {
            Some(&Message::Pull { number }) => {
                // Pulls carry a running number; one that was overtaken by a later one has been counted already.
                let Some(credits) = spec.credits else { return Reception::Ignored };
                self.credit.settle();
                let granted = number.saturating_sub(self.credit.pulled) * QUANTUM;
                self.credit.pulled = self.credit.pulled.max(number);
                self.credit.left = (self.credit.left + signed(granted)).min(signed(credits.initial.get()));
                Reception::Taken
            }
            Some(Message::PacketAck(ack)) if packet.flags.has(Flags::NACK) => {
                self.on_nack(spec, now, packet, ack.number)
            }
            Some(Message::PacketAck(ack)) => self.on_ack(spec, now, packet, ack),
            _ => Reception::Ignored,
        };
        self.await_credit(spec, now);
        reception
    }

    fn on_timer(&mut self, spec: &UetSpec, now: Time) -> Expiry {
        let mut expiry = Expiry::Other;
        while let Some((number, due)) = self.outstanding.oldest()
            && due <= now
            && !self.is_done()
        {
            self.expire(spec, now, number);
            expiry = Expiry::Retransmission;
        }
        if self.credit.starved.is_some_and(|due| due <= now) {
            (self.credit.starved, self.probe) = (None, true);
        }
        expiry
    }

    fn poll_transmit(&mut self, spec: &UetSpec, now: Time, packet: &mut Packet, side: &mut Side) -> Transmit {
        if !self.started || self.is_done() {
            return Transmit::Idle;
        }
        let probe = self.probe.then(|| self.probe_at(spec));
        if probe.is_some_and(|at| at <= now) {
            self.send_probe(spec, now, packet, side);
            return Transmit::Packet;
        }
        let later = probe.map_or(Transmit::Idle, Transmit::At);
        let Some(wire) = self.next_wire(spec) else { return later };
        if !self.fits_window(wire) || !self.has_credit(spec) {
            return later;
        }
        let route = self.path(spec, now);
        if spec.credits.is_some() {
            self.credit.left -= i64::from(wire);
        }
        if let Some((number, _)) = self.outstanding.first_lost() {
            let Record { offset, payload, .. } =
                self.outstanding.resend(number, route, now, |times| spec.timeout(times));
            if payload == 0 {
                self.fill_probe(spec, now, (number, route), (packet, side));
                return Transmit::Packet;
            }
            (self.in_flight, self.counts.sent) = (self.in_flight + i64::from(wire), self.counts.sent + 1);
            self.counts.resent += 1;
            let flags = Flags::RETRANSMISSION.with(Flags::ACK_REQUEST);
            let data =
                Packet { seq: offset, trigger: number, payload, wire, route, flags, ..Packet::default() };
            self.fill_data(spec, now, data, packet, side);
            return Transmit::Packet;
        }
        let (number, offset, payload) = (self.outstanding.next(), self.next, wire - spec.header);
        self.next += u64::from(payload);
        self.in_flight += i64::from(wire);
        self.counts.sent += 1;
        self.outstanding.push(Record::new(offset, payload, wire, route, now), spec.retry);
        let waits = self.next == self.size || !self.has_credit(spec) || !self.has_room_after(wire);
        let flags = if waits { Flags::ACK_REQUEST } else { Flags::default() };
        let data = Packet { seq: offset, trigger: number, payload, wire, route, flags, ..Packet::default() };
        self.fill_data(spec, now, data, packet, side);
        Transmit::Packet
    }

    fn timer(&self) -> Option<Time> {
        let oldest = self.outstanding.oldest().map(|(_, due)| due);
        oldest.or(self.credit.starved).filter(|_| !self.is_done())
    }

    fn is_done(&self) -> bool {
        self.acked >= self.size
    }
}

impl SendingEnd for UetSender {
    fn claim_turn(&mut self, spec: &UetSpec) -> bool {
        let next = self.next_wire(spec);
        !self.is_done()
            && (self.probe || next.is_some_and(|wire| self.fits_window(wire) && self.has_credit(spec)))
    }

    fn on_contending(&mut self, others: usize) {
        self.credit.contending = u32::try_from(others).unwrap_or(u32::MAX);
    }

    fn start(&mut self, _: &UetSpec, _: Time) {
        self.started = true;
    }

    /// Flows without an end are refused, so that none is stopped before its own.
    fn stop(&mut self, _: &UetSpec, _: Time) -> u64 {
        self.size
    }

    fn remaining(&self) -> u64 {
        self.size.saturating_sub(self.next)
    }

    fn stats(&self) -> SenderStats {
        let window = Bytes::new(self.window.size());
        SenderStats { window, ..self.counts.stats(self.acked, self.next - self.acked.min(self.next)) }
    }
}

/// Credit and what it is compared with: no window comes near the largest number.
fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
