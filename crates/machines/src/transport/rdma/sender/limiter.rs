//! The rate limiter: when the next packet may leave, by the controller's pace.

use super::super::segments::Pace;
use crate::congestion::{Messages, Needs, Start};
use serde::{Deserialize, Serialize};
use thalweg_units::{Rate, Serializer, Span, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Limiter {
    /// No packet leaves before this.
    pub(super) next_tx: Time,
    line_rate: Rate,
    /// See [`Start::queued`].
    queued: bool,
    /// Packets take whole multiples of this time.
    quantum: Span,
    /// When the last packet left, and its bytes on the wire (0: none did).
    last: Time,
    wire: u32,
    /// A new pace moves the departure that was planned then.
    moves: bool,
    /// Its controller takes notices of congestion points: its pace moves at these and at ticks.
    pub(super) notices: bool,
    /// The next departure has been rescheduled since it was last read.
    pub(super) moved: bool,
}

impl Limiter {
    pub(super) fn new(start: &Start, needs: &Needs) -> Self {
        Self {
            next_tx: Time::ZERO,
            line_rate: start.line_rate,
            queued: start.queued,
            quantum: start.time_quantum,
            last: Time::ZERO,
            wire: 0,
            moves: needs.moves_departures,
            notices: needs.messages != Messages::None,
            moved: false,
        }
    }

    /// The pace at this rate.
    #[inline]
    pub(super) fn pace(&self, rate: Option<Rate>) -> Pace {
        Pace { rate, quantum: self.quantum }
    }
    #[inline]
    pub(super) fn line_rate(&self) -> Rate {
        self.line_rate
    }
    /// So many bytes on the wire, at line rate.
    #[inline]
    pub(super) fn serialization(&self, wire: u32) -> Span {
        Serializer::new(self.line_rate, self.quantum).span(wire)
    }

    /// A packet has left, at this rate.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Time, wire: u32, rate: Option<Rate>) {
        if self.moves {
            (self.last, self.wire) = (now, wire);
        }
        // At line rate a port that pulls them spaces packets itself.
        if self.moves || rate.is_some_and(|rate| rate < self.line_rate || self.queued) {
            self.next_tx = now.saturating_add(self.pace(rate).gap(wire));
        }
    }

    /// The rate may have changed: the departure planned at the old one moves.
    #[inline]
    pub(super) fn replan(&mut self, rate: impl FnOnce() -> Option<Rate>) {
        if self.wire > 0 && !self.notices {
            self.next_tx = self.last.saturating_add(self.pace(rate()).gap(self.wire));
            self.moved = true;
        }
    }

    /// The pace has changed by a notice or a tick: the remaining wait is scaled in inverse proportion to it.
    // CHOICE RoCC §3.3.5: counted from the last departure anew, all flows that are notified of a rate at one
    // instant would leave in step.
    #[inline]
    pub(super) fn rescale(&mut self, now: Time, before: Option<Rate>, after: Option<Rate>) {
        if !self.notices || self.next_tx <= now || before == after {
            return;
        }
        if let (Some(old), Some(new)) = (before, after) {
            let left =
                u128::from((self.next_tx - now).ps()) * u128::from(old.bps()) / u128::from(new.bps().max(1));
            self.next_tx = now.saturating_add(Span::from_ps(u64::try_from(left).unwrap_or(u64::MAX)));
        }
    }
}
