//! Expressions: their types (number or Boolean), and the claims that must be proved of them.

use super::Found;
use super::constants::{Constants, exact};
use super::scope::{Role, Scope, Subject};
use crate::diagnose::{Class, Span};
use crate::normal::expression::{Amount, Place, PortField, Relation, Test};
use crate::normal::ratio::Ratio;
use crate::syntax::tree::{Expression, Operator, Path, Spanned, Step};
use std::collections::BTreeSet;

/// A claim about a body, to be proved once the whole policy is known.
#[derive(Clone, Debug)]
pub enum Claim {
    /// A divisor is positive.
    Positive(Amount),
    /// Both operands of a remainder are whole.
    Whole(Amount),
    /// A comparison stays within 128 bits.
    Fits(Test),
    /// A new state stays within 128 bits.
    FitsState(Amount),
    /// A test is a strict weak order.
    Order(Test),
    /// A number is less than this number of queues.
    Below(Amount, usize),
}

/// Results of checking bodies: claims, and the definitions that are used.
#[derive(Default, Debug)]
pub struct Typed {
    claims: Vec<(Claim, Span)>,
    used: BTreeSet<String>,
}

impl Typed {
    /// The claims, with their positions.
    pub fn claims(&self) -> &[(Claim, Span)] {
        &self.claims
    }
    /// Adds a claim.
    pub fn claim(&mut self, claim: Claim, span: Span) {
        self.claims.push((claim, span));
    }
    /// Notes the use of a definition.
    pub fn note_use(&mut self, name: &str) {
        self.used.insert(name.to_owned());
    }
    /// True if a definition is used.
    pub fn uses(&self, name: &str) -> bool {
        self.used.contains(name)
    }
}

/// Checks an expression that must be a number.
pub fn number(
    of: &Spanned<Expression>,
    scope: &Scope<'_>,
    typed: &mut Typed,
    found: &mut Found,
) -> Option<Amount> {
    match &of.node {
        Expression::Number(n) => Some(Amount::Constant(exact(*n))),
        Expression::Path(path) => read(path, of.span, scope, found),
        Expression::Negative(inner) => Some(Amount::Neg(Box::new(number(inner, scope, typed, found)?))),
        Expression::Binary(operator, a, b) if operator.strength() >= Operator::Plus.strength() => {
            let (one, other) = (number(a, scope, typed, found), number(b, scope, typed, found));
            let (one, other) = (Box::new(one?), Box::new(other?));
            Some(match operator {
                Operator::Plus => Amount::Add(one, other),
                Operator::Minus => Amount::Sub(one, other),
                Operator::Times => Amount::Mul(one, other),
                Operator::Over => {
                    typed.claim(Claim::Positive((*other).clone()), b.span);
                    Amount::Div(one, other)
                }
                _ => {
                    typed.claim(Claim::Whole((*one).clone()), a.span);
                    typed.claim(Claim::Whole((*other).clone()), b.span);
                    typed.claim(Claim::Positive((*other).clone()), b.span);
                    Amount::Rem(one, other)
                }
            })
        }
        Expression::Truth(_) | Expression::Not(_) | Expression::Binary(..) => {
            found.note(
                Class::Type,
                of.span,
                "this is a Boolean, and a number is needed",
                "compare nothing here",
            );
            None
        }
    }
}

/// Checks an expression that must be a Boolean.
pub fn boolean(
    of: &Spanned<Expression>,
    scope: &Scope<'_>,
    typed: &mut Typed,
    found: &mut Found,
) -> Option<Test> {
    let mut both = |a, b| Some((boolean(a, scope, typed, found), boolean(b, scope, typed, found)));
    match &of.node {
        Expression::Truth(truth) => Some(Test::Constant(*truth)),
        Expression::Not(inner) => Some(Test::Not(Box::new(boolean(inner, scope, typed, found)?))),
        Expression::Binary(Operator::And, a, b) => {
            let (a, b) = both(a, b)?;
            Some(Test::And(Box::new(a?), Box::new(b?)))
        }
        Expression::Binary(Operator::Or, a, b) => {
            let (a, b) = both(a, b)?;
            Some(Test::Or(Box::new(a?), Box::new(b?)))
        }
        Expression::Binary(operator, a, b) if relation(*operator).is_some() => {
            let relation = relation(*operator)?;
            let (a, b) = (number(a, scope, typed, found), number(b, scope, typed, found));
            let test = Test::Compare(relation, a?, b?);
            typed.claim(Claim::Fits(test.clone()), of.span);
            Some(test)
        }
        Expression::Number(_) | Expression::Path(_) | Expression::Negative(_) | Expression::Binary(..) => {
            let way_out = "compare it with another number (<, <=, >, >=, ==, !=)";
            found.note(Class::Type, of.span, "this is a number, and a Boolean is needed", way_out);
            None
        }
    }
}

