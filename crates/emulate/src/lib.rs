//! One path of a scenario with real packets. Linux only; elsewhere this crate is empty.
//!
//! A command runs in a network namespace whose only way out is the path: the egress port of a scenario towards the far
//! end, and another one back. Packets are real, hosts are the kernel's, and what the path does with them is decided by
//! the machines that the simulator runs, in *virtual time* ([`path`]).
//! A path of several hops is a row of such ports ([`chain`]).
//!
//! Pure: [`header`] (a frame's view), [`path`] (a port in virtual time), [`chain`] (a row of them), [`lateness`],
//! [`record`] and [`replay`]; of these `path` and `replay` are `thalweg-record`'s.
//! With the kernel: `namespaces`, `outside` (a way out), `resolver`, `ports`, `clock`, `emulator` (the loop),
//! `processes`, [`run`].
//!
//! `unsafe` stands where the kernel is called: `sys`, `task`, `clock`, `ports`, `processes`, `signals`.
#![cfg(target_os = "linux")]

mod capture;
pub mod chain;
mod chunks;
mod clock;
mod direction;
mod emulator;
mod flows;
mod frames;
pub mod header;
pub mod histogram;
pub mod lateness;
mod namespaces;
mod netlink;
pub mod outcome;
mod outside;
pub mod port;
mod ports;
mod processes;
pub mod record;
mod resolver;
pub mod run;
mod signals;
pub mod statistics;
mod sys;
mod task;
mod wakes;
pub mod way;
mod words;

pub use namespaces::Addresses;
pub use outcome::Outcome;
pub use port::{Refused, passable};
pub use ports::WireKind;
pub use run::{Shell, available};
pub use thalweg_record::{Port, path, replay};
pub use way::Way;
