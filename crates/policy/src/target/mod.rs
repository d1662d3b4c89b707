//! What a policy can be compiled for, and what each target cannot keep. A policy is refused then, with the reason: what
//! it means is never approximated.
//!
//! The table is that of OpenQueue §2.5 and of what kernels and switches offer today: an eBPF queueing discipline
//! (`Qdisc_ops`, Linux 6.16) keeps orders and victims of one port; a program of tc decides about single packets and
//! has no queue; P4's v1model has programs around queues that are not programmable.

mod bpf_qdisc;
mod p4;
mod parts;
mod tc_bpf;

use crate::generate;
use crate::normal::Policy;
use std::fmt;

/// What a policy can be compiled for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Target {
    /// Rust, for simulators and switches in software.
    Rust,
    /// A queueing discipline of Linux, in eBPF.
    BpfQdisc,
    /// A program of Linux' traffic control that admits, drops and marks.
    TcBpf,
    /// P4 for v1model.
    P4,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Rust, Self::BpfQdisc, Self::TcBpf, Self::P4];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::BpfQdisc => "bpf-qdisc",
            Self::TcBpf => "tc-bpf",
            Self::P4 => "p4",
        }
    }

    /// What it is.
    pub fn about(self) -> &'static str {
        match self {
            Self::Rust => "Rust, for switches in software: everything",
            Self::BpfQdisc => "a queueing discipline of Linux in eBPF: one port, its queues and buffers",
            Self::TcBpf => "a program of Linux' tc in eBPF: single packets, in front of a queue",
            Self::P4 => "P4 (v1model): conditions and marks around queues that are not programmable",
        }
    }

    /// Code for it is generated, not only checked whether there could be.
    pub fn is_generated(self) -> bool {
        self != Self::P4
    }
}

/// Code of a policy for a target.
///
/// ```
/// use thalweg_policy::target::{Target, compile};
///
/// let text = "q = Queue(64 pkts); out = Port(q); q.congestion = (currSize >= size, drop(1));";
/// let policy = thalweg_policy::check(text, "short.oq").unwrap();
/// assert!(compile(&policy, Target::BpfQdisc).unwrap().contains("oq_short"));
/// let refusals = compile(&policy, Target::TcBpf).unwrap_err();
/// assert_eq!(refusals[0].part, "queue q, congestion");
/// ```
///
/// # Errors
/// All that the target cannot keep of it; none, if code for the target is not generated.
pub fn compile(policy: &Policy, target: Target) -> Result<String, Vec<Refusal>> {
    let refused = refusals(policy, target);
    if !refused.is_empty() {
        return Err(refused);
    }
    match target {
        Target::Rust => Ok(generate::generate(policy)),
        Target::BpfQdisc => Ok(generate::c::bpf_qdisc(policy)),
        Target::TcBpf => Ok(generate::c::tc_bpf(policy)),
        Target::P4 => Err(refused),
    }
}

/// What a target cannot keep.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Refusal {
    /// Of what: `queue q, procPrio`.
    pub part: String,
    /// Why not.
    pub reason: String,
    /// What would do.
    pub way_out: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.part, self.reason, self.way_out)
    }
}

/// All that a target cannot keep of a policy, in its order; nothing if it keeps all of it.
pub fn refusals(policy: &Policy, target: Target) -> Vec<Refusal> {
    let mut found = Refusals::default();
    match target {
        Target::Rust => {}
        Target::BpfQdisc => bpf_qdisc::check(policy, &mut found),
        Target::TcBpf => tc_bpf::check(policy, &mut found),
        Target::P4 => p4::check(policy, &mut found),
    }
    found.0
}

/// What was found.
#[derive(Default, Debug)]
struct Refusals(Vec<Refusal>);

impl Refusals {
    fn note(&mut self, part: &str, reason: &str, way_out: &str) {
        let one = Refusal { part: part.to_owned(), reason: reason.to_owned(), way_out: way_out.to_owned() };
        if !self.0.contains(&one) {
            self.0.push(one);
        }
    }
}

#[cfg(test)]
mod tests;
