//! Devices that receive and send frames.

pub mod packet;
pub mod xdp;

use crate::clock::Clock;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::RawFd;
use thalweg_units::Time;

/// How frames are received and sent.
// AF_PACKET by default: its frames have kernel timestamps, so decisions do not depend on when they are read, and it
// carried more (1.6 against 1.4 Gb/s of TCP on a virtual machine with two busy cores).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WireKind {
    /// AF_PACKET: a ring of received frames, and one system call to send many. Needs no privileges.
    #[default]
    Packet,
    /// AF_XDP in copy mode: rings in both directions. Needs privileges on the machine.
    Xdp,
}

/// A received frame.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// Time of arrival by the kernel's timestamp.
    pub at: Time,
    /// Its bytes, from the Ethernet header on.
    pub bytes: &'a [u8],
    /// True if the frame was longer.
    pub cut: bool,
    /// True if the sender has left its checksum to a NIC.
    pub unfinished: bool,
}

/// The emulator's side of a pair of devices.
pub trait Wire: Sized {
    /// True if frames have kernel timestamps; otherwise their time is that of the read.
    const STAMPED: bool;
    /// Opens a device of the current network namespace.
    ///
    /// # Errors
    /// If the kernel refuses it.
    fn open(device: &str) -> io::Result<Self>;
    /// Calls `each` for received frames, at most `most`. Returns their number.
    fn receive(&mut self, clock: &Clock, most: usize, each: impl FnMut(&Received<'_>)) -> usize;
    /// Sends frames in order. Returns the number of accepted ones.
    fn send(&mut self, frames: &[&[u8]]) -> usize;
    /// A descriptor that becomes readable when a frame comes.
    fn fd(&self) -> RawFd;
    /// Number of frames that were lost because there was no room.
    fn overrun(&mut self) -> u64;
}
