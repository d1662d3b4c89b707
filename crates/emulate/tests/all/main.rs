//! The emulator: its pure parts everywhere on Linux, whole paths where namespaces are allowed.
#![cfg(target_os = "linux")]

mod allocations;
mod chain;
mod chain_laws;
mod common;
mod header;
mod outside;
mod path;
mod paths;
mod records;
mod refusals;
mod removal;
mod structure;
mod version6;
