//! The library of OpenQueue policies (`crates/policy/library`), compiled to Rust: a module for each, with its
//! `SOURCE`, its `Decisions` and `machine(seed)`. The third engine of `thalweg-policy`, and an example of how to
//! compile one's own.
#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/library.rs"));
