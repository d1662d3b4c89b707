//! A policy as Rust: decisions as functions, structures by their types, nothing looked up or dispatched per packet.
//!
//! A build script writes what [`generate`] returns into a file of its own, and a module includes it
//! (`crates/policy/compiled` does so with the library).

use crate::engine::decisions::{Decided, Decisions, Ordering};
use crate::engine::machine::any::Plan;
use crate::normal::Policy;
use crate::normal::expression::{BufferField, PacketField, Place, PortField, QueueField, Relation, Which};
use crate::normal::integer::{Fraction, Int, IntTest};
use crate::normal::range::Limits;
use crate::normal::rank::Rank;
use crate::syntax::print;

/// Rust for `policy`: `SOURCE`, its `Decisions`, and `machine(seed)`. It names the crate as `thalweg_policy`.
pub fn generate(policy: &Policy) -> String {
    let (decisions, limits) = (Decisions::of(policy), policy.limits());
    let writer = Writer { decisions: &decisions, limits: &limits };
    let source = print(&policy.source).lines().map(|line| format!("    {line:?},\n")).collect::<String>();
    let (orders, make) = writer.orders();
    format!(
        "// Generated from {name} by `thalweg_policy::generate`.\n\
         use thalweg_policy::compiled::*;\n\n\
         /// The policy, line by line.\npub const SOURCE: &[&str] = &[\n{source}];\n\n\
         /// What it decides.\n#[derive(Clone, Copy, Debug)]\npub struct Decisions;\n\n\
         /// The policy, checked anew.\npub fn policy() -> Policy {{\n    \
         check(&SOURCE.join(\"\\n\"), {name:?}).expect(\"it was right when it was compiled\")\n}}\n\n\
         /// The policy at work, empty.\npub fn machine(seed: u64) -> Machine<Decisions> {{\n    \
         Machine::new(&policy(), Decisions, seed)\n}}\n\n\
         impl Rules for Decisions {{\n    type Orders = {orders};\n\n\
         {F}orders(&self, queue: usize) -> Self::Orders {{\n{make}    }}\n\
         {F}key(&self, order: Order, queue: usize, a: &Stored) -> i128 {{\n{keys}    }}\n\
         {F}before(&self, order: Order, queue: usize, a: &Stored, b: &Stored) -> bool {{\n{before}    }}\n\
         {F}queue_key(&self, owner: Owner, a: &Candidate<'_>) -> Option<i128> {{\n{queue_keys}    }}\n\
         {F}queue_before(&self, owner: Owner, a: &Candidate<'_>, b: &Candidate<'_>) -> bool {{\n{queue_before}    }}\n\
         {F}case(&self, hook: Hook, v: &View<'_>) -> Option<usize> {{\n{cases}    }}\n\
         {F}value(&self, hook: Hook, case: usize, action: usize, v: &View<'_>) -> i128 {{\n{values}    }}\n\
         {F}select(&self, port: usize, a: &Stored) -> usize {{\n{selects}    }}\n}}\n",
        name = policy.name(),
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
        cases = writer.cases(),
        values = writer.values(),
        selects = writer.selects(),
    )
}

/// Where code stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// In a comparator, or a key.
    Order,
    /// In a hook.
    Hook,
}

struct Writer<'a> {
    decisions: &'a Decisions,
    limits: &'a Limits,
}

