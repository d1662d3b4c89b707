//! The decisions of a policy as C functions: sizes, orders, matching cases.

use super::blocks::Choice;
use super::numbers::{number, test};
use crate::engine::decisions::{Decided, Ordering};
use crate::generate::numbers::At;
use crate::normal::integer::Int;
use crate::normal::rank::Rank;
use crate::normal::{Policy, Select};
use crate::syntax::tree::SizeUnit;

const QUEUE: &str = "u32 queue";
const BUFFER: &str = "int buffer";
const NOTHING: &str = "return 0;";

fn returns(value: impl std::fmt::Display) -> String {
    format!("return {value};")
}

fn by_number(head: &str, parameters: &str, all: impl IntoIterator<Item = String>) -> String {
    let subject = parameters.rsplit(' ').next().unwrap_or_default();
    Choice { head, parameters, subject, otherwise: NOTHING }.of(all)
}

/// Sizes, units, memberships and initial states.
pub fn constants(policy: &Policy) -> String {
    let (queues, buffers) = (policy.queues(), policy.buffers());
    let packets = |unit: SizeUnit| returns(u8::from(unit == SizeUnit::Packets));
    let number = |value: i64| returns(format_args!("{value}LL"));
    let member = |buffer: Option<usize>| returns(buffer.map_or(-1, |buffer| buffer as i64));
    [
        by_number("within s64 queue_size", QUEUE, queues.iter().map(|one| number(one.size))),
        by_number("within int counts_packets", QUEUE, queues.iter().map(|one| packets(one.unit))),
        by_number("within int buffer_of", QUEUE, queues.iter().map(|one| member(one.buffer))),
        by_number("within s64 buffer_size", BUFFER, buffers.iter().map(|one| number(one.size))),
        by_number("within int buffer_counts_packets", BUFFER, buffers.iter().map(|one| packets(one.unit))),
        by_number("within s64 first_adm_state", QUEUE, queues.iter().map(|one| number(one.states.adm))),
        by_number("within s64 first_sched_state", QUEUE, queues.iter().map(|one| number(one.states.sched))),
        by_number(
            "within s64 first_buffer_adm_state",
            BUFFER,
            buffers.iter().map(|one| number(one.adm_state)),
        ),
    ]
    .join("\n")
}

/// Of two packets of a queue, of which the first arrives later: whether the first ranks before the second.
pub fn packet_order<'a>(name: &str, orders: impl Iterator<Item = &'a Ordering>) -> String {
    let code = |order: &Ordering| match order.rank {
        // The later arrival ranks behind, even if both have the same time.
        Rank::Arrival { latest: false } => NOTHING.to_owned(),
        _ => returns(test(&order.test, At::Order)),
    };
    let choice = Choice {
        head: &format!("within int {name}"),
        parameters: "const struct packet *a, const struct packet *b",
        subject: "a->queue",
        otherwise: NOTHING,
    };
    choice.of(orders.map(code))
}

/// Of two queues, whether the first ranks before the second; without an order, the one declared first does.
pub fn queue_order<'a>(
    name: &str,
    parameters: &str,
    orders: impl Iterator<Item = Option<&'a Ordering>>,
) -> String {
    let code = |order: Option<&Ordering>| {
        order.map_or(NOTHING.to_owned(), |order| returns(test(&order.test, At::Order)))
    };
    let parameters = format!("{parameters}const struct candidate *a, const struct candidate *b");
    Choice {
        head: &format!("within int {name}"),
        parameters: &parameters,
        subject: "buffer",
        otherwise: NOTHING,
    }
    .of(orders.map(code))
}

/// Which buffers have an order of queues.
pub fn has_order<'a>(orders: impl Iterator<Item = Option<&'a Ordering>>) -> String {
    by_number("within int orders_queues", BUFFER, orders.map(|order| returns(u8::from(order.is_some()))))
}

/// The first case that matches, from 0; -1 if none does.
pub fn matching<'a>(name: &str, of: &str, hooks: impl Iterator<Item = &'a [Decided]>) -> String {
    let code = |cases: &[Decided]| {
        let step = |(nth, case): (usize, &Decided)| {
            format!("if ({})\n\treturn {nth};\n", test(&case.test, At::Hook))
        };
        let steps: String = cases.iter().enumerate().map(step).collect();
        format!("{steps}return -1;")
    };
    let (parameter, subject) = if of.is_empty() { (String::new(), "0") } else { (format!("u32 {of}, "), of) };
    let parameters = format!("{parameter}const struct packet *p, const struct view *v");
    Choice { head: &format!("within int {name}"), parameters: &parameters, subject, otherwise: "return -1;" }
        .of(hooks.map(code))
}

/// The queue that a packet joins.
pub fn selected(policy: &Policy, by: Option<&Int>) -> String {
    let body = match (&policy.ports()[0].select, by) {
        (Some(Select::Random), _) => returns("port_turns[below(&now.select, QUEUES) & 15]"),
        (Some(Select::By(_)), Some(by)) => returns(format_args!("port_turns[{} & 15]", number(by, At::Hook))),
        _ => returns("p->queue"),
    };
    format!("within u32 selected(const struct packet *p)\n{{\n\t{body}\n}}\n")
}

/// The order in which the queues of ports and buffers are searched, which breaks ties.
pub fn turns(policy: &Policy) -> String {
    let list = |queues: &[usize]| queues.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let mut all = format!("static const u8 port_turns[16] = {{ {} }};\n", list(&policy.ports()[0].queues));
    all.push_str(
        "/* One more than the queue; 0: there is no other. */\nstatic const u8 buffer_turns[16][16] = {\n",
    );
    for buffer in policy.buffers() {
        let queues: Vec<usize> = buffer.queues.iter().map(|queue| queue + 1).collect();
        all.push_str(&format!("\t{{ {} }},\n", list(&queues)));
    }
    all.push_str("};\n");
    all
}
