//! What all orders have in common, and no algorithm: what a queue must do ([`Discipline`](super::Discipline),
//! [`OutputQueue`](super::OutputQueue), [`Order`](super::Order)), what it can do in addition (`capabilities`), what an
//! order declares of itself (`declare`, `spec`), what waits in it (`entry`), and a queue around any order (`managed`).

pub(super) mod capabilities;
pub(super) mod declare;
pub(super) mod discipline;
pub(super) mod entry;
pub(super) mod managed;
pub(super) mod order;
pub(super) mod spec;
