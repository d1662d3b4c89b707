//! Scenarios: their text is read, checked and resolved, and becomes the network that the simulator runs.
//!
//! ```text
//! load(text, file, dir, set) -> Scenario | Vec<Diagnostic>      strict: file, line, key, reason, way out
//! load_with(source, changes, stop)                              also without some keys, and interruptible
//! Scenario::{to_toml, to_json, estimate, network, flows_csv}    resolved: every default written out
//! Scenario::{port, bottleneck}                                  one port of it as a machine of its own
//! schema() / catalogue(kind) / explain(key)                     the keys and the choices that exist
//! ```
//!
//! [`Scenario::network`] returns a [`thalweg_net::spec::NetworkSpec`], from which a simulator, or one port alone, is
//! made.
#![forbid(unsafe_code)]

mod catalogue;
mod context;
mod deadlock;
mod diagnostic;
mod editors;
mod estimate;
#[doc(hidden)]
pub mod fuzzing;
mod input;
mod load;
mod network;
pub mod parse;
mod port;
mod resolve;
mod scenario;
pub mod schema;
mod sections;
mod stop;
mod text;
pub mod topology;
pub mod traffic;
mod transport;
mod validate;
mod windows;
mod workload;

pub use catalogue::{
    Choice, Entry, KINDS, catalogue, choice_names, choices, explain, explain_scheme, kinds_of_tables, schema,
};
pub use deadlock::DeadlockCheck;
pub use diagnostic::{Diagnostic, nearest};
pub use estimate::Estimate;
pub use load::{Changes, Source, load, load_with};
pub use scenario::Scenario;
pub use sections::Section;
pub use stop::Stop;
pub use thalweg_units::notation as quantity;
