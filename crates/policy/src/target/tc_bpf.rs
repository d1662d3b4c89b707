//! A tc program before a device's queue: it sees arrivals but not departures. The size of the policy's queue becomes
//! the limit of a `pfifo` or `bfifo` behind the program, which is the same hard bound.

use super::Refusals;
use super::parts::{
    Hook, When, check_fields, check_fifo, check_single_port, check_states, check_wires, check_words, hooks,
    is_occupancy,
};
use crate::engine::decisions::Decisions;
use crate::normal::expression::PacketField;
use crate::normal::{Action, Policy, reads};

const ABSENT: [PacketField; 3] = [PacketField::Processing, PacketField::Slack, PacketField::Dst];

pub(super) fn check(policy: &Policy, found: &mut Refusals) {
    let decisions = Decisions::of(policy);
    check_single_port(policy, found);
    check_wires(policy, found);
    let reasons = ["no packet that waits can be given up", "it has no queue whose order it could choose"];
    check_fifo(policy, &decisions, reasons, found);
    for port in policy.ports().iter().filter(|port| port.queues.len() > 1) {
        let part = format!("port {}, schedPrio", port.name);
        found.note(&part, "it has no queues to choose from", "one queue for each port");
    }
    for buffer in policy.buffers() {
        let part = format!("buffer {}", buffer.name);
        found.note(&part, "it does not know what waits: packets leave unseen", "a queue without a buffer");
    }
    for hook in hooks(policy, &decisions) {
        if hook.when == When::Scheduled {
            found.note(&hook.part, "packets leave unseen", "postAdmAct, or the target bpf-qdisc");
        }
        let places = reads::of_cases(hook.cases);
        if hook.when != When::Scheduled && places.iter().any(|place| is_occupancy(*place)) {
            let reason = "it does not know what waits: packets leave unseen";
            found.note(&hook.part, reason, "the queue's size alone, or the target bpf-qdisc");
        }
        check_fields(&hook.part, &places, &ABSENT, found);
        check_actions(&hook, found);
    }
    check_states(policy, &decisions, &policy.limits(), found);
    check_words(policy, &decisions, &policy.limits(), found);
}

/// Refuses actions that would wrongly apply to a packet that the queue then drops for its size, and drops of packets
/// other than the arriving one.
fn check_actions(hook: &Hook<'_>, found: &mut Refusals) {
    let actions = || hook.cases.iter().map(|case| &case.actions);
    let drops = |actions: &Vec<Action>| actions.iter().filter(|action| action.drops()).count();
    if actions().any(|actions| drops(actions) > 1) {
        found.note(&hook.part, "no packet that waits can be given up", "one `drop` in each case");
    }
    let lasting = |action: &Action| matches!(action, Action::Modify(..) | Action::Notify);
    if hook.when == When::Admitted && actions().flatten().any(lasting) {
        let reason = "whether a packet stays is known behind it only";
        found.note(&hook.part, reason, "the same in `congestion`, or the target bpf-qdisc");
    }
}
