//! What this crate forwards to. One line changes when the laboratory is there.

pub use crate::stub::{bench, lab};
// pub use {thalweg_bench as bench, thalweg_lab as lab};
