//! Chooses the next segment (NextSeg of RFC 6675 §4, limited transmit of RFC 3042, go-back after a timeout) and writes
//! segments, SYNs and probes.

use super::super::super::{EcnSpec, Flight, LossDetection, Sack, TcpSpec, Transmit};
use super::TcpSender;
use super::state::{Connection, Phase, Probing, Segment};
use crate::congestion::{CongestionControl, Feedback, FeedbackKind};
use thalweg_units::{Bytes, Rate, Time};
use thalweg_wire::{Ecn, Explicit, ExplicitKind, Flags, Forecast, Kind, Packet, Side};

impl TcpSender {
    /// The next segment that window and repair allow.
    #[inline(always)]
    pub(super) fn next_segment(&mut self, spec: &TcpSpec, window: u64) -> Option<Segment> {
        if self.repair.rack().is_some() {
            return self.next_by_times(spec, window);
        }
        if spec.flight != Flight::Pipe {
            return self.next_in_span(spec, window);
        }
        if self.extras.is_some() && self.state.phase != Phase::Normal {
            self.merge();
        }
        match self.state.phase {
            Phase::Normal => {
                let flight = if self.repair.dup_acks == 0 {
                    self.in_flight()
                } else {
                    self.flight_with_dup_acks(spec)
                };
                self.new_data(spec, flight, window)
            }
            Phase::Recovery => self.next_in_recovery(spec, window),
            Phase::Timeout => {
                let board = self.repair.board.as_ref()?;
                let pipe = board.pipe;
                match board.next_hole(board.high_rxt, board.lost_to, self.space.sent_to, spec.mss) {
                    Some((seq, len)) => {
                        fits(pipe, len, window).then_some(Segment { seq, len, moves_high_rxt: true })
                    }
                    None => self.new_data(spec, pipe, window),
                }
            }
        }
    }

    /// A segment never sent, if there is one and it fits.
    #[inline(always)]
    pub(super) fn new_data(&self, spec: &TcpSpec, flight: u64, window: u64) -> Option<Segment> {
        let (seq, end) = self.unsent();
        let room = if self.is_exact(spec) { window.saturating_sub(flight) } else { u64::MAX };
        let len = (end - seq).min(u64::from(spec.mss)).min(room) as u32;
        (len > 0 && fits(flight, len, window)).then_some(Segment { seq, len, moves_high_rxt: false })
    }

    /// Whether windows are exact to the byte. Only controllers with forecasts may ask for that, so others pay for one
    /// comparison.
    #[inline]
    fn is_exact(&self, spec: &TcpSpec) -> bool {
        matches!(self.departures.feedback, FeedbackKind::Explicit(ExplicitKind::Forecast(_)))
            && spec.controller.needs().exact
    }

    /// The first contiguous range that was never sent.
    #[inline]
    pub(super) fn unsent(&self) -> (u64, u64) {
        match &self.extras {
            None => (self.space.sent_to, self.space.size),
            Some(extras) => extras.unsent(self.space.sent_to, self.space.size),
        }
    }

    /// What counts against the window on duplicate ACKs, before they are enough to infer a loss.
    #[cold]
    pub(super) fn flight_with_dup_acks(&self, spec: &TcpSpec) -> u64 {
        match (spec.loss, spec.sack) {
            // Every segment that has left the network makes room for another.
            (LossDetection::TimeoutOnly, Sack::Blocks { .. }) => self.in_flight(),
            (LossDetection::TimeoutOnly, Sack::Off) => self.space.outstanding(),
            _ if !spec.limited_transmit => self.space.outstanding(),
            // RFC 6675 §5 (3): the pipe says it.
            (_, Sack::Blocks { .. }) => self.in_flight(),
            // RFC 3042: one segment per duplicate ACK, at most two beyond the window.
            (_, Sack::Off) => self
                .space
                .outstanding()
                .saturating_sub(u64::from(self.repair.dup_acks.min(2)) * u64::from(spec.mss)),
        }
    }

