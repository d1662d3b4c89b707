//! What this crate forwards to.

pub use thalweg_lab as lab;
