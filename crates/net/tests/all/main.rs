//! What a network as data promises, from outside, in one program.

mod common;

mod port;
mod routes;
mod structure;
