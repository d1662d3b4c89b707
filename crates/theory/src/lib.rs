//! What is proved about schedulers and transports, as properties that are run.
//!
//! Universal packet scheduling: can one scheduler reproduce every schedule? Small random [`Instance`]s, an arbitrary
//! [`original`] schedule, the [`candidate`] schedulers as an oracle written from their definitions, the same through
//! the production simulator ([`engine`]), and the [`theorems`] with their counter-examples. [`checks`] lists
//! every statement that can be run. [`rc3`]: a transport on a path of slots, packet by packet. [`bfc`]: how
//! many flows wait at a switch at once, and collide there.
#![forbid(unsafe_code)]

pub mod abc;
pub mod bfc;
pub mod candidate;
pub mod counterexamples;
pub mod engine;
pub mod headers;
pub mod instance;
pub mod original;
pub mod outcome;
pub mod rc3;
mod registry;
pub mod search;
pub mod table;
pub mod theorems;
pub mod transformation;

pub use headers::Headers;
pub use instance::Instance;
pub use original::Record;
pub use outcome::Outcome;
pub use registry::{Check, Scale, check, checks};
