//! What holds a sender back: its window, its application, a mark. RFC 9438 §5.8 and RFC 7661 (windows that are not used),
//! draft-ietf-ccwg-bbr §4.1.2.4 (samples that say nothing of the path), RFC 5681 §4.1 (windows after a pause), RFC 3168 §6.1.2 (a marked
//! window of one segment).

use super::super::super::{EcnFloorSpec, EcnSpec, FlightSpec, GrowthSpec, RestartSpec, TcpSpec};
use super::TcpSender;
use super::state::{Phase, Probing};
use crate::congestion::{CongestionControl, Restart};
use thalweg_units::{Bytes, Span, Time};

/// RFC 7661 §4.4.3: how long a window that is not used is kept.
const NON_VALIDATED: Span = Span::from_secs(300);

impl TcpSender {
    /// Nothing may leave: because the window is used up, as far as it must be.
    #[inline(always)]
    pub(super) fn is_used_up(&self, spec: &TcpSpec, window: u64) -> bool {
        let flight = match spec.flight {
            FlightSpec::Pipe => self.in_flight(),
            FlightSpec::Span | FlightSpec::SpanOmniscient => {
                self.space.outstanding().saturating_sub(self.repair.sacked())
            }
        };
        match spec.options.growth {
            GrowthSpec::WhenUsed => flight.saturating_add(u64::from(spec.mss)) > window,
            GrowthSpec::WhenHalfUsed => flight.saturating_mul(2) >= window,
            GrowthSpec::Always => true,
        }
    }

    /// CheckIfApplicationLimited: before data is written, before an ACK is taken in, when a timer expires.
    #[cold]
    pub(super) fn check_app_limited(&mut self, spec: &TcpSpec) {
        let (seq, end) = self.unsent();
        let in_flight = self.in_flight();
        let room = in_flight.saturating_add(u64::from(spec.mss)) <= self.controller.permit().window.get();
        if seq >= end
            && room
            && !self.has_to_resend(spec)
            && let Some(log) = &mut self.log
        {
            log.limited(in_flight);
        }
    }

    /// Something is known to be lost, and was not sent again since.
    fn has_to_resend(&self, spec: &TcpSpec) -> bool {
        if self.state.phase == Phase::Normal {
            return false;
        }
        let Some(board) = &self.repair.board else { return false };
        match &board.rack {
            Some(rack) => rack.segments.has_lost(),
            None => {
                let (from, to) = (board.high_rxt.max(self.space.una), board.lost_by_sack.max(board.lost_to));
                self.repair.resend_first || board.next_hole(from, to, self.space.sent_to, spec.mss).is_some()
            }
        }
    }

    // ---- A pause ----------------------------------------------------------------------------------

    /// The application writes after a silence of `idle`, `unsent` after the last segment left.
    #[cold]
    pub(super) fn resume(&mut self, spec: &TcpSpec, now: Time, idle: Span, unsent: Span) {
        if !idle.is_zero() {
            self.controller.on_restart(now, idle);
        }
        let rto = self.timer.rto.timeout(&spec.rto);
        let (window, initial) = (self.controller.permit().window.get(), spec.initial_window.get());
        let (left, keeps_threshold) = match spec.options.restart {
            RestartSpec::Rfc5681 if unsent > rto => (initial, false),
            RestartSpec::Linux if unsent > rto => {
                let halvings = (unsent.ps() - 1) / rto.ps().max(1);
                ((window >> halvings.min(63)).max(initial), true)
            }
            RestartSpec::Rfc7661 if idle > NON_VALIDATED => ((window / 2).max(initial), true),
            _ => return,
        };
        if left < window {
            self.controller.restart_from(now, Restart { window: Bytes::new(left), keeps_threshold });
        }
    }

    // ---- A marked window of one segment -------------------------------------------------------------

    /// An ACK comes with or without an echo: whether it marks a window of one segment. One without lets the next packet go.
    #[inline]
    pub(super) fn hears_least(&mut self, spec: &TcpSpec, echo: bool) -> bool {
        if !echo {
            if self.state.probing == Probing::Marked {
                self.state.probing = Probing::No;
            }
            return false;
        }
        spec.ecn == EcnSpec::Classic
            && spec.options.ecn_floor == EcnFloorSpec::Timer
            && self.controller.permit().window.get() <= u64::from(spec.mss)
    }

    /// RFC 3168 §6.1.2: the timer is reset, and the next packet leaves when it expires.
    #[cold]
    pub(super) fn wait_for_timer(&mut self, spec: &TcpSpec, now: Time) {
        if self.space.una < self.space.size {
            self.state.probing = Probing::Marked;
            self.timer.start(&spec.rto, now);
        }
    }

    /// The timer has expired: all that waited was the next packet.
    // CHOICE RFC 3168 §6.1.2: where nothing is in the network nothing is lost: neither does the timer back off nor the threshold fall.
    // Other reading: a retransmission timeout like any other.
    pub(super) fn is_released(&mut self) -> bool {
        if self.state.probing != Probing::Marked {
            return false;
        }
        self.state.probing = Probing::No;
        let released = self.in_flight() == 0;
        if released {
            self.timer.stop();
        }
        released
    }
}
