//! The fields of a waiting packet that are kept: those that a policy reads later.

use crate::normal::expression::{PacketField, Place};
use crate::normal::rank::Rank;
use crate::normal::{Action, Case, Comparator, Policy};

/// The fields in the order of [`Stored`](crate::Stored), with their names and types there.
const FIELDS: [(PacketField, &str, &str); 10] = [
    (PacketField::Value, "value", "i64"),
    (PacketField::Slack, "slack", "i64"),
    (PacketField::Arrival, "arrival", "i64"),
    (PacketField::Queue, "queue", "u32"),
    (PacketField::Processing, "processing", "u32"),
    (PacketField::Flow, "flow", "u32"),
    (PacketField::Size, "size", "u32"),
    (PacketField::Dst, "dst", "u32"),
    (PacketField::PolicyId, "policy_id", "u32"),
    (PacketField::Tos, "tos", "u8"),
];

/// The type, with its construction and its accessors.
pub fn waiting(policy: &Policy) -> String {
    let fields = fields(policy);
    let list = |line: fn(&str, &str) -> String| {
        let kept = FIELDS.iter().filter(|(field, _, _)| fields.contains(field));
        kept.map(|(_, name, kind)| line(name, kind)).collect::<String>()
    };
    format!(
        "/// What is kept of a packet.\n#[derive(Clone, Copy, Debug)]\npub struct Waiting {{\n{}}}\n\n\
         impl Kept for Waiting {{\n    #[inline]\n    fn of(packet: &Stored) -> Self {{\n        Self {{\n{}        }}\n    }}\n    \
         #[inline]\n    fn packet(&self) -> Stored {{\n        Stored {{\n{}            ..Stored::NOTHING\n        }}\n    }}\n}}\n",
        list(|name, kind| format!("    {name}: {kind},\n")),
        list(|name, _| format!("            {name}: packet.{name},\n")),
        list(|name, _| format!("            {name}: self.{name},\n")),
    )
}

/// Always a packet's bytes and cycles; all fields if it can enter another queue.
fn fields(policy: &Policy) -> Vec<PacketField> {
    if policy.ports().iter().any(|port| port.wire.is_some()) {
        return FIELDS.map(|(field, _, _)| field).to_vec();
    }
    let mut fields = vec![PacketField::Size, PacketField::Processing];
    let mut see = |place| {
        if let Place::Packet(_, field) | Place::Head(_, field) = place {
            fields.push(field);
        }
    };
    for queue in policy.queues() {
        for order in [&queue.processing, &queue.admission] {
            order_fields(order, &mut see);
        }
    }
    let of_queues =
        policy.buffers().iter().map(|one| &one.order).chain(policy.ports().iter().map(|one| &one.order));
    of_queues.flatten().for_each(|order| order.test.places(&mut see));
    policy.ports().iter().flat_map(|port| &port.scheduled).for_each(|case| case_fields(case, &mut see));
    fields
}

/// An order is evaluated again if packets are compared, or if their keys may change.
fn order_fields(order: &Comparator, see: &mut dyn FnMut(Place)) {
    let mut changes = false;
    order.test.places(&mut |place| changes |= matches!(place, Place::Packet(_, PacketField::Processing)));
    if changes || order.rank == Rank::Unranked {
        order.test.places(see);
    }
}

fn case_fields(case: &Case, see: &mut dyn FnMut(Place)) {
    case.test.places(see);
    for action in &case.actions {
        if let Action::Modify(_, amount) = action {
            amount.places(see);
        }
    }
}
