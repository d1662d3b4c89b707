//! From characters to tokens.

use crate::diagnose::{Class, Diagnostic, Span};
use logos::Logos;
use std::fmt;

/// Depth of nested parentheses, which is also the recursion depth of the parser.
const DEPTH: usize = 32;
/// Number of operators of one expression, which also limits recursion.
const OPERATORS: usize = 256;
/// Number of digits of a number: as many as fit into 64 bits.
const DIGITS: usize = 18;

/// A token.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\f]+", skip r"//[^\n]*")]
pub enum Token<'s> {
    /// Digits, optionally with a decimal point.
    #[regex(r"[0-9]+(\.[0-9]+)?")]
    Number(&'s str),
    /// A word that is not reserved.
    #[regex(r"[A-Za-z][A-Za-z0-9_]*")]
    Word(&'s str),
    /// A string in quotation marks.
    #[regex(r#""[^"\n]*""#)]
    Text(&'s str),
    /// A string without an end on its line.
    #[regex(r#""[^"\n]*"#)]
    OpenText,
    /// A reserved word.
    #[token("import")]
    #[token("const")]
    #[token("connect")]
    #[token("Queue")]
    #[token("Buffer")]
    #[token("Port")]
    #[token("inline")]
    #[token("true")]
    #[token("false")]
    #[token("drop")]
    #[token("mark")]
    #[token("notify")]
    #[token("modify")]
    #[token("getHOL")]
    #[token("pkts")]
    #[token("bytes")]
    #[token("kbps")]
    #[token("Mbps")]
    #[token("Gbps")]
    Reserved(&'s str),
    /// An operator or a bracket.
    #[token("(")]
    #[token(")")]
    #[token("[")]
    #[token("]")]
    #[token("{")]
    #[token("}")]
    #[token(",")]
    #[token(";")]
    #[token(":")]
    #[token(".")]
    #[token("..")]
    #[token("=")]
    #[token(":=")]
    #[token("->")]
    #[token("→", |_| "->")]
    #[token("·", |_| "&")]
    #[token("&")]
    #[token("||")]
    #[token("&&")]
    #[token("!")]
    #[token("<")]
    #[token("<=")]
    #[token(">")]
    #[token(">=")]
    #[token("==")]
    #[token("!=")]
    #[token("+")]
    #[token("-")]
    #[token("*")]
    #[token("/")]
    #[token("%")]
    Sign(&'s str),
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(text) | Self::Word(text) | Self::Text(text) => write!(f, "`{text}`"),
            Self::OpenText => write!(f, "a text"),
            Self::Reserved(text) | Self::Sign(text) => write!(f, "`{text}`"),
        }
    }
}

/// The tokens of `text`, with their positions.
pub fn tokens(text: &str) -> Result<Vec<(Token<'_>, Span)>, Vec<Diagnostic>> {
    let (mut tokens, mut wrong) = (Vec::new(), Vec::new());
    let (mut depth, mut operators) = (0usize, 0usize);
    for (token, at) in Token::lexer(text).spanned() {
        let span = Span::new(at.start, at.end);
        let Ok(token) = token else {
            wrong.push(unknown(&text[at], span));
            continue;
        };
        match token {
            Token::Sign("(") => depth += 1,
            Token::Sign(")") => depth = depth.saturating_sub(1),
            // The start of an expression.
            Token::Sign(";" | "=" | ":=" | "{") => operators = 0,
            Token::Sign("+" | "-" | "*" | "/" | "%" | "<" | "<=" | ">" | ">=") => operators += 1,
            Token::Sign("==" | "!=" | "&&" | "||" | "!") => operators += 1,
            Token::OpenText => wrong.push(open_text(span)),
            Token::Number(digits) if digits.len() > DIGITS => wrong.push(long_number(span)),
            _ => {}
        }
        if depth > DEPTH {
            return Err(vec![too_deep(span)]);
        }
        if operators > OPERATORS {
            return Err(vec![too_long(span)]);
        }
        tokens.push((token, span));
    }
    if wrong.is_empty() { Ok(tokens) } else { Err(wrong) }
}

fn unknown(found: &str, span: Span) -> Diagnostic {
    let reason = format!("`{found}` is no character of a policy");
    Diagnostic::new(Class::Character, span, reason, "remove it; comments begin with `//`")
}

fn open_text(span: Span) -> Diagnostic {
    Diagnostic::new(Class::OpenText, span, "a text ends on its line", "close it with a quotation mark")
}

fn long_number(span: Span) -> Diagnostic {
    let reason = format!("a number has at most {DIGITS} digits, so that it is kept exactly");
    Diagnostic::new(Class::LongNumber, span, reason, "write fewer digits")
}

fn too_deep(span: Span) -> Diagnostic {
    let reason = format!("more than {DEPTH} parentheses stand in each other");
    Diagnostic::new(Class::Nesting, span, reason, "remove those that change nothing")
}

fn too_long(span: Span) -> Diagnostic {
    let reason = format!("an expression has more than {OPERATORS} operators");
    Diagnostic::new(
        Class::LongExpression,
        span,
        reason,
        "shorten it, or end the statement before it with `;`",
    )
}
