//! What limits a sender: its window, its application, or a mark at a window of one segment. RFC 9438 §5.8 and RFC 7661
//! (windows that are not used), draft-ietf-ccwg-bbr §4.1.2.4 (samples that measure nothing of the path), RFC 5681 §4.1
//! (windows after a pause), RFC 3168 §6.1.2 (a marked window of one segment).

use super::super::super::{EcnFloor, EcnSpec, Flight, Growth, RestartRule, TcpSpec};
use super::TcpSender;
use super::state::{Phase, Probing};
use crate::congestion::{CongestionControl, Restart};
use thalweg_units::{Bytes, Span, Time};

/// RFC 7661 §4.4.3: how long a window that is not used is kept.
const NON_VALIDATED: Span = Span::from_secs(300);

/// Called when nothing may leave: whether the window is used up, by the rule `growth`.
// CHOICE RFC 9002 §7.8: a pace that holds data back does not use the window up, as in Linux
// (tcp_is_cwnd_limited): a burst of an application that is paced would grow a window that it never fills. Other
// reading: a sender that waits for its pace is limited, too.
#[inline(always)]
pub(super) fn is_used_up(sender: &TcpSender, spec: &TcpSpec, window: u64) -> bool {
    let flight = match spec.flight {
        Flight::Pipe => sender.in_flight(),
        Flight::Span | Flight::SpanOmniscient => {
            sender.space.outstanding().saturating_sub(sender.repair.sacked())
        }
    };
    match spec.options.growth {
        Growth::WhenUsed => flight.saturating_add(u64::from(spec.mss)) > window,
        Growth::WhenHalfUsed => flight.saturating_mul(2) >= window,
        Growth::Always => true,
    }
}

/// Whether the window was used up while the data that an ACK acknowledges was in flight, by the rule `growth`. Called
/// before the ACK is processed.
#[inline(always)]
pub(super) fn was_used_up(sender: &TcpSender, spec: &TcpSpec) -> bool {
    sender.space.una < sender.departures.limited_to || spec.options.growth == Growth::Always
}

/// CheckIfApplicationLimited: before data is written, before an ACK is taken in, when a timer expires.
#[cold]
pub(super) fn check_app_limited(sender: &mut TcpSender, spec: &TcpSpec) {
    let (seq, end) = sender.unsent();
    let in_flight = sender.in_flight();
    let room = in_flight.saturating_add(u64::from(spec.mss)) <= sender.controller.permit().window.get();
    if seq >= end
        && room
        && !has_to_resend(sender, spec)
        && let Some(log) = &mut sender.log
    {
        log.limited(in_flight);
    }
}

/// Something is lost and was not sent again yet.
fn has_to_resend(sender: &TcpSender, spec: &TcpSpec) -> bool {
    if sender.state.phase == Phase::Normal {
        return false;
    }
    let Some(board) = &sender.repair.board else { return false };
    match &board.rack {
        Some(rack) => rack.segments.has_lost(),
        None => {
            let (from, to) = (board.high_rxt.max(sender.space.una), board.lost_by_sack.max(board.lost_to));
            sender.repair.resend_first || board.next_hole(from, to, sender.space.sent_to, spec.mss).is_some()
        }
    }
}

// ---- A pause ----------------------------------------------------------------------------------

/// The application writes after a silence of `idle`, `unsent` after the last segment left.
#[cold]
pub(super) fn resume(sender: &mut TcpSender, spec: &TcpSpec, now: Time, idle: Span, unsent: Span) {
    if !idle.is_zero() {
        sender.controller.on_restart(now, idle);
    }
    let rto = sender.timer.rto.timeout(&spec.rto);
    let (window, initial) = (sender.controller.permit().window.get(), spec.initial_window.get());
    let (left, keeps_threshold) = match spec.options.restart {
        RestartRule::Rfc5681 if unsent > rto => (initial, false),
        RestartRule::Linux if unsent > rto => {
            let halvings = (unsent.ps() - 1) / rto.ps().max(1);
            ((window >> halvings.min(63)).max(initial), true)
        }
        RestartRule::Rfc7661 if idle > NON_VALIDATED => ((window / 2).max(initial), true),
        _ => return,
    };
    if left < window {
        sender.controller.restart_from(now, Restart { window: Bytes::new(left), keeps_threshold });
    }
}

// ---- A marked window of one segment -------------------------------------------------------------

/// An ACK comes with or without an echo: whether it marks a window of one segment. One without lets the next packet go.
#[inline]
pub(super) fn is_marked_least(sender: &mut TcpSender, spec: &TcpSpec, echo: bool) -> bool {
    if !echo {
        if sender.state.probing == Probing::Marked {
            sender.state.probing = Probing::No;
        }
        return false;
    }
    spec.ecn == EcnSpec::Classic
        && spec.options.ecn_floor == EcnFloor::Timer
        && sender.controller.permit().window.get() <= u64::from(spec.mss)
}

/// RFC 3168 §6.1.2: the timer is reset, and the next packet leaves when it expires.
#[cold]
pub(super) fn wait_for_timer(sender: &mut TcpSender, spec: &TcpSpec, now: Time) {
    if sender.space.una < sender.space.size {
        sender.state.probing = Probing::Marked;
        sender.timer.start(&spec.rto, now);
    }
}

/// The timer has expired only to release the next packet. Returns whether that was so.
// CHOICE RFC 3168 §6.1.2: where nothing is in the network nothing is lost: neither does the timer back off
// nor the threshold fall. Other reading: a retransmission timeout like any other.
pub(super) fn is_released(sender: &mut TcpSender) -> bool {
    if sender.state.probing != Probing::Marked {
        return false;
    }
    sender.state.probing = Probing::No;
    let released = sender.in_flight() == 0;
    if released {
        sender.timer.stop();
    }
    released
}
