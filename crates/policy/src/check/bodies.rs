//! Expressions: which fields are in sight, and what is a number and what a Boolean.

use super::Found;
use super::names::{Names, exact};
use crate::diagnose::{Class, Span};
use crate::normal::expression::{
    Amount, BufferField, PacketField, Place, PortField, QueueField, Relation, Test, Which,
};
use crate::normal::ratio::Ratio;
use crate::syntax::tree::{Expression, Operator, Path, Spanned, Step};
use std::collections::BTreeSet;

/// What a body is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Two packets are compared.
    Packets,
    /// Two queues are compared.
    Queues,
    /// A hook of a queue.
    Queue,
    /// A hook of a buffer.
    Buffer,
    /// A hook of a port.
    Port,
    /// A packet chooses a queue.
    Selection,
}

/// What is in sight in a body.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'s> {
    /// What it is for.
    pub role: Role,
    /// Its parameters.
    pub parameters: &'s [Spanned<String>],
    /// Constants.
    pub names: &'s Names<'s>,
    /// It stands in `inline { }`, where `Packet` and `Queue` are what it is about.
    pub is_inline: bool,
}

/// What must be proved of a body once all of the policy is known.
#[derive(Clone, Debug)]
pub enum Claim {
    /// A divisor is positive.
    Positive(Amount),
    /// Both of a remainder are whole.
    Whole(Amount),
    /// A comparison stays within bounds.
    Fits(Test),
    /// So does a new state.
    FitsState(Amount),
    /// A strict weak order.
    Order(Test),
    /// One of so many queues.
    Below(Amount, usize),
}

/// What was found in bodies: claims, and which definitions are used.
#[derive(Default, Debug)]
pub struct Typed {
    claims: Vec<(Claim, Span)>,
    used: BTreeSet<String>,
}

impl Typed {
    /// Claims, with their places.
    pub fn claims(&self) -> &[(Claim, Span)] {
        &self.claims
    }
    /// Adds one.
    pub fn claim(&mut self, claim: Claim, span: Span) {
        self.claims.push((claim, span));
    }
    /// A definition is used.
    pub fn note_use(&mut self, name: &str) {
        self.used.insert(name.to_owned());
    }
    /// Whether it is.
    pub fn uses(&self, name: &str) -> bool {
        self.used.contains(name)
    }
}

/// A thing that has fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Subject {
    Packet(Which),
    Queue(Which),
    Buffer,
    Port,
}

impl Subject {
    fn word(self) -> &'static str {
        match self {
            Self::Packet(_) => "packet",
            Self::Queue(_) => "queue",
            Self::Buffer => "buffer",
            Self::Port => "port",
        }
    }
    fn fields(self) -> String {
        let words = match self {
            Self::Packet(_) => PacketField::ALL.iter().map(|field| field.word()).collect::<Vec<_>>(),
            Self::Queue(_) => QueueField::ALL.iter().map(|field| field.word()).collect(),
            Self::Buffer => BufferField::ALL.iter().map(|field| field.word()).collect(),
            Self::Port => PortField::ALL.iter().map(|field| field.word()).collect(),
        };
        words.join(", ")
    }
    fn field(self, word: &str) -> Option<Place> {
        match self {
            Self::Packet(which) => PacketField::of(word).map(|field| Place::Packet(which, field)),
            Self::Queue(which) => QueueField::of(word).map(|field| Place::Queue(which, field.place())),
            Self::Buffer => BufferField::of(word).map(Place::Buffer),
            Self::Port => PortField::of(word).map(Place::Port),
        }
    }
}

