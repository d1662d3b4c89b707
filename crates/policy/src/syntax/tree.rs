//! The tree of a file. Every node has its position; two trees are equal if they differ in positions only.

use crate::diagnose::Span;

/// A node and its position.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// The node.
    pub node: T,
    /// The position.
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
    /// In order.
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
        /// The word before the name.
        kind: Option<Spanned<Kind>>,
        /// The name of the entity.
        name: Name,
        /// The constructor.
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
        /// The name of the entity.
        name: Name,
        /// The attribute.
        attribute: Spanned<Attribute>,
        /// The value.
        value: Spanned<Value>,
    },
    /// `connect(PORT -> QUEUE);`
    Connection {
        /// The port that packets leave.
        from: Name,
        /// The queue that they enter.
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

/// A name, or an element of an array.
#[derive(Clone, PartialEq, Debug)]
pub struct Name {
    /// The word.
    pub word: Spanned<String>,
    /// One for each dimension.
    pub indices: Vec<Spanned<Index>>,
}

/// Which elements of an array.
#[derive(Clone, PartialEq, Debug)]
pub enum Index {
    /// One element.
    At(Bound),
    /// From the first to the last, both included.
    All(Bound, Bound),
    /// The same, and the statement refers to the index by this word.
    Each(String, Bound, Bound),
    /// In a connection: the element given by a field of the packet.
    Field(String, Spanned<String>),
}

/// An index, or a bound of a range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bound {
    /// A number.
    Number(u64),
    /// A constant, or an index that the statement binds.
    Word(String),
}

/// The constructor of an entity.
#[derive(Clone, PartialEq, Debug)]
pub enum Constructor {
    /// `Queue(SIZE [UNIT])`
    Queue(Spanned<Expression>, Option<SizeUnit>),
    /// `Buffer(SIZE [UNIT], QUEUES)`
    Buffer(Spanned<Expression>, Option<SizeUnit>, Vec<Name>),
    /// `Port([RATE,] QUEUES)`
    Port(Option<Spanned<Rate>>, Vec<Name>),
}

/// Units of sizes.
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
    /// The number.
    pub amount: Number,
    /// Its unit.
    pub unit: RateUnit,
}

/// Units of rates.
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

/// A number as written: `digits` without the point, the last `decimals` of which are after the point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number {
    /// All digits.
    pub digits: u64,
    /// Number of digits after the point.
    pub decimals: u32,
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A definition or a native routine, optionally with arguments.
    Named(Spanned<String>, Option<Vec<Spanned<Argument>>>),
    /// `inline { EXPRESSION }`
    Inline(Spanned<Expression>),
    /// The same as the body of a definition.
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
    /// The cases of a condition, of which the first that matches applies.
    Cases(Vec<Spanned<Case>>),
}

/// A condition with its actions.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The condition.
    pub test: Spanned<Expression>,
    /// The actions, in order.
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
    /// A state is set to this value.
    Modify(Option<Spanned<String>>, Spanned<String>, Spanned<Expression>),
}

/// An expression: a number or a Boolean, which the checker distinguishes.
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

/// A field, by the path to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    /// The first element.
    pub head: Name,
    /// The further steps.
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
            /// The one that is written so.
            pub fn of(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$name),)* _ => None }
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Operators, from the weakest to the strongest.
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
    /// Its precedence.
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
        /// The order of admission; the last packet is the victim.
        AdmPrio = "admPrio",
        /// The order of packets in a queue; the first packet is the head of line.
        ProcPrio = "procPrio",
        /// The same, as spelt in Figure 2.13.
        ProPrio = "proPrio",
        /// The order of a buffer's queues; the last one gives up a packet.
        QueuePrio = "queuePrio",
        /// Order of a port's queues.
        SchedPrio = "schedPrio",
        /// Cases on congestion.
        Congestion = "congestion",
        /// Actions on congestion, if they are separate from the condition.
        CongAction = "congAction",
        /// Cases after a packet was admitted.
        PostAdmAct = "postAdmAct",
        /// Cases after a packet was scheduled.
        PostSchedAct = "postSchedAct",
        /// The choice of the queue that a packet joins.
        QueueSelect = "queueSelect",
        /// The initial state for admission.
        AdmState = "admState",
        /// The initial state for scheduling.
        SchedState = "schedState",
        /// What happens to the scheduling state of a queue when packets arrive after it was empty.
        Returning = "returning",
        /// What a connected port does if the next queue does not admit a packet.
        WhenFull = "whenFull",
    }
}
