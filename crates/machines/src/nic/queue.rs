//! Flows push: what they may send joins the port's queue at once, and its discipline orders it.

use super::{Needs, Order, Waits};

pub(super) struct Queue;

impl Order for Queue {
    const NEEDS: Needs = Needs { pulls: false, waits: Waits::InTurn };
}
