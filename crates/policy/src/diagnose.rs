//! What is wrong with a policy, where, and the way out.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::fmt;
use std::ops::Range;

/// Bytes of the text, from the first to the one after the last.
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
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// A name for documents and programs.
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }
        }
    };
}

classes! {
    /// A character that no token begins with.
    Character = "character";
    /// A text without its second quotation mark.
    OpenText = "open-text";
    /// A number of more digits than are kept exactly.
    LongNumber = "long-number";
    /// Parentheses in each other, too deep.
    Nesting = "nesting";
    /// More operators in a row than a comparator needs.
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
    /// Names of several kinds: a queue where a port is expected.
    Kind = "kind";
    /// An index outside of its array, or a range that is empty.
    Index = "index";
    /// More queues, or more of something else, than there may be.
    TooMany = "too-many";
    /// An attribute that this entity does not have.
    Misplaced = "misplaced";
    /// An attribute that is set twice.
    SetTwice = "set-twice";
    /// A queue of no port.
    NoPort = "no-port";
    /// A queue of several ports.
    SeveralPorts = "several-ports";
    /// A queue of several buffers.
    SeveralBuffers = "several-buffers";
    /// A port of several queues without an order of them.
    NoSchedule = "no-schedule";
    /// A file without any port.
    Empty = "empty";
    /// A size that is not a positive whole number.
    Size = "size";
    /// A rate that is not positive, or more than the link's.
    Rate = "rate";
    /// A probability below 0 or above 1, or one that is not constant.
    Probability = "probability";
    /// A number of parameters that its use does not have.
    Parameters = "parameters";
    /// A routine or definition is given arguments that it does not take.
    Arguments = "arguments";
    /// A number where a Boolean is expected, or the other way round.
    Type = "type";
    /// A field that this entity does not have.
    Field = "field";
    /// A field of another entity than the comparator's, or than the hook's.
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
    /// A comparator that is no strict weak order.
    Order = "order";
    /// Sizes in packets compared with sizes in bytes.
    MixedUnits = "mixed-units";
    /// A `queueSelect` that may choose a queue that is not there.
    Selection = "selection";
    /// An action without a condition, or one that has one of its own.
    Condition = "condition";
    /// Packets that would go round in a circle, or a port that is connected twice.
    Wiring = "wiring";
    /// What would have no effect.
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
    /// What is wrong at `span`, and what to write instead.
    pub fn new(class: Class, span: Span, reason: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self { class, span, reason: reason.into(), way_out: way_out.into() }
    }
    /// Its kind.
    pub fn class(&self) -> Class {
        self.class
    }
    /// Where.
    pub fn span(&self) -> Span {
        self.span
    }
    /// What is wrong.
    pub fn reason(&self) -> &str {
        &self.reason
    }
    /// What to do about it.
    pub fn way_out(&self) -> &str {
        &self.way_out
    }
}

/// All that is wrong with a file, in its order. `Display`: a line each, `file:line:column: reason: way out`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostics {
    name: String,
    text: String,
    /// Where lines end in it.
    line_ends: Vec<usize>,
    found: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Of the file `name`, which holds `text`.
    pub(crate) fn new(name: &str, text: &str, mut found: Vec<Diagnostic>) -> Self {
        found.sort_by_key(|one| (one.span.start, one.class));
        found.dedup();
        let line_ends = text.match_indices('\n').map(|(at, _)| at).collect();
        Self { name: name.to_owned(), text: text.to_owned(), line_ends, found }
    }

    /// One by one.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.found.iter()
    }

    /// Line and column of a mistake, from 1, columns in characters.
    pub fn place(&self, of: &Diagnostic) -> (usize, usize) {
        let at = of.span.range(&self.text).start;
        let lines_before = self.line_ends.partition_point(|end| *end < at);
        let start = lines_before.checked_sub(1).map_or(0, |last| self.line_ends[last] + 1);
        (lines_before + 1, self.text[start..at].chars().count() + 1)
    }

    /// With the lines that they are about, as rustc shows its own.
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

    /// What stands for the mistakes that texts leave out.
    fn others(&self) -> Option<String> {
        let others = self.found.len().checked_sub(MOST_SHOWN).filter(|others| *others > 0)?;
        Some(format!("{}: {others} more like these", self.name))
    }
}

/// Mistakes in texts: who has more has one that repeats.
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
