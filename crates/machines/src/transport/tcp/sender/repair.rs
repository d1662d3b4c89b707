//! Loss repair: what ACKs say is missing, when an episode begins and ends, the retransmission timer. RFC 6675 §§3–5, 5681 §3.2,
//! 6582 §3.2, 6298 §5; pFabric §4.2.

use super::super::super::{LossSpec, SackSpec, TcpSpec};
use super::super::Scoreboard;
use super::super::prr::Prr;
use super::{Connection, Phase, Probing, TcpSender};
use crate::congestion::{CongestionControl, Loss};
use thalweg_units::{Bytes, Time};

impl TcpSender {
    /// RFC 6675 §5 Update(): how many bytes are SACKed for the first time.
    #[cold]
    pub(super) fn insert_blocks(&mut self, blocks: &[(u64, u64)]) -> u64 {
        let mut fresh = 0;
        for &(start, end) in blocks {
            let (start, end) = (start.max(self.una), end.min(self.sent_to));
            if start < end {
                fresh += self.repair().insert(start, end);
            }
        }
        fresh
    }

    /// The cumulative ACK advanced by `acked` bytes not SACKed before.
    #[inline]
    pub(super) fn progress(&mut self, spec: &TcpSpec, acked: u64) {
        match self.phase {
            Phase::Normal => self.put_away(),
            _ if self.una >= self.recover => {
                self.phase = Phase::Normal;
                self.resend_first = false;
                let una = self.una;
                let board = self.repair();
                board.prr = None;
                (board.high_rxt, board.lost_to, board.inflation) = (una, 0, 0);
                self.put_away();
            }
            Phase::Recovery if spec.sack == SackSpec::Off => {
                // Partial ACK, RFC 6582 §3.2 step 3: resend the next hole; deflate by what left the
                // network, and add back one segment if that much did.
                self.resend_first = true;
                let mss = u64::from(spec.mss);
                let board = self.repair();
                board.inflation = board.inflation.saturating_sub(acked) + if acked >= mss { mss } else { 0 };
            }
            // The front was acknowledged before it could be resent.
            Phase::Recovery | Phase::Timeout => self.resend_first = false,
        }
    }

    pub(super) fn inflate(&mut self, bytes: u64) {
        self.repair().inflation += bytes;
    }

    /// The scoreboard, made if this is the flow's first trouble.
    pub(super) fn repair(&mut self) -> &mut Scoreboard {
        let una = self.una;
        self.board.get_or_insert_with(|| Box::new(Scoreboard::new(una)))
    }

    /// Nothing is repaired, and nothing is SACKed: ACKs are what they were before the first trouble.
    #[inline]
    fn put_away(&mut self) {
        if self.board.as_ref().is_some_and(|board| board.sacked() == 0 && board.rack.is_none()) {
            self.board = None;
        }
    }

    /// SetPipe and IsLost after an ACK or a change of phase.
    #[inline]
    pub(super) fn refresh(&mut self, spec: &TcpSpec) {
        if let Some(board) = &mut self.board {
            if let Some(rack) = &board.rack {
                board.pipe = rack.segments.pipe();
                return;
            }
            let has_sack = spec.sack != SackSpec::Off;
            board.lost_by_sack = match spec.loss {
                LossSpec::DupAck { threshold }
                    if has_sack && board.sacked() > 0 && self.phase != Phase::Timeout =>
                {
                    let lost = board.lost_boundary(threshold, spec.mss);
                    match &self.beside {
                        Some(b) if b.harvests() => b.lost(lost, self.phase == Phase::Recovery, self.recover),
                        _ => lost,
                    }
                }
                _ => 0,
            };
            if self.phase == Phase::Recovery && !has_sack {
                board.pipe = (self.sent_to - self.una).saturating_sub(board.inflation);
            } else {
                board.set_pipe(self.una, self.sent_to);
            }
        }
    }

    /// RFC 6675 §5 (1), (2); RFC 5681 §3.2.
    #[cold]
    pub(super) fn detect_loss(&mut self, spec: &TcpSpec, now: Time, delivered: u64) {
        let LossSpec::DupAck { threshold } = spec.loss else { return };
        let lost = self.board.as_ref().is_some_and(|b| b.lost_by_sack > self.una);
        if self.dup_acks < threshold && !lost {
            return;
        }
        // RFC 6582 §3.2 step 2: duplicates at the end of an earlier episode come from its own resends.
        // CHOICE: so without SACK a real loss of the very next segment waits for the timer (§4's
        // heuristics are left out); SACKs tell the two apart.
        if spec.sack == SackSpec::Off && self.recover > 0 && self.una <= self.recover {
            return;
        }
        let inflation = u64::from(self.dup_acks.min(threshold)) * u64::from(spec.mss);
        self.begin_recovery(spec, now, delivered, inflation);
    }

