//! A policy's text, and what it was found to be: a state that is saved holds the text, and is compiled again.

use crate::problems::Mistake;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use thalweg_policy::normal::expression::PacketField;
use thalweg_policy::{Bytecode, Policy, check};

/// A policy that was checked, and its code: every port that runs it has these.
#[derive(Debug)]
pub struct Compiled {
    pub(super) policy: Arc<Policy>,
    pub(super) code: Arc<Bytecode>,
    /// Fields of packets that it reads.
    pub(super) reads: BTreeSet<PacketField>,
}

/// The text, as it was written, and what it is.
#[derive(Clone)]
pub struct Text(Arc<(String, Result<Compiled, Vec<Mistake>>)>);

impl Text {
    /// Checks it.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let made = check(&text, "").map(|policy| Compiled {
            code: Arc::new(Bytecode::of(&policy)),
            reads: policy.reads(),
            policy: Arc::new(policy),
        });
        let made = made.map_err(|wrong| {
            let mistake = |one| {
                let (line, column) = wrong.place(one);
                let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
                let (reason, hint) = (one.reason().to_owned(), one.way_out().to_owned());
                Mistake { line: narrow(line), column: narrow(column), reason, hint }
            };
            wrong.iter().map(mistake).collect()
        });
        Self(Arc::new((text, made)))
    }

    /// What it is, if it is right.
    pub(super) fn compiled(&self) -> Option<&Compiled> {
        self.0.1.as_ref().ok()
    }

    /// What is wrong with it.
    pub(super) fn mistakes(&self) -> &[Mistake] {
        self.0.1.as_ref().err().map_or(&[], Vec::as_slice)
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.0 == other.0.0
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.0, f)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.0.0.serialize(s)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d).map(Self::new)
    }
}

impl JsonSchema for Text {
    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// A file by its name, and what it holds once it was read.
#[derive(Clone, PartialEq, Debug)]
pub struct File {
    name: String,
    text: Option<Text>,
}

impl File {
    /// A file that was not read yet.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), text: None }
    }
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// What it holds.
    pub fn text(&self) -> Option<&Text> {
        self.text.as_ref()
    }
    /// It holds this.
    pub(super) fn holds(&mut self, text: &str) {
        self.text = Some(Text::new(text));
    }
}

impl Serialize for File {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.name.serialize(s)
    }
}

impl<'de> Deserialize<'de> for File {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d).map(Self::named)
    }
}

impl JsonSchema for File {
    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}
