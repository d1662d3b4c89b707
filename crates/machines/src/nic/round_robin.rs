//! The link pulls one packet from each flow that may send, in turn, as the rate limiters of RDMA NICs do.

use super::{Needs, Order, Waits};

pub(super) struct RoundRobin;

impl Order for RoundRobin {
    const NEEDS: Needs = Needs { pulls: true, waits: Waits::InTurn };
}
