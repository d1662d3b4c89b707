//! The crate from outside, one program for all.

mod common;
mod differential;
mod errors;
mod library;
mod policy_change;
mod semantics;
mod costs;
mod structure;
mod text;
