//! Queues, buffers and ports: sizes, rates, and which queues belong to which buffers and ports.

use super::Found;
use super::bodies::constant;
use super::constants::exact;
use super::names::{EntityKind, Names};
use crate::diagnose::{Class, Span};
use crate::normal::expression::{PacketField, Place, Relation, Test, Which};
use crate::normal::rank::Rank;
use crate::normal::{self, Buffer, Comparator, Policy, Port, PortRate, Queue, States};
use crate::normal::{expression::Amount, range::LARGEST_SIZE};
use crate::syntax::tree::{
    Constructor, Expression, File, Name, Number, Rate, RateUnit, SizeUnit, Spanned, Statement,
};

/// The default order of packets: by arrival.
pub fn fifo() -> Comparator {
    let arrival = |which| Amount::Read(Place::Packet(which, PacketField::Arrival));
    let test = Test::Compare(Relation::Less, arrival(Which::First), arrival(Which::Second));
    Comparator { test, rank: Rank::Arrival { latest: false } }
}

/// All entities of a file, without their attributes.
pub fn entities(file: &File, names: &Names<'_>, name: &str, found: &mut Found) -> Policy {
    let mut policy = Policy {
        name: name.to_owned(),
        source: File::default(),
        queues: Vec::new(),
        buffers: Vec::new(),
        ports: Vec::new(),
    };
    let mut places = Vec::new();
    for statement in &file.statements {
        if let Statement::Declaration { name, made, .. } = &statement.node
            && let Constructor::Queue(of, unit) = &made.node
        {
            queues(name, of, *unit, names, &mut policy, &mut places, found);
        }
    }
    let mut owners =
        Owners { port: vec![None; policy.queues.len()], buffer: vec![None; policy.queues.len()] };
    for statement in &file.statements {
        if let Statement::Declaration { name, made, .. } = &statement.node {
            match &made.node {
                Constructor::Queue(..) => {}
                Constructor::Buffer(of, unit, list) => {
                    buffers(name, (of, *unit), list, names, &mut policy, &mut owners, found);
                }
                Constructor::Port(rate, list) => {
                    ports(name, rate.as_ref(), list, names, &mut policy, &mut owners, found);
                }
            }
        }
    }
    if policy.ports.is_empty() {
        let way_out = "declare one, such as `out = Port(q);`";
        found.note(Class::Empty, Span::default(), "the file describes no port", way_out);
    }
    owned(&mut policy, &owners, &places, found);
    policy
}

/// The port and the buffer of each queue.
struct Owners {
    port: Vec<Option<usize>>,
    buffer: Vec<Option<usize>>,
}

fn owned(policy: &mut Policy, owners: &Owners, places: &[Span], found: &mut Found) {
    // A port whose list of queues has a mistake may have been meant to serve this queue.
    let is_unclear = !found.is_empty();
    for (nth, queue) in policy.queues.iter_mut().enumerate() {
        match owners.port.get(nth).copied().flatten() {
            Some(port) => queue.port = port,
            None if policy.ports.is_empty() || is_unclear => {}
            None => {
                let reason = format!("no port serves queue `{}`", queue.name);
                found.note(Class::NoPort, places[nth], reason, "name it in a `Port(..)`");
            }
        }
        queue.buffer = owners.buffer.get(nth).copied().flatten();
    }
}

fn shown(name: &Name, indices: &[u64]) -> String {
    name.word.node.clone() + &indices.iter().map(|index| format!("[{index}]")).collect::<String>()
}

fn queues(
    name: &Name,
    of: &Spanned<Expression>,
    unit: Option<SizeUnit>,
    names: &Names<'_>,
    policy: &mut Policy,
    places: &mut Vec<Span>,
    found: &mut Found,
) {
    let size = size(of, names, found);
    // Its ranges were checked at the declaration.
    for choice in names.choices(name, &Default::default(), &mut Found::default()) {
        places.push(name.word.span);
        policy.queues.push(Queue {
            name: shown(name, &choice.indices),
            size,
            unit: unit.unwrap_or(SizeUnit::Bytes),
            port: 0,
            buffer: None,
            admission: fifo(),
            processing: fifo(),
            congestion: Vec::new(),
            admitted: Vec::new(),
            states: States::default(),
        });
    }
}

