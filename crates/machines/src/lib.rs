//! Every algorithm of the network as a pure state machine: congestion control, transports, queues, AQM, flow control.
//!
//! Observations come in as arguments, decisions go out as values. Time is an argument; randomness is drawn from a
//! [`Stream`] that the machine owns; the next wake-up is part of what it returns. A machine has no clock, no global
//! generator and no I/O, and never sees a type of the simulator, so the same object runs in the simulator, on real
//! packets and under a QUIC stack. Packets, messages and frames are data of their own crate, [`thalweg_wire`].
//!
//! At the hosts:
//!
//! * [`congestion`]: congestion control: the window of a flow, and its pace.
//! * [`transport`]: reliability, apart from congestion control: a sender and a receiver per flow.
//! * [`host`]: agents of hosts, for transports whose receivers schedule several flows (pHost, Homa, NDP, UET).
//! * [`nic`]: which flow a host's link takes its next packet from.
//! * [`elasticity`]: estimates of cross traffic, and whether it is elastic; used by Nimbus.
//!
//! In a switch, from arrival to departure:
//!
//! * [`route`]: which of several equally short paths a packet takes, or which detour.
//! * [`slack`]: what the ingress writes into the slack header.
//! * [`sharing`]: how the ports of a switch share its memory.
//! * [`buffer`]: memory accounting by ingress, for flow control.
//! * [`pause`]: hop-by-hop flow control (PFC, per-queue backpressure, GFC): which frames are sent, and their effect.
//! * [`relief`]: what a switch does about packets stuck behind pauses: deadlocks, loops, escape queues.
//! * [`schedule`]: which packet a port sends next, and which it drops when it is full.
//! * [`stage`]: all else that a port does to packets: AQM, marking, policing, explicit feedback, telemetry.
//! * [`point`]: congestion points, which send messages to the sources of flows that pass them (QCN, RoCC).
//! * [`crossbar`]: matching of inputs and outputs in an input-queued switch (iSLIP).
//! * [`link`]: when a packet may leave, when it has left, when it arrives.
//! * [`egress`]: a whole egress port (link, queue, stages, pauses) as one machine: the reference for drivers.
//!
//! For all of them:
//!
//! * [`plugin`]: what controllers and schedulers written by users have in common.
//! * [`problems`]: how an algorithm reports what is wrong with its parameters.
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

#[cfg(test)]
mod tests {
    #[test]
    fn the_list_above_names_every_public_module_once() {
        let source = include_str!("lib.rs");
        let public = source.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
        let mut listed: Vec<&str> = source
            .lines()
            .filter_map(|line| Some(line.strip_prefix("//! * [`")?.split_once("`]:")?.0))
            .collect();
        listed.sort_unstable();
        assert_eq!(listed, public.collect::<Vec<_>>());
    }
}
