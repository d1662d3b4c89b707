//! A policy as Rust code: decisions as functions and data structures as types, without lookups or dynamic dispatch per
//! packet.
//!
//! A build script writes the result of [`generate`] to a file, which a module includes (`crates/policy/compiled` does
//! so with the library).

pub mod c;
mod numbers;
mod waiting;

use crate::engine::decisions::{Decided, Decisions, Ordering};
use crate::engine::machine::any::Plan;
use crate::engine::machine::rules::Uses;
use crate::engine::machine::tournament::SEARCHED;
use crate::normal::Policy;
use crate::normal::integer::{Fraction, Int};
use crate::normal::range::Limits;
use crate::normal::rank::Rank;
use crate::syntax::print;
use numbers::{At, number, test, wide};

/// Rust for `policy`: `SOURCE`, its `Decisions`, and `machine(seed)`. The code refers to this crate as
/// `thalweg_policy`.
pub fn generate(policy: &Policy) -> String {
    let (decisions, limits) = (Decisions::of(policy), policy.limits());
    let writer = Writer { decisions: &decisions, limits: &limits };
    let source = print(&policy.source).lines().map(|line| format!("    {line:?},\n")).collect::<String>();
    let (backlog, make) = writer.backlog();
    format!(
        "// Generated from {name} by `thalweg_policy::generate`.\n\
         use thalweg_policy::compiled::*;\n\n\
         /// The policy, line by line.\npub const SOURCE: &[&str] = &[\n{source}];\n\n\
         /// What it decides.\n#[derive(Clone, Copy, Debug)]\npub struct Decisions;\n\n\
         /// The policy, checked anew.\npub fn policy() -> Policy {{\n    \
         check(&SOURCE.join(\"\\n\"), {name:?}).expect(\"it was right when it was compiled\")\n}}\n\n\
         /// The policy at work, empty.\npub fn machine(seed: u64) -> Machine<Decisions> {{\n    \
         Machine::new(&policy(), Decisions, seed)\n}}\n\n\
         {waiting}\n\
         impl Rules for Decisions {{\n    type Key = {key};\n    type Kept = Waiting;\n    type Backlog = {backlog};\n    \
         const USES: Uses = {uses:?};\n\n\
         {F}backlog(&self, queue: usize) -> Self::Backlog {{\n{make}    }}\n\
         {F}key(&self, order: Order, queue: usize, a: &Stored) -> {key} {{\n{keys}    }}\n\
         {F}before(&self, order: Order, queue: usize, a: &Stored, b: &Stored) -> bool {{\n{before}    }}\n\
         {F}queue_key(&self, owner: Owner, a: &Candidate) -> Option<i128> {{\n{queue_keys}    }}\n\
         {F}queue_before(&self, owner: Owner, a: &Candidate, b: &Candidate) -> bool {{\n{queue_before}    }}\n\
         {F}counts_packets(&self, queue: usize) -> bool {{\n{units}    }}\n\
         {F}case<'a>(&self, hook: Hook, v: impl FnOnce() -> View<'a>) -> Option<usize> {{\n        let v = v();\n{cases}    }}\n\
         {F}value(&self, hook: Hook, case: usize, action: usize, v: &View<'_>) -> i128 {{\n{values}    }}\n\
         {F}select(&self, port: usize, a: &Stored) -> usize {{\n{selects}    }}\n}}\n",
        name = policy.name(),
        waiting = waiting::waiting(policy),
        key = writer.key_type(),
        uses = uses(policy),
        F = "    #[inline]\n    fn ",
        keys = writer.keys(),
        before = writer.before(),
        queue_keys = writer.of_owners(
            |order, limits| {
                let key = order.key().map(|key| format!("Some({})", wide(&key, limits, At::Order)));
                key.unwrap_or("None".to_owned())
            },
            "None"
        ),
        queue_before = writer.of_owners(|order, limits| test(&order.test, limits, At::Order), "false"),
        units = writer.units(),
        cases = writer.cases(),
        values = writer.values(),
        selects = writer.selects(),
    )
}

fn uses(policy: &Policy) -> Uses {
    let ports = policy.ports();
    Uses {
        buffers: !policy.buffers().is_empty(),
        select: ports.iter().any(|port| port.select.is_some()),
        wires: ports.iter().any(|port| port.wire.is_some()),
        catches_up: ports.iter().any(|port| port.catches_up),
        many_queues: ports.iter().map(|port| port.queues.len()).any(|queues| queues > SEARCHED)
            || policy.buffers().iter().any(|buffer| buffer.queues.len() > SEARCHED),
    }
}