fn buffers(
    name: &Name,
    (of, unit): (&Spanned<Expression>, Option<SizeUnit>),
    list: &[Name],
    names: &Names<'_>,
    policy: &mut Policy,
    owners: &mut Owners,
    found: &mut Found,
) {
    let size = size(of, names, found);
    for choice in names.choices(name, &Default::default(), &mut Found::default()) {
        let number = policy.buffers.len();
        let mut queues = Vec::new();
        for one in list {
            for queue in names.all(one, EntityKind::Queue, &choice.bound, found) {
                queues.push(queue);
                own(&mut owners.buffer, (queue, number), one.word.span, Class::SeveralBuffers, found);
            }
        }
        policy.buffers.push(Buffer {
            name: shown(name, &choice.indices),
            size,
            unit: unit.unwrap_or(SizeUnit::Bytes),
            queues,
            order: None,
            congestion: Vec::new(),
            admitted: Vec::new(),
            adm_state: 0,
        });
    }
}

fn ports(
    name: &Name,
    rate: Option<&Spanned<Rate>>,
    list: &[Name],
    names: &Names<'_>,
    policy: &mut Policy,
    owners: &mut Owners,
    found: &mut Found,
) {
    let rate = port_rate(rate, found);
    for choice in names.choices(name, &Default::default(), &mut Found::default()) {
        let number = policy.ports.len();
        let mut queues = Vec::new();
        for one in list {
            for queue in names.all(one, EntityKind::Queue, &choice.bound, found) {
                queues.push(queue);
                own(&mut owners.port, (queue, number), one.word.span, Class::SeveralPorts, found);
            }
        }
        policy.ports.push(Port {
            name: shown(name, &choice.indices),
            rate,
            queues,
            order: None,
            scheduled: Vec::new(),
            sched_state: 0,
            select: None,
            catches_up: false,
            wire: None,
        });
    }
}

fn own(
    owners: &mut [Option<usize>],
    (queue, by): (usize, usize),
    span: Span,
    class: Class,
    found: &mut Found,
) {
    let Some(owner) = owners.get_mut(queue) else { return };
    if owner.is_some() {
        let kind = if class == Class::SeveralPorts { "port" } else { "buffer" };
        let reason = format!("this queue belongs to a {kind} already");
        return found.note(class, span, reason, format!("a queue has at most one {kind}: name it once"));
    }
    *owner = Some(by);
}

fn size(of: &Spanned<Expression>, names: &Names<'_>, found: &mut Found) -> i64 {
    let mut others = Found::default();
    let value = constant(of, names.constants(), &mut others).and_then(|value| value.as_whole());
    match value {
        Some(size) if size > 0 && size <= i128::from(LARGEST_SIZE) => size as i64,
        _ => {
            let reason = "a size is a positive whole number, constant, and less than 2^48";
            found.note(Class::Size, of.span, reason, "write one, in pkts or bytes");
            1
        }
    }
}

fn port_rate(rate: Option<&Spanned<Rate>>, found: &mut Found) -> PortRate {
    let whole = Number { digits: 100, decimals: 0 };
    let Some(rate) = rate else { return PortRate { amount: whole, unit: RateUnit::Percent } };
    let read = PortRate { amount: rate.node.amount, unit: rate.node.unit };
    let value = exact(read.amount);
    let too_much = read.unit == RateUnit::Percent && exceeds(value, 100);
    let too_little =
        value.numerator() == 0 || read.kbps().is_some_and(|kbps| kbps == 0 || kbps > LARGEST_SIZE);
    if too_much || too_little {
        let reason = "a rate is more than nothing, at least 1 kbps, and at most 100 % of its link";
        found.note(Class::Rate, rate.span, reason, "write such a rate");
    }
    read
}

fn exceeds(value: normal::ratio::Ratio, most: i64) -> bool {
    value.compare(normal::ratio::Ratio::whole(most)).is_none_or(std::cmp::Ordering::is_gt)
}
