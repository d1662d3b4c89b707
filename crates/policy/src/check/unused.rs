//! Finds attributes without effect.

use super::Found;
use super::names::{Indices, Names};
use crate::diagnose::Class;
use crate::normal::expression::{Place, QueueField, Which};
use crate::normal::integer::Int;
use crate::normal::rank::Rank;
use crate::normal::{Action, Policy, State};
use crate::syntax::tree::{Attribute, File, Statement, Value};

/// Reports attributes that cannot take effect.
pub fn check(file: &File, names: &Names<'_>, policy: &Policy, found: &mut Found) {
    for statement in &file.statements {
        let Statement::Assignment { name, attribute, value } = &statement.node else { continue };
        let unread = match attribute.node {
            Attribute::AdmState => !reads(policy, State::QueueAdm) && !reads(policy, State::BufferAdm),
            Attribute::SchedState => !reads(policy, State::QueueSched) && !reads(policy, State::PortSched),
            _ => false,
        };
        if unread {
            let reason = format!("nothing reads this `{}`", attribute.node.word());
            found.note(Class::NoEffect, attribute.span, reason, "remove it, or compare it somewhere");
        }
        let catches_up = matches!(&value.node, Value::Named(word, None) if word.node == "catchUp");
        if attribute.node == Attribute::Returning && catches_up {
            let ports = names.choices(name, &Indices::new(), &mut Found::default());
            let ports =
                ports.iter().filter_map(|one| names.element(name, &one.indices, &mut Found::default()));
            if ports.into_iter().any(|port| !serves_least_state(policy, port.number)) {
                let reason =
                    "only a port that serves the queue of the least schedState has queues that catch up";
                let way_out = "remove it, or order queues by `q1.schedState < q2.schedState`";
                found.note(Class::NoEffect, attribute.span, reason, way_out);
            }
        }
    }
}

fn serves_least_state(policy: &Policy, port: usize) -> bool {
    let state = Int::Read(Place::Queue(Which::First, QueueField::SchedState));
    let order = policy.ports[port].order.as_ref();
    order.is_some_and(
        |order| matches!(&order.rank, Rank::General { key } | Rank::Bounded { key, .. } if *key == state),
    )
}

/// True if some expression reads this state, other than to change it.
fn reads(policy: &Policy, state: State) -> bool {
    let mut found = false;
    let mut see = |place: Place| found |= place == state.place() || place.swapped() == state.place();
    for case in policy.cases() {
        case.test.places(&mut see);
        for action in &case.actions {
            match action {
                Action::Modify(changed, value) if *changed != state => value.places(&mut see),
                _ => {}
            }
        }
    }
    let orders = policy.buffers.iter().filter_map(|buffer| buffer.order.as_ref());
    for order in orders.chain(policy.ports.iter().filter_map(|port| port.order.as_ref())) {
        order.test.places(&mut see);
    }
    found
}
