//! What a network as data promises, from outside, in one program.

mod port;
mod structure;
