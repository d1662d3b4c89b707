//! Is the cross traffic of a path elastic? Pure functions and small machines that any controller can use: a
//! *pulse* that modulates a sender's rate, an estimate of the *cross traffic* at the bottleneck, and a *detector*
//! that looks for the pulse's frequency in it. Goyal, "Congestion Control in Highly Variable Networks" (MIT, 2022),
//! chapter 4; what the text leaves open as in the authors' published implementation (profile `artifact`).
//!
//! Rates are bytes per second on the wire, as `f64`; sums of them are exact enough because every window is of
//! some hundred samples. Sines come from `libm`: the same bits on every machine.
//!
//! ```
//! use thalweg_machines::elasticity::{cross_traffic, pulse};
//! // A sender of 4 MB/s of which 3.2 MB/s arrive, at a busy link of 12 MB/s (equation 4.1): 11 MB/s are others'.
//! assert_eq!(cross_traffic(12e6, 4e6, 3.2e6), 11e6);
//! // The pulse is at its peak after an eighth of a period (figure 4-6).
//! assert!((pulse(0.125) - 1.0).abs() < 1e-12);
//! ```

mod detector;
mod estimate;
mod pulse;
mod spectrum;

pub use detector::{Detector, DetectorSpec, Guards, Reading, Verdict};
pub use estimate::{Flight, Meter, Passage, cross_traffic};
pub use pulse::{BURST, FALLS, pulse};
pub use spectrum::{Band, Spectrum};
