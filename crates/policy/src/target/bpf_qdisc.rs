//! An eBPF queueing discipline: trees with the comparator as callback, lists, and maps of states. `skb->mark` is a
//! packet's value, and notifications go to a ring buffer.

use super::Refusals;
use super::parts::{
    check_fields, check_single_port, check_states, check_wires, check_words, hooks, orders, read_by_order,
};
use crate::engine::decisions::Decisions;
use crate::normal::expression::PacketField;
use crate::normal::{Action, Policy, reads};

/// Fields that a socket buffer has no room for; it has a mark, a priority, a length, a hash and a time.
const ABSENT: [PacketField; 3] = [PacketField::Processing, PacketField::Slack, PacketField::Dst];
/// A search under a lock must be short; the published runtime has the same limit.
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
        check_fields(&hook.part, &reads::of_cases(hook.cases), &ABSENT, found);
        if hook.cases.iter().flat_map(|case| &case.actions).any(|action| matches!(action, Action::Mark)) {
            let reason = "the kernel lets no discipline in BPF write into packets, so `mark` has no effect";
            found.note(
                &hook.part,
                reason,
                "drop, notify, or marks by what a packet says in the target tc-bpf",
            );
        }
    }
    check_states(policy, &decisions, &policy.limits(), found);
    check_words(policy, &decisions, &policy.limits(), found);
}
