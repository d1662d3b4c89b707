//! Constants, and entities by name and index.

use super::Found;
use super::constants::Constants;
use crate::diagnose::{Class, Span};
use crate::syntax::tree::{Bound, Constructor, File, Index, Kind, Name, Spanned, Statement};
use std::collections::BTreeMap;

/// Largest number of entities of a kind, and of elements of an array.
pub const MOST: usize = 4096;

/// An entity: its kind, and its number among those of its kind in the order of their declarations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Entity {
    /// Its kind.
    pub kind: EntityKind,
    /// Its number.
    pub number: usize,
}

/// [`Kind`], in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EntityKind {
    /// A queue.
    Queue,
    /// A buffer.
    Buffer,
    /// A port.
    Port,
}

impl EntityKind {
    /// The word for messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Buffer => "buffer",
            Self::Port => "port",
        }
    }
    fn of(made: &Constructor) -> Self {
        match made {
            Constructor::Queue(..) => Self::Queue,
            Constructor::Buffer(..) => Self::Buffer,
            Constructor::Port(..) => Self::Port,
        }
    }
    fn is(self, kind: Kind) -> bool {
        matches!(
            (self, kind),
            (Self::Queue, Kind::Queue) | (Self::Buffer, Kind::Buffer) | (Self::Port, Kind::Port)
        )
    }
}

/// Indices that a statement binds.
pub type Indices = BTreeMap<String, u64>;

/// One choice of indices for a name on the left of a statement, and the words that it binds.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// One index for each dimension.
    pub indices: Vec<u64>,
    /// Words bound to indices.
    pub bound: Indices,
}

/// True if a comparator or a condition has this name.
pub type Defined<'d> = &'d dyn Fn(&str) -> bool;

/// The constants and entities of a file, by name.
#[derive(Debug, Default)]
pub struct Names<'t> {
    constants: Constants,
    entities: BTreeMap<&'t str, BTreeMap<Vec<u64>, Entity>>,
    counts: [usize; 3],
}

impl<'t> Names<'t> {
    /// The names that a file declares.
    pub fn of(file: &'t File, is_defined: Defined<'_>, found: &mut Found) -> Self {
        let mut names = Self::default();
        for statement in &file.statements {
            if let Statement::Const(word, value) = &statement.node
                && (!names.constants.add(&word.node, value.node) || is_defined(&word.node))
            {
                duplicate(&word.node, word.span, found);
            }
        }
        for statement in &file.statements {
            if let Statement::Declaration { kind, name, made } = &statement.node {
                names.declare(kind.as_ref(), name, &made.node, is_defined, found);
            }
        }
        names
    }

    fn declare(
        &mut self,
        kind: Option<&Spanned<Kind>>,
        name: &'t Name,
        made: &Constructor,
        is_defined: Defined<'_>,
        found: &mut Found,
    ) {
        let is = EntityKind::of(made);
        if let Some(kind) = kind
            && !is.is(kind.node)
        {
            let reason = format!("what is made here is a {}", is.word());
            found.note(Class::Kind, kind.span, reason, "write the kind that is made, or none");
        }
        let word = name.word.node.as_str();
        if self.constants.get(word).is_some() || is_defined(word) {
            return duplicate(word, name.word.span, found);
        }
        for choice in self.choices(name, &Indices::new(), found) {
            let count = &mut self.counts[is as usize];
            let entity = Entity { kind: is, number: *count };
            let array = self.entities.entry(word).or_default();
            let odd = array
                .iter()
                .next()
                .is_some_and(|(indices, other)| indices.len() != choice.indices.len() || other.kind != is);
            if odd {
                let reason =
                    format!("`{word}` is of another kind or has another number of indices elsewhere");
                return found.note(Class::Kind, name.word.span, reason, "give it another name");
            }
            if array.insert(choice.indices, entity).is_some() {
                return duplicate(word, name.word.span, found);
            }
            *count += 1;
            if *count > MOST {
                let reason = format!("there are more than {MOST} {}s", is.word());
                return found.note(Class::TooMany, name.word.span, reason, "declare fewer");
            }
        }
    }

    /// The constants that `const` declares.
    pub fn constants(&self) -> &Constants {
        &self.constants
    }