struct Writer<'a> {
    decisions: &'a Decisions,
    limits: &'a Limits,
}

/// The arms of a `match` on `subject`, with equal ones merged; without any, `otherwise`.
fn arms(subject: &str, arms: Vec<(String, String)>, otherwise: &str) -> String {
    let mut grouped: Vec<(Vec<String>, String)> = Vec::new();
    for (pattern, code) in arms {
        if code == otherwise {
            continue;
        }
        match grouped.iter_mut().find(|(_, other)| *other == code) {
            Some((patterns, _)) => patterns.push(pattern),
            None => grouped.push((vec![pattern], code)),
        }
    }
    if grouped.is_empty() {
        return format!("        {otherwise}\n");
    }
    let arm = |(patterns, code): &(Vec<String>, String)| {
        format!("            {} => {code},\n", patterns.join(" | "))
    };
    let all: String = grouped.iter().map(arm).collect();
    format!("        match {subject} {{\n{all}            _ => {otherwise},\n        }}\n")
}

impl Writer<'_> {
    /// The type of backlogs and their construction: one type if all queues have the same, else chosen at run time.
    fn backlog(&self) -> (String, String) {
        let plans: Vec<(String, String)> =
            self.decisions.queues.iter().map(|queue| self.plan(&queue.plan)).collect();
        let (kind, make) = &plans[0];
        if plans.iter().all(|(other, _)| other == kind) {
            let numbered = plans.iter().enumerate();
            let made = numbered.map(|(queue, (_, make))| (queue.to_string(), make.clone())).collect();
            return (kind.clone(), arms("queue", made, make));
        }
        let make = "        AnyBacklog::of(&Plan::of(&policy().queues()[queue]))\n";
        (format!("AnyBacklog<{}, Waiting>", self.key_type()), make.to_owned())
    }

    fn plan(&self, of: &Plan) -> (String, String) {
        let slab = |(orders, make): (String, String)| {
            (format!("Slab<{orders}, {}, Waiting>", self.key_type()), format!("Slab::new({make})"))
        };
        match of {
            Plan::Ring => ("Ring<Waiting>".to_owned(), "Ring::default()".to_owned()),
            Plan::Shared { rank, admission_reversed, processing_reversed } => {
                let (kind, make) = structure(rank);
                let make = format!("Shared::new({make}, {admission_reversed}, {processing_reversed})");
                slab((format!("Shared<{kind}>"), make))
            }
            Plan::Apart { admission, processing } => {
                let ((one, make_one), (other, make_other)) = (structure(admission), structure(processing));
                let (reversed, other_reversed) = (is_reversed(admission), is_reversed(processing));
                let make = format!("Apart::new({make_one}, {reversed}, {make_other}, {other_reversed})");
                slab((format!("Apart<{one}, {other}>"), make))
            }
        }
    }

    fn each(&self, of: impl Fn(&Ordering) -> String, otherwise: &str) -> String {
        let mut all = Vec::new();
        for (nth, queue) in self.decisions.queues.iter().enumerate() {
            all.push((format!("(Order::Processing, {nth})"), of(&queue.processing)));
            all.push((format!("(Order::Admission, {nth})"), of(&queue.admission)));
        }
        // If all are equal, nothing is looked up.
        if all.iter().all(|(_, code)| *code == all[0].1) {
            return format!("        {}\n", all[0].1);
        }
        arms("(order, queue)", all, otherwise)
    }

    /// True if all keys of packets fit into 64 bits, with all intermediate results.
    fn has_narrow_keys(&self) -> bool {
        let orders = self.decisions.queues.iter().flat_map(|queue| [&queue.processing, &queue.admission]);
        orders.filter_map(Ordering::key).all(|key| self.limits.fits_words(&key))
    }

    fn key_type(&self) -> &'static str {
        if self.has_narrow_keys() { "i64" } else { "i128" }
    }

    fn keys(&self) -> String {
        let arrival = if self.has_narrow_keys() { "a.arrival" } else { "i128::from(a.arrival)" };
        let key = |order: &Ordering| match order.key() {
            Some(key) if self.has_narrow_keys() => number(&key, true, At::Order),
            Some(key) => wide(&key, self.limits, At::Order),
            None => arrival.to_owned(),
        };
        self.each(key, arrival)
    }

    fn before(&self) -> String {
        // An order with a key never uses its comparator.
        let code = |order: &Ordering| match order.rank {
            Rank::Unranked => test(&order.test, self.limits, At::Order),
            _ => "false".to_owned(),
        };
        self.each(code, "false")
    }

    fn of_owners(&self, of: impl Fn(&Ordering, &Limits) -> String, otherwise: &str) -> String {
        let mut all = Vec::new();
        for (kind, owners) in [("Buffer", &self.decisions.buffers), ("Port", &self.decisions.ports)] {
            for (nth, owner) in owners.iter().enumerate() {
                all.extend(
                    owner.order.iter().map(|order| (format!("Owner::{kind}({nth})"), of(order, self.limits))),
                );
            }
        }
        arms("owner", all, otherwise)
    }

    fn hooks(&self) -> Vec<(String, &[Decided])> {
        let mut all: Vec<(String, &[Decided])> = Vec::new();
        for (nth, queue) in self.decisions.queues.iter().enumerate() {
            all.push((format!("Hook::Congestion({nth})"), &queue.congestion));
            all.push((format!("Hook::Admitted({nth})"), &queue.admitted));
        }
        for (nth, buffer) in self.decisions.buffers.iter().enumerate() {
            all.push((format!("Hook::BufferCongestion({nth})"), &buffer.congestion));
            all.push((format!("Hook::BufferAdmitted({nth})"), &buffer.after));
        }
        for (nth, port) in self.decisions.ports.iter().enumerate() {
            all.push((format!("Hook::Scheduled({nth})"), &port.after));
        }
        all
    }

    fn units(&self) -> String {
        let all: Vec<bool> = self.decisions.queues.iter().map(|queue| queue.counts_packets).collect();
        if all.iter().all(|one| *one == all[0]) {
            return format!("        {}\n", all[0]);
        }
        let arm = |(queue, one): (usize, &bool)| (queue.to_string(), one.to_string());
        arms("queue", all.iter().enumerate().map(arm).collect(), "false")
    }

    fn cases(&self) -> String {
        let code = |cases: &[Decided]| {
            let steps = cases.iter().enumerate().map(|(nth, case)| {
                format!("if {} {{ Some({nth}) }} else ", test(&case.test, self.limits, At::Hook))
            });
            match cases {
                [] => "None".to_owned(),
                _ => format!("{}{{ None }}", steps.collect::<String>()),
            }
        };
        let all = self.hooks().into_iter().map(|(hook, cases)| (hook, code(cases))).collect();
        arms("hook", all, "None")
    }

    fn values(&self) -> String {
        let mut all = Vec::new();
        for (hook, cases) in self.hooks() {
            for (case, decided) in cases.iter().enumerate() {
                for (action, value) in decided.values.iter().enumerate() {
                    let Some(Fraction { over, under }) = value else { continue };
                    let code = format!(
                        "({}).div_euclid({})",
                        wide(over, self.limits, At::Hook),
                        wide(under, self.limits, At::Hook)
                    );
                    all.push((format!("({hook}, {case}, {action})"), code));
                }
            }
        }
        arms("(hook, case, action)", all, "0")
    }

    fn selects(&self) -> String {
        let ports = self.decisions.ports.iter().enumerate();
        let code = |select: &Int| format!("({}) as usize", wide(select, self.limits, At::Order));
        let all = ports
            .filter_map(|(nth, port)| port.select.as_ref().map(|select| (nth.to_string(), code(select))));
        arms("port", all.collect(), "0")
    }
}

fn is_reversed(rank: &Rank) -> bool {
    matches!(rank, Rank::Arrival { latest: true })
}

fn structure(rank: &Rank) -> (&'static str, String) {
    match rank {
        Rank::Arrival { .. } => ("Line", "Line::default()".to_owned()),
        Rank::Bounded { least, levels, .. } => ("Buckets", format!("Buckets::new({least}, {levels})")),
        Rank::General { .. } => ("Tree<ByKey>", "Tree::default()".to_owned()),
        Rank::Unranked => ("Tree<ByComparator>", "Tree::default()".to_owned()),
    }
}
