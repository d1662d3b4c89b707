//! The fields that a policy reads, for drivers whose packets do not carry all fields.

use super::expression::{PacketField, Place};
use super::{Action, Case, Policy, Select};
use std::collections::BTreeSet;

/// See [`Policy::reads`].
pub fn of(policy: &Policy) -> BTreeSet<PacketField> {
    let mut found = BTreeSet::new();
    let mut see = |place: Place| {
        if let Place::Packet(_, field) | Place::Head(_, field) = place {
            found.insert(field);
        }
    };
    let packets = policy.queues.iter().flat_map(|queue| [&queue.admission, &queue.processing]);
    let buffers = policy.buffers.iter().filter_map(|buffer| buffer.order.as_ref());
    let ports = policy.ports.iter().filter_map(|port| port.order.as_ref());
    packets.chain(buffers).chain(ports).for_each(|order| order.test.places(&mut see));
    for case in policy.cases() {
        of_cases(std::slice::from_ref(case)).into_iter().for_each(&mut see);
    }
    for port in &policy.ports {
        if let Some(Select::By(number)) = &port.select {
            number.places(&mut see);
        }
    }
    let wires = policy.ports.iter().filter_map(|port| port.wire.as_ref());
    found.extend(wires.filter_map(|wire| wire.field).map(|(field, _)| field));
    found
}

/// All fields that the cases of an attribute read.
pub(crate) fn of_cases(cases: &[Case]) -> Vec<Place> {
    let mut places = Vec::new();
    for case in cases {
        case.test.places(&mut |place| places.push(place));
        for action in &case.actions {
            if let Action::Modify(_, value) = action {
                value.places(&mut |place| places.push(place));
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;

    fn reads(text: &str) -> Vec<&'static str> {
        check(text, "reads.oq").expect("a policy").reads().into_iter().map(PacketField::word).collect()
    }

    #[test]
    fn a_policy_reads_what_its_orders_conditions_states_and_selections_name() {
        let order = "by(a, b) = (a.value > b.value) q = Queue(8 pkts); o = Port(q); q.admPrio = by;";
        assert_eq!(
            reads(order),
            ["value", "arrival"],
            "packets are served by arrival where nothing else is said"
        );
        let heads = "h(a, b) = (a.getHOL().slack < b.getHOL().slack) q[1..2] = Queue(8 pkts); o = Port(q[1..2]); \
                     o.schedPrio = h; o.queueSelect = inline { Packet.TOS % 2 };";
        assert_eq!(reads(heads), ["slack", "arrival", "TOS"]);
        let state = "s(o, p) = (p.flow == 3, modify(schedState := schedState + p.size)) f(a, b) = (a.schedState < \
                     b.schedState) q[1..2] = Queue(8 pkts); o = Port(q[1..2]); o.schedPrio = f; o.postSchedAct = s;";
        assert_eq!(reads(state), ["flow", "arrival", "size"]);
    }

    #[test]
    fn marks_and_notifications_are_known() {
        let of = |act: &str| {
            let text = format!("q = Queue(8 pkts); o = Port(q); q.postAdmAct = (currSize > 3, {act});");
            let policy = check(&text, "acts.oq").expect("a policy");
            (policy.marks(), policy.notifies())
        };
        assert_eq!(
            (of("mark"), of("notify"), of("mark & notify")),
            ((true, false), (false, true), (true, true))
        );
    }
}