impl Scope<'_> {
    /// How many parameters a body of this role may have.
    pub fn takes(&self) -> (usize, usize) {
        match self.role {
            Role::Packets | Role::Queues => (2, 2),
            Role::Selection => (1, 1),
            Role::Queue | Role::Buffer | Role::Port => (0, 2),
        }
    }

    /// What a word at the head of a path stands for.
    fn subject(&self, word: &str) -> Option<Subject> {
        let nth = self.parameters.iter().position(|one| one.node == word);
        match (self.role, nth) {
            (Role::Packets | Role::Selection, Some(0)) => Some(Subject::Packet(Which::First)),
            (Role::Packets, Some(_)) => Some(Subject::Packet(Which::Second)),
            (Role::Queues, Some(0)) => Some(Subject::Queue(Which::First)),
            (Role::Queues, Some(_)) => Some(Subject::Queue(Which::Second)),
            (Role::Queue, Some(0)) => Some(Subject::Queue(Which::First)),
            (Role::Buffer, Some(0)) => Some(Subject::Buffer),
            (Role::Port, Some(0)) => Some(Subject::Port),
            (_, Some(_)) => Some(Subject::Packet(Which::First)),
            (_, None) if self.is_inline => self.inline_subject(word),
            (_, None) => None,
        }
    }

    fn inline_subject(&self, word: &str) -> Option<Subject> {
        match (self.role, word) {
            (Role::Packets | Role::Selection | Role::Queue | Role::Buffer | Role::Port, "Packet") => {
                Some(Subject::Packet(Which::First))
            }
            (Role::Queues | Role::Queue, "Queue") => Some(Subject::Queue(Which::First)),
            (Role::Buffer, "Buffer") => Some(Subject::Buffer),
            (Role::Port, "Port") => Some(Subject::Port),
            _ => None,
        }
    }

    /// What a word alone is a field of, in a condition.
    ///
    /// CHOICE OpenQueue §2.3.2: after scheduling it is the queue that was served; the port's own fields are reached by
    /// the parameter. Other reading: the port's; but Figure 2.9's crr changes the `schedState` that it compares.
    fn itself(&self) -> Option<Subject> {
        match self.role {
            Role::Queue | Role::Port => Some(Subject::Queue(Which::First)),
            Role::Buffer => Some(Subject::Buffer),
            Role::Packets | Role::Queues | Role::Selection => None,
        }
    }

    /// From one thing to another that belongs to it.
    fn related(&self, subject: Subject, word: &str) -> Option<Subject> {
        match (subject, word, self.role) {
            (Subject::Queue(_), "buffer", Role::Queue) => Some(Subject::Buffer),
            (Subject::Buffer, "currQueue", Role::Buffer) => Some(Subject::Queue(Which::First)),
            (Subject::Port, "currQueue", Role::Port) => Some(Subject::Queue(Which::First)),
            _ => None,
        }
    }

    /// The state that `[whose.]word` names, as a place.
    pub fn state(&self, whose: Option<&str>, word: &str) -> Option<Place> {
        let subject = match whose {
            None => self.itself()?,
            Some("currQueue") if matches!(self.role, Role::Buffer | Role::Port) => Subject::Queue(Which::First),
            Some(whose) => self.subject(whose)?,
        };
        subject.field(word)
    }
}

/// A number.
pub fn number(of: &Spanned<Expression>, scope: &Scope<'_>, typed: &mut Typed, found: &mut Found) -> Option<Amount> {
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
            found.note(Class::Type, of.span, "this is a Boolean, and a number is needed", "compare nothing here");
            None
        }
    }
}

/// A Boolean.
pub fn boolean(of: &Spanned<Expression>, scope: &Scope<'_>, typed: &mut Typed, found: &mut Found) -> Option<Test> {
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

/// A number of constants only.
pub fn constant(of: &Spanned<Expression>, names: &Names<'_>, found: &mut Found) -> Option<Ratio> {
    let (mut typed, scope) = (Typed::default(), names.scope(Role::Selection, &[]));
    let amount = number(of, &scope, &mut typed, found)?;
    let value = amount.value(&|_| 0);
    if value.is_none() {
        let reason = "this constant divides by zero, or exceeds 128 bits";
        found.note(Class::Range, of.span, reason, "write it in smaller numbers");
    }
    value
}

/// A field, or a constant.
fn read(path: &Path, span: Span, scope: &Scope<'_>, found: &mut Found) -> Option<Amount> {
    let word = path.head.word.node.as_str();
    if !path.head.indices.is_empty() {
        out_of_sight(word, path.head.word.span, scope, found);
        return None;
    }
    if let Some(subject) = scope.subject(word) {
        return follow(subject, &path.steps, span, scope, found).map(Amount::Read);
    }
    if let (Some(value), []) = (scope.names.constant(word), path.steps.as_slice()) {
        return Some(Amount::Constant(value));
    }
    // In a condition a word alone is a field of what it is a condition of.
    if let Some(itself) = scope.itself() {
        let head = Spanned::new(Step::Field(word.to_owned()), path.head.word.span);
        let steps: Vec<_> = std::iter::once(head).chain(path.steps.iter().cloned()).collect();
        let whose = if scope.role == Role::Port && is_of_port(word) { Subject::Port } else { itself };
        return follow(whose, &steps, span, scope, found).map(Amount::Read);
    }
    out_of_sight(word, path.head.word.span, scope, found);
    None
}

/// Words that no queue has, and ports have.
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

/// Along the steps to a place.
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
            found.note(Class::HeadOfLine, span, reason, "use it where queues that are not empty are compared");
            None
        }
        _ => {
            let reason = format!("a {} has no head of line", subject.word());
            found.note(Class::HeadOfLine, span, reason, "getHOL() belongs to queues");
            None
        }
    }
}
