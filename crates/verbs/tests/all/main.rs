//! What the verbs promise, from outside, in one program.

mod common;

mod constructed;
mod hostile;
mod receives;
mod recovery;
mod roce;
mod semantics;
mod transport;
mod udp;
