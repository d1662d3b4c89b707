//! The exam of congestion controllers, in Rust. A controller, yours or a built-in one, goes through some
//! thirty situations, alone and next to others, and gets marks in each: the situations and the marks of `thalweg exam`.
//!
//! In your own crate's tests:
//!
//! ```
//! use thalweg_exam::{AckSample, Bytes, CongestionControl, Exam, Loss, Permit};
//!
//! /// Half a window less at each loss, a segment more per round trip.
//! #[derive(Clone)]
//! struct Aimd {
//!     mss: u64,
//!     window: u64,
//! }
//!
//! impl CongestionControl for Aimd {
//!     fn on_ack(&mut self, ack: &AckSample<'_>) {
//!         if !ack.in_recovery {
//!             self.window += self.mss * ack.acked.get() / self.window;
//!         }
//!     }
//!     fn on_loss(&mut self, _: &Loss) {
//!         self.window = (self.window / 2).max(self.mss);
//!     }
//!     fn on_timeout(&mut self, _: &Loss) {
//!         self.window = self.mss;
//!     }
//!     fn permit(&self) -> Permit {
//!         Permit::window(Bytes::new(self.window))
//!     }
//! }
//!
//! let exam = Exam::of(|start| Aimd { mss: start.mss.into(), window: start.initial_window.get() })
//!     .situations(["steady", "policer"])
//!     .against(["cubic"]);
//! let report = exam.run()?;
//! assert!(report["steady"].utilisation > 0.9);
//! assert!(report["steady"].loss < 0.01);
//! assert!(report.of("policer", "cubic").is_some());
//! # Ok::<(), thalweg_exam::Error>(())
//! ```
//!
//! There is no grade: which marks are right depends on what a controller is for. `docs/exam.md` says what each mark is,
//! and so do the fields of [`Marks`].
//!
//! Runs are pure functions of their scenarios, so marks are the same on every machine, whatever the number of threads.
//! A controller that panics ends its own run alone; [`Report::failures`] says which, where, and in which call.
#![forbid(unsafe_code)]

mod call;
mod contained;
mod error;
mod exam;
mod examined;
mod files;
pub mod marks;
mod pattern;
mod report;
mod running;
mod situation;
pub mod situations;

pub use call::Call;
pub use error::{Cause, Error, Failure};
pub use exam::Exam;
pub use marks::{Curves, Marks};
pub use report::{Report, Row};
pub use running::Done;
pub use situation::{Look, Settles, Situation};
pub use thalweg_machines::congestion::{
    AckSample, CongestionControl, Delivery, Feedback, Loss, Permit, Restart, Start,
};
pub use thalweg_units::{Bytes, FlowId, Rate, Span, Stream, Time};
