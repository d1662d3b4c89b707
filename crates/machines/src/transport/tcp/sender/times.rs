//! RACK-TLP in the sender ([`Rack`](super::super::rack::Rack)): RFC 8985 §§6 and 7.

use super::super::super::{LossDetection, TcpSpec};
use super::super::rack::ProbeOutcome;
use super::TcpSender;
use super::state::{Phase, Segment};
use crate::congestion::CongestionControl;
use thalweg_units::{Span, Time};
use thalweg_wire::Packet;

impl TcpSender {
    /// Takes in an ACK that advances by `advance` and carries `blocks`. Returns true if it shows that a probe has
    /// repaired a loss.
    #[cold]
    pub(super) fn update_rack(
        &mut self,
        spec: &TcpSpec,
        now: Time,
        packet: &Packet,
        advance: u64,
        blocks: &[(u64, u64)],
    ) -> bool {
        let una = self.space.una;
        let Some(board) = self.repair.board.as_mut() else { return false };
        let Some(rack) = board.rack.as_deref_mut() else { return false };
        let echo = spec.timestamps.then_some(packet.stamp);
        if advance > 0 {
            rack.tail.due = false; // no probe is needed: this ACK is the answer
            rack.on_arrived(now, una - advance, una, echo);
        }
        // What another loop has brought was never fresh: then all that the blocks report.
        let harvests = self.extras.as_ref().is_some_and(|extras| extras.harvests());
        if harvests || blocks.is_empty() {
            board.fresh.clear();
            board.fresh.extend(blocks);
        }
        // In the order in which they were sent, not in that of the option, which begins with the newest: what came with
        // one ACK has overtaken nothing that came with it.
        board.fresh.sort_unstable();
        for &(start, end) in &board.fresh {
            rack.on_arrived(now, start.max(una), end.min(self.space.sent_to), echo);
        }
        let duplicate = advance == 0 && packet.seq == una && blocks.is_empty() && packet.payload > 0;
        let repaired = rack.tail.on_ack(packet.seq, duplicate) == ProbeOutcome::Repaired;
        self.repair.find_lost(spec, now, self.timer.rto.srtt(), self.state.phase != Phase::Normal);
        repaired
    }

    /// After the controller has processed the ACK: what is lost is repaired, what a probe repaired is
    /// answered, and the probe timeout runs anew.
    #[cold]
    pub(super) fn answer_times(
        &mut self,
        spec: &TcpSpec,
        now: Time,
        delivered: u64,
        advances: bool,
        repaired: bool,
    ) {
        if self.state.phase == Phase::Normal {
            if self.repair.rack().is_some_and(|rack| rack.segments.has_lost()) {
                self.begin_recovery(spec, now, delivered, 0);
            } else if repaired {
                self.controller.on_loss(&self.loss(now));
                self.departures.signal_cut(self.space.sent_to);
            }
        }
        if advances || self.state.phase != Phase::Normal {
            self.schedule_probe(spec, now);
        }
    }

    /// §7.2.
    pub(super) fn schedule_probe(&mut self, spec: &TcpSpec, now: Time) {
        let LossDetection::Rack { tail_probes } = spec.loss else { return };
        let may = tail_probes && self.state.phase == Phase::Normal && self.repair.sacked() == 0;
        let srtt = may.then(|| self.timer.rto.srtt());
        let delay = if spec.ack.every > 1 { spec.ack.delay } else { Span::ZERO };
        let rto_at = self.timer.deadline;
        if let Some(rack) = self.repair.rack_mut() {
            rack.schedule(now, srtt, delay, rto_at);
        }
    }

    /// Checks whether the reordering timer or the probe timer has expired.
    #[cold]
    pub(super) fn on_times(&mut self, spec: &TcpSpec, now: Time) {
        let Some(rack) = self.repair.rack_mut() else { return };
        if rack.tail.expires(now) {
            // §7.3: the retransmission timer runs from when the probe leaves.
            self.timer.stop();
        } else if rack.reorders(now) {
            self.repair.find_lost(spec, now, self.timer.rto.srtt(), self.state.phase != Phase::Normal);
            self.refresh(spec);
            if self.state.phase == Phase::Normal
                && self.repair.rack().is_some_and(|rack| rack.segments.has_lost())
            {
                self.begin_recovery(spec, now, 0, 0);
                self.schedule_probe(spec, now);
            }
        }
    }

    /// A segment has left.
    #[cold]
    pub(super) fn note_times(&mut self, spec: &TcpSpec, now: Time, segment: Segment, fresh: bool) {
        let sent_to = self.space.sent_to;
        let Some(rack) = self.repair.rack_mut() else { return };
        rack.on_sent(now, segment.seq, segment.len);
        if rack.tail.due {
            rack.tail.left(sent_to, !fresh);
        } else if fresh {
            self.schedule_probe(spec, now);
        }
        // A copy of what is still in flight does not make it more: controllers that infer losses from what is missing
        // of the flight would take it for one.
        self.refresh(spec);
    }

    /// The next segment: a probe, what is lost, what was never sent.
    #[cold]
    pub(super) fn next_by_times(&mut self, spec: &TcpSpec, window: u64) -> Option<Segment> {
        let rack = self.repair.rack()?;
        let again = |(seq, len)| Segment { seq, len, moves_high_rxt: true };
        if rack.tail.due {
            // §7.3: whatever the window says.
            return self.new_data(spec, 0, u64::MAX).or_else(|| rack.segments.last().map(again));
        }
        if self.state.phase == Phase::Normal {
            let flight =
                if self.repair.dup_acks == 0 { self.in_flight() } else { self.flight_with_dup_acks(spec) };
            return self.new_data(spec, flight, window);
        }
        let board = self.repair.board.as_ref()?;
        let window = board.prr.as_ref().map_or(window, |prr| prr.cwnd);
        if let Some(lost) = rack.segments.first_lost() {
            let leaves = self.repair.resend_first || super::emit::fits(board.pipe, lost.1, window);
            return leaves.then(|| again(lost));
        }
        self.new_data(spec, board.pipe, window)
    }
}