fn relation(operator: Operator) -> Option<Relation> {
    match operator {
        Operator::Less => Some(Relation::Less),
        Operator::AtMost => Some(Relation::AtMost),
        Operator::More => Some(Relation::More),
        Operator::AtLeast => Some(Relation::AtLeast),
        Operator::Equal => Some(Relation::Equal),
        Operator::Unequal => Some(Relation::Unequal),
        _ => None,
    }
}

/// Evaluates a number that consists of constants only.
pub fn constant(of: &Spanned<Expression>, constants: &Constants, found: &mut Found) -> Option<Ratio> {
    let (mut typed, scope) = (Typed::default(), Scope::new(Role::Selection, &[], constants));
    let amount = number(of, &scope, &mut typed, found)?;
    let value = amount.value(&|_| 0);
    if value.is_none() {
        let reason = "this constant divides by zero, or exceeds 128 bits";
        found.note(Class::Range, of.span, reason, "write it in smaller numbers");
    }
    value
}

/// A path that is a field, or a constant.
fn read(path: &Path, span: Span, scope: &Scope<'_>, found: &mut Found) -> Option<Amount> {
    let word = path.head.word.node.as_str();
    if !path.head.indices.is_empty() {
        out_of_sight(word, path.head.word.span, scope, found);
        return None;
    }
    if let Some(subject) = scope.subject(word) {
        return follow(subject, &path.steps, span, scope, found).map(Amount::Read);
    }
    if let (Some(value), []) = (scope.constants.get(word), path.steps.as_slice()) {
        return Some(Amount::Constant(value));
    }
    // In a condition, a word alone is a field of the entity of the condition.
    if let Some(itself) = scope.itself() {
        let head = Spanned::new(Step::Field(word.to_owned()), path.head.word.span);
        let steps: Vec<_> = std::iter::once(head).chain(path.steps.iter().cloned()).collect();
        let whose = if scope.role == Role::Port && is_of_port(word) { Subject::Port } else { itself };
        return follow(whose, &steps, span, scope, found).map(Amount::Read);
    }
    out_of_sight(word, path.head.word.span, scope, found);
    None
}

/// Words that are fields of ports but not of queues.
fn is_of_port(word: &str) -> bool {
    word == PortField::Rate.word() || word == "currQueue"
}

fn out_of_sight(word: &str, span: Span, scope: &Scope<'_>, found: &mut Found) {
    let names: Vec<&str> = scope.parameters.iter().map(|one| one.node.as_str()).collect();
    let way_out = if names.is_empty() {
        "nothing but constants is in sight here".to_owned()
    } else {
        format!("in sight are {}, and constants", names.join(", "))
    };
    found.note(Class::OutOfSight, span, format!("`{word}` is not in sight"), way_out);
}

/// Follows the steps of a path to a field.
fn follow(
    mut subject: Subject,
    steps: &[Spanned<Step>],
    span: Span,
    scope: &Scope<'_>,
    found: &mut Found,
) -> Option<Place> {
    let mut head = false;
    for (nth, step) in steps.iter().enumerate() {
        let last = nth + 1 == steps.len();
        let Step::Field(word) = &step.node else {
            subject = head_of_line(subject, step.span, scope, found)?;
            head = true;
            continue;
        };
        if !last && let Some(next) = scope.related(subject, word) {
            subject = next;
            continue;
        }
        let place = subject.field(word).filter(|_| last);
        if place.is_none() {
            let reason = format!("a {} has no field `{word}` here", subject.word());
            let way_out = format!("its fields are {}", subject.fields());
            found.note(Class::Field, step.span, reason, way_out);
        }
        return place.map(|place| match place {
            Place::Packet(which, field) if head => Place::Head(which, field),
            place => place,
        });
    }
    let reason = format!("a {} is no number", subject.word());
    found.note(Class::Field, span, reason, format!("name one of its fields: {}", subject.fields()));
    None
}

fn head_of_line(subject: Subject, span: Span, scope: &Scope<'_>, found: &mut Found) -> Option<Subject> {
    match (subject, scope.role) {
        (Subject::Queue(which), Role::Queues) => Some(Subject::Packet(which)),
        (Subject::Queue(_), _) => {
            let reason = "a queue may be empty here, and has no packet at the head of its line then";
            found.note(
                Class::HeadOfLine,
                span,
                reason,
                "use it where queues that are not empty are compared",
            );
            None
        }
        _ => {
            let reason = format!("a {} has no head of line", subject.word());
            found.note(Class::HeadOfLine, span, reason, "getHOL() belongs to queues");
            None
        }
    }
}
