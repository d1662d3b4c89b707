//! The tree of a file. Every node knows its place; two trees are equal if they differ in nothing but places.

use crate::diagnose::Span;

/// Something, and where it stands.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// What.
    pub node: T,
    /// Where.
    pub span: Span,
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node
    }
}

impl<T> Spanned<T> {
    /// `node` at `span`.
    pub fn new(node: T, span: Span) -> Self {
        Self { node, span }
    }
}

/// A file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct File {
    /// In their order.
    pub statements: Vec<Spanned<Statement>>,
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Statement {
    /// `import "NAME"`: native routines.
    Import(Spanned<String>),
    /// `const NAME = NUMBER;`
    Const(Spanned<String>, Spanned<Number>),
    /// `[KIND] NAME = CONSTRUCTOR;`
    Declaration {
        /// What is written before the name.
        kind: Option<Spanned<Kind>>,
        /// Whose.
        name: Name,
        /// What it is made of.
        made: Spanned<Constructor>,
    },
    /// `NAME(PARAMETERS) = BODY`
    Definition {
        /// Its name.
        name: Spanned<String>,
        /// At most two.
        parameters: Vec<Spanned<String>>,
        /// A comparator's expression, or a condition's cases.
        body: Body,
    },
    /// `NAME.ATTRIBUTE = VALUE;`
    Assignment {
        /// Whose.
        name: Name,
        /// Which.
        attribute: Spanned<Attribute>,
        /// To what.
        value: Spanned<Value>,
    },
    /// `connect(PORT -> QUEUE);`
    Connection {
        /// Where packets leave.
        from: Name,
        /// Where they go on.
        to: Name,
    },
}

/// Kinds of entities.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An ordered set of packets.
    Queue,
    /// Space that queues share.
    Buffer,
    /// A scheduler over queues.
    Port,
}

/// A name, perhaps of an array.
#[derive(Clone, PartialEq, Debug)]
pub struct Name {
    /// The word.
    pub word: Spanned<String>,
    /// One for each dimension.
    pub indices: Vec<Spanned<Index>>,
}

/// Which of an array.
#[derive(Clone, PartialEq, Debug)]
pub enum Index {
    /// One.
    At(Bound),
    /// From the first to the last, both included.
    All(Bound, Bound),
    /// The same, and the statement refers to each by this word.
    Each(String, Bound, Bound),
    /// In a connection: the one that a field of the packet names.
    Field(String, Spanned<String>),
}

/// An index, or an end of a range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    /// A number.
    Number(u64),
    /// A constant, or an index that the statement binds.
    Word(String),
}

/// What an entity is made of.
#[derive(Clone, PartialEq, Debug)]
pub enum Constructor {
    /// `Queue(SIZE [UNIT])`
    Queue(Spanned<Expression>, Option<SizeUnit>),
    /// `Buffer(SIZE [UNIT], QUEUES)`
    Buffer(Spanned<Expression>, Option<SizeUnit>, Vec<Name>),
    /// `Port([RATE,] QUEUES)`
    Port(Option<Spanned<Rate>>, Vec<Name>),
}

/// What sizes are counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SizeUnit {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
}

/// A port's rate.
#[derive(Clone, PartialEq, Debug)]
pub struct Rate {
    /// How much.
    pub amount: Number,
    /// Of what.
    pub unit: RateUnit,
}

/// What rates are counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateUnit {
    /// Percent of the link.
    Percent,
    /// Kilobits per second.
    Kbps,
    /// Megabits per second.
    Mbps,
    /// Gigabits per second.
    Gbps,
}

/// A number as it is written: `digits` without the point, of which the last `decimals` stand behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number {
    /// All digits.
    pub digits: u64,
    /// How many of them stand behind the point.
    pub decimals: u32,
}

/// What an attribute is set to.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A definition or a native routine, perhaps with arguments.
    Named(Spanned<String>, Option<Vec<Spanned<Argument>>>),
    /// `inline { EXPRESSION }`
    Inline(Spanned<Expression>),
    /// What a definition would have.
    Body(Body),
}

/// An argument.
#[derive(Clone, PartialEq, Debug)]
pub enum Argument {
    /// A number.
    Number(Number),
    /// A name.
    Name(Name),
}

