//! What leaves: segments, SYNs, probes.

use super::super::super::{EcnSpec, TcpSpec, Transmit};
use super::{Connection, Probing, Segment, TcpSender};
use crate::congestion::{CongestionControl, Explicit, ExplicitKind, Feedback, FeedbackKind};
use crate::packet::{Ecn, Flags, Forecast, Kind, Packet, Side};
use thalweg_units::{Bytes, Rate, Serializer, Span, Time};

impl TcpSender {
    /// Writes the segment's packet and keeps the books.
    #[inline]
    pub(super) fn emit(
        &mut self,
        spec: &TcpSpec,
        now: Time,
        segment: Segment,
        pace: Option<Rate>,
        packet: &mut Packet,
    ) {
        let Segment { seq, len, moves_high_rxt } = segment;
        let end = seq + u64::from(len);
        let fresh = seq >= self.sent_to;
        if seq > self.sent_to {
            self.pass_over(seq);
        }
        if self.log.is_some() {
            let (in_flight, last) = (self.in_flight(), end == self.size);
            if let Some(log) = &mut self.log {
                log.on_sent(now, seq / u64::from(spec.mss), len, in_flight, last);
            }
        }
        let mut flags = Flags::default();
        let mut ecn = match spec.ecn {
            EcnSpec::Off => Ecn::NotEct,
            EcnSpec::Classic | EcnSpec::Accurate => Ecn::Ect0,
            EcnSpec::Codepoints => Ecn::Ect1,
        };
        if fresh {
            self.sent_to = end;
            if self.cwr_due && spec.ecn == EcnSpec::Classic {
                flags.set(Flags::CWR);
            }
            self.cwr_due = false;
        } else {
            flags.set(Flags::RETRANSMISSION);
            self.retransmitted += 1;
            if spec.ecn == EcnSpec::Classic {
                ecn = Ecn::NotEct; // RFC 3168 §6.1.5
            }
        }
        if end == self.size {
            flags.set(Flags::LAST);
        }
        *packet = Packet {
            stamp: now,
            seq,
            rank: spec.rank.of(self.size, self.una, self.sacked(), seq),
            flow: self.flow,
            class: self.class,
            wire: len + spec.header,
            payload: len,
            kind: Kind::Data,
            ecn,
            flags,
            ..Packet::default()
        };
        self.sent_packets = self.sent_packets.saturating_add(1);
        if let Some(board) = &mut self.board {
            board.pipe += u64::from(len);
            if let Some(prr) = &mut board.prr {
                prr.out += u64::from(len);
            }
            if moves_high_rxt {
                board.high_rxt = board.high_rxt.max(end);
                self.resend_first = false;
            } else if !fresh {
                board.rescued = true;
            }
        }
        if self.deadline == Time::MAX {
            self.deadline = now.saturating_add(self.rto.timeout(&spec.rto));
        }
        if self.rack().is_some() {
            self.note_times(spec, now, segment, fresh);
        }
        if let Some(pace) = pace {
            let gap = Serializer::new(pace, Span::from_ps(u64::from(self.quantum))).span(packet.wire);
            self.next_send = now.saturating_add(gap);
        }
        self.controller.on_sent(now, Bytes::new(u64::from(len)), Bytes::new(self.in_flight()));
    }

    /// What routers write into, or the receiver reads, of a packet that leaves.
    #[inline]
    pub(super) fn header(&self, spec: &TcpSpec, kind: ExplicitKind) -> Explicit {
        if kind != ExplicitKind::Forecast {
            return Explicit::unwritten(kind);
        }
        // Sprout §3.4: no other follows at once.
        let full = self.in_flight() + u64::from(spec.mss) > self.controller.permit().window.get();
        let pauses = full || self.sent_to == self.written();
        Explicit::Forecast(Forecast { pauses, ..Forecast::default() })
    }

    #[cold]
    pub(super) fn poll_syn(
        &mut self,
        spec: &TcpSpec,
        now: Time,
        packet: &mut Packet,
        side: &mut Side,
    ) -> Transmit {
        if self.connection != Connection::SynDue {
            return Transmit::Idle;
        }
        self.connection = Connection::SynSent;
        self.deadline = now.saturating_add(self.rto.timeout(&spec.rto));
        *packet = Packet {
            stamp: now,
            flow: self.flow,
            class: self.class,
            wire: spec.syn_wire,
            kind: Kind::Syn,
            flags: if self.syn_resent { Flags::RETRANSMISSION } else { Flags::default() },
            // CHOICE UPS §2.3: control packets, SYNs as ACKs, are the most urgent. Other reading: the flow's rank.
            rank: 0,
            ..Packet::default()
        };
        // RCP §II: the first rate is asked for with the SYN. XCP's and VCP's routers have nothing to say to it: what changes a window
        // is shared out among data.
        if self.feedback == FeedbackKind::Explicit(ExplicitKind::Rate) {
            side.new_explicit(Explicit::unwritten(ExplicitKind::Rate), Span::ZERO);
            packet.side = 0;
        }
        Transmit::Packet
    }

    #[cold]
    pub(super) fn poll_probe(&mut self, spec: &TcpSpec, now: Time, packet: &mut Packet) -> Transmit {
        if self.probing != Probing::Due {
            return Transmit::Idle;
        }
        self.probing = Probing::Sent;
        *packet = Packet {
            stamp: now,
            seq: self.una,
            flow: self.flow,
            class: self.class,
            wire: spec.ack_wire,
            payload: 0,
            kind: Kind::Data,
            rank: spec.rank.of(self.size, self.una, self.sacked(), self.una),
            ..Packet::default()
        };
        Transmit::Packet
    }

    /// The pace by which the next departure was planned, if what routers have `written` may move it.
    #[inline]
    pub(super) fn planned(&self, spec: &TcpSpec, written: Feedback<'_>) -> Option<Rate> {
        let told = matches!(written, Feedback::Explicit(Explicit::Rate(_)));
        if told && spec.controller.needs().moves_departures { self.controller.permit().pace } else { None }
    }

    /// The next departure, planned by that pace, is a gap of the present one behind the last.
    // CHOICE RC3 §2.4.1: the gap is a full segment's; only what follows a flow's last segment could tell.
    #[cold]
    pub(super) fn plan_anew(&mut self, spec: &TcpSpec, planned: Rate) {
        let Some(pace) = self.controller.permit().pace else { return };
        if pace == planned || pace == Rate::ZERO || planned == Rate::ZERO {
            return;
        }
        let quantum = Span::from_ps(u64::from(self.quantum));
        let gap = |pace| Serializer::new(pace, quantum).span(spec.mss + spec.header);
        let last = Time::from_ps(self.next_send.ps().saturating_sub(gap(planned).ps()));
        self.next_send = last.saturating_add(gap(pace));
    }
}
