//! The parts of a policy that targets check: orders, hooks, and the fields that they read.

use super::Refusals;
use crate::engine::decisions::{Decided, Decisions, OfOwner, Ordering};
use crate::generate::c::can_become;
use crate::normal::expression::{BufferField, PacketField, Place, QueueField};
use crate::normal::integer::{Int, IntTest};
use crate::normal::range::Limits;
use crate::normal::rank::Rank;
use crate::normal::{Case, Policy};

/// When a hook runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum When {
    /// Before a packet joins.
    Congestion,
    /// After it has joined.
    Admitted,
    /// After it was scheduled.
    Scheduled,
}

/// The cases of an attribute.
pub(super) struct Hook<'a> {
    /// `queue q, congestion`
    pub part: String,
    pub when: When,
    pub cases: &'a [Case],
    pub decided: &'a [Decided],
}

/// All hooks that have cases.
pub(super) fn hooks<'a>(policy: &'a Policy, decisions: &'a Decisions) -> Vec<Hook<'a>> {
    let mut all = Vec::new();
    let mut note = |part: String, when, cases: &'a [Case], decided: &'a [Decided]| {
        if !cases.is_empty() {
            all.push(Hook { part, when, cases, decided });
        }
    };
    for (queue, made) in policy.queues().iter().zip(&decisions.queues) {
        let name = &queue.name;
        note(format!("queue {name}, congestion"), When::Congestion, &queue.congestion, &made.congestion);
        note(format!("queue {name}, postAdmAct"), When::Admitted, &queue.admitted, &made.admitted);
    }
    for (buffer, made) in policy.buffers().iter().zip(&decisions.buffers) {
        let name = &buffer.name;
        note(format!("buffer {name}, congestion"), When::Congestion, &buffer.congestion, &made.congestion);
        note(format!("buffer {name}, postAdmAct"), When::Admitted, &buffer.admitted, &made.after);
    }
    for (port, made) in policy.ports().iter().zip(&decisions.ports) {
        note(format!("port {}, postSchedAct", port.name), When::Scheduled, &port.scheduled, &made.after);
    }
    all
}

/// All orders of packets and of queues, by the attribute.
pub(super) fn orders<'a>(policy: &Policy, decisions: &'a Decisions) -> Vec<(String, &'a Ordering)> {
    let mut all = Vec::new();
    for (queue, made) in policy.queues().iter().zip(&decisions.queues) {
        all.push((format!("queue {}, admPrio", queue.name), &made.admission));
        all.push((format!("queue {}, procPrio", queue.name), &made.processing));
    }
    let of = |owner: &'a OfOwner| owner.order.as_ref();
    for (buffer, made) in policy.buffers().iter().zip(&decisions.buffers) {
        all.extend(of(made).map(|order| (format!("buffer {}, queuePrio", buffer.name), order)));
    }
    for (port, made) in policy.ports().iter().zip(&decisions.ports) {
        all.extend(of(made).map(|order| (format!("port {}, schedPrio", port.name), order)));
    }
    all
}

/// Every field that an order reads.
pub(super) fn read_by_order(order: &Ordering) -> Vec<Place> {
    let mut places = Vec::new();
    numbers(&order.test, &mut |number| number.places(&mut |place| places.push(place)));
    places
}

/// True for a length of a queue or a buffer.
pub(super) fn is_occupancy(place: Place) -> bool {
    matches!(
        place,
        Place::Queue(_, QueueField::CurrSize | QueueField::Length) | Place::Buffer(BufferField::CurrSize)
    )
}

/// The packet field that is read, if it is one.
pub(super) fn packet_field(place: Place) -> Option<PacketField> {
    match place {
        Place::Packet(_, field) | Place::Head(_, field) => Some(field),
        _ => None,
    }
}

