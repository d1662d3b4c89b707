//! Which segment goes next: NextSeg of RFC 6675 §4, limited transmit (RFC 3042), go-back after a timeout.

use super::super::super::{FlightSpec, LossSpec, SackSpec, TcpSpec};
use super::{Phase, Segment, TcpSender};

impl TcpSender {
    /// The next segment that window and repair allow.
    #[inline]
    pub(super) fn next_segment(&mut self, spec: &TcpSpec, window: u64) -> Option<Segment> {
        if self.rack().is_some() {
            return self.next_by_times(spec, window);
        }
        if spec.flight != FlightSpec::Pipe {
            return self.next_in_span(spec, window);
        }
        if self.beside.is_some() && self.phase != Phase::Normal {
            self.merge();
        }
        match self.phase {
            Phase::Normal => {
                let flight =
                    if self.dup_acks == 0 { self.in_flight() } else { self.flight_with_dup_acks(spec) };
                self.new_data(spec, flight, window)
            }
            Phase::Recovery => self.next_in_recovery(spec, window),
            Phase::Timeout => {
                let board = self.board.as_ref()?;
                let pipe = board.pipe;
                match board.next_hole(board.high_rxt, board.lost_to, self.sent_to, spec.mss) {
                    Some((seq, len)) => {
                        fits(pipe, len, window).then_some(Segment { seq, len, moves_high_rxt: true })
                    }
                    None => self.new_data(spec, pipe, window),
                }
            }
        }
    }

    /// A segment never sent, if there is one and it fits.
    #[inline]
    pub(super) fn new_data(&self, spec: &TcpSpec, flight: u64, window: u64) -> Option<Segment> {
        let (seq, end) = self.unsent();
        let len = (end - seq).min(u64::from(spec.mss)) as u32;
        (len > 0 && fits(flight, len, window)).then_some(Segment { seq, len, moves_high_rxt: false })
    }

    /// What was never sent, from its first byte as far as it is in one piece.
    #[inline]
    fn unsent(&self) -> (u64, u64) {
        match &self.beside {
            None => (self.sent_to, self.size),
            Some(beside) => beside.unsent(self.sent_to, self.size),
        }
    }

    /// What counts against the window on duplicate ACKs, before they are enough to infer a loss.
    #[cold]
    pub(super) fn flight_with_dup_acks(&self, spec: &TcpSpec) -> u64 {
        match (spec.loss, spec.sack) {
            // Every segment that has left the network makes room for another.
            (LossSpec::Timeout, SackSpec::Blocks { .. }) => self.in_flight(),
            (LossSpec::Timeout, SackSpec::Off) => self.outstanding(),
            _ if !spec.limited_transmit => self.outstanding(),
            // RFC 6675 §5 (3): the pipe says it.
            (_, SackSpec::Blocks { .. }) => self.in_flight(),
            // RFC 3042: one segment per duplicate ACK, at most two beyond the window.
            (_, SackSpec::Off) => {
                self.outstanding().saturating_sub(u64::from(self.dup_acks.min(2)) * u64::from(spec.mss))
            }
        }
    }

    #[cold]
    fn next_in_recovery(&mut self, spec: &TcpSpec, window: u64) -> Option<Segment> {
        let (mss, sent_to) = (spec.mss, self.sent_to);
        if self.resend_first {
            // RFC 6675 §5 (4.3), RFC 5681 §3.2 step 2: whatever the window says.
            if let Some((seq, len)) = self.board.as_ref()?.next_hole(self.una, sent_to, sent_to, mss) {
                return Some(Segment { seq, len, moves_high_rxt: true });
            }
            self.resend_first = false; // another loop has brought it meanwhile
        }
        let board = self.board.as_ref()?;
        let pipe = board.pipe;
        let window = board.prr.as_ref().map_or(window, |prr| prr.cwnd);
        if spec.sack == SackSpec::Off {
            return self.new_data(spec, pipe, window);
        }
        // NextSeg (§4): (1) a lost hole, (2) new data, (3) a hole below the highest SACK, (4) the last hole, once.
        let hole = |limit: u64| {
            let (seq, len) = board.next_hole(board.high_rxt.max(self.una), limit, sent_to, mss)?;
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
        if board.rescued || sent_to > self.recover || board.highest() >= sent_to {
            return None;
        }
        let start = sent_to.saturating_sub(u64::from(mss)).max(board.highest()).max(self.una);
        let len = (sent_to - start) as u32;
        (len > 0 && fits(pipe, len, window)).then_some(Segment { seq: start, len, moves_high_rxt: false })
    }

    /// [`FlightSpec::Span`]: holes after a timeout, then new data, as far as window + SACKed bytes reach.
    fn next_in_span(&mut self, spec: &TcpSpec, window: u64) -> Option<Segment> {
        if self.held {
            return None;
        }
        let reach = self.una.saturating_add(window).saturating_add(self.sacked());
        let segment = match &self.board {
            Some(_) if self.phase == Phase::Recovery => return self.next_in_recovery(spec, window),
            Some(board) if self.phase == Phase::Timeout => board
                .next_hole(board.high_rxt, board.lost_to, self.sent_to, spec.mss)
                .map(|(seq, len)| Segment { seq, len, moves_high_rxt: true }),
            _ => None,
        };
        let segment = segment.or_else(|| self.new_data(spec, 0, u64::MAX))?;
        let end = segment.seq + u64::from(segment.len);
        (end <= reach || self.in_flight() == 0).then_some(segment)
    }
}

/// Whether `len` more bytes fit. A window below a segment still sends one segment at a time: no
/// controller can stop a flow for ever.
#[inline]
pub(super) fn fits(flight: u64, len: u32, window: u64) -> bool {
    flight == 0 || flight + u64::from(len) <= window
}
