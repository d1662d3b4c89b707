//! NIC scheduling: from which flow a host's link takes its next packet.
//!
//! Either flows put what they may send into the port's queue, or the link *pulls*: whenever it is free it polls a
//! flow for a packet, control packets first. An order chooses which flow is polled. Flows that may have something to
//! send wait in a list, in the order in which they came to have it; one that was polled and has sent goes to its
//! end. An order may take the first ([`Waits::InTurn`]), pick one ([`Waits::Picked`]), or have flows wait in
//! another way ([`Waits::AtPlaces`]).

mod list;

// One file each of the list below.
mod hpcc_simulator;
mod queue;
mod round_robin;
mod shortest;

pub use hpcc_simulator::{Backlog, Places, Scan};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// The one list. Each order has a file of its own.
list::orders! {
    /// Flows push packets into the port's queue as soon as they may send them; its scheduler orders them.
    queue: Queue, "queue";
    /// Whenever the link is free it takes a packet from the next flow that may send, round robin; control packets
    /// first. As RDMA NICs do.
    round_robin: RoundRobin, "round-robin";
    /// As `round-robin`, but the flow with the fewest remaining bytes goes first (BFC-SRF: Goyal, MIT 2022, App. F.1).
    shortest: Shortest, "shortest";
    /// As `round-robin`, but every flow keeps its place in a circle and one timer serves all flows of a host,
    /// as in the HPCC authors' simulator: a flow may have to wait for the timer of another.
    hpcc_simulator: HpccSimulator, "hpcc-simulator";
}

/// What an order requires of its driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The link pulls packets from flows; flows do not push them.
    pub pulls: bool,
    /// How flows wait for their turn, if it does.
    pub waits: Waits,
}

/// How flows wait for their turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// In a list of which the first is next: whose turn it is depends on nothing else.
    InTurn,
    /// In a list out of which the order picks one ([`Order::pick`]).
    Picked,
    /// Where they began, whether or not they may send: [`Places`] names the next.
    AtPlaces,
}

/// Flows of a host that may have something to send, in the order of their turns.
pub trait Waiting {
    /// How many: at least one.
    fn count(&self) -> usize;
    /// Bytes that the flow at a place of the list has left to send.
    fn left(&self, place: usize) -> u64;
    /// The flow must not send because a switch has paused it. The first is never held.
    fn is_held(&self, place: usize) -> bool;
}

/// An order.
pub trait Order {
    /// What it requires of its driver.
    const NEEDS: Needs;
    /// The place in the list of the flow that is polled next. Only of those that pick ([`Waits::Picked`]).
    #[inline]
    fn pick(_flows: &impl Waiting) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_pull_is_the_default_and_only_pulling_orders_have_flows_wait_elsewhere() {
        assert!(!NicOrder::default().pulls());
        for order in NicOrder::all() {
            let needs = order.needs();
            assert!(needs.pulls || needs.waits == Waits::InTurn, "{order:?}");
        }
    }
}
