//! The targets of compilation, and the features of a policy that each target does not support. Such a policy is refused
//! with the reason: its meaning is never approximated.
//!
//! The table follows OpenQueue §2.5 and what kernels and switches offer today: an eBPF queueing discipline
//! (`Qdisc_ops`, Linux 6.16) supports orders and victims of one port; a tc program decides about single packets and has
//! no queue; P4's v1model has programs around queues that are not programmable.

mod bpf_qdisc;
mod p4;
mod parts;
mod tc_bpf;

use crate::generate;
use crate::normal::Policy;
use std::fmt;

/// A target of compilation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Target {
    /// Rust, for simulators and software switches.
    Rust,
    /// A Linux queueing discipline in eBPF.
    BpfQdisc,
    /// A program of Linux traffic control that admits, drops and marks.
    TcBpf,
    /// P4 for v1model.
    P4,
}

impl Target {
    /// All targets.
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

    /// Its description.
    pub fn about(self) -> &'static str {
        match self {
            Self::Rust => "Rust, for switches in software: everything",
            Self::BpfQdisc => "a queueing discipline of Linux in eBPF: one port, its queues and buffers",
            Self::TcBpf => "a program of Linux' tc in eBPF: single packets, in front of a queue",
            Self::P4 => "P4 (v1model): conditions and marks around queues that are not programmable",
        }
    }

    /// True if code for it is generated; otherwise a policy is only checked for it.
    pub fn is_generated(self) -> bool {
        self != Self::P4
    }
}

/// Compiles a policy for a target.
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
/// All features that the target does not support; an empty list if code for the target is not generated.
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

/// A feature that a target does not support.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Refusal {
    /// The part of the policy: `queue q, procPrio`.
    pub part: String,
    /// The reason.
    pub reason: String,
    /// A hint.
    pub way_out: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.part, self.reason, self.way_out)
    }
}

/// All features of a policy that a target does not support, in the order of the policy.
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

/// The refusals found so far.
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
