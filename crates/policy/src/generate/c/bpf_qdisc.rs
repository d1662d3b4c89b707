//! A policy as a Linux queueing discipline (`Qdisc_ops`, 6.16): trees in the order of its comparators, or lists if all
//! orders are by arrival; states, limits and draws as in the engines, bit by bit.

use super::actions::{Words, follow};
use super::decisions::{constants, has_order, matching, packet_order, queue_order, selected, turns};
use super::{comment, short_name};
use crate::engine::decisions::Decisions;
use crate::engine::machine::any::Plan;
use crate::normal::expression::{PacketField, Place};
use crate::normal::range::Limits;
use crate::normal::{Policy, State};

const HEAD: &str = include_str!("qdisc.h");
const PACKETS: &str = include_str!("qdisc_packets.c");
const REST: &str = include_str!("qdisc.c");

/// C for a policy that the target has accepted.
pub fn generate(policy: &Policy) -> String {
    let (decisions, limits) = (Decisions::of(policy), policy.limits());
    let name = short_name(policy);
    let load = [
        format!("clang -target bpf -mcpu=v3 -O2 -g -c {name}.c -o {name}.o"),
        format!("bpftool struct_ops register {name}.o /sys/fs/bpf"),
        format!("tc qdisc replace dev DEVICE root {name}"),
    ];
    let what = "A queueing discipline of Linux (6.16 and later, CONFIG_NET_SCH_BPF).";
    [
        comment(policy, what, &load),
        super::KERNEL.to_owned(),
        HEAD.to_owned(),
        settings(policy, &decisions),
        turns(policy),
        constants(policy),
        orders(&decisions),
        cases(&decisions),
        selected(policy, decisions.ports[0].select.as_ref()),
        PACKETS.to_owned(),
        actions(policy, &decisions, &limits),
        REST.to_owned(),
        format!(
            "\nSEC(\".struct_ops.link\") struct Qdisc_ops {name} = {{\n\t.id = \"{name}\",\n\t.enqueue = (void *)enqueue,\n\
             \t.dequeue = (void *)dequeue,\n\t.init = (void *)init,\n\t.reset = (void *)reset,\n\
             \t.destroy = (void *)destroy,\n}};\nchar _license[] SEC(\"license\") = \"GPL\";\n"
        ),
    ]
    .join("\n")
}

fn settings(policy: &Policy, decisions: &Decisions) -> String {
    let reads = policy.reads();
    let lists = decisions.queues.iter().all(|queue| queue.plan == Plan::Ring);
    let mut heads = false;
    let buffers = policy.buffers().iter().filter_map(|one| one.order.as_ref());
    let owners = buffers.chain(policy.ports().iter().filter_map(|one| one.order.as_ref()));
    owners.for_each(|order| order.test.places(&mut |place| heads |= matches!(place, Place::Head(..))));
    // If all orders are by arrival, the clock is not read.
    let arrival = reads.contains(&PacketField::Arrival) && (!lists || super::looks_at_arrival(policy));
    let flag = |name: &str, value: bool| format!("#define {name} {}\n", u8::from(value));
    [
        format!("#define QUEUES {}\n", policy.queues().len()),
        format!("#define FIRST_PORT_SCHED_STATE {}LL\n", policy.ports()[0].sched_state),
        flag("LISTS", lists),
        flag("LOOKS_AT_HEADS", heads),
        flag("READS_ARRIVAL", arrival),
        flag("READS_FLOW", reads.contains(&PacketField::Flow)),
        flag("READS_TOS", reads.contains(&PacketField::Tos)),
        flag("CATCHES_UP", policy.ports()[0].catches_up),
        flag("NOTIFIES", policy.notifies()),
    ]
    .concat()
}