/// Calls `see` for every number of a test.
pub(super) fn numbers(test: &IntTest, see: &mut dyn FnMut(&Int)) {
    match test {
        IntTest::Constant(_) => {}
        IntTest::Compare(_, a, b) => {
            see(a);
            see(b);
        }
        IntTest::Not(a) => numbers(a, see),
        IntTest::And(a, b) | IntTest::Or(a, b) => {
            numbers(a, see);
            numbers(b, see);
        }
    }
}

/// Calls `see` for every number of a hook's tests and of its new states.
pub(super) fn decided(cases: &[Decided], see: &mut dyn FnMut(&Int)) {
    for case in cases {
        numbers(&case.test, see);
        for value in case.values.iter().flatten() {
            see(&value.over);
            see(&value.under);
        }
    }
}

/// Refuses connected ports, which only software supports.
pub(super) fn check_wires(policy: &Policy, found: &mut Refusals) {
    for port in policy.ports().iter().filter(|port| port.wire.is_some()) {
        let part = format!("port {}, connect", port.name);
        found.note(&part, "its packets go on to another queue of the file", "a file for each level");
    }
}

/// Refuses several ports, because a device has one.
pub(super) fn check_single_port(policy: &Policy, found: &mut Refusals) {
    if policy.ports().len() > 1 {
        let part =
            format!("ports {} to {}", policy.ports()[0].name, policy.ports()[policy.ports().len() - 1].name);
        found.note(&part, "it is attached to one device, which is one port", "a file for each port");
    }
}

/// Refuses fields that packets on a wire do not have.
pub(super) fn check_fields(part: &str, places: &[Place], absent: &[PacketField], found: &mut Refusals) {
    for field in places.iter().filter_map(|place| packet_field(*place)).filter(|field| absent.contains(field))
    {
        let reason = format!("packets here have no `{}`", field.word());
        found.note(part, &reason, "use TOS, size, flow or arrival");
    }
}

/// Refuses intermediate results of more than 64 bits. (New states are computed with a check, as in all engines.)
pub(super) fn check_words(policy: &Policy, decisions: &Decisions, limits: &Limits, found: &mut Refusals) {
    let wide = "it needs more than 64 bits on the way, which the target does not have";
    let out = "compare smaller numbers, such as size or TOS";
    // Trees and searches call the comparator itself.
    for (part, order) in orders(policy, decisions) {
        let mut fits = true;
        numbers(&order.test, &mut |number| fits &= limits.fits_words(number));
        if !fits {
            found.note(&part, wide, out);
        }
    }
    for hook in hooks(policy, decisions) {
        let mut fits = true;
        for case in hook.decided {
            numbers(&case.test, &mut |number| fits &= limits.fits_words(number));
        }
        if !fits {
            found.note(&hook.part, wide, out);
        }
    }
}

/// Refuses new states that cannot be computed: in 128 bits, with divisors and remainders of 64.
pub(super) fn check_states(policy: &Policy, decisions: &Decisions, limits: &Limits, found: &mut Refusals) {
    for hook in hooks(policy, decisions) {
        let mut values = hook.decided.iter().flat_map(|case| case.values.iter().flatten());
        if values.any(|value| !can_become(value, limits)) {
            let reason = "a state is divided by more than 64 bits, or a remainder of more, which the target does not have";
            found.note(&hook.part, reason, "divide by smaller numbers, such as constants");
        }
    }
}

/// Refuses orders of packets other than first in, first out.
pub(super) fn check_fifo(policy: &Policy, decisions: &Decisions, reasons: [&str; 2], found: &mut Refusals) {
    let is_fifo = |order: &Ordering| order.rank == Rank::Arrival { latest: false };
    for (queue, made) in policy.queues().iter().zip(&decisions.queues) {
        if !is_fifo(&made.admission) {
            let part = format!("queue {}, admPrio", queue.name);
            found.note(&part, reasons[0], "admPrio = fifo: what comes to a full queue is dropped");
        }
        if !is_fifo(&made.processing) {
            found.note(&format!("queue {}, procPrio", queue.name), reasons[1], "procPrio = fifo");
        }
    }
}
