//! A program of tc in front of a device's queue: it sees packets come, not how they leave. The size of the policy's
//! queue becomes the limit of a `pfifo` or `bfifo` behind it, which is the same hard bound.

use super::Refusals;
use super::parts::{
    When, check_fields, check_fifo, check_single_port, check_wires, check_words, hooks, is_occupancy, read,
};
use crate::engine::decisions::Decisions;
use crate::normal::Policy;
use crate::normal::expression::PacketField;

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
        let places = read(hook.cases);
        if hook.when != When::Scheduled && places.iter().any(|place| is_occupancy(*place)) {
            let reason = "it does not know what waits: packets leave unseen";
            found.note(&hook.part, reason, "the queue's size alone, or the target bpf-qdisc");
        }
        check_fields(&hook.part, &places, &ABSENT, found);
    }
    check_words(policy, &decisions, &policy.limits(), found);
}
