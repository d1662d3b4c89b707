//! Pacing of segments, and what they carry in addition to data.

use crate::congestion::{Calls, FeedbackKind, Needs};
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Serializer, Span, Time};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Departures {
    /// The pace allows no segment before this.
    pub(super) next: Time,
    /// Gaps are rounded down to multiples of this, picoseconds.
    quantum: u32,
    /// With `Flight::Span`: nothing leaves until an ACK advances.
    pub(super) held: bool,
    /// The feedback for which packets reserve room.
    pub(super) feedback: FeedbackKind,
    /// The calls that the controller requires.
    pub(super) calls: Calls,
    /// Classic ECN: the next new segment carries CWR.
    pub(super) cwr_due: bool,
    /// Classic ECN: echoes in ACKs up to here were answered by a CWR.
    cwr_to: u64,
    /// SND.NXT when the window was last used up. Until it is acknowledged, ACKs belong to a round trip in which the
    /// window was used up.
    pub(super) limited_to: u64,
}

impl Departures {
    pub(super) fn new(quantum: Span, needs: &Needs, records: bool) -> Self {
        let quantum = u32::try_from(quantum.ps()).unwrap_or(u32::MAX);
        let Needs { feedback, calls, .. } = *needs;
        // A record is of what was sent, too; controllers that do not require the call ignore it.
        let calls = if records { calls.and_sent() } else { calls };
        Self {
            next: Time::ZERO,
            quantum,
            held: false,
            feedback,
            calls,
            cwr_due: false,
            cwr_to: 0,
            limited_to: 0,
        }
    }

    /// A packet of `wire` bytes has left at this pace.
    #[inline(always)]
    pub(super) fn on_sent(&mut self, now: Time, wire: u32, pace: Rate) {
        self.next = now.saturating_add(self.gap(wire, pace));
    }

    /// The next departure, planned by one pace, is a gap of another behind the last, if that is one at all.
    // CHOICE RC3 §2.4.1: the gap is a full segment's; this matters only behind a flow's last segment.
    #[cold]
    pub(super) fn replan(&mut self, wire: u32, planned: Rate, pace: impl FnOnce() -> Option<Rate>) {
        let Some(pace) = pace() else { return };
        if pace == planned || pace == Rate::ZERO || planned == Rate::ZERO {
            return;
        }
        let last = Time::from_ps(self.next.ps().saturating_sub(self.gap(wire, planned).ps()));
        self.next = last.saturating_add(self.gap(wire, pace));
    }

    #[inline(always)]
    fn gap(&self, wire: u32, pace: Rate) -> Span {
        Serializer::new(pace, Span::from_ps(u64::from(self.quantum))).span(wire)
    }

    /// The window shrank, with everything below `sent_to` sent: by RFC 3168 §6.1.2 this is signalled to the
    /// receiver, once per window of data.
    pub(super) fn signal_cut(&mut self, sent_to: u64) {
        (self.cwr_due, self.cwr_to) = (true, sent_to);
    }

    /// Whether an ECN echo in an ACK up to `una` has not been answered by a CWR.
    #[inline]
    pub(super) fn is_news(&self, una: u64) -> bool {
        una > self.cwr_to
    }
}