/// The body of a definition.
#[derive(Clone, PartialEq, Debug)]
pub enum Body {
    /// A comparator's, or a condition without actions.
    Expression(Spanned<Expression>),
    /// A condition's: the first that matches.
    Cases(Vec<Spanned<Case>>),
}

/// When, and what then.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// When.
    pub test: Spanned<Expression>,
    /// What then, in this order.
    pub actions: Vec<Spanned<Action>>,
}

/// An action.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// The least valuable packet is dropped, with this probability.
    Drop(Spanned<Expression>),
    /// The packet is marked.
    Mark,
    /// The control plane, or the neighbour, is notified.
    Notify,
    /// A state becomes this.
    Modify(Option<Spanned<String>>, Spanned<String>, Spanned<Expression>),
}

/// An expression: numbers and Booleans, which the checker tells apart.
#[derive(Clone, PartialEq, Debug)]
pub enum Expression {
    /// A number.
    Number(Number),
    /// `true` or `false`.
    Truth(bool),
    /// A field.
    Path(Path),
    /// `-a`
    Negative(Box<Spanned<Expression>>),
    /// `!a`
    Not(Box<Spanned<Expression>>),
    /// `a OPERATOR b`
    Binary(Operator, Box<Spanned<Expression>>, Box<Spanned<Expression>>),
}

/// A field, by the way to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    /// Where it begins.
    pub head: Name,
    /// What follows.
    pub steps: Vec<Spanned<Step>>,
}

/// A step of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// `.field`
    Field(String),
    /// `.getHOL()`
    HeadOfLine,
}

macro_rules! words {
    ($(#[doc = $doc:literal])* $enum:ident { $($(#[doc = $name_doc:literal])* $name:ident = $word:literal,)* }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum $enum { $($(#[doc = $name_doc])* $name,)* }

        impl $enum {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];
            /// As it is written.
            pub fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
            /// What is written so.
            pub fn of(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$name),)* _ => None }
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Operators, from those that bind least.
    Operator {
        /// Either.
        Or = "||",
        /// Both.
        And = "&&",
        /// Less.
        Less = "<",
        /// Less or equal.
        AtMost = "<=",
        /// More.
        More = ">",
        /// More or equal.
        AtLeast = ">=",
        /// Equal.
        Equal = "==",
        /// Not equal.
        Unequal = "!=",
        /// Sum.
        Plus = "+",
        /// Difference.
        Minus = "-",
        /// Product.
        Times = "*",
        /// Quotient, exact.
        Over = "/",
        /// Remainder.
        Modulo = "%",
    }
}

impl Operator {
    /// How tightly it binds.
    pub fn strength(self) -> u8 {
        use Operator::{And, Minus, Modulo, Or, Over, Plus, Times};
        match self {
            Or => 1,
            And => 2,
            Plus | Minus => 5,
            Times | Over | Modulo => 6,
            _ => 4,
        }
    }
}

words! {
    /// Attributes of entities.
    Attribute {
        /// Order in which packets are worth keeping; its last is the victim.
        AdmPrio = "admPrio",
        /// Order of packets in a queue; its first is head of line.
        ProcPrio = "procPrio",
        /// The same (as Figure 2.13 spells it).
        ProPrio = "proPrio",
        /// Order of a buffer's queues; its last gives up a packet.
        QueuePrio = "queuePrio",
        /// Order of a port's queues.
        SchedPrio = "schedPrio",
        /// When there is congestion, and what then.
        Congestion = "congestion",
        /// What then, apart from the condition.
        CongAction = "congAction",
        /// After a packet was admitted.
        PostAdmAct = "postAdmAct",
        /// After a packet was scheduled.
        PostSchedAct = "postSchedAct",
        /// Which of a port's queues a packet joins.
        QueueSelect = "queueSelect",
        /// The state for admission, at first.
        AdmState = "admState",
        /// The state for scheduling, at first.
        SchedState = "schedState",
        /// What becomes of a queue's scheduling state when packets come after it was empty.
        Returning = "returning",
        /// What a connected port does when the next queue does not admit.
        WhenFull = "whenFull",
    }
}