    #[cold]
    fn next_in_recovery(&mut self, spec: &TcpSpec, window: u64) -> Option<Segment> {
        let (mss, sent_to) = (spec.mss, self.space.sent_to);
        if self.repair.resend_first {
            // RFC 6675 §5 (4.3), RFC 5681 §3.2 step 2: whatever the window says.
            if let Some((seq, len)) =
                self.repair.board.as_ref()?.next_hole(self.space.una, sent_to, sent_to, mss)
            {
                return Some(Segment { seq, len, moves_high_rxt: true });
            }
            self.repair.resend_first = false; // another loop has brought it meanwhile
        }
        let board = self.repair.board.as_ref()?;
        let pipe = board.pipe;
        let window = board.prr.as_ref().map_or(window, |prr| prr.cwnd);
        if spec.sack == Sack::Off {
            return self.new_data(spec, pipe, window);
        }
        // NextSeg (§4): (1) a lost hole, (2) new data, (3) a hole below the highest SACK, (4) the last hole, once.
        let hole = |limit: u64| {
            let (seq, len) = board.next_hole(board.high_rxt.max(self.space.una), limit, sent_to, mss)?;
            Some(Segment { seq, len, moves_high_rxt: true })
        };
        if let Some(segment) = hole(board.lost_by_sack) {
            return fits(pipe, segment.len, window).then_some(segment);
        }
        let (seq, end) = self.unsent();
        if seq < end {
            return self.new_data(spec, pipe, window);
        }
        if let Some(segment) = hole(board.highest()) {
            return fits(pipe, segment.len, window).then_some(segment);
        }
        // CHOICE RFC 6675 §4 (4): only while nothing newer than the recovery point is out; what is newer
        // keeps ACKs coming, and a rescue would resend what was sent a moment ago.
        if board.rescued || sent_to > self.repair.recover || board.highest() >= sent_to {
            return None;
        }
        // The last segment, full or not.
        let last = sent_to.saturating_sub(1) / u64::from(mss) * u64::from(mss);
        let start = last.max(board.highest()).max(self.space.una);
        let len = (sent_to - start) as u32;
        (len > 0 && fits(pipe, len, window)).then_some(Segment { seq: start, len, moves_high_rxt: false })
    }

    /// [`Flight::Span`]: holes after a timeout, then new data, as far as window + SACKed bytes reach.
    fn next_in_span(&mut self, spec: &TcpSpec, window: u64) -> Option<Segment> {
        if self.departures.held {
            return None;
        }
        let reach = self.space.una.saturating_add(window).saturating_add(self.repair.sacked());
        let segment = match &self.repair.board {
            Some(_) if self.state.phase == Phase::Recovery => return self.next_in_recovery(spec, window),
            Some(board) if self.state.phase == Phase::Timeout => board
                .next_hole(board.high_rxt, board.lost_to, self.space.sent_to, spec.mss)
                .map(|(seq, len)| Segment { seq, len, moves_high_rxt: true }),
            _ => None,
        };
        let new = || {
            if self.is_exact(spec) {
                self.new_data(spec, self.space.sent_to, reach)
            } else {
                self.new_data(spec, 0, u64::MAX)
            }
        };
        let segment = segment.or_else(new)?;
        let end = segment.seq + u64::from(segment.len);
        (end <= reach || self.in_flight() == 0).then_some(segment)
    }

    /// Sends a segment: SND.NXT moves beyond it if it is new, its packet is written, and what the parts of the sender
    /// keep of departures is updated.
    #[inline(always)]
    pub(super) fn emit(
        &mut self,
        spec: &TcpSpec,
        now: Time,
        segment: Segment,
        pace: Option<Rate>,
        packet: &mut Packet,
    ) {
        let Segment { seq, len, .. } = segment;
        let fresh = seq >= self.space.sent_to;
        if seq > self.space.sent_to {
            self.pass_over(seq);
        }
        if self.log.is_some() {
            let in_flight = self.in_flight();
            if let Some(log) = &mut self.log {
                log.on_sent(now, seq / u64::from(spec.mss), len, in_flight);
            }
        }
        let mut cwr = false;
        if fresh {
            self.space.sent_to = seq + u64::from(len);
            // CHOICE RFC 8257 §3.3: CWR is classic ECN's alone; receivers that echo every mark do not look at it.
            cwr = std::mem::take(&mut self.departures.cwr_due) && spec.ecn == EcnSpec::Classic;
        }
        *packet = self.data_packet(spec, now, segment, fresh, cwr);
        self.has_left(spec, now, segment, fresh, pace, packet.wire);
    }

    /// The packet of a segment; `fresh`: it was never sent before, `cwr`: it answers an ECN echo.
    #[inline(always)]
    fn data_packet(&self, spec: &TcpSpec, now: Time, segment: Segment, fresh: bool, cwr: bool) -> Packet {
        let Segment { seq, len, .. } = segment;
        let end = seq + u64::from(len);
        let mut flags = Flags::default();
        if cwr {
            flags.set(Flags::CWR);
        }
        if !fresh {
            flags.set(Flags::RETRANSMISSION);
        }
        if end == self.space.size || spec.options.video.is_some() && self.ends_chunk(end) {
            flags.set(Flags::LAST);
        }
        Packet {
            stamp: now,
            seq,
            rank: spec.rank.of(self.space.size, self.space.una, self.repair.sacked(), seq),
            flow: self.flow,
            class: self.class,
            wire: len + spec.header,
            payload: len,
            kind: Kind::Data,
            ecn: codepoint(spec.ecn, fresh),
            flags,
            ..Packet::default()
        }
    }

