//! A scenario's text: parsed with positions, overridden, checked against the schema, written back.

pub(crate) mod check;
pub(crate) mod emit;
pub(crate) mod inline;
pub(crate) mod origin;
pub(crate) mod schema;
pub(crate) mod tree;
