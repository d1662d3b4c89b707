//! Values of attributes: definitions by name, inline keys, cases, words, states.

use super::Found;
use super::bodies::{Claim, Typed, boolean, constant, number};
use super::conditions::{cases, within};
use super::constants::{Constants, exact};
use super::definitions::{DROP_TAIL, Definitions, RANDOM};
use super::scope::{Role, Scope};
use crate::diagnose::{Class, Diagnostic, Span};
use crate::normal::expression::{Amount, Relation, Test};
use crate::normal::rank::Rank;
use crate::normal::ratio::Ratio;
use crate::normal::{Action, Case, Comparator};
use crate::syntax::tree::{Argument, Body, Spanned, Value};

/// The names that all attributes can refer to.
#[derive(Clone, Copy)]
pub struct Context<'t> {
    /// The constants that `const` declares.
    pub constants: &'t Constants,
    /// Comparators and conditions.
    pub definitions: &'t Definitions<'t>,
}

/// A choice of queue, before the number of queues is known.
pub enum Ready {
    /// Random.
    Random,
    /// By number.
    By(Amount),
}

/// A named definition, with the types that `role` requires. Mistakes in an imported definition are reported at its use.
fn named<T>(
    word: &Spanned<String>,
    arguments: Option<&[Spanned<Argument>]>,
    context: Context<'_>,
    typed: &mut Typed,
    found: &mut Found,
    make: impl FnOnce(&[Spanned<String>], &Body, &mut Typed, &mut Found) -> Option<T>,
) -> Option<T> {
    let Some(definition) = context.definitions.get(&word.node) else {
        let reason = format!("`{}` is defined nowhere", word.node);
        found.note(Class::Unknown, word.span, reason, context.definitions.way_out());
        return None;
    };
    typed.note_use(&word.node);
    if arguments.is_some_and(|arguments| !arguments.is_empty()) {
        let reason = format!("`{}` takes no arguments here", word.node);
        found.note(Class::Arguments, word.span, reason, "write its name alone");
        return None;
    }
    if definition.at.is_some() {
        return make(definition.parameters, definition.body, typed, found);
    }
    let (mut own, mut wrong) = (Typed::default(), Found::default());
    let made = make(definition.parameters, definition.body, &mut own, &mut wrong);
    for (claim, _) in own.claims() {
        typed.claim(claim.clone(), word.span);
    }
    if let Some(one) = wrong.0.first() {
        let reason = format!("`{}` does not fit here: {}", word.node, one.reason());
        found.0.push(Diagnostic::new(one.class(), word.span, reason, one.way_out()));
    }
    made
}

fn parameters_fit(scope: &Scope<'_>, at: Span, found: &mut Found) -> bool {
    let (least, most) = scope.takes();
    let has = scope.parameters.len();
    if has < least || has > most {
        let takes = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let reason = format!("{has} parameters are given, and {takes} needed");
        let way_out = match scope.role {
            Role::Packets => "compare two packets: `name(p1, p2) = ..`",
            Role::Queues => "compare two queues: `name(q1, q2) = ..`",
            _ => "write `name(it) = ..`, where a second parameter is the packet",
        };
        found.note(Class::Parameters, at, reason, way_out);
        return false;
    }
    true
}

