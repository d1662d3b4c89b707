//! Controllers on real connections. The controllers are those of the simulator
//! ([`thalweg_machines::congestion`]), unchanged.
//!
//! A *datapath* is what carries them: `quic` (feature `quic`: quinn-proto under a driver of its own,
//! or a controller for users of `quinn`) and the kernel's TCP (feature `kernel`). Each has one *adapter*: a machine
//! without I/O or clock that translates what its datapath reports into the calls of the contract, in their order, with
//! a list of what is exact, approximated and missing. What a datapath cannot give a controller is refused beforehand,
//! by name ([`Datapath::check`]).
//!
//! Nothing here knows of scenarios: a controller comes as a
//! [`ControllerSpec`](thalweg_machines::congestion::ControllerSpec), or as whatever else implements [`Make`].
#![deny(unsafe_code)]

#[doc(hidden)]
pub mod fuzzing;
#[cfg(feature = "kernel")]
pub mod kernel;
mod make;
#[cfg(feature = "quic")]
pub mod quic;
mod refusal;

pub use make::{Make, Sender};
pub use refusal::{Datapath, Missing, Refusal};
