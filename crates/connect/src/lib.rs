//! Controllers on real connections. The controllers are those of the simulator
//! ([`thalweg_machines::congestion`]), unchanged.
//!
//! A *datapath* carries them: `quic` (feature `quic`: quinn-proto under a driver of this crate, or a controller for
//! users of `quinn`) or the kernel's TCP (feature `kernel`). Each has an *adapter*, a machine without I/O or clock that
//! turns the events of its datapath into calls of the contract in order; its documentation lists which values are
//! exact, approximated or missing. A controller with needs that a datapath does not meet is refused beforehand, by name
//! of the need ([`Datapath::check`]).
//!
//! This crate does not depend on scenarios: a controller comes as a
//! [`ControllerSpec`](thalweg_machines::congestion::ControllerSpec), or as another type that implements [`Make`].
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