/// An order of packets or queues.
pub fn comparator(
    value: &Spanned<Value>,
    role: Role,
    context: Context<'_>,
    typed: &mut Typed,
    found: &mut Found,
) -> Option<Comparator> {
    let test = match &value.node {
        Value::Named(word, arguments) => {
            named(word, arguments.as_deref(), context, typed, found, |parameters, body, typed, found| {
                let scope = Scope::new(role, parameters, context.constants);
                let fits = parameters_fit(&scope, word.span, found);
                let Body::Expression(expression) = body else {
                    let way_out = "a comparator is one Boolean expression";
                    found.note(Class::Body, word.span, "cases are no comparator", way_out);
                    return None;
                };
                if fits { boolean(expression, &scope, typed, found) } else { None }
            })?
        }
        // CHOICE OpenQueue §2.5.2 (Figure 2.18): the key of an inline expression ranks the largest first, as the
        // published runtime does. Other reading: a comparator; but the expression can refer to one packet only.
        Value::Inline(expression) => {
            let scope = Scope::inline(role, context.constants);
            let key = number(expression, &scope, typed, found)?;
            let test = Test::Compare(Relation::More, key.clone(), swapped(&key));
            typed.claim(Claim::Fits(test.clone()), expression.span);
            test
        }
        Value::Body(_) => {
            let way_out = "define a comparator with two parameters and name it, or write `inline { KEY }`";
            found.note(Class::Parameters, value.span, "a comparator has two parameters", way_out);
            return None;
        }
    };
    typed.claim(Claim::Order(test.clone()), value.span);
    Some(Comparator { test, rank: Rank::Unranked })
}

fn swapped(of: &Amount) -> Amount {
    let both = |a: &Amount, b: &Amount| (Box::new(swapped(a)), Box::new(swapped(b)));
    let make = |(a, b), make: fn(Box<Amount>, Box<Amount>) -> Amount| make(a, b);
    match of {
        Amount::Constant(value) => Amount::Constant(*value),
        Amount::Read(place) => Amount::Read(place.swapped()),
        Amount::Neg(a) => Amount::Neg(Box::new(swapped(a))),
        Amount::Add(a, b) => make(both(a, b), Amount::Add),
        Amount::Sub(a, b) => make(both(a, b), Amount::Sub),
        Amount::Mul(a, b) => make(both(a, b), Amount::Mul),
        Amount::Div(a, b) => make(both(a, b), Amount::Div),
        Amount::Rem(a, b) => make(both(a, b), Amount::Rem),
    }
}

/// Cases, or a test without actions.
pub enum Condition {
    /// With actions.
    Cases(Vec<Case>),
    /// Without.
    Test(Test),
}

/// Cases, or a test; `drops`: for a congestion hook.
pub fn condition(
    value: &Spanned<Value>,
    role: Role,
    drops: bool,
    context: Context<'_>,
    typed: &mut Typed,
    found: &mut Found,
) -> Option<Condition> {
    let of_body = |scope: &Scope<'_>, body: &Body, typed: &mut Typed, found: &mut Found| match body {
        Body::Expression(expression) => boolean(expression, scope, typed, found).map(Condition::Test),
        Body::Cases(all) => Some(Condition::Cases(cases(all, scope, drops, typed, found))),
    };
    match &value.node {
        Value::Named(word, arguments) => {
            named(word, arguments.as_deref(), context, typed, found, |parameters, body, typed, found| {
                let scope = Scope::new(role, parameters, context.constants);
                if parameters_fit(&scope, word.span, found) {
                    of_body(&scope, body, typed, found)
                } else {
                    None
                }
            })
        }
        Value::Inline(expression) => {
            let scope = Scope::inline(role, context.constants);
            boolean(expression, &scope, typed, found).map(Condition::Test)
        }
        Value::Body(body) => of_body(&Scope::new(role, &[], context.constants), body, typed, found),
    }
}

/// Cases that drop nothing.
pub fn hook(
    value: &Spanned<Value>,
    role: Role,
    context: Context<'_>,
    typed: &mut Typed,
    found: &mut Found,
) -> Option<Vec<Case>> {
    match condition(value, role, false, context, typed, found)? {
        Condition::Cases(cases) => Some(cases),
        Condition::Test(_) => {
            let way_out = "write `(CONDITION, ACTIONS)`; `true` is a condition, too";
            found.note(Class::Condition, value.span, "this condition has no action", way_out);
            None
        }
    }
}

