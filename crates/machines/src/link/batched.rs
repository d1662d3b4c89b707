//! An access point that aggregates: frames leave together and are acknowledged together.
//!
//! IEEE 802.11n A-MPDU as it is modelled in Goyal, "Congestion Control in Highly Variable Networks", MIT
//! 2022, §2.5.1: when the medium is free, up to M frames that wait are sent as one batch; it takes their bits
//! over the PHY rate and an overhead (contention, preamble, block ACK) that does not depend on their number;
//! all of them have left with the block ACK. The PHY rate may change, as rate adaptation makes it: what holds
//! as a batch is formed holds for all of it.
//!
//! ```text
//! CHOICE ABC §2.5.1: the distribution of the overhead is not published. A constant plus an exponential wait
//! for the medium. Other reading: a constant alone (`contention` zero).
//! ```

use super::declare::{Making, Parameters};
use super::stepped::{Step, Stepped, SteppedSpec};
use super::trace::Trace;
use super::{Load, Transmitter};
use crate::problems::{Invalid, Problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Stream, Time};

/// A Wi-Fi access point that aggregates: packets leave in batches, each with an overhead (IEEE 802.11n A-MPDU
/// as in Goyal, MIT 2022, §2.5.1). Its capacity, for loads and utilisation, is that of full batches of 1500 B.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchedSpec {
    /// R: PHY rate within a batch; with `steps`, until the first of them.
    #[schemars(extend("examples" = ["65Mbps"]))]
    pub rate: Rate,
    /// Changes of the PHY rate, in ascending order of time, after `0s`. A batch has the rate at which it was formed.
    #[serde(default)]
    #[schemars(extend("examples" = [[{ "at": "2s", "rate": "13Mbps" }]]))]
    pub steps: Vec<Step>,
    /// After this time the sequence begins again with `rate`. If not given, the last rate stays.
    pub period: Option<Span>,
    /// M: largest number of packets per batch.
    #[serde(default = "frames")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub frames: u32,
    /// Overhead of every batch: preamble, block ACK.
    #[serde(default = "overhead")]
    pub overhead: Span,
    /// Mean of an exponential wait for the medium before every batch; `0ps`: none.
    #[serde(default = "contention")]
    pub contention: Span,
    /// A batch has one destination: the longest run of packets to one destination at the head of the queue, which must
    /// be a FIFO. Otherwise a batch may have packets to any destinations.
    #[serde(default)]
    pub one_user: bool,
}

impl BatchedSpec {
    /// Of a PHY rate that stays, with the defaults of scenarios for what batches cost.
    pub fn of(rate: Rate, frames: u32) -> Self {
        let (overhead, contention) = (overhead(), contention());
        Self { rate, steps: Vec::new(), period: None, frames, overhead, contention, one_user: false }
    }
    /// What could have left by an instant, at the rates of [`Self::mean_rate`].
    pub fn offered(&self, until: Time) -> Bytes {
        self.course(|rate| self.full(rate)).offered(until)
    }
    /// With full batches of frames of 1500 B: what a queue that never runs empty gets through, in the mean
    /// over a period.
    pub fn mean_rate(&self) -> Rate {
        self.course(|rate| self.full(rate)).mean_rate()
    }
    /// Likewise, at the best PHY rate.
    pub fn peak_rate(&self) -> Rate {
        self.course(|rate| self.full(rate)).peak_rate()
    }
    /// Likewise, at one PHY rate.
    fn full(&self, rate: Rate) -> Rate {
        let bytes = Bytes::new(u64::from(self.frames) * 1500);
        if rate == Rate::ZERO || self.frames == 0 {
            return Rate::ZERO;
        }
        let parts = [bytes / rate, self.overhead, self.contention];
        let cycle: u128 = parts.iter().map(|part| u128::from(part.ps())).sum();
        let bits = u128::from(bytes.get()) * 8_000_000_000_000;
        Rate::from_bps(u64::try_from(bits / cycle.max(1)).unwrap_or(u64::MAX))
    }
    /// What becomes of each PHY rate, over time.
    fn course(&self, of: impl Fn(Rate) -> Rate) -> SteppedSpec {
        let first = Step { at: Span::ZERO, rate: self.rate };
        let steps = [first].iter().chain(&self.steps).map(|s| Step { at: s.at, rate: of(s.rate) }).collect();
        SteppedSpec { steps, period: self.period }
    }
}

fn frames() -> u32 {
    20 // ABC §2.5.1
}
fn overhead() -> Span {
    Span::from_us(500) // CHOICE ABC §2.5.1: not published
}
fn contention() -> Span {
    Span::from_ms(1) // CHOICE ABC §2.5.1: not published
}

impl Parameters for BatchedSpec {
    type Spec = BatchedSpec;

    fn check(&self, run: Span, _: Option<&Trace>, problems: &mut Problems) {
        if self.one_user && self.frames == 1 {
            problems.useless("one_user", "a batch is one packet", "remove the key, or raise `frames`");
        }
        if self.steps.is_empty() {
            if self.period.is_some() {
                problems.useless("period", "the rate does not change", "remove the key, or add `steps`");
            }
            return;
        }
        if let Some(zero) = self.steps.iter().position(|s| s.rate == Rate::ZERO) {
            let hint = "write a rate above zero, for example \"6.5Mbps\"";
            return problems.wrong(&format!("steps.{zero}.rate"), "no PHY rate is 0bps", hint);
        }
        let course = self.course(|rate| rate);
        if let Err(reason) = Stepped::new(course.clone()) {
            let reason = format!("{reason} (`rate` holds from 0 on)");
            return problems.wrong("steps", reason, "for example [{ at = \"2s\", rate = \"13Mbps\" }]");
        }
        // Its first step is `rate`.
        course.vain(run, 1, problems);
    }
    fn spec(&self, _: Making) -> Result<BatchedSpec, Invalid> {
        Ok(self.clone())
    }
}

