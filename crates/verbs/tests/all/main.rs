//! What the verbs promise, from outside, in one program.

mod common;

mod constructed;
mod hostile;
mod page;
mod receives;
mod recovery;
mod refusals;
mod roce;
mod semantics;
mod sequences;
mod transport;
mod udp;
