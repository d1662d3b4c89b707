//! Conditions: cases with their actions.

use super::Found;
use super::bodies::{Claim, Typed, boolean, constant, number};
use super::scope::{Role, Scope};
use crate::diagnose::{Class, Span};
use crate::normal::expression::{BufferField, Place, PortField, QueueField};
use crate::normal::ratio::Ratio;
use crate::normal::{Action, Case, State};
use crate::syntax::tree::{self, Expression, Spanned};

/// The cases of a hook; `drops`: it is a congestion hook, the only kind that may drop.
pub fn cases(
    of: &[Spanned<tree::Case>],
    scope: &Scope<'_>,
    drops: bool,
    typed: &mut Typed,
    found: &mut Found,
) -> Vec<Case> {
    let mut cases = Vec::new();
    for case in of {
        let test = boolean(&case.node.test, scope, typed, found);
        let actions: Vec<_> =
            case.node.actions.iter().filter_map(|one| action(one, scope, drops, typed, found)).collect();
        cases.extend(test.map(|test| Case { test, actions }));
    }
    cases
}

fn action(
    of: &Spanned<tree::Action>,
    scope: &Scope<'_>,
    drops: bool,
    typed: &mut Typed,
    found: &mut Found,
) -> Option<Action> {
    match &of.node {
        tree::Action::Drop(_) if !drops => {
            let reason = "nothing is dropped after a packet was admitted or scheduled";
            found.note(
                Class::ActionSet,
                of.span,
                reason,
                "here are mark, notify and modify; congestion drops",
            );
            None
        }
        tree::Action::Drop(p) => probability(p, scope, found).map(Action::Drop),
        tree::Action::Mark => Some(Action::Mark),
        tree::Action::Notify => Some(Action::Notify),
        tree::Action::Modify(whose, word, to) => {
            let state = state(whose.as_ref(), word, scope, found);
            let value = number(to, scope, typed, found)?;
            typed.claim(Claim::FitsState(value.clone()), to.span);
            Some(Action::Modify(state?, value))
        }
    }
}

fn state(
    whose: Option<&Spanned<String>>,
    word: &Spanned<String>,
    scope: &Scope<'_>,
    found: &mut Found,
) -> Option<State> {
    let place = scope.state(whose.map(|whose| whose.node.as_str()), &word.node);
    let state = match place {
        Some(Place::Queue(_, QueueField::AdmState)) => Some(State::QueueAdm),
        Some(Place::Queue(_, QueueField::SchedState)) => Some(State::QueueSched),
        Some(Place::Buffer(BufferField::AdmState)) => Some(State::BufferAdm),
        Some(Place::Port(PortField::SchedState)) => Some(State::PortSched),
        _ => None,
    };
    if state.is_none() {
        let reason = format!("`{}` is no state that this hook can change", word.node);
        let way_out = match scope.role {
            Role::Buffer => "change admState of the buffer, or a state of currQueue",
            Role::Port => {
                "change schedState or admState of the queue that was served, or schedState of the port"
            }
            _ => "change admState or schedState of the queue",
        };
        found.note(Class::State, word.span, reason, way_out);
    }
    state
}

/// CHOICE OpenQueue §2.3.2: a probability is constant. Other reading: it may depend on fields; but nothing would keep
/// its value between 0 and 1.
fn probability(of: &Spanned<Expression>, scope: &Scope<'_>, found: &mut Found) -> Option<Ratio> {
    let mut others = Found::default();
    let Some(p) = constant(of, scope.constants, &mut others) else {
        let way_out = "write a number from 0 to 1, or a `const`; steps are cases of their own";
        found.note(Class::Probability, of.span, "a probability is constant", way_out);
        return None;
    };
    within(p, of.span, found)
}

/// Checks that a probability is between 0 and 1.
pub fn within(p: Ratio, span: Span, found: &mut Found) -> Option<Ratio> {
    // It is compared with 64 bits of a draw, exactly.
    let exact = p.denominator() <= 1 << 60;
    let inside = exact && p.numerator() >= 0 && p.numerator() <= p.denominator();
    if !inside {
        found.note(
            Class::Probability,
            span,
            "a probability is at least 0 and at most 1",
            "write such a number",
        );
    }
    inside.then_some(p)
}