/// Always open, one batch at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batched {
    spec: BatchedSpec,
    phy: Stepped,
    stream: Stream,
}

impl Batched {
    /// A transmitter that draws waits for the medium from `stream`.
    ///
    /// # Errors
    /// If a rate is zero, batches hold nothing, or the steps do not rise.
    pub fn new(spec: BatchedSpec, stream: Stream) -> Result<Self, Invalid> {
        if spec.steps.iter().any(|step| step.rate == Rate::ZERO) {
            return Err(Invalid::new("batches need PHY rates above zero").at("steps"));
        }
        if spec.rate == Rate::ZERO || spec.frames == 0 {
            let BatchedSpec { rate, frames, .. } = &spec;
            let why =
                format!("batches need a rate and a number of frames above zero, not {rate} and {frames}");
            return Err(Invalid::new(why).at(if *frames == 0 { "frames" } else { "rate" }));
        }
        let phy = Stepped::new(spec.course(|rate| rate))?;
        Ok(Self { spec, phy, stream })
    }
}

impl Transmitter for Batched {
    fn batch(&self) -> u32 {
        self.spec.frames
    }

    fn one_user(&self) -> bool {
        self.spec.one_user
    }

    fn send(&mut self, now: Time, load: Load) -> Time {
        debug_assert!(load.packets <= self.spec.frames);
        let wait = match self.spec.contention {
            Span::ZERO => Span::ZERO,
            mean => Span::from_ps(self.stream.exponential(mean.ps() as f64) as u64),
        };
        let airtime = Bytes::new(load.bytes) / self.phy.rate(now);
        now.saturating_add(wait).saturating_add(self.spec.overhead).saturating_add(airtime)
    }

    /// The PHY rate: what a batch without end would reach.
    fn rate(&self, now: Time) -> Rate {
        self.phy.rate(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batched(frames: u32, contention: Span) -> Batched {
        let spec = BatchedSpec { contention, ..BatchedSpec::of(Rate::from_mbps(13), frames) };
        Batched::new(spec, Stream::new(1, "batches", 0)).unwrap()
    }

    #[test]
    fn twenty_frames_at_mcs_1_take_18_and_a_half_milliseconds_and_one_takes_1_and_a_half() {
        let mut m = batched(20, Span::ZERO);
        assert_eq!(m.batch(), 20);
        // 20 × 12 kbit / 13 Mb/s = 18 461 538 461.5 ns, rounded up to 1 ps, and 0.5 ms.
        assert_eq!(
            m.send(Time::ZERO, Load { packets: 20, bytes: 30_000 }).ps(),
            18_461_538_462 + 500_000_000
        );
        assert_eq!(m.send(Time::from_ms(1), Load::one(1500)).ps(), 1_000_000_000 + 923_076_924 + 500_000_000);
    }

    #[test]
    fn the_medium_keeps_batches_waiting_one_millisecond_on_average() {
        let mut m = batched(20, Span::from_ms(1));
        let n = 20_000u64;
        let sum: u64 = (0..n).map(|_| m.send(Time::ZERO, Load::one(0)).ps() - 500_000_000).sum();
        let mean = sum as f64 / n as f64 / 1e9;
        assert!((mean - 1.0).abs() < 0.03, "{mean} ms");
    }

    #[test]
    fn full_batches_make_12_mbps_of_13() {
        // 240 kbit in 18.46 ms and 0.5 ms.
        let rate = batched(20, Span::ZERO).spec.mean_rate();
        assert_eq!(rate.bps(), 12_657_200);
    }

    #[test]
    fn a_batch_keeps_the_rate_that_holds_as_it_is_formed() {
        let step = Step { at: Span::from_ms(10), rate: Rate::from_mbps(65) };
        let spec = BatchedSpec {
            steps: vec![step],
            period: Some(Span::from_ms(40)),
            ..batched(20, Span::ZERO).spec
        };
        let mut m = Batched::new(spec.clone(), Stream::new(1, "batches", 0)).unwrap();
        let mut lasts =
            |ms| m.send(Time::from_ms(ms), Load { packets: 20, bytes: 30_000 }) - Time::from_ms(ms);
        // 240 kbit at 13 Mb/s, though the rate rises meanwhile; at 65 Mb/s; and again.
        let (slow, fast) =
            (Span::from_ps(18_461_538_462 + 500_000_000), Span::from_ps(3_692_307_693 + 500_000_000));
        assert_eq!([9, 10, 39, 40, 50].map(&mut lasts), [slow, fast, fast, slow, fast]);
        // 240 kbit in 18.96 ms for 10 ms, in 4.19 ms for 30 ms.
        let mean = (12_657_200 + 3 * 57_247_706) / 4;
        assert!(spec.mean_rate().bps().abs_diff(mean) < 10, "{}", spec.mean_rate());
        let offered = |ms| spec.offered(Time::from_ms(ms)).get();
        assert_eq!(offered(10), 12_657_200 / 800);
        assert!(offered(80).abs_diff(2 * mean / 200) <= 2, "{}", offered(80));
    }

    #[test]
    fn batches_of_nothing_are_refused() {
        let spec = BatchedSpec { frames: 0, ..batched(1, Span::ZERO).spec };
        let refuse = |spec| Batched::new(spec, Stream::new(1, "b", 0)).unwrap_err().to_string();
        assert!(refuse(spec).contains("and 0"));
        let silent = Step { at: Span::from_ms(1), rate: Rate::ZERO };
        let spec = BatchedSpec { steps: vec![silent], ..batched(1, Span::ZERO).spec };
        assert!(refuse(spec).contains("above zero"));
    }
}