fn orders(decisions: &Decisions) -> String {
    let (queues, buffers) = (&decisions.queues, &decisions.buffers);
    [
        packet_order("served_before", queues.iter().map(|one| &one.processing)),
        packet_order("kept_before", queues.iter().map(|one| &one.admission)),
        has_order(buffers.iter().map(|one| one.order.as_ref())),
        queue_order("buffer_order", "int buffer, ", buffers.iter().map(|one| one.order.as_ref())),
        queue_order("port_order", "", decisions.ports.iter().map(|one| one.order.as_ref())),
    ]
    .join("\n")
}

fn cases(decisions: &Decisions) -> String {
    let (queues, buffers) = (&decisions.queues, &decisions.buffers);
    [
        matching("congestion_case", "queue", queues.iter().map(|one| &one.congestion[..])),
        matching("admission_case", "queue", queues.iter().map(|one| &one.admitted[..])),
        matching("buffer_congestion_case", "buffer", buffers.iter().map(|one| &one.congestion[..])),
        matching("buffer_admission_case", "buffer", buffers.iter().map(|one| &one.after[..])),
        matching("scheduling_case", "", decisions.ports.iter().map(|one| &one.after[..])),
    ]
    .join("\n")
}

fn state(of: State) -> &'static str {
    match of {
        State::QueueAdm => "now.queues[queue & 15].adm_state",
        State::QueueSched => "now.queues[queue & 15].sched_state",
        State::BufferAdm => "now.buffers[buffer_of(queue) & 15].adm_state",
        State::PortSched => "now.port_sched_state",
    }
}

fn actions(policy: &Policy, decisions: &Decisions, limits: &Limits) -> String {
    let words = |part: u8| Words {
        drop: if part == 1 { "drop_of_buffer(x, buffer);" } else { "drop_victim(x, queue);" },
        draws: if part == 1 { "&now.buffers[buffer & 15].draws" } else { "&now.queues[queue & 15].draws" },
        while_there: "x->here",
        // Marking is refused, because a discipline in BPF may not write into packets.
        mark: "",
        notify: ["notify(0, queue, p);", "notify(1, buffer, p);", "notify(2, 0, p);"][usize::from(part)],
        look: "look(queue, v);",
        state,
    };
    let prologue = "const struct packet *p = &x->packet;\nu32 queue = p->queue;\nstruct view view, *v = &view;\n\
                    (void)p;\n(void)queue;\n(void)v;";
    let (of_queue, of_buffer) =
        ("struct arriving *x, int matched", "struct arriving *x, u32 buffer, int matched");
    let (queues, buffers, ports) = (policy.queues(), policy.buffers(), policy.ports());
    let all = |cases: Vec<_>, name: &str, part: u8| {
        let (parameters, subject) = match part {
            0 => (of_queue, "queue"),
            1 => (of_buffer, "buffer"),
            _ => (of_queue, "0"),
        };
        follow(
            &format!("apart void {name}"),
            parameters,
            subject,
            prologue,
            cases.into_iter(),
            &words(part),
            limits,
        )
    };
    let congestion = queues.iter().zip(&decisions.queues);
    let admitted = queues.iter().zip(&decisions.queues);
    let full = buffers.iter().zip(&decisions.buffers);
    let entered = buffers.iter().zip(&decisions.buffers);
    let scheduled = ports.iter().zip(&decisions.ports);
    [
        all(
            congestion.map(|(one, of)| (&one.congestion[..], &of.congestion[..])).collect(),
            "on_congestion",
            0,
        ),
        all(admitted.map(|(one, of)| (&one.admitted[..], &of.admitted[..])).collect(), "on_admission", 0),
        all(
            full.map(|(one, of)| (&one.congestion[..], &of.congestion[..])).collect(),
            "on_buffer_congestion",
            1,
        ),
        all(entered.map(|(one, of)| (&one.admitted[..], &of.after[..])).collect(), "on_buffer_admission", 1),
        all(scheduled.map(|(one, of)| (&one.scheduled[..], &of.after[..])).collect(), "on_scheduling", 2),
    ]
    .join("\n")
}
