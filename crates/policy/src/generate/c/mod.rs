//! A policy as C for the kernel: whole numbers only, with the same widths as in the engines.

mod actions;
mod blocks;
mod bpf_qdisc;
mod decisions;
mod numbers;
mod tc_bpf;

pub use bpf_qdisc::generate as bpf_qdisc;
pub(crate) use numbers::can_become;
pub use tc_bpf::generate as tc_bpf;

use crate::normal::expression::{PacketField, Place};
use crate::normal::{Policy, reads};
use crate::syntax::print;

/// Code that both kinds of programs share.
const KERNEL: &str = include_str!("kernel.h");

/// `oq_NAME` as kernels allow names: 15 characters, letters and digits.
fn short_name(policy: &Policy) -> String {
    let file = policy.name().rsplit('/').next().unwrap_or_default();
    let stem = file.strip_suffix(".oq").unwrap_or(file);
    let letters = stem.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '_' });
    format!("oq_{}", letters.take(12).collect::<String>())
}

/// The comment at the top: the source, how to load the program, the policy.
fn comment(policy: &Policy, what: &str, load: &[String]) -> String {
    let lines = |text: &mut dyn Iterator<Item = String>| {
        text.map(|line| format!(" * {line}").trim_end().to_owned() + "\n").collect::<String>()
    };
    let file = policy.name().rsplit('/').next().unwrap_or_default();
    let source = print(&policy.source).replace("*/", "* /");
    format!(
        "// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0\n\
         /* Generated from {file} by `thalweg policy compile`. {what}\n *\n{} *\n{} */\n",
        lines(&mut load.iter().map(|line| format!("    {line}"))),
        lines(&mut source.lines().map(|line| format!("    {line}"))),
    )
}

/// True if something other than the orders of packets reads arrival times.
fn looks_at_arrival(policy: &Policy) -> bool {
    let mut found = false;
    let mut see = |place: Place| {
        found |=
            matches!(place, Place::Packet(_, PacketField::Arrival) | Place::Head(_, PacketField::Arrival));
    };
    let buffers = policy.buffers().iter().filter_map(|one| one.order.as_ref());
    let orders = buffers.chain(policy.ports().iter().filter_map(|one| one.order.as_ref()));
    orders.for_each(|order| order.test.places(&mut see));
    for case in policy.cases() {
        reads::of_cases(std::slice::from_ref(case)).into_iter().for_each(&mut see);
    }
    found
}
