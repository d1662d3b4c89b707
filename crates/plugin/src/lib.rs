//! Congestion controllers as libraries of their own: compiled once, opened by the engine at run time, known by name to
//! scenarios, the command line, exams and sweeps.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use thalweg_plugin::{AckSample, Bytes, CongestionControl, Controller, Loss, Permit, Start};
//!
//! /// Half a window less at each loss, a segment more per round trip.
//! #[derive(Clone, Debug, Serialize, Deserialize)]
//! pub struct Aimd {
//!     mss: f64,
//!     window: f64,
//!     decrease: f64,
//! }
//!
//! /// What a scenario may write under `params`.
//! #[derive(Serialize, Deserialize)]
//! pub struct Params {
//!     decrease: f64,
//! }
//!
//! impl Default for Params {
//!     fn default() -> Self {
//!         Self { decrease: 0.5 }
//!     }
//! }
//!
//! impl CongestionControl for Aimd {
//!     fn on_ack(&mut self, ack: &AckSample<'_>) {
//!         if !ack.in_recovery {
//!             self.window += self.mss * ack.acked.get() as f64 / self.window;
//!         }
//!     }
//!     fn on_loss(&mut self, _: &Loss) {
//!         self.window = (self.window * self.decrease).max(self.mss);
//!     }
//!     fn on_timeout(&mut self, _: &Loss) {
//!         self.window = self.mss;
//!     }
//!     fn permit(&self) -> Permit {
//!         Permit::window(Bytes::new(self.window as u64))
//!     }
//! }
//!
//! impl Controller for Aimd {
//!     const NAME: &'static str = "my-aimd";
//!     type Params = Params;
//!
//!     fn make(start: &Start, params: Params) -> Result<Self, String> {
//!         let (mss, window) = (f64::from(start.mss), start.initial_window.get() as f64);
//!         Ok(Self { mss, window, decrease: params.decrease })
//!     }
//! }
//!
//! // Once in a crate of type `cdylib`: what the engine looks for.
//! thalweg_plugin::export!(Aimd);
//! ```
//!
//! Between the two programs is [`abi`], a table of C functions that says which version it is: the compiler and the
//! crates that made the library need not be those that made the engine. `thalweg_plugin.h` is the same in C. A panic in
//! a controller ends the run with an error that names controller, flow and instant.
//!
//! With the feature `host` the engine's end is here, too ([`host`]).

pub mod abi;
mod author;
#[cfg(feature = "host")]
pub mod host;

pub use author::{Controller, open, table};
pub use thalweg_machines::congestion::{
    AckSample, CongestionControl, Delivery, Feedback, Loss, Permit, Report, Restart, Start,
};
pub use thalweg_units::{Bytes, FlowId, Rate, Span, Stream, Time};
pub use thalweg_wire::{IntHop, IntStack};

/// Makes a library of a controller: the one function that the engine looks for.
#[macro_export]
macro_rules! export {
    ($controller:ty) => {
        /// What the engine opens.
        #[unsafe(no_mangle)]
        pub extern "C" fn thalweg_plugin() -> *const $crate::abi::Table {
            $crate::open::<$controller>()
        }
    };
}