    /// A segment of so many bytes on the wire has left: counters, scoreboard, timer (RFC 6298 §5.1), pace, controller.
    #[inline(always)]
    fn has_left(
        &mut self,
        spec: &TcpSpec,
        now: Time,
        segment: Segment,
        fresh: bool,
        pace: Option<Rate>,
        wire: u32,
    ) {
        self.counts.on_sent(fresh);
        self.repair.note_sent(segment, fresh);
        if !self.timer.runs() {
            self.timer.start(&spec.rto, now);
        }
        if self.repair.rack().is_some() {
            self.note_times(spec, now, segment, fresh);
        }
        if let Some(extras) = &mut self.extras {
            extras.on_sent(now);
        }
        if let Some(pace) = pace {
            self.departures.on_sent(now, wire, pace);
        }
        if self.departures.calls.sent() {
            self.controller.on_sent(now, Bytes::new(u64::from(segment.len)), Bytes::new(self.in_flight()));
        }
    }

    /// The explicit header of a packet that leaves: routers write into it, or the receiver reads it.
    #[inline]
    pub(super) fn header(&self, spec: &TcpSpec, kind: ExplicitKind) -> Explicit {
        let ExplicitKind::Forecast(reading) = kind else { return Explicit::unwritten(kind) };
        // Sprout §3.4: no other follows at once.
        let next = if self.is_exact(spec) { 1 } else { u64::from(spec.mss) };
        let full = self.in_flight() + next > self.controller.permit().window.get();
        let pauses = full || self.space.sent_to == self.written();
        Explicit::Forecast(Forecast { pauses, reading, ..Forecast::default() })
    }

    #[cold]
    pub(super) fn poll_syn(
        &mut self,
        spec: &TcpSpec,
        now: Time,
        packet: &mut Packet,
        side: &mut Side,
    ) -> Transmit {
        let Connection::SynDue { again } = self.state.connection else { return Transmit::Idle };
        self.state.connection = Connection::SynSent;
        self.timer.start(&spec.rto, now);
        *packet = Packet {
            stamp: now,
            flow: self.flow,
            class: self.class,
            wire: spec.syn_wire,
            kind: Kind::Syn,
            flags: if again { Flags::RETRANSMISSION } else { Flags::default() },
            ecn: spec.ecn.of_syn(),
            // CHOICE UPS §2.3: control packets, SYNs as ACKs, are the most urgent. Other reading: the flow's rank.
            rank: 0,
            ..Packet::default()
        };
        // RCP §II: the first rate is requested with the SYN. XCP's and VCP's routers write nothing into it:
        // what changes a window is shared out among data.
        if self.departures.feedback == FeedbackKind::Explicit(ExplicitKind::Rate) {
            side.new_explicit(Explicit::unwritten(ExplicitKind::Rate));
            packet.side = 0;
        }
        Transmit::Packet
    }

    #[cold]
    pub(super) fn poll_probe(&mut self, spec: &TcpSpec, now: Time, packet: &mut Packet) -> Transmit {
        if self.state.probing != Probing::Due {
            return Transmit::Idle;
        }
        self.state.probing = Probing::Sent;
        *packet = Packet {
            stamp: now,
            seq: self.space.una,
            flow: self.flow,
            class: self.class,
            wire: spec.ack_wire,
            payload: 0,
            kind: Kind::Data,
            rank: spec.rank.of(self.space.size, self.space.una, self.repair.sacked(), self.space.una),
            ..Packet::default()
        };
        Transmit::Packet
    }

    /// The pace by which the next departure was scheduled, if what routers have `written` may reschedule it.
    #[inline]
    pub(super) fn planned(&self, spec: &TcpSpec, written: Feedback<'_>) -> Option<Rate> {
        let reported = matches!(written, Feedback::Explicit(Explicit::Rate(_)));
        if reported && spec.controller.needs().moves_departures {
            self.controller.permit().pace
        } else {
            None
        }
    }
}

/// The ECN field of a data segment; `fresh`: it was never sent before. RFC 3168 §6.1.5: retransmissions are not
/// ECN-capable.
// CHOICE RFC 3168 §6.1.5: with the echo of RFC 8257, which is silent, retransmissions are ECN-capable, as in Linux
// (tcp_ca_needs_ecn). Other reading: they are not, and are dropped where others are marked.
#[inline(always)]
fn codepoint(ecn: EcnSpec, fresh: bool) -> Ecn {
    match ecn {
        EcnSpec::Classic if !fresh => Ecn::NotEct,
        EcnSpec::Off => Ecn::NotEct,
        EcnSpec::Classic | EcnSpec::Accurate => Ecn::Ect0,
        EcnSpec::Codepoints | EcnSpec::Scalable => Ecn::Ect1,
    }
}

/// Whether `len` more bytes fit. A window below a segment still sends one segment at a time: no
/// controller can stop a flow for ever.
#[inline]
pub(super) fn fits(flight: u64, len: u32, window: u64) -> bool {
    flight == 0 || flight + u64::from(len) <= window
}
