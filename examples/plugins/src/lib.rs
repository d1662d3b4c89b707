//! Machines written outside thalweg's tree. A plug-in is a type that implements the same contract as the
//! built-in ones, says how it is saved, and is registered under a name; scenarios then use it as
//! `{ kind = "custom", name = "…", params = { … } }`.

pub mod acks_first;
pub mod aimd;

/// The scenario that uses both.
pub const SCENARIO: &str = include_str!("../scenario.toml");

/// Registers everything here. Call it before a scenario that names them is loaded, or a saved run resumed.
pub fn register() {
    aimd::register();
    acks_first::register();
}
