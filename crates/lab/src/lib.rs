//! Floor 3: the laboratory. A scenario becomes a network, a network becomes tables.
//!
//! The face (Python, benches) uses this and nothing below it:
//!
//! ```text
//! load(text, file, dir, set) -> Scenario | Vec<Diagnostic>      strict: names file, line, key, reason, way out
//! Scenario::{to_toml, to_json, estimate, digest_inputs}          resolved: every default written out
//! Run::{new, step, progress, finish_partial, save, load, digest, tables, summary}
//! schema() / catalogue(kind)                                    what can be written
//! ```
