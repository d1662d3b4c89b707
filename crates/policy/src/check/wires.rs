//! Connections: the queues that packets enter after leaving a port.

use super::Found;
use super::names::{Entity, EntityKind, Indices, Names};
use crate::diagnose::{Class, Span};
use crate::normal::expression::PacketField;
use crate::normal::{Policy, Wire};
use crate::syntax::tree::{Attribute, File, Index, Name, Statement, Value};
use std::collections::BTreeSet;

/// Sets the wires of all ports.
pub fn connect(file: &File, names: &Names<'_>, policy: &mut Policy, found: &mut Found) {
    for statement in &file.statements {
        let Statement::Connection { from, to } = &statement.node else { continue };
        for choice in names.choices(from, &Indices::new(), found) {
            let Some(port) = names.one(from, &choice.indices, EntityKind::Port, found) else { continue };
            let Some(wire) = wire(to, &choice.bound, names, found) else { continue };
            if policy.ports[port].wire.replace(wire).is_some() {
                let reason = format!("port `{}` is connected already", policy.ports[port].name);
                found.note(
                    Class::Wiring,
                    from.word.span,
                    reason,
                    "connect it once; a field of the packet may choose",
                );
            }
        }
    }
    when_full(file, names, policy, found);
    no_circle(file, policy, found);
}

fn wire(to: &Name, bound: &Indices, names: &Names<'_>, found: &mut Found) -> Option<Wire> {
    let (mut given, mut field) = (Vec::new(), None);
    for index in &to.indices {
        if let Index::Field(_, word) = &index.node {
            let Some(known) = PacketField::of(&word.node) else {
                let reason = format!("a packet has no field `{}`", word.node);
                found.note(Class::Field, word.span, reason, "dst, flow, TOS, and others that do not change");
                return None;
            };
            if field.replace(known).is_some() {
                found.note(
                    Class::Wiring,
                    index.span,
                    "one field chooses the queue",
                    "write a number for the others",
                );
                return None;
            }
            given.push(None);
        } else {
            given.push(Some(names.index(index, bound, found)?));
        }
    }
    let Some(field) = field else {
        let indices: Vec<u64> = given.into_iter().flatten().collect();
        let queue = names.one(to, &indices, EntityKind::Queue, found)?;
        return Some(Wire { field: None, to: vec![queue], waits: true });
    };
    let along: Vec<(u64, Entity)> = names.along(&to.word.node, &given);
    let first = along.first().map_or(0, |(index, _)| *index);
    let in_row = along
        .iter()
        .zip(first..)
        .all(|((index, entity), nth)| *index == nth && entity.kind == EntityKind::Queue);
    if along.is_empty() || !in_row {
        let reason = format!("`{}` is no array of queues, without gaps, in this index", to.word.node);
        found.note(Class::Index, to.word.span, reason, "declare its queues in a range");
        return None;
    }
    let queues = along.iter().map(|(_, entity)| entity.number).collect();
    Some(Wire { field: Some((field, i64::try_from(first).unwrap_or(i64::MAX))), to: queues, waits: true })
}

/// Sets what ports do if the next queue does not admit a packet.
fn when_full(file: &File, names: &Names<'_>, policy: &mut Policy, found: &mut Found) {
    for statement in &file.statements {
        let Statement::Assignment { name, attribute, value } = &statement.node else { continue };
        if attribute.node != Attribute::WhenFull {
            continue;
        }
        let Value::Named(word, None) = &value.node else { continue };
        for choice in names.choices(name, &Indices::new(), &mut Found::default()) {
            let Some(port) = names.one(name, &choice.indices, EntityKind::Port, &mut Found::default()) else {
                continue;
            };
            match &mut policy.ports[port].wire {
                Some(wire) => wire.waits = word.node == "wait",
                None => {
                    let reason = format!("port `{}` is connected to no queue", policy.ports[port].name);
                    found.note(Class::NoEffect, attribute.span, reason, "remove it, or `connect` the port");
                }
            }
        }
    }
}

/// Checks that connections form no cycle.
fn no_circle(file: &File, policy: &Policy, found: &mut Found) {
    let next = |port: usize| -> BTreeSet<usize> {
        let wire = policy.ports[port].wire.iter();
        wire.flat_map(|wire| &wire.to).map(|queue| policy.queues[*queue].port).collect()
    };
    for start in 0..policy.ports.len() {
        let (mut seen, mut open) = (BTreeSet::new(), next(start));
        while let Some(port) = open.pop_first() {
            if seen.insert(port) {
                open.extend(next(port));
            }
        }
        if seen.contains(&start) {
            let reason = format!("what leaves port `{}` comes back to it", policy.ports[start].name);
            found.note(Class::Wiring, place(file), reason, "connect ports to queues of later levels only");
            return;
        }
    }
}

fn place(file: &File) -> Span {
    let mut connections = file.statements.iter().rev();
    let last = connections.find(|statement| matches!(statement.node, Statement::Connection { .. }));
    last.map_or(Span::default(), |statement| statement.span)
}
