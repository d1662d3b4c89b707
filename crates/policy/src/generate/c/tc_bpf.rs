//! A policy as a tc program before a device's queue: it drops and marks by fields of packets and by states.

use super::actions::{Words, follow};
use super::decisions::matching;
use super::{comment, short_name};
use crate::engine::decisions::Decisions;
use crate::normal::expression::PacketField;
use crate::normal::{Action, Policy, State};
use crate::syntax::tree::SizeUnit;

/// C for a policy that the target has accepted.
pub fn generate(policy: &Policy) -> String {
    let (decisions, limits) = (Decisions::of(policy), policy.limits());
    let (queue, decided) = (&policy.queues()[0], &decisions.queues[0]);
    let name = short_name(policy);
    let behind = if queue.unit == SizeUnit::Packets { "pfifo" } else { "bfifo" };
    let load = [
        format!("clang -target bpf -mcpu=v3 -O2 -g -c {name}.c -o {name}.o"),
        format!("tc qdisc replace dev DEVICE root {behind} limit {}", queue.size),
        "tc qdisc add dev DEVICE clsact".to_owned(),
        format!("tc filter add dev DEVICE egress bpf da obj {name}.o sec tc"),
    ];
    let words = Words {
        // The last packet in first-in, first-out order is the arriving one.
        drop: "x->here = 0;",
        draws: "&v->draws",
        while_there: "x->here",
        mark: "x->marked = 1;",
        notify: "x->notices++;",
        look: "",
        state,
    };
    let prologue = "const struct packet *p = &x->packet;\n(void)p;";
    let parameters = "struct arriving *x, struct view *v, int matched";
    let follow = |head, cases, decided| {
        follow(head, parameters, "0", prologue, std::iter::once((cases, decided)), &words, &limits)
    };
    [
        comment(policy, "A program of Linux' tc, in front of a queue.", &load),
        super::KERNEL.to_owned(),
        include_str!("tc.h").to_owned(),
        settings(policy),
        matching("congestion_case", "queue", std::iter::once(&decided.congestion[..])),
        matching("admission_case", "queue", std::iter::once(&decided.admitted[..])),
        follow("within void on_congestion", &queue.congestion[..], &decided.congestion[..]),
        follow("within void on_admission", &queue.admitted[..], &decided.admitted[..]),
        include_str!("tc.c").trim_start().to_owned(),
    ]
    .join("\n")
}

fn state(of: State) -> &'static str {
    match of {
        State::QueueAdm => "v->adm_state",
        State::QueueSched => "v->sched_state",
        // Without a buffer nothing reads or changes a buffer's state.
        State::PortSched | State::BufferAdm => "v->port_sched_state",
    }
}

fn settings(policy: &Policy) -> String {
    let (queue, port) = (&policy.queues()[0], &policy.ports()[0]);
    let notices =
        policy.cases().flat_map(|case| &case.actions).filter(|one| matches!(one, Action::Notify)).count();
    let arrival = super::looks_at_arrival(policy);
    let reads = |field| u8::from(policy.reads().contains(&field));
    format!(
        "#define FIRST_ADM_STATE {}LL\n#define FIRST_SCHED_STATE {}LL\n#define FIRST_PORT_SCHED_STATE {}LL\n\
         #define READS_ARRIVAL {}\n#define READS_FLOW {}\n#define READS_TOS {}\n#define NOTIFIES {notices}\n",
        queue.states.adm,
        queue.states.sched,
        port.sched_state,
        u8::from(arrival),
        reads(PacketField::Flow),
        reads(PacketField::Tos),
    )
}
