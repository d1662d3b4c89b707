//! Probes of the tail: TLP, RFC 8985 §7.

use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

/// TLP's probe that is out, §7.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Probe {
    /// TLP.end_seq, TLP.is_retrans.
    end: u64,
    again: bool,
}

/// What an ACK that answers a probe has told, §7.4.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Told {
    Nothing,
    /// The probe has repaired a loss, which is to be answered as every loss.
    Repaired,
}

/// TLP's state of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct TailProbe {
    /// When the probe timeout expires; `None`: off.
    pub(super) at: Option<Time>,
    /// A probe is to leave.
    pub(in super::super) due: bool,
    /// One has.
    out: Option<Probe>,
}

impl TailProbe {
    /// None is to leave, and none has.
    pub(super) fn is_idle(&self) -> bool {
        self.out.is_none() && !self.due
    }

    /// §7.2: the probe timeout runs, no longer than the retransmission timer. The ACK of what is out may come
    /// so much later.
    pub(super) fn schedule(&mut self, now: Time, srtt: Span, delay: Span, rto_at: Time) {
        let pto = if srtt.is_zero() { Span::from_secs(1) } else { srtt.saturating_mul(2) + delay };
        self.at = Some(now.saturating_add(pto).min(rto_at));
    }

    /// §7.3: it expires. True: a probe is to leave.
    pub(in super::super) fn expires(&mut self, now: Time) -> bool {
        let due = self.at.is_some_and(|at| at <= now);
        if due {
            (self.at, self.due) = (None, true);
        }
        due
    }

    /// The probe has left: up to `end` everything is sent.
    pub(in super::super) fn left(&mut self, end: u64, again: bool) {
        (self.due, self.out) = (false, Some(Probe { end, again }));
    }

    /// §7.1: none is out any more whose ACK could tell anything.
    pub(super) fn forget(&mut self) {
        self.out = None;
    }

    /// §7.4.2: TLP_process_ack. `duplicate`: it advances nothing, and brings no SACK.
    pub(in super::super) fn hear(&mut self, ack: u64, duplicate: bool) -> Told {
        let Some(probe) = self.out.filter(|probe| ack >= probe.end) else { return Told::Nothing };
        if !probe.again {
            self.out = None;
        } else if ack > probe.end {
            self.out = None;
            return Told::Repaired;
        } else if duplicate {
            self.out = None; // both the original and the probe have arrived
        }
        Told::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_answers_a_probe_tells_whether_it_repaired_a_loss() {
        let told = |again, ack, duplicate| {
            let mut tail = TailProbe::default();
            tail.left(5000, again);
            (tail.hear(ack, duplicate), tail.is_idle())
        };
        assert_eq!(told(false, 5000, false), (Told::Nothing, true), "new data has arrived");
        assert_eq!(told(true, 4000, false), (Told::Nothing, false));
        assert_eq!(told(true, 5000, false), (Told::Nothing, false), "the original or the probe");
        assert_eq!(told(true, 5000, true), (Told::Nothing, true), "both");
        assert_eq!(told(true, 6000, false), (Told::Repaired, true), "the original never came");
    }
}
