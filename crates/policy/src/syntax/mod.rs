//! The language as text: tokens, grammar, tree, and the printer back to text.

mod grammar;
mod print;
mod token;
pub mod tree;

pub use grammar::parse;
pub use print::{print, print_expression};
