//! Loss recovery: what ACKs report as missing, when an episode begins and ends, retransmission timeouts. RFC 6675
//! §§3–5, 5681 §3.2, 6582 §3.2, 6298 §5; pFabric §4.2.

use super::super::super::{LossDetection, Sack, TcpSpec};
use super::super::Scoreboard;
use super::super::prr::Prr;
use super::TcpSender;
use super::state::{Connection, Phase, Probing};
use crate::congestion::{CongestionControl, Loss};
use thalweg_units::{Bytes, Time};

impl TcpSender {
    /// RFC 6675 §5 Update(): how many bytes are SACKed for the first time.
    #[cold]
    pub(super) fn insert_blocks(&mut self, blocks: &[(u64, u64)]) -> u64 {
        let (una, sent_to) = (self.space.una, self.space.sent_to);
        let mut fresh = 0;
        self.scoreboard().fresh.clear();
        for &(start, end) in blocks {
            let (start, end) = (start.max(una), end.min(sent_to));
            if start < end {
                fresh += self.scoreboard().insert_fresh(start, end);
            }
        }
        fresh
    }

    /// The cumulative ACK advanced by `acked` bytes not SACKed before.
    #[inline]
    pub(super) fn progress(&mut self, spec: &TcpSpec, acked: u64) {
        match self.state.phase {
            Phase::Normal => self.repair.put_away(),
            _ if self.space.una >= self.repair.recover => {
                self.state.phase = Phase::Normal;
                self.repair.resend_first = false;
                let una = self.space.una;
                let board = self.scoreboard();
                board.prr = None;
                (board.high_rxt, board.lost_to, board.inflation) = (una, 0, 0);
                self.repair.put_away();
            }
            Phase::Recovery if spec.sack == Sack::Off => {
                // Partial ACK, RFC 6582 §3.2 step 3: resend the next hole; deflate by what left the
                // network, and add back one segment if that much did.
                self.repair.resend_first = true;
                let mss = u64::from(spec.mss);
                let board = self.scoreboard();
                board.inflation = board.inflation.saturating_sub(acked) + if acked >= mss { mss } else { 0 };
            }
            // The front was acknowledged before it could be resent.
            Phase::Recovery | Phase::Timeout => self.repair.resend_first = false,
        }
    }

    /// The scoreboard; it is created if there is none.
    pub(super) fn scoreboard(&mut self) -> &mut Scoreboard {
        let (una, out) = (self.space.una, self.space.outstanding());
        self.repair.board.get_or_insert_with(|| Box::new(Scoreboard::new(una, out)))
    }

    /// SetPipe and IsLost after an ACK or a change of phase.
    #[inline]
    pub(super) fn refresh(&mut self, spec: &TcpSpec) {
        if let Some(board) = &mut self.repair.board {
            if let Some(rack) = &board.rack {
                board.pipe = rack.segments.pipe();
                return;
            }
            let has_sack = spec.sack != Sack::Off;
            board.lost_by_sack = match spec.loss {
                LossDetection::DupAck { threshold }
                    if has_sack && board.sacked() > 0 && self.state.phase != Phase::Timeout =>
                {
                    let lost = board.lost_boundary(threshold, spec.mss);
                    match &self.extras {
                        Some(b) if b.harvests() => {
                            b.lost(lost, self.state.phase == Phase::Recovery, self.repair.recover)
                        }
                        _ => lost,
                    }
                }
                _ => 0,
            };
            if self.state.phase == Phase::Recovery && !has_sack {
                board.pipe = (self.space.sent_to - self.space.una).saturating_sub(board.inflation);
            } else {
                board.set_pipe(self.space.una, self.space.sent_to);
            }
        }
    }

    /// RFC 6675 §5 (1), (2); RFC 5681 §3.2.
    #[cold]
    pub(super) fn detect_loss(&mut self, spec: &TcpSpec, now: Time, delivered: u64) {
        let LossDetection::DupAck { threshold } = spec.loss else { return };
        let lost = self.repair.board.as_ref().is_some_and(|b| b.lost_by_sack > self.space.una);
        if self.repair.dup_acks < threshold && !lost {
            return;
        }
        // RFC 6582 §3.2 step 2: duplicates at the end of an earlier episode come from its own resends.
        // CHOICE RFC 6582 §3.2: so without SACK a real loss of the very next segment waits for the timer (§4's
        // heuristics are left out); SACKs distinguish the two.
        if spec.sack == Sack::Off && self.repair.recover > 0 && self.space.una <= self.repair.recover {
            return;
        }
        let inflation = u64::from(self.repair.dup_acks.min(threshold)) * u64::from(spec.mss);
        self.begin_recovery(spec, now, delivered, inflation);
    }