    /// All elements that a name on the left of a statement refers to.
    pub fn choices(&self, name: &Name, bound: &Indices, found: &mut Found) -> Vec<Choice> {
        let mut choices = vec![Choice { indices: Vec::new(), bound: bound.clone() }];
        for index in &name.indices {
            let (word, from, to) = match &index.node {
                Index::At(at) => (None, at, at),
                Index::All(from, to) => (None, from, to),
                Index::Each(word, from, to) => (Some(word), from, to),
                Index::Field(packet, field) => {
                    let reason = format!("`{packet}.{}` is no number here", field.node);
                    found.note(
                        Class::Index,
                        index.span,
                        reason,
                        "only the end of a connection depends on packets",
                    );
                    return Vec::new();
                }
            };
            let (Some(from), Some(to)) =
                (self.bound(from, bound, index.span, found), self.bound(to, bound, index.span, found))
            else {
                return Vec::new();
            };
            if from > to || to - from >= MOST as u64 || choices.len() * (to - from + 1) as usize > MOST {
                let reason = format!("the range from {from} to {to} is empty or too long");
                let way_out = format!("write the smaller number first; arrays have at most {MOST} elements");
                found.note(Class::Index, index.span, reason, way_out);
                return Vec::new();
            }
            let next = |choice: &Choice| {
                let choice = choice.clone();
                (from..=to).map(move |at| {
                    let mut choice = choice.clone();
                    choice.indices.push(at);
                    choice.bound.extend(word.map(|word| (word.clone(), at)));
                    choice
                })
            };
            choices = choices.iter().flat_map(next).collect();
        }
        choices
    }

    /// The value of a number, a bound index or a constant.
    fn bound(&self, bound: &Bound, indices: &Indices, span: Span, found: &mut Found) -> Option<u64> {
        let word = match bound {
            Bound::Number(n) => return Some(*n),
            Bound::Word(word) => word,
        };
        let constant = || u64::try_from(self.constants.get(word)?.as_whole()?).ok();
        let value = indices.get(word).copied().or_else(constant);
        if value.is_none() {
            let reason =
                format!("`{word}` is neither an index of this statement nor a constant whole number");
            found.note(
                Class::Index,
                span,
                reason,
                "bind it on the left, `name[i: 1..3]`, or declare a `const`",
            );
        }
        value
    }

    /// The entity that a name with indices refers to.
    pub fn element(&self, name: &Name, indices: &[u64], found: &mut Found) -> Option<Entity> {
        let word = name.word.node.as_str();
        let Some(array) = self.entities.get(word) else {
            let reason = format!("`{word}` is declared nowhere");
            found.note(Class::Unknown, name.word.span, reason, "declare it, or correct the name");
            return None;
        };
        let entity = array.get(indices).copied();
        if entity.is_none() {
            let which: String = indices.iter().map(|index| format!("[{index}]")).collect();
            let reason = format!("there is no `{word}{which}`");
            let known = array.keys().next().map_or(0, Vec::len);
            let way_out = format!("`{word}` has {known} indices, of the ranges of its declaration");
            found.note(Class::Index, name.word.span, reason, way_out);
        }
        entity
    }

    /// All entities of one kind that a name on the right of a statement refers to.
    pub fn all(&self, name: &Name, kind: EntityKind, bound: &Indices, found: &mut Found) -> Vec<usize> {
        let choices = self.choices(name, bound, found);
        choices.iter().filter_map(|choice| self.one(name, &choice.indices, kind, found)).collect()
    }

    /// The entity of this kind that a name refers to.
    pub fn one(&self, name: &Name, indices: &[u64], kind: EntityKind, found: &mut Found) -> Option<usize> {
        let entity = self.element(name, indices, found)?;
        if entity.kind == kind {
            return Some(entity.number);
        }
        let reason = format!("`{}` is a {}, not a {}", name.word.node, entity.kind.word(), kind.word());
        found.note(Class::Kind, name.word.span, reason, format!("name a {}", kind.word()));
        None
    }

    /// Elements of an array by the index in one dimension; the indices in the other dimensions are given.
    pub fn along(&self, word: &str, given: &[Option<u64>]) -> Vec<(u64, Entity)> {
        let Some(array) = self.entities.get(word) else { return Vec::new() };
        let free = given.iter().position(Option::is_none).unwrap_or(0);
        let matches = |indices: &[u64]| {
            indices.len() == given.len()
                && indices.iter().zip(given).all(|(is, given)| given.is_none_or(|one| one == *is))
        };
        array
            .iter()
            .filter(|(indices, _)| matches(indices))
            .map(|(indices, entity)| (indices[free], *entity))
            .collect()
    }

    /// The value of an index; `None` if there is none.
    pub fn index(&self, index: &Spanned<Index>, bound: &Indices, found: &mut Found) -> Option<u64> {
        match &index.node {
            Index::At(at) => self.bound(at, bound, index.span, found),
            _ => {
                found.note(Class::Index, index.span, "one element is meant here", "write one index");
                None
            }
        }
    }
}

fn duplicate(word: &str, span: Span, found: &mut Found) {
    found.note(Class::Duplicate, span, format!("`{word}` is declared already"), "give it another name");
}
