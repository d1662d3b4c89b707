//! Attributes of entities: which entity has which attributes, and the values that they may be set to.

use super::Found;
use super::bodies::{Claim, Typed};
use super::definitions::Definitions;
use super::names::{Entity, EntityKind, Indices, Names};
use super::scope::Role;
use super::values::{self, Condition, Context, Ready};
use crate::diagnose::{Class, Span};
use crate::normal::expression::{Place, PortField, QueueField, Test};
use crate::normal::{Action, Case, Comparator, Policy, Queue, Select};
use crate::syntax::tree::{Attribute, File, RateUnit, Spanned, Statement, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Conditions and actions that are set by separate attributes.
#[derive(Default)]
struct Apart {
    test: Option<(Test, Span)>,
    actions: Option<(Vec<Action>, Span)>,
    has_cases: bool,
}

/// Sets all attributes of a policy.
pub fn set<'t>(
    file: &'t File,
    names: &'t Names<'t>,
    definitions: &'t Definitions<'t>,
    policy: &mut Policy,
    typed: &mut Typed,
    found: &mut Found,
) {
    let context = Context { constants: names.constants(), definitions };
    let (mut seen, mut apart) = (BTreeSet::new(), BTreeMap::<Entity, Apart>::new());
    for statement in &file.statements {
        let Statement::Assignment { name, attribute, value } = &statement.node else { continue };
        let choices = names.choices(name, &Indices::new(), found);
        let entities: Vec<Entity> =
            choices.iter().filter_map(|choice| names.element(name, &choice.indices, found)).collect();
        let Some(first) = entities.first() else { continue };
        let canonical = match attribute.node {
            Attribute::ProPrio => Attribute::ProcPrio,
            Attribute::AdmPrio if first.kind == EntityKind::Buffer => Attribute::QueuePrio,
            other => other,
        };
        if entities.iter().any(|entity| !seen.insert((*entity, canonical))) {
            let reason = format!("`{}` is set already", canonical.word());
            found.note(Class::SetTwice, attribute.span, reason, "set it once");
            continue;
        }
        let Some(setting) = setting(first.kind, canonical, attribute.span, value, context, typed, found)
        else {
            continue;
        };
        for entity in entities {
            if let Setting::Select(Ready::By(amount)) = &setting {
                let queues = policy.ports[entity.number].queues.len();
                typed.claim(Claim::Below(amount.clone(), queues), value.span);
            }
            setting.apply(entity, value.span, policy, apart.entry(entity).or_default(), found);
        }
    }
    for (entity, apart) in apart {
        join(entity, apart, policy, found);
    }
    let unordered = policy.ports.iter().filter(|port| port.order.is_none() && port.queues.len() > 1);
    for port in unordered {
        let reason = format!("port `{}` has several queues, and no order of them", port.name);
        let way_out = "set its schedPrio, such as `schedPrio = lqf;`";
        found.note(Class::NoSchedule, place(file, &port.name), reason, way_out);
    }
}

/// Position of the declaration of the entity with this name.
fn place(file: &File, name: &str) -> Span {
    let word = name.split('[').next().unwrap_or(name);
    let declared = file.statements.iter().find(|statement| match &statement.node {
        Statement::Declaration { name, .. } => name.word.node == word,
        _ => false,
    });
    declared.map_or(Span::default(), |statement| statement.span)
}

/// The value of an attribute.
enum Setting {
    Admission(Comparator),
    Processing(Comparator),
    Order(Comparator),
    Congestion(Vec<Case>),
    CongestionTest(Test),
    CongestionActions(Vec<Action>),
    Admitted(Vec<Case>),
    Scheduled(Vec<Case>),
    AdmState(i64),
    SchedState(i64),
    Select(Ready),
    CatchesUp(bool),
    WhenFull,
}

fn setting(
    kind: EntityKind,
    attribute: Attribute,
    at: Span,
    value: &Spanned<Value>,
    context: Context<'_>,
    typed: &mut Typed,
    found: &mut Found,
) -> Option<Setting> {
    use Attribute::*;
    use EntityKind::{Buffer as B, Port as P, Queue as Q};
    let role = match kind {
        EntityKind::Queue => Role::Queue,
        EntityKind::Buffer => Role::Buffer,
        EntityKind::Port => Role::Port,
    };
    match (kind, attribute) {
        (Q, AdmPrio) => {
            values::comparator(value, Role::Packets, context, typed, found).map(Setting::Admission)
        }
        (Q, ProcPrio) => {
            values::comparator(value, Role::Packets, context, typed, found).map(Setting::Processing)
        }
        (B, QueuePrio) | (P, SchedPrio) => {
            values::comparator(value, Role::Queues, context, typed, found).map(Setting::Order)
        }
        (Q | B, Congestion) => congestion(value, role, context, typed, found),
        (Q | B, CongAction) => {
            values::native_action(value, context.definitions, found).map(Setting::CongestionActions)
        }
        (Q | B, PostAdmAct) => values::hook(value, role, context, typed, found).map(Setting::Admitted),
        (P, PostSchedAct) => values::hook(value, role, context, typed, found).map(Setting::Scheduled),
        (Q | B, AdmState) => values::state(value, context.constants, found).map(Setting::AdmState),
        (Q | P, SchedState) => values::state(value, context.constants, found).map(Setting::SchedState),
        (P, QueueSelect) => values::selection(value, context, typed, found).map(Setting::Select),
        (P, Returning) => {
            values::word(value, &["literal", "catchUp"], found).map(|nth| Setting::CatchesUp(nth == 1))
        }
        // The value belongs to the wire (`wires.rs`).
        (P, WhenFull) => values::word(value, &["wait", "drop"], found).map(|_| Setting::WhenFull),
        _ => {
            let reason = format!("a {} has no `{}`", kind.word(), attribute.word());
            let of = match kind {
                Q => "admPrio, procPrio, congestion, congAction, postAdmAct, admState, schedState",
                B => "queuePrio, congestion, congAction, postAdmAct, admState",
                P => "schedPrio, postSchedAct, queueSelect, schedState, returning, whenFull",
            };
            found.note(Class::Misplaced, at, reason, format!("a {} has {of}", kind.word()));
            None
        }
    }
}

