//! The words of a GOAL trace, with their lines. Blanks and line ends only separate words.

use crate::parse::ParseError;

/// A word, a brace or a colon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub text: &'a str,
    pub line: usize,
}

/// The rest of a text.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    rest: &'a str,
    line: usize,
    next: Option<Token<'a>>,
}

impl<'a> Tokens<'a> {
    pub fn new(text: &'a str) -> Result<Self, ParseError> {
        let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut tokens = Self { rest, line: 1, next: None };
        tokens.read()?;
        Ok(tokens)
    }

    /// The next token, without consuming it.
    pub fn peek(&self) -> Option<Token<'a>> {
        self.next
    }

    /// The next token. `what` was expected, for the error if there is none.
    pub fn next(&mut self, what: &str) -> Result<Token<'a>, ParseError> {
        let Some(token) = self.next else {
            return Err(ParseError::new(self.line, format!("the trace ends where {what} is expected"), ""));
        };
        self.read()?;
        Ok(token)
    }

    /// Checks that the next token is this word.
    pub fn expect(&mut self, word: &str) -> Result<(), ParseError> {
        let token = self.next(&format!("`{word}`"))?;
        if token.text == word { Ok(()) } else { Err(token.wrong(&format!("is not `{word}`"), "")) }
    }

    fn read(&mut self) -> Result<(), ParseError> {
        self.skip()?;
        let Some(first) = self.rest.chars().next() else {
            self.next = None;
            return Ok(());
        };
        let end = match first {
            '{' | '}' | ':' => 1,
            _ => self.word(),
        };
        let (text, rest) = self.rest.split_at(end);
        self.next = Some(Token { text, line: self.line });
        self.rest = rest;
        Ok(())
    }

    /// Length in bytes of the word that begins here.
    fn word(&self) -> usize {
        let ends = |(at, c): &(usize, char)| {
            let rest = &self.rest[*at..];
            c.is_whitespace() || "{}:".contains(*c) || rest.starts_with("//") || rest.starts_with("/*")
        };
        self.rest.char_indices().find(ends).map_or(self.rest.len(), |(at, _)| at)
    }

    /// Skips blanks and comments.
    fn skip(&mut self) -> Result<(), ParseError> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.pass(blank);
            if self.rest.starts_with("//") {
                self.pass(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                let Some(end) = self.rest.find("*/") else {
                    return Err(ParseError::new(self.line, "the comment has no end", "close it with `*/`"));
                };
                self.pass(end + 2);
            } else {
                return Ok(());
            }
        }
    }

    fn pass(&mut self, bytes: usize) {
        let (passed, rest) = self.rest.split_at(bytes);
        self.line += passed.bytes().filter(|byte| *byte == b'\n').count();
        self.rest = rest;
    }
}