/// CHOICE OpenQueue §2.5.2 (Figure 2.18): `drop_tail(P)` is `drop(P)`; the victim follows from admPrio as everywhere.
/// Other reading: the arriving packet whatever its value; that is admPrio = fifo.
pub fn native_action(
    value: &Spanned<Value>,
    definitions: &Definitions<'_>,
    found: &mut Found,
) -> Option<Vec<Action>> {
    let Value::Named(word, arguments) = &value.node else {
        let way_out = "write the action into the cases of congestion, or name a routine";
        found.note(Class::Condition, value.span, "congAction names a routine", way_out);
        return None;
    };
    if word.node != DROP_TAIL || !definitions.has_natives() {
        let reason = format!("`{}` is no routine for congestion", word.node);
        let way_out = format!("`{DROP_TAIL}` is one, after `import \"openqueue\";`");
        found.note(Class::Unknown, word.span, reason, way_out);
        return None;
    }
    match arguments.as_deref().unwrap_or_default() {
        [] => Some(vec![Action::Drop(Ratio::ONE)]),
        [Spanned { node: Argument::Number(p), span }] => {
            within(exact(*p), *span, found).map(|p| vec![Action::Drop(p)])
        }
        _ => {
            let reason = format!("`{DROP_TAIL}` takes one number: its probability");
            found.note(
                Class::Arguments,
                word.span,
                reason,
                format!("write `{DROP_TAIL}(0.95)`, or no argument"),
            );
            None
        }
    }
}

/// A choice of queue.
pub fn selection(
    value: &Spanned<Value>,
    context: Context<'_>,
    typed: &mut Typed,
    found: &mut Found,
) -> Option<Ready> {
    let amount = match &value.node {
        Value::Named(word, None) if word.node == RANDOM && context.definitions.has_natives() => {
            return Some(Ready::Random);
        }
        Value::Named(word, arguments) => {
            named(word, arguments.as_deref(), context, typed, found, |parameters, body, typed, found| {
                let scope = Scope::new(Role::Selection, parameters, context.constants);
                let fits = parameters_fit(&scope, word.span, found);
                let Body::Expression(expression) = body else {
                    found.note(Class::Body, word.span, "cases choose no queue", "write a number, from 0");
                    return None;
                };
                if fits { number(expression, &scope, typed, found) } else { None }
            })?
        }
        Value::Inline(expression) => {
            let scope = Scope::inline(Role::Selection, context.constants);
            number(expression, &scope, typed, found)?
        }
        Value::Body(_) => {
            let way_out =
                "write `inline { Packet.TOS % 2 }`, or name a definition of one packet, or `random`";
            found.note(Class::Parameters, value.span, "a queue is chosen by a packet", way_out);
            return None;
        }
    };
    typed.claim(Claim::Whole(amount.clone()), value.span);
    Some(Ready::By(amount))
}

/// The position of the word in `known`.
pub fn word(value: &Spanned<Value>, known: &[&str], found: &mut Found) -> Option<usize> {
    let nth = match &value.node {
        Value::Named(word, None) => known.iter().position(|one| *one == word.node),
        _ => None,
    };
    if nth.is_none() {
        found.note(
            Class::Unknown,
            value.span,
            "this is none of its words",
            format!("write {}", known.join(" or ")),
        );
    }
    nth
}

/// The initial value of a state.
pub fn state(value: &Spanned<Value>, constants: &Constants, found: &mut Found) -> Option<i64> {
    let value_of = match &value.node {
        Value::Named(word, None) => constants.get(&word.node),
        Value::Body(Body::Expression(expression)) => constant(expression, constants, &mut Found::default()),
        _ => None,
    };
    let whole = value_of.and_then(Ratio::as_whole).and_then(|whole| i64::try_from(whole).ok());
    if whole.is_none() {
        let way_out = "write one, or a `const`; actions change it later";
        found.note(Class::State, value.span, "a state is a whole number at first, of 64 bits", way_out);
    }
    whole
}
