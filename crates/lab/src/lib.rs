//! Floor 4: the laboratory. A scenario becomes a network, a network becomes tables.
//!
//! The face (Python, benches) uses this and nothing below it:
//!
//! ```text
//! load(text, file, dir, set) -> Scenario | Vec<Diagnostic>      strict: file, line, key, reason, way out
//! Scenario::{to_toml, to_json, estimate, network, flows_csv}    resolved: every default written out
//! Run::{new, step, take_recorded, progress, save, load, digest, tables, summary}
//! Replay::{new, feed, feed_end, step, summary, tables}          a recorded run under another scheduler
//! schema() / catalogue(kind) / explain(key)                     what can be written
//! ```
#![forbid(unsafe_code)]

mod catalogue;
mod context;
mod deadlock;
mod diagnostic;
mod difference;
mod editors;
mod engine;
mod estimate;
#[doc(hidden)]
pub mod fuzzing;
mod histogram;
mod input;
mod lateness;
mod network;
mod originals;
pub mod parse;
mod recording;
mod replay;
mod resolve;
mod results;
mod run;
mod scenario;
pub mod schema;
mod sections;
mod stop;
mod summary;
mod table;
mod tables;
mod text;
pub mod topology;
pub mod traffic;
mod transport;
mod validate;
mod window;
mod workload;

pub use catalogue::{
    Choice, Entry, KINDS, catalogue, choice_names, choices, explain, explain_scheme, kinds_of_tables, schema,
};
pub use deadlock::DeadlockCheck;
pub use diagnostic::{Diagnostic, nearest};
pub use difference::diff;
pub use estimate::Estimate;
pub use replay::{Candidate, Replay, Rows};
pub use run::{Progress, Run};
pub use scenario::{Scenario, load, load_changed, load_unless};
pub use stop::Stop;
pub use table::{Column, ColumnData, Table};
pub use thalweg_sim::Recorded;
pub use thalweg_units::notation as quantity;