impl Setting {
    fn apply(&self, entity: Entity, at: Span, policy: &mut Policy, apart: &mut Apart, found: &mut Found) {
        let nth = entity.number;
        match (self, entity.kind) {
            (Self::CongestionTest(test), _) => apart.test = Some((test.clone(), at)),
            (Self::CongestionActions(actions), _) => apart.actions = Some((actions.clone(), at)),
            (Self::Congestion(cases), kind) => {
                apart.has_cases = true;
                *congestion_of(kind, nth, policy) = cases.clone();
            }
            (_, EntityKind::Queue) => self.apply_to_queue(&mut policy.queues[nth]),
            (Self::Order(order), EntityKind::Buffer) => {
                check_units(order, &policy.buffers[nth].queues, at, policy, found);
                policy.buffers[nth].order = Some(order.clone());
            }
            (Self::Admitted(cases), _) => policy.buffers[nth].admitted = cases.clone(),
            (Self::AdmState(value), _) => policy.buffers[nth].adm_state = *value,
            _ => self.apply_to_port(nth, at, policy, found),
        }
    }

    fn apply_to_queue(&self, queue: &mut Queue) {
        match self {
            Self::Admission(order) => queue.admission = order.clone(),
            Self::Processing(order) => queue.processing = order.clone(),
            Self::Admitted(cases) => queue.admitted = cases.clone(),
            Self::AdmState(value) => queue.states.adm = *value,
            Self::SchedState(value) => queue.states.sched = *value,
            _ => {}
        }
    }

    fn apply_to_port(&self, nth: usize, at: Span, policy: &mut Policy, found: &mut Found) {
        if let Self::Order(order) = self {
            check_units(order, &policy.ports[nth].queues, at, policy, found);
        }
        let port = &mut policy.ports[nth];
        match self {
            Self::Order(order) => port.order = Some(order.clone()),
            Self::Scheduled(cases) => {
                if port.rate.unit == RateUnit::Percent && reads(cases, Place::Port(PortField::Rate)) {
                    let reason =
                        format!("the rate of port `{}` is a share of its link, and no number", port.name);
                    found.note(Class::Rate, at, reason, "give the port a rate in kbps, Mbps or Gbps");
                }
                port.scheduled = cases.clone();
            }
            Self::SchedState(value) => port.sched_state = *value,
            Self::Select(Ready::Random) => port.select = Some(Select::Random),
            Self::Select(Ready::By(amount)) => port.select = Some(Select::By(amount.clone())),
            Self::CatchesUp(whether) => port.catches_up = *whether,
            _ => {}
        }
    }
}

fn congestion_of(kind: EntityKind, nth: usize, policy: &mut Policy) -> &mut Vec<Case> {
    match kind {
        EntityKind::Buffer => &mut policy.buffers[nth].congestion,
        _ => &mut policy.queues[nth].congestion,
    }
}

fn reads(cases: &[Case], place: Place) -> bool {
    let mut found = false;
    let mut see = |read: Place| found |= read == place;
    for case in cases {
        case.test.places(&mut see);
        for action in &case.actions {
            if let Action::Modify(_, value) = action {
                value.places(&mut see);
            }
        }
    }
    found
}

/// Sizes can be compared only if they have the same unit.
fn check_units(order: &Comparator, queues: &[usize], at: Span, policy: &Policy, found: &mut Found) {
    let mut sizes = false;
    order.test.places(&mut |place| {
        sizes |= matches!(place, Place::Queue(_, QueueField::Size | QueueField::CurrSize));
    });
    let mut units = queues.iter().map(|queue| policy.queues[*queue].unit);
    let first = units.next();
    if sizes && units.any(|unit| Some(unit) != first) {
        let reason = "sizes in packets are compared with sizes in bytes";
        found.note(Class::MixedUnits, at, reason, "compare `length`, or give all queues the same unit");
    }
}

/// Joins a condition and actions that were set separately into one case.
fn join(entity: Entity, apart: Apart, policy: &mut Policy, found: &mut Found) {
    match (apart.test, apart.actions) {
        (None, None) => {}
        (Some((test, _)), Some((actions, _))) => {
            *congestion_of(entity.kind, entity.number, policy) = vec![Case { test, actions }];
        }
        (Some((_, at)), None) => {
            let way_out = "set congAction, or write `(CONDITION, drop(1))`";
            found.note(Class::Condition, at, "this condition has no action", way_out);
        }
        (None, Some((_, at))) if apart.has_cases => {
            let way_out = "remove it, or set congestion to a condition without actions";
            found.note(Class::Condition, at, "the cases of congestion have actions of their own", way_out);
        }
        (None, Some((_, at))) => {
            found.note(Class::Condition, at, "this action has no condition", "set congestion, too");
        }
    }
}

fn congestion(
    value: &Spanned<Value>,
    role: Role,
    context: Context<'_>,
    typed: &mut Typed,
    found: &mut Found,
) -> Option<Setting> {
    Some(match values::condition(value, role, true, context, typed, found)? {
        Condition::Cases(cases) => Setting::Congestion(cases),
        Condition::Test(test) => Setting::CongestionTest(test),
    })
}
