//! Probes of the tail: TLP, RFC 8985 §7.

use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

/// An outstanding TLP probe, §7.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Probe {
    /// TLP.end_seq, TLP.is_retrans.
    end: u64,
    again: bool,
}

/// What an ACK that answers a probe has shown, §7.4.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum ProbeOutcome {
    Nothing,
    /// The probe has repaired a loss, to which the controller must react.
    Repaired,
}

/// TLP's state of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct TailProbe {
    /// When the probe timeout expires; `None`: off.
    pub(super) at: Option<Time>,
    /// A probe is due.
    pub(in super::super) due: bool,
    /// The outstanding probe.
    out: Option<Probe>,
    /// A round trip was measured since the last one left or, before the first, since the connection began.
    measured: bool,
}

impl TailProbe {
    /// §7.3, both conditions: none is unanswered (or about to leave), and a round trip was measured since the last
    /// one, so that probes do not keep SRTT from following a path that has become longer.
    pub(super) fn may(&self) -> bool {
        self.out.is_none() && !self.due && self.measured
    }

    /// A round trip was measured.
    pub(in super::super) fn measures(&mut self) {
        self.measured = true;
    }

    /// §7.2: sets the probe timeout (PTO), which never expires after the retransmission timer. `delay`: the receiver's
    /// longest delay of an ACK. (§7.2's PTO of 1 s without SRTT does not occur: no probe is scheduled before a round
    /// trip was measured.)
    pub(super) fn schedule(&mut self, now: Time, srtt: Span, delay: Span, rto_at: Time) {
        let pto = srtt.saturating_mul(2) + delay;
        self.at = Some(now.saturating_add(pto).min(rto_at));
    }

    /// §7.3: whether the PTO has expired, so that a probe is to be sent.
    pub(in super::super) fn expires(&mut self, now: Time) -> bool {
        let due = self.at.is_some_and(|at| at <= now);
        if due {
            (self.at, self.due) = (None, true);
        }
        due
    }

    /// The probe has left: up to `end` everything is sent.
    pub(in super::super) fn left(&mut self, end: u64, again: bool) {
        (self.due, self.out, self.measured) = (false, Some(Probe { end, again }), false);
    }

    /// A timeout: nothing is probed any more, and what was is no evidence.
    pub(super) fn on_timeout(&mut self) {
        *self = Self { measured: self.measured, ..Self::default() };
    }

    /// §7.1: no probe is out any more whose ACK could show anything.
    pub(super) fn forget(&mut self) {
        self.out = None;
    }

    /// §7.4.2: TLP_process_ack. `duplicate`: it advances nothing, and brings no SACK.
    pub(in super::super) fn on_ack(&mut self, ack: u64, duplicate: bool) -> ProbeOutcome {
        let Some(probe) = self.out.filter(|probe| ack >= probe.end) else { return ProbeOutcome::Nothing };
        if !probe.again {
            self.out = None;
        } else if ack > probe.end {
            self.out = None;
            return ProbeOutcome::Repaired;
        } else if duplicate {
            self.out = None; // both the original and the probe have arrived
        }
        ProbeOutcome::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_to_a_probe_shows_a_repaired_loss() {
        let reported = |again, ack, duplicate| {
            let mut tail = TailProbe::default();
            tail.left(5000, again);
            tail.measures();
            (tail.on_ack(ack, duplicate), tail.may())
        };
        assert_eq!(reported(false, 5000, false), (ProbeOutcome::Nothing, true), "new data has arrived");
        assert_eq!(reported(true, 4000, false), (ProbeOutcome::Nothing, false));
        assert_eq!(reported(true, 5000, false), (ProbeOutcome::Nothing, false), "the original or the probe");
        assert_eq!(reported(true, 5000, true), (ProbeOutcome::Nothing, true), "both");
        assert_eq!(reported(true, 6000, false), (ProbeOutcome::Repaired, true), "the original never came");
    }

    /// §7.3, the second condition.
    #[test]
    fn no_probe_leaves_without_a_round_trip_since_the_last_one() {
        let mut tail = TailProbe::default();
        assert!(!tail.may(), "none was measured since the connection began");
        tail.measures();
        assert!(tail.may());
        tail.left(5000, true);
        tail.on_ack(5000, true);
        assert!(!tail.may(), "answered, but by an ACK that says nothing of the round trip");
        tail.on_timeout();
        assert!(!tail.may(), "a timeout measures nothing");
        tail.measures();
        tail.on_timeout();
        assert!(tail.may());
    }
}
