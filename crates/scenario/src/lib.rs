//! Floor 4: a scenario becomes a network, without the simulator.
//!
//! ```text
//! load(text, file, dir, set) -> Scenario | Vec<Diagnostic>      strict: file, line, key, reason, way out
//! Scenario::{to_toml, to_json, estimate, network, flows_csv}    resolved: every default written out
//! Scenario::{port, bottleneck}                                  one port of it as a machine of its own
//! schema() / catalogue(kind) / explain(key)                     what can be written
//! ```
//!
//! [`Scenario::network`] is a [`thalweg_net::spec::NetworkSpec`]: what runs it, or a part of it, begins there.
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
pub use scenario::{Scenario, load, load_changed, load_unless};
pub use sections::Section;
pub use stop::Stop;
pub use thalweg_units::notation as quantity;