/// Arms of a `match` on `subject`, those with the same code as one; without any, `otherwise`.
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
    /// The type of orders and how they are made: one type where all queues have the same, else chosen at run time.
    fn orders(&self) -> (String, String) {
        let plans: Vec<(String, String)> =
            self.decisions.queues.iter().map(|queue| plan(&queue.plan)).collect();
        let (kind, make) = &plans[0];
        if plans.iter().all(|(other, _)| other == kind) {
            let numbered = plans.iter().enumerate();
            let made = numbered.map(|(queue, (_, make))| (queue.to_string(), make.clone())).collect();
            return (kind.clone(), arms("queue", made, make));
        }
        ("AnyOrders".to_owned(), "        AnyOrders::of(&Plan::of(&policy().queues()[queue]))\n".to_owned())
    }

    fn each(&self, of: impl Fn(&Ordering) -> String, otherwise: &str) -> String {
        let mut all = Vec::new();
        for (nth, queue) in self.decisions.queues.iter().enumerate() {
            all.push((format!("(Order::Processing, {nth})"), of(&queue.processing)));
            all.push((format!("(Order::Admission, {nth})"), of(&queue.admission)));
        }
        // Where one serves all, nothing is looked up.
        if all.iter().all(|(_, code)| *code == all[0].1) {
            return format!("        {}\n", all[0].1);
        }
        arms("(order, queue)", all, otherwise)
    }

    fn keys(&self) -> String {
        let key = |order: &Ordering| match order.key() {
            Some(key) => wide(&key, self.limits, At::Order),
            None => "i128::from(a.arrival)".to_owned(),
        };
        self.each(key, "i128::from(a.arrival)")
    }

    fn before(&self) -> String {
        // What has a key is never compared otherwise.
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

fn plan(of: &Plan) -> (String, String) {
    match of {
        Plan::Shared { rank, admission_reversed, processing_reversed } => {
            let (kind, make) = structure(rank);
            let make = format!("Shared::new({make}, {admission_reversed}, {processing_reversed})");
            (format!("Shared<{kind}>"), make)
        }
        Plan::Apart { admission, processing } => {
            let ((one, make_one), (other, make_other)) = (structure(admission), structure(processing));
            let make = format!(
                "Apart::new({make_one}, {}, {make_other}, {})",
                is_reversed(admission),
                is_reversed(processing)
            );
            (format!("Apart<{one}, {other}>"), make)
        }
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

/// A test, each comparison in 64 bits where they suffice.
fn test(of: &IntTest, limits: &Limits, at: At) -> String {
    match of {
        IntTest::Constant(truth) => truth.to_string(),
        IntTest::Compare(relation, a, b) => {
            let is_narrow = limits.fits_words(a) && limits.fits_words(b);
            let (a, b) = (number(a, is_narrow, at), number(b, is_narrow, at));
            format!("{a} {} {b}", operator(*relation))
        }
        IntTest::Not(a) => format!("!({})", test(a, limits, at)),
        IntTest::And(a, b) => format!("({}) && ({})", test(a, limits, at), test(b, limits, at)),
        IntTest::Or(a, b) => format!("({}) || ({})", test(a, limits, at), test(b, limits, at)),
    }
}

fn operator(of: Relation) -> &'static str {
    match of {
        Relation::Less => "<",
        Relation::AtMost => "<=",
        Relation::More => ">",
        Relation::AtLeast => ">=",
        Relation::Equal => "==",
        Relation::Unequal => "!=",
    }
}

/// A number of 128 bits, computed in 64 where they suffice.
fn wide(of: &Int, limits: &Limits, at: At) -> String {
    if limits.fits_words(of) {
        format!("i128::from({})", number(of, true, at))
    } else {
        number(of, false, at)
    }
}

fn number(of: &Int, is_narrow: bool, at: At) -> String {
    let of_one = |a: &Int| number(a, is_narrow, at);
    let both = |a: &Int, b: &Int, sign: &str| format!("({} {sign} {})", of_one(a), of_one(b));
    match of {
        Int::Constant(value) => format!("({value}_{})", if is_narrow { "i64" } else { "i128" }),
        Int::Read(place) if is_narrow => read(*place, at),
        Int::Read(place) => format!("i128::from({})", read(*place, at)),
        Int::Neg(a) => format!("(-{})", of_one(a)),
        Int::Add(a, b) => both(a, b, "+"),
        Int::Sub(a, b) => both(a, b, "-"),
        Int::Mul(a, b) => both(a, b, "*"),
        Int::Rem(a, b) => format!("{}.rem_euclid({})", of_one(a), of_one(b)),
    }
}

/// A field, of 64 bits. The names are those of parameters in [`generate`]: `a` and `b` are what is compared, or has a
/// key; `v` is what a hook sees.
fn read(place: Place, at: At) -> String {
    match (place, at) {
        (Place::Packet(_, field), At::Hook) => packet("v.packet.", field),
        (Place::Queue(_, field), At::Hook) => format!("v.queue.{}", queue(field)),
        _ => read_compared(place),
    }
}

fn read_compared(place: Place) -> String {
    match place {
        Place::Packet(which, field) => packet(&format!("{}.", side(which)), field),
        Place::Head(which, field) => packet(&format!("{}.head.", side(which)), field),
        Place::Queue(which, field) => format!("{}.queue.{}", side(which), queue(field)),
        Place::Buffer(BufferField::Size) => "v.buffer.size".to_owned(),
        Place::Buffer(BufferField::CurrSize) => "v.buffer.curr_size".to_owned(),
        Place::Buffer(BufferField::AdmState) => "v.buffer.adm_state".to_owned(),
        Place::Port(PortField::Rate) => "v.port.rate".to_owned(),
        Place::Port(PortField::SchedState) => "v.port.sched_state".to_owned(),
    }
}

fn side(which: Which) -> &'static str {
    match which {
        Which::First => "a",
        Which::Second => "b",
    }
}

fn queue(field: QueueField) -> &'static str {
    match field.place() {
        QueueField::Size => "size",
        QueueField::CurrSize => "curr_size",
        QueueField::Length => "length",
        QueueField::AdmState | QueueField::WeightAdm => "adm_state",
        QueueField::SchedState | QueueField::WeightSched => "sched_state",
    }
}

fn packet(of: &str, field: PacketField) -> String {
    let narrow = |name: &str| format!("i64::from({of}{name})");
    match field {
        PacketField::Value => format!("{of}value"),
        PacketField::Slack => format!("{of}slack"),
        PacketField::Arrival => format!("{of}arrival"),
        PacketField::PolicyId => narrow("policy_id"),
        PacketField::Queue => narrow("queue"),
        PacketField::Processing => narrow("processing"),
        PacketField::Flow => narrow("flow"),
        PacketField::Size => narrow("size"),
        PacketField::Tos => narrow("tos"),
        PacketField::Dst => narrow("dst"),
    }
}