    /// Fast recovery begins.
    #[cold]
    pub(super) fn begin_recovery(&mut self, spec: &TcpSpec, now: Time, delivered: u64, inflation: u64) {
        self.phase = Phase::Recovery;
        self.recover = self.sent_to;
        self.resend_first = true;
        let una = self.una;
        let board = self.repair();
        (board.high_rxt, board.inflation, board.rescued) = (una, inflation, false);
        self.controller.on_loss(&self.loss(now));
        self.window_cut();
        self.refresh(spec);
        self.begin_reduction(spec, delivered);
    }

    /// PRR: the window comes down with what is delivered, the ACK that told of the loss included.
    fn begin_reduction(&mut self, spec: &TcpSpec, delivered: u64) {
        let (flight, threshold) = (self.outstanding(), self.controller.permit().window.get());
        let sacked = self.sacked();
        let prr = Prr::begin(spec.options.prr, flight, sacked, delivered, threshold);
        let lost = self.known_lost();
        let board = self.repair();
        (board.prr, board.lost_before) = (prr, lost);
        self.reduce(spec, delivered, false);
    }

    /// An ACK while losses are repaired.
    #[cold]
    pub(super) fn reduce(&mut self, spec: &TcpSpec, delivered: u64, advances: bool) {
        let lost = self.known_lost();
        let Some(board) = &mut self.board else { return };
        let Some(prr) = &mut board.prr else { return };
        let safe = advances && lost <= board.lost_before;
        board.lost_before = lost;
        prr.on_ack(board.pipe, delivered, safe, u64::from(spec.mss));
    }

    /// Grows when more is found lost.
    fn known_lost(&self) -> u64 {
        let by_sack = self.board.as_ref().map_or(0, |board| board.lost_by_sack);
        self.rack().map_or(by_sack, |rack| rack.segments.ever_lost())
    }

    pub(super) fn loss(&self, now: Time) -> Loss {
        Loss { now, in_flight: Bytes::new(self.outstanding()), acked_to: self.una, sent_to: self.sent_to }
    }

    /// The window shrank: RFC 3168 §6.1.2 tells the receiver so, once per window of data.
    pub(super) fn window_cut(&mut self) {
        self.cwr_due = true;
        self.cwr_to = self.sent_to;
    }

    // ---- The timer ------------------------------------------------------------------------------

    #[cold]
    pub(super) fn on_timeout(&mut self, spec: &TcpSpec, now: Time) {
        self.timeouts += 1;
        self.rto.back_off();
        if self.connection == Connection::SynSent {
            self.connection = Connection::SynDue;
            self.syn_resent = true;
            self.deadline = Time::MAX; // runs again from when the SYN leaves
            return;
        }
        self.timeouts_in_row = self.timeouts_in_row.saturating_add(1);
        self.deadline = now.saturating_add(self.rto.timeout(&spec.rto));
        self.held = false;
        if self.probing != Probing::No {
            self.probing = Probing::Due;
            return;
        }
        // RFC 6675 §5.1: everything outstanding is lost unless SACKed, and no fast retransmit until all
        // of it is acknowledged. SACKs are kept: CHOICE, receivers here never renege.
        self.controller.on_timeout(&self.loss(now));
        self.window_cut();
        self.merge();
        self.phase = Phase::Timeout;
        self.recover = self.sent_to;
        self.dup_acks = 0;
        self.resend_first = false;
        let (una, sent_to) = (self.una, self.sent_to);
        let board = self.repair();
        (board.high_rxt, board.lost_to, board.inflation) = (una, sent_to, 0);
        board.prr = None;
        let srtt = self.rto.srtt();
        if let Some(rack) = self.rack_mut() {
            rack.on_timeout(now, srtt);
        }
        self.refresh(spec);
        if spec.probe_after.is_some_and(|n| u32::from(self.timeouts_in_row) >= n) {
            self.probing = Probing::Due;
        }
    }

    /// pFabric §4.2: the path works again; resend from the first hole.
    #[cold]
    pub(super) fn leave_probe_mode(&mut self) {
        self.probing = Probing::No;
        self.held = false;
        let una = self.una;
        self.repair().high_rxt = una;
    }
}
