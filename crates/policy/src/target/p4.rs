//! P4 for v1model: a program before the queues and one after them, which sees their depth in packets. The queues are
//! first in, first out, with strict priorities that are configured.

use super::Refusals;
use super::parts::{
    When, check_fields, check_fifo, check_wires, check_words, decided, hooks, is_occupancy, orders,
    read_by_order,
};
use crate::engine::decisions::Decisions;
use crate::normal::expression::{PacketField, Place, QueueField, Which};
use crate::normal::integer::Int;
use crate::normal::{Policy, State, reads};
use crate::syntax::tree::SizeUnit;

const ABSENT: [PacketField; 3] = [PacketField::Value, PacketField::Processing, PacketField::Slack];

pub(super) fn check(policy: &Policy, found: &mut Refusals) {
    let (decisions, limits) = (Decisions::of(policy), policy.limits());
    check_wires(policy, found);
    let reasons = ["no packet that waits can be given up", "the queues' order is not programmable"];
    check_fifo(policy, &decisions, reasons, found);
    check_sizes(policy, found);
    check_schedules(policy, &decisions, found);
    for hook in hooks(policy, &decisions) {
        let places = reads::of_cases(hook.cases);
        if hook.when == When::Congestion && places.iter().any(|place| is_occupancy(*place)) {
            let reason = "before the queue its depth is not known";
            found.note(&hook.part, reason, "the queue's size alone; marks in postAdmAct or postSchedAct");
        }
        if places.contains(&Place::Queue(Which::First, QueueField::CurrSize))
            && hook.when != When::Congestion
            && policy.queues().iter().any(|queue| queue.unit == SizeUnit::Bytes)
        {
            found.note(&hook.part, "the depth is known in packets, not in bytes", "`length`");
        }
        check_fields(&hook.part, &places, &ABSENT, found);
        let mut divides = false;
        decided(hook.decided, &mut |number| divides |= has_remainder(number));
        let fractions = hook.decided.iter().flat_map(|case| case.values.iter().flatten());
        divides |= fractions.into_iter().any(|value| !is_power_of_two(&value.under));
        if divides {
            found.note(&hook.part, "P4 does not divide", "powers of two");
        }
        let values = hook.decided.iter().flat_map(|case| case.values.iter().flatten());
        if values.into_iter().any(|value| !limits.fits_words(&value.over)) {
            let reason = "a state here wraps where all engines stop";
            found.note(&hook.part, reason, "states that stay small, such as `admState % 8`");
        }
    }
    check_words(policy, &decisions, &limits, found);
}

fn check_sizes(policy: &Policy, found: &mut Refusals) {
    for buffer in policy.buffers() {
        let part = format!("buffer {}", buffer.name);
        found.note(&part, "how queues share memory is not programmable", "queues with sizes of their own");
    }
    for queue in policy.queues().iter().filter(|queue| queue.unit == SizeUnit::Bytes) {
        found.note(&format!("queue {}", queue.name), "queues are limited in packets", "a size in pkts");
    }
}

/// Only strict priority by constants can be configured.
fn check_schedules(policy: &Policy, decisions: &Decisions, found: &mut Refusals) {
    for (part, order) in orders(policy, decisions).iter().filter(|(part, _)| part.ends_with("schedPrio")) {
        let is_fixed = |place: &Place| match place {
            Place::Queue(_, QueueField::Size) => true,
            Place::Queue(_, field) => match field.place() {
                QueueField::AdmState => !policy.changes(State::QueueAdm),
                QueueField::SchedState => !policy.changes(State::QueueSched),
                _ => false,
            },
            _ => false,
        };
        if !read_by_order(order).iter().all(is_fixed) {
            let reason = "which queue goes first may not depend on what changes";
            found.note(part, reason, "compare states that nothing modifies: strict priorities");
        }
    }
}

fn has_remainder(number: &Int) -> bool {
    match number {
        Int::Constant(_) | Int::Read(_) => false,
        Int::Neg(a) => has_remainder(a),
        Int::Add(a, b) | Int::Sub(a, b) | Int::Mul(a, b) => has_remainder(a) || has_remainder(b),
        Int::Rem(a, b) => has_remainder(a) || !is_power_of_two(b),
    }
}

fn is_power_of_two(number: &Int) -> bool {
    matches!(number, Int::Constant(value) if *value > 0 && value.count_ones() == 1)
}
