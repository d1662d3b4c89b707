//! The laboratory. A scenario's network is run, and a run becomes tables.
//!
//! The face (Python, benches) uses this and `thalweg_scenario`, and nothing below them:
//!
//! ```text
//! Run::{new, step, take_recorded, progress, save, load, digest, tables, summary}
//! Session::{new, advance, observe, decide, save, load}       a run whose controllers are decided from outside
//! Replay::{new, feed, feed_end, step, summary, tables}          a recorded run under another scheduler
//! Pair::{new_unless, step}                                      where two scenarios' runs part
//! decisions::{table, replay, compare}                           what controllers decided, wherever it was recorded
//! ```
#![forbid(unsafe_code)]

pub mod decisions;
mod difference;
mod engine;
#[doc(hidden)]
pub mod fuzzing;
mod histogram;
mod job;
mod lateness;
mod loads;
mod originals;
mod recording;
mod replay;
mod results;
mod run;
mod session;
mod statistics;
mod summary;
mod table;
mod tables;
mod threads;
mod window;

pub use difference::Pair;
pub use replay::{Candidate, Replay, Rows};
pub use run::{Progress, Run};
pub use session::{Decided, Every, Session, Standing};
pub use table::{Column, ColumnData, Layout, Table};
pub use tables::layouts;
pub use thalweg_sim::Recorded;
pub use threads::{BegunInParts, NotParallel};
