//! A link of a fixed rate, as most links are.

use super::declare::{Making, Parameters};
use super::{Load, Transmitter};
use crate::problems::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Serializer, Span, Time};

/// Parameters of [`Fixed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixedSpec {
    /// Bits per second, above zero.
    pub rate: Rate,
    /// Serialisation times are cut down to whole multiples of this, as in simulators with a nanosecond clock.
    /// Default zero: exact, rounded up to 1 ps.
    pub quantum: Span,
}

/// A fixed rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Bits per second.
    pub rate: Rate,
}

impl Parameters for Params {
    type Spec = FixedSpec;

    fn spec(&self, making: Making) -> Result<FixedSpec, Invalid> {
        Ok(FixedSpec { rate: self.rate, quantum: making.quantum })
    }
}

/// What a rate carries by an instant.
pub(super) fn carried(rate: Rate, until: Time) -> Bytes {
    let bytes = u128::from(rate.bps()) * u128::from(until.ps()) / 8_000_000_000_000;
    Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
}

/// Always open; a packet needs its bits over the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fixed {
    serializer: Serializer,
}

impl Fixed {
    /// A transmitter that has sent nothing.
    ///
    /// # Errors
    /// If the rate is zero.
    pub fn new(spec: FixedSpec) -> Result<Self, Invalid> {
        if spec.rate == Rate::ZERO {
            return Err(Invalid::new("a fixed link needs a rate above zero").at("rate"));
        }
        Ok(Self { serializer: Serializer::new(spec.rate, spec.quantum) })
    }
}

impl FixedSpec {
    /// What could have left by an instant.
    pub fn offered(&self, until: Time) -> Bytes {
        carried(self.rate, until)
    }
    /// The rate.
    pub fn mean_rate(&self) -> Rate {
        self.rate
    }
    /// The same.
    pub fn peak_rate(&self) -> Rate {
        self.rate
    }
}

impl Transmitter for Fixed {
    #[inline]
    fn send(&mut self, now: Time, load: Load) -> Time {
        let span = match u32::try_from(load.bytes) {
            Ok(wire) => self.serializer.span(wire),
            Err(_) => Bytes::new(load.bytes) / self.serializer.rate(),
        };
        now.saturating_add(span)
    }
    #[inline]
    fn rate(&self, _now: Time) -> Rate {
        self.serializer.rate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_frame_at_100_gbps_has_left_after_120_ns_and_a_nanosecond_clock_cuts() {
        let rate = Rate::from_gbps(100);
        let mut exact = Fixed::new(FixedSpec { rate, quantum: Span::ZERO }).unwrap();
        assert_eq!(exact.opens(Time::from_ns(7)), Time::from_ns(7));
        assert_eq!(exact.send(Time::from_ns(7), Load::one(1500)), Time::from_ns(127));
        let mut cut = Fixed::new(FixedSpec { rate, quantum: Span::from_ns(1) }).unwrap();
        assert_eq!(cut.send(Time::ZERO, Load::one(1048)), Time::from_ns(83)); // 83.84 ns exactly
        assert_eq!((cut.rate(Time::ZERO), cut.take_unused(Time::MAX)), (rate, None));
    }

    #[test]
    fn a_rate_of_zero_is_refused() {
        let spec = FixedSpec { rate: Rate::ZERO, quantum: Span::ZERO };
        assert!(Fixed::new(spec).unwrap_err().to_string().contains("above zero"));
    }
}
