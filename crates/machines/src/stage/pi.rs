//! DCQCN+PI's congestion point: marking with a probability that a PI controller of the queue sets.
//!
//! Zhu, Ghobadi, Misra, Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT
//! 2016, §5.2, after Hollot, Misra, Towsley, Gong, "On Designing Improved Controllers for AQM Routers
//! Supporting TCP Flows", INFOCOM 2001: p ← p + a (q − q_ref) − b (q_old − q_ref), within 0 and 1.
//!
//! All updates that were due are made before anything that depends on them: no timers.
//!
//! ```text
//! CHOICE RoCC §3.5 (DCQCN+PI): the constants are not published there; a reference of 100 KB, an update every
//! 10 us, b the slope of DCQCN's own marking (1 % over 195 KB), and a a little more.
//! CHOICE ECN or Delay §5.2: updates that fell due while nothing arrived see the queue as the next packet finds it.
//! ```

use super::{Acts, Around, Arrival, HeaderStage, Parameters, Problems, View};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Stream, Time};
use thalweg_wire::{Ecn, Packet};

/// Marks with a probability set by a PI controller of the queue length: DCQCN+PI's congestion point (Zhu et al., CoNEXT
/// 2016).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// q_ref: target queue length.
    pub reference: Bytes,
    /// Interval between updates of the probability.
    pub update: Span,
    /// a, per byte: weight of the queue's distance from `reference`.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub a: f64,
    /// b, per byte: weight of that distance at the previous update.
    #[schemars(extend("minimum" = 0.0, "maximum" = 1.0))]
    pub b: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { reference: Bytes::kb(100), update: Span::from_us(10), a: 5.025e-8, b: 5e-8 }
    }
}

impl Parameters for Params {
    type Machine = Pi;

    fn acts(&self) -> Acts {
        Acts::Marks
    }

    fn check(&self, at: &Around, problems: &mut Problems) {
        problems.positive("update", self.update, "10us");
        problems.share("a", self.a);
        problems.fraction("b", self.b);
        if self.b >= self.a {
            problems.wrong(
                "b",
                format!("b, {}, is not below a, {}", self.b, self.a),
                "without a − b nothing steers to the set point",
            );
        }
        if self.reference.get() >= at.room {
            let why = format!("the queue never exceeds {}, it holds {} B", self.reference, at.room);
            problems.useless("reference", &why, "lower it or raise the buffer");
        }
    }

    fn make(&self, stream: Stream, _: Rate) -> Result<Pi, Invalid> {
        Ok(Pi { p: *self, stream, probability: 0.0, old: 0.0, next: None })
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        vec![Self { reference: Bytes::new(1500), update: Span::from_us(2), a: 2e-4, b: 1.5e-4 }]
    }
}

/// The marker of one port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pi {
    p: Params,
    stream: Stream,
    probability: f64,
    /// q_old − q_ref.
    old: f64,
    /// `None`: nothing has come yet.
    next: Option<Time>,
}

impl Pi {
    fn catch_up(&mut self, now: Time, bytes: u64) {
        let update = self.p.update;
        let mut next = self.next.unwrap_or(now.saturating_add(update));
        let error = bytes as f64 - self.p.reference.get() as f64;
        while next <= now {
            let before = (self.probability, self.old);
            self.probability = (before.0 + self.p.a * error - self.p.b * before.1).clamp(0.0, 1.0);
            self.old = error;
            next = next.saturating_add(update);
            if (self.probability, self.old) == before && next <= now {
                let missed = now.since(next).ps() / update.ps() + 1;
                next = next.saturating_add(update.saturating_mul(missed));
            }
        }
        self.next = Some(next);
    }
}

impl HeaderStage for Pi {
    #[inline]
    fn on_arrival(&mut self, now: Time, view: &View, packet: &Packet) -> Arrival {
        self.catch_up(now, view.bytes);
        let marks =
            self.probability > 0.0 && packet.ecn != Ecn::NotEct && self.stream.unit() < self.probability;
        if marks { Arrival::Mark } else { Arrival::Admit }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::finds;
    use super::*;

    #[test]
    fn ten_microseconds_50_kb_above_the_set_point_add_the_proportional_part_once_and_the_integral_ever_after()
    {
        let mut pi = Params::default().make(Stream::new(1, "stage", 0), Rate::from_gbps(40)).unwrap();
        let packet = Packet { ecn: Ecn::Ect0, wire: 1048, ..Packet::default() };
        let at = |pi: &mut Pi, us, kb: u64| {
            pi.on_arrival(Time::from_us(us), &finds(100, kb * 1000, 1048), &packet);
            pi.probability
        };
        assert_eq!(at(&mut pi, 0, 100), 0.0);
        assert_eq!(at(&mut pi, 9, 150), 0.0, "no update yet");
        // a · 50 KB − b · 0.
        let first = at(&mut pi, 10, 150);
        assert!((first - 5.025e-8 * 50_000.0).abs() < 1e-12, "{first}");
        // (a − b) · 50 KB.
        let second = at(&mut pi, 20, 150);
        assert!((second - first - 2.5e-10 * 50_000.0).abs() < 1e-12, "{second}");
        assert_eq!(at(&mut pi, 1_000_000, 0), 0.0);
    }
}
