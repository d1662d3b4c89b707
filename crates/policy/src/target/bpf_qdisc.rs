//! An eBPF queueing discipline: trees with the comparator as callback, lists, maps of states; `skb->mark` is the value,
//! a ring buffer takes what is notified.

use super::Refusals;
use super::parts::{
    check_fields, check_single_port, check_wires, check_words, hooks, orders, read, read_by_order,
};
use crate::engine::decisions::Decisions;
use crate::normal::Policy;
use crate::normal::expression::PacketField;

/// A socket buffer has a mark, a priority, a length, a hash and an instant; it has no room for these.
const ABSENT: [PacketField; 3] = [PacketField::Processing, PacketField::Slack, PacketField::Dst];
/// A search under a lock is short; the published runtime has as many.
const MOST_QUEUES: usize = 16;

pub(super) fn check(policy: &Policy, found: &mut Refusals) {
    let decisions = Decisions::of(policy);
    check_single_port(policy, found);
    check_wires(policy, found);
    if policy.queues().len() > MOST_QUEUES {
        let part = format!("port {}", policy.ports()[0].name);
        found.note(&part, "a discipline searches 16 queues at most", "fewer queues, or one with an order");
    }
    for (part, order) in orders(policy, &decisions) {
        check_fields(&part, &read_by_order(order), &ABSENT, found);
    }
    for hook in hooks(policy, &decisions) {
        check_fields(&hook.part, &read(hook.cases), &ABSENT, found);
    }
    check_words(policy, &decisions, &policy.limits(), found);
}
