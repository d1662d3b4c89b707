//! The crate from outside, one program for all.

mod common;
mod costs;
mod differential;
mod errors;
mod library;
mod policy_change;
mod saved;
mod semantics;
mod structure;
mod text;