    /// Fast recovery begins.
    #[cold]
    pub(super) fn begin_recovery(&mut self, spec: &TcpSpec, now: Time, delivered: u64, inflation: u64) {
        self.state.phase = Phase::Recovery;
        self.repair.recover = self.space.sent_to;
        self.repair.resend_first = true;
        let una = self.space.una;
        let board = self.scoreboard();
        (board.high_rxt, board.inflation, board.rescued) = (una, inflation, false);
        if let Some(rack) = self.repair.rack_mut() {
            rack.forget_probe();
        }
        self.controller.on_loss(&self.loss(now));
        self.departures.signal_cut(self.space.sent_to);
        self.refresh(spec);
        self.begin_reduction(spec, delivered);
    }

    /// PRR: the window comes down with what is delivered, the ACK that reported the loss included.
    fn begin_reduction(&mut self, spec: &TcpSpec, delivered: u64) {
        let (flight, threshold) = (self.space.outstanding(), self.controller.permit().window.get());
        let sacked = self.repair.sacked();
        let prr = Prr::begin(spec.options.prr, flight, sacked, delivered, threshold);
        let lost = self.repair.known_lost();
        let board = self.scoreboard();
        (board.prr, board.lost_before) = (prr, lost);
        self.repair.reduce(spec, delivered, false);
    }

    pub(super) fn loss(&self, now: Time) -> Loss {
        Loss {
            now,
            in_flight: Bytes::new(self.space.outstanding()),
            acked_to: self.space.una,
            sent_to: self.space.sent_to,
        }
    }

    // ---- The timer ------------------------------------------------------------------------------

    #[cold]
    pub(super) fn on_timeout(&mut self, spec: &TcpSpec, now: Time) {
        self.counts.timeouts += 1;
        self.timer.rto.back_off();
        self.repair.timeouts_in_row = self.repair.timeouts_in_row.saturating_add(1);
        if self.state.connection == Connection::SynSent {
            self.state.connection = Connection::SynDue { again: true };
            self.timer.stop(); // runs again from when the SYN leaves
            return;
        }
        self.timer.start(&spec.rto, now);
        self.departures.held = false;
        if self.state.probing != Probing::No {
            self.state.probing = Probing::Due;
            return;
        }
        // RFC 6675 §5.1: everything outstanding is lost unless SACKed, and no fast retransmit until all
        // of it is acknowledged. SACKs are kept: receivers here never renege.
        self.controller.on_timeout(&self.loss(now));
        self.departures.signal_cut(self.space.sent_to);
        self.merge();
        self.state.phase = Phase::Timeout;
        self.repair.recover = self.space.sent_to;
        self.repair.dup_acks = 0;
        // RFC 6298 §5 (5.4): the first segment leaves whatever else is still in flight, of which RACK counts what it
        // does not yet take for lost (RFC 8985 §6.3).
        self.repair.resend_first = self.repair.rack().is_some();
        let (una, sent_to) = (self.space.una, self.space.sent_to);
        let board = self.scoreboard();
        (board.high_rxt, board.lost_to, board.inflation) = (una, sent_to, 0);
        board.prr = None;
        let srtt = self.timer.rto.srtt();
        if let Some(rack) = self.repair.rack_mut() {
            rack.on_timeout(now, srtt);
        }
        self.refresh(spec);
        if spec.probe_after.is_some_and(|n| u32::from(self.repair.timeouts_in_row) >= n) {
            self.state.probing = Probing::Due;
        }
    }

    /// pFabric §4.2: the path works again; resend from the first hole.
    #[cold]
    pub(super) fn leave_probe_mode(&mut self) {
        self.state.probing = Probing::No;
        self.departures.held = false;
        let una = self.space.una;
        self.scoreboard().high_rxt = una;
    }
}
