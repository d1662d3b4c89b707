//! Where frames come from and go to.

pub mod packet;
pub mod xdp;

use crate::clock::Clock;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::RawFd;
use thalweg_units::Time;

/// How frames get in and out.
// AF_PACKET unless AF_XDP is wanted: its frames have the kernel's stamps, so what is decided does not depend on when
// they are read, and it carried more (1.6 against 1.4 Gb/s of TCP on a virtual machine of two busy cores).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WireKind {
    /// AF_PACKET: a ring of received frames, one system call for many that are sent. Needs no privileges.
    #[default]
    Packet,
    /// AF_XDP in copy mode: rings both ways. Needs privileges of the machine.
    Xdp,
}

/// A frame that has come.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// When, by the kernel's stamp.
    pub at: Time,
    /// From the Ethernet header on.
    pub bytes: &'a [u8],
    /// It was longer.
    pub cut: bool,
    /// The sender has left its checksum to a NIC.
    pub unfinished: bool,
}

/// The emulator's end of one pair of devices.
pub trait Wire: Sized {
    /// Frames have the kernel's stamps; otherwise they come when they are read.
    const STAMPED: bool;
    /// Of this device of the present network namespace.
    ///
    /// # Errors
    /// If the kernel refuses it.
    fn open(device: &str) -> io::Result<Self>;
    /// Hands over what has come, at most so many frames; how many.
    fn receive(&mut self, clock: &Clock, most: usize, each: impl FnMut(&Received<'_>)) -> usize;
    /// Sends frames, in order; how many were accepted.
    fn send(&mut self, frames: &[&[u8]]) -> usize;
    /// What becomes readable when a frame comes.
    fn fd(&self) -> RawFd;
    /// Frames that came and found no room.
    fn overrun(&mut self) -> u64;
}
