//! Floor 2: every algorithm as a pure state machine.
//!
//! Observations in, decisions out: time arrives as an argument, chance as a [`Stream`] that the
//! machine owns, effects and the next wake-up leave as values. A machine owns no clock, no global
//! generator, no I/O, and never sees a simulator type, so the same object runs in the simulator, on
//! real packets and under a QUIC stack. What travels, packets, messages and frames, is data of the floor below:
//! [`thalweg_wire`].
//!
//! * [`congestion`]: how much one flow may have in the network, and how fast.
//! * [`transport`]: reliability, apart from congestion control: a sender and a receiver machine.
//! * [`host`]: what has to know of several flows of a host: one agent above them.
//! * [`schedule`]: which packet an output port sends next, and which one it gives up.
//! * [`stage`]: what a port does to packets besides ordering them: admit, mark, drop, write into headers.
//! * [`egress`]: an egress port, whole: link, queue, stages and pauses as one machine, the reference.
//! * [`link`]: when a packet may leave, when it has left, when it arrives.
//! * [`nic`]: which flow a host's link takes its next packet from.
//! * [`point`]: ports that write to the sources of the flows that pass them.
//! * [`slack`]: what the ingress writes into the slack header.
//! * [`buffer`]: how ports share a switch's memory.
//! * [`route`]: which of several equally short ways a packet takes.
//! * [`pause`]: when a switch requests that its neighbours stop, and what a port then may not send.
//! * [`relief`]: what switches do about packets that wait behind a pause, or ports that wait for each other.
//! * [`plugin`]: what machines written by users have in common.
//! * [`problems`]: what an algorithm reports as wrong with its parameters.
//!
//! [`Stream`]: thalweg_units::Stream
#![forbid(unsafe_code)]

pub mod buffer;
pub mod congestion;
pub mod crossbar;
pub mod egress;
pub mod elasticity;
mod forecast;
pub mod host;
mod kinds;
pub mod link;
pub mod nic;
pub mod pause;
pub mod plugin;
pub mod point;
pub mod problems;
pub mod relief;
pub mod route;
pub mod schedule;
pub mod sharing;
pub mod slack;
pub mod stage;
mod steps;
mod tokens;
pub mod transport;

pub use problems::{Invalid, Problem, Problems};
