//! Mistakes in policies, with their positions and hints.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::fmt;
use std::ops::Range;

/// A range of bytes of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// From `start` to before `end`.
    pub fn new(start: usize, end: usize) -> Self {
        let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { start: narrow(start), end: narrow(end) }
    }
    /// From the start of this one to the end of `other`.
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end.max(self.start) }
    }
    fn range(self, text: &str) -> Range<usize> {
        let floor = |at: u32| (0..=(at as usize).min(text.len())).rev().find(|&at| text.is_char_boundary(at));
        let (start, end) = (floor(self.start).unwrap_or(0), floor(self.end).unwrap_or(0));
        start..end.max(start)
    }
}

macro_rules! classes {
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal;)*) => {
        /// Kinds of mistakes. Each is tested (`crates/policy/tests/all/errors.rs`).
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[non_exhaustive]
        pub enum Class { $($(#[doc = $doc])* $name,)* }

        impl Class {
            /// All classes.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The name for documents and programs.
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }
        }
    };
}

classes! {
    /// A character that no token begins with.
    Character = "character";
    /// A string without its second quotation mark.
    OpenText = "open-text";
    /// A number with more digits than can be kept exactly.
    LongNumber = "long-number";
    /// Parentheses nested too deeply.
    Nesting = "nesting";
    /// An expression with too many operators.
    LongExpression = "long-expression";
    /// A statement without its semicolon.
    Semicolon = "semicolon";
    /// A token where another is expected.
    Unexpected = "unexpected";
    /// A call in a comparator or a condition.
    Call = "call";
    /// An action that does not exist.
    Action = "action";
    /// An attribute that does not exist.
    Attribute = "attribute";
    /// A unit that does not exist.
    Unit = "unit";
    /// A name that is declared twice.
    Duplicate = "duplicate";
    /// A name that nothing declares.
    Unknown = "unknown";
    /// A name of the wrong kind: a queue where a port is expected.
    Kind = "kind";
    /// An index outside of its array, or a range that is empty.
    Index = "index";
    /// Too many queues, or other entities.
    TooMany = "too-many";
    /// An attribute that this entity does not have.
    Misplaced = "misplaced";
    /// An attribute that is set twice.
    SetTwice = "set-twice";
    /// A queue without a port.
    NoPort = "no-port";
    /// A queue of several ports.
    SeveralPorts = "several-ports";
    /// A queue of several buffers.
    SeveralBuffers = "several-buffers";
    /// A port with several queues and no order of them.
    NoSchedule = "no-schedule";
    /// A file without any port.
    Empty = "empty";
    /// A size that is not a positive whole number.
    Size = "size";
    /// A rate that is not positive, or more than the link's.
    Rate = "rate";
    /// A probability below 0 or above 1, or one that is not constant.
    Probability = "probability";
    /// A number of parameters that this use does not allow.
    Parameters = "parameters";
    /// Arguments that a routine or a definition does not take.
    Arguments = "arguments";
    /// A number where a Boolean is expected, or the other way round.
    Type = "type";
    /// A field that this entity does not have.
    Field = "field";
    /// A field of an entity that the comparator or the hook cannot refer to.
    OutOfSight = "out-of-sight";
    /// `getHOL()` of something that is not a queue.
    HeadOfLine = "head-of-line";
    /// An action that this hook does not have.
    ActionSet = "action-set";
    /// A state that this hook cannot change, or that its entity does not have.
    State = "state";
    /// A body that fits no use.
    Body = "body";
    /// A divisor that may be zero or negative.
    Divisor = "divisor";
    /// The remainder of a fraction.
    Remainder = "remainder";
    /// Arithmetic that may exceed 128 bits.
    Range = "range";
    /// A comparator that is not a strict weak order.
    Order = "order";
    /// Sizes in packets compared with sizes in bytes.
    MixedUnits = "mixed-units";
    /// A `queueSelect` that may choose a queue that does not exist.
    Selection = "selection";
    /// A condition without an action, an action without a condition, or an action next to cases that have their own.
    Condition = "condition";
    /// Connections that form a cycle, or a port that is connected twice.
    Wiring = "wiring";
    /// Something without effect.
    NoEffect = "no-effect";
}

/// One mistake.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    class: Class,
    span: Span,
    reason: String,
    way_out: String,
}

impl Diagnostic {
    /// A mistake at `span`, with a hint.
    pub fn new(class: Class, span: Span, reason: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self { class, span, reason: reason.into(), way_out: way_out.into() }
    }
    /// Its class.
    pub fn class(&self) -> Class {
        self.class
    }
    /// Its position.
    pub fn span(&self) -> Span {
        self.span
    }
    /// The reason.
    pub fn reason(&self) -> &str {
        &self.reason
    }
    /// The hint.
    pub fn way_out(&self) -> &str {
        &self.way_out
    }
}

/// All mistakes of a file, in order. `Display` writes one line for each, `file:line:column: reason: way out`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostics {
    name: String,
    text: String,
    /// The positions of line ends in the text.
    line_ends: Vec<usize>,
    found: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Mistakes of the file `name` with this `text`.
    pub(crate) fn new(name: &str, text: &str, mut found: Vec<Diagnostic>) -> Self {
        found.sort_by_key(|one| (one.span.start, one.class));
        found.dedup();
        let line_ends = text.match_indices('\n').map(|(at, _)| at).collect();
        Self { name: name.to_owned(), text: text.to_owned(), line_ends, found }
    }

    /// The mistakes one by one.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.found.iter()
    }

    /// Line and column of a mistake, counted from 1, columns in characters.
    pub fn place(&self, of: &Diagnostic) -> (usize, usize) {
        let at = of.span.range(&self.text).start;
        let lines_before = self.line_ends.partition_point(|end| *end < at);
        let start = lines_before.checked_sub(1).map_or(0, |last| self.line_ends[last] + 1);
        (lines_before + 1, self.text[start..at].chars().count() + 1)
    }

    /// The mistakes with the lines that they are about, in the style of rustc.
    pub fn render(&self) -> String {
        let shown = |one: &Diagnostic| {
            let span = one.span.range(&self.text);
            let mark = AnnotationKind::Primary.span(span);
            let snippet = Snippet::source(self.text.as_str()).path(self.name.as_str()).annotation(mark);
            let group = Level::ERROR.primary_title(one.reason.as_str()).id(one.class.code()).element(snippet);
            Renderer::plain().render(&[group.element(Level::HELP.message(one.way_out.as_str()))])
        };
        let all = self.found.iter().take(MOST_SHOWN).map(shown);
        all.chain(self.others()).collect::<Vec<_>>().join("\n\n")
    }

    /// A line for the mistakes that are not shown.
    fn others(&self) -> Option<String> {
        let others = self.found.len().checked_sub(MOST_SHOWN).filter(|others| *others > 0)?;
        Some(format!("{}: {others} more like these", self.name))
    }
}

/// Number of mistakes that are shown; a file with more usually repeats one.
const MOST_SHOWN: usize = 100;

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |one: &Diagnostic| {
            let (line, column) = self.place(one);
            format!("{}:{line}:{column}: {}: {}", self.name, one.reason, one.way_out)
        };
        let all = self.found.iter().take(MOST_SHOWN).map(shown);
        f.write_str(&all.chain(self.others()).collect::<Vec<_>>().join("\n"))
    }
}

impl std::error::Error for Diagnostics {}
