//! The asymmetric pulse. Goyal 2022, §4.3.4 and figure 4-6: half a sine up for a quarter of the period, half a sine
//! a third as high down for the rest. What it adds and what it takes away are the same.

use std::f64::consts::PI;

/// The part of a period in which the rate is above its mean.
const UP: f64 = 0.25;

/// So much of its peak is the deepest that the pulse goes below the mean: a sender whose rate is this part of the
/// peak can emit it.
pub const FALLS: f64 = UP / (1.0 - UP);

/// Bytes above the mean per pulse, per peak rate (B/s) and period (s): the area of the upper half-sine.
pub const BURST: f64 = 2.0 / PI * UP;

/// The pulse at `phase`, in periods since it began (any number), as a part of its peak: from −1/3 to 1.
pub fn pulse(phase: f64) -> f64 {
    let phase = phase - libm::floor(phase);
    if phase < UP { libm::sin(PI * phase / UP) } else { -FALLS * libm::sin(PI * (phase - UP) / (1.0 - UP)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simpson's rule over one lobe.
    fn area(from: f64, to: f64) -> f64 {
        let n = 1000;
        let h = (to - from) / f64::from(n);
        let weight = |i: i32| if i == 0 || i == n { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
        // The very end of a lobe belongs to the next one: both are zero there.
        let at = |i: i32| if i == n { 0.0 } else { pulse(from + f64::from(i) * h) };
        (0..=n).map(|i| weight(i) * at(i)).sum::<f64>() * h / 3.0
    }

    /// The lobes cancel; the upper one is µT/(8π) for a peak of µ/4.
    #[test]
    fn what_is_added_is_taken_away_again() {
        let (up, down) = (area(0.0, UP), area(UP, 1.0));
        assert!((up + down).abs() < 1e-9, "{up} {down}");
        assert!((up - BURST).abs() < 1e-9, "{up}");
        assert!((BURST / 4.0 - 1.0 / (8.0 * PI)).abs() < 1e-15);
    }

    #[test]
    fn a_sender_of_a_third_of_the_peak_can_emit_it_and_no_slower_one() {
        let least = (0..10_000).map(|i| pulse(f64::from(i) / 10_000.0)).fold(f64::INFINITY, f64::min);
        assert!((least + FALLS).abs() < 1e-6 && (FALLS - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(pulse(7.0), 0.0);
        assert!((pulse(3.125) - 1.0).abs() < 1e-12 && (pulse(-0.375) + FALLS).abs() < 1e-12);
    }

    /// Derived amplitudes of the harmonics, in units of the peak: 0.480, 0.250, 0.168, 0.097.
    #[test]
    fn harmonics() {
        let n = 4000;
        let amplitude = |k: f64| {
            let part = |f: fn(f64) -> f64| {
                let at = |i: i32| f64::from(i) / f64::from(n);
                (0..n).map(|i| pulse(at(i)) * f(2.0 * PI * k * at(i))).sum::<f64>() * 2.0 / f64::from(n)
            };
            libm::hypot(part(libm::cos), part(libm::sin))
        };
        for (k, expected) in [(1.0, 0.480), (2.0, 0.250), (3.0, 0.168), (4.0, 0.097)] {
            assert!((amplitude(k) - expected).abs() < 2e-3, "{k}: {}", amplitude(k));
        }
    }
}
