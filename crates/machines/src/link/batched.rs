//! An access point that aggregates: frames leave together and are acknowledged together.
//!
//! IEEE 802.11n A-MPDU as it is modelled in Goyal, "Congestion Control in Highly Variable Networks", MIT 2022, §2.5.1: when the medium is free, up to M frames that wait are sent as one batch; it takes their bits over the PHY rate
//! and an overhead (contention, preamble, block ACK) that does not depend on their number; all of them have left with the
//! block ACK.
//!
//! ```text
//! CHOICE ABC §2.5.1: the distribution of the overhead is not published. A constant plus an exponential wait for the medium.
//! Other reading: a constant alone (`contention` zero).
//! ```

use super::declare::{Making, Parameters};
use super::{Load, Transmitter, fixed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Stream, Time};

/// A Wi-Fi access point that aggregates: packets leave in batches, each with an overhead (IEEE 802.11n A-MPDU as in Goyal,
/// MIT 2022, §2.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchedSpec {
    /// R: the PHY rate inside a batch.
    #[schemars(extend("examples" = ["65Mbps"]))]
    pub rate: Rate,
    /// M: packets of a batch at most.
    #[serde(default = "frames")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub frames: u32,
    /// What every batch costs besides: preamble, block ACK.
    #[serde(default = "overhead")]
    pub overhead: Span,
    /// Mean of an exponential wait for the medium before every batch; `0ps`: none.
    #[serde(default = "contention")]
    pub contention: Span,
}

impl BatchedSpec {
    /// What could have left by an instant, at the rate of [`Self::mean_rate`].
    pub fn offered(&self, until: Time) -> Bytes {
        fixed::carried(self.mean_rate(), until)
    }
    /// With full batches of frames of 1500 B: what a queue that never runs empty gets through.
    pub fn mean_rate(&self) -> Rate {
        let bytes = Bytes::new(u64::from(self.frames) * 1500);
        if self.rate == Rate::ZERO || self.frames == 0 {
            return Rate::ZERO;
        }
        let parts = [bytes / self.rate, self.overhead, self.contention];
        let cycle: u128 = parts.iter().map(|part| u128::from(part.ps())).sum();
        let bits = u128::from(bytes.get()) * 8_000_000_000_000;
        Rate::from_bps(u64::try_from(bits / cycle.max(1)).unwrap_or(u64::MAX))
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

    fn spec(&self, _: Making) -> Result<BatchedSpec, String> {
        Ok(*self)
    }
}

/// Always open, one batch at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batched {
    spec: BatchedSpec,
    stream: Stream,
}

impl Batched {
    /// A transmitter that draws waits for the medium from `stream`.
    ///
    /// # Errors
    /// If the rate is zero, or batches hold nothing.
    pub fn new(spec: BatchedSpec, stream: Stream) -> Result<Self, String> {
        if spec.rate == Rate::ZERO || spec.frames == 0 {
            let BatchedSpec { rate, frames, .. } = spec;
            return Err(format!(
                "batches need a rate and a number of frames above zero, not {rate} and {frames}"
            ));
        }
        Ok(Self { spec, stream })
    }
}

impl Transmitter for Batched {
    fn batch(&self) -> u32 {
        self.spec.frames
    }

    fn send(&mut self, now: Time, load: Load) -> Time {
        debug_assert!(load.packets <= self.spec.frames);
        let wait = match self.spec.contention {
            Span::ZERO => Span::ZERO,
            mean => Span::from_ps(self.stream.exponential(mean.ps() as f64) as u64),
        };
        let airtime = Bytes::new(load.bytes) / self.spec.rate;
        now.saturating_add(wait).saturating_add(self.spec.overhead).saturating_add(airtime)
    }

    /// The PHY rate: what a batch without end would reach.
    fn rate(&self, _now: Time) -> Rate {
        self.spec.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batched(frames: u32, contention: Span) -> Batched {
        let (rate, overhead) = (Rate::from_mbps(13), Span::from_us(500));
        Batched::new(BatchedSpec { rate, frames, overhead, contention }, Stream::new(1, "batches", 0))
            .unwrap()
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
    fn batches_of_nothing_are_refused() {
        let spec = BatchedSpec { frames: 0, ..batched(1, Span::ZERO).spec };
        assert!(Batched::new(spec, Stream::new(1, "b", 0)).unwrap_err().contains("and 0"));
    }
}
