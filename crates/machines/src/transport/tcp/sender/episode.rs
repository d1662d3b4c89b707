//! The state of loss recovery.

use super::super::super::TcpSpec;
use super::super::Scoreboard;
use super::super::rack::Rack;
use super::state::Segment;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};
use thalweg_wire::{Flags, Packet};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Repair {
    /// Absent while there is nothing to repair.
    pub(super) board: Option<Box<Scoreboard>>,
    /// RecoveryPoint: the episode ends when everything below is acknowledged.
    pub(super) recover: u64,
    /// Duplicate ACKs in a row.
    pub(super) dup_acks: u32,
    /// Expiries of the timer since the last ACK, those on the SYN included.
    pub(super) timeouts_in_row: u16,
    /// The segment at SND.UNA is to be resent now, whatever the window says.
    pub(super) resend_first: bool,
    /// The last ACK of new data was a partial one.
    pub(super) partial: bool,
}

impl Repair {
    /// Of a flow that starts.
    pub(super) fn new(board: Option<Box<Scoreboard>>) -> Self {
        Self { board, recover: 0, dup_acks: 0, timeouts_in_row: 0, resend_first: false, partial: false }
    }

    /// Karn: whether an ACK is of a segment that was sent twice, so that without time stamps it gives no sample (RFC
    /// 6298 §3).
    // CHOICE RFC 6298 §3: no sample if the segment that triggered the ACK, or one above it, was sent again, whichever
    // copy has arrived. Other reading: only the segment's own retransmissions count; they differ for originals that
    // arrive that late.
    #[inline(always)]
    pub(super) fn is_ambiguous(&self, ack: &Packet) -> bool {
        let resent_to = self.board.as_ref().map_or(0, |board| board.resent_to);
        ack.flags.has(Flags::RETRANSMISSION) || ack.trigger < resent_to
    }

    /// SACKed bytes above the cumulative ACK.
    #[inline]
    pub(super) fn sacked(&self) -> u64 {
        self.board.as_ref().map_or(0, |b| b.sacked())
    }

    /// When segments left, if this sender infers losses by time.
    #[inline]
    pub(super) fn rack(&self) -> Option<&Rack> {
        self.board.as_ref().and_then(|b| b.rack.as_deref())
    }
    pub(super) fn rack_mut(&mut self) -> Option<&mut Rack> {
        self.board.as_mut().and_then(|b| b.rack.as_deref_mut())
    }

    /// A round trip was measured: the tail may be probed.
    #[cold]
    pub(super) fn measures(&mut self) {
        if let Some(rack) = self.rack_mut() {
            rack.tail.measures();
        }
    }

    /// RACK_detect_loss (RFC 8985 §6.2, step 5). `repairing`: an episode has begun.
    pub(super) fn find_lost(&mut self, spec: &TcpSpec, now: Time, srtt: Span, repairing: bool) {
        // DupThresh segments. All but the flow's last are full, so three are more than two MSS.
        let enough = self.sacked() > 2 * u64::from(spec.mss);
        if let Some(rack) = self.rack_mut() {
            rack.detect(now, srtt, repairing, enough);
        }
    }

    /// A data segment leaves; `fresh`: it was never sent before.
    #[inline(always)]
    pub(super) fn note_sent(&mut self, segment: Segment, fresh: bool) {
        let Segment { seq, len, moves_high_rxt } = segment;
        let Some(board) = &mut self.board else { return };
        let end = seq + u64::from(len);
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
        if !fresh {
            board.resent_to = board.resent_to.max(end);
        }
    }

    /// A measure of the data found lost: it grows when more is found.
    pub(super) fn known_lost(&self) -> u64 {
        let by_sack = self.board.as_ref().map_or(0, |board| board.lost_by_sack);
        self.rack().map_or(by_sack, |rack| rack.segments.ever_lost())
    }

    /// An ACK of `delivered` bytes while losses are repaired.
    #[cold]
    pub(super) fn reduce(&mut self, spec: &TcpSpec, delivered: u64, advances: bool) {
        let lost = self.known_lost();
        let Some(board) = &mut self.board else { return };
        let Some(prr) = &mut board.prr else { return };
        let safe = advances && lost <= board.lost_before;
        board.lost_before = lost;
        prr.on_ack(board.pipe, delivered, safe, u64::from(spec.mss));
    }

    /// Drops the scoreboard when recovery is over and nothing is SACKed, so that ACKs take the fast path again.
    #[inline]
    pub(super) fn put_away(&mut self) {
        if self.board.as_ref().is_some_and(|board| board.sacked() == 0 && board.rack.is_none()) {
            self.board = None;
        }
    }
}
