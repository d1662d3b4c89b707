//! A policy as C for the kernel: whole numbers only, each as wide as the engines have it.

mod actions;
mod blocks;
mod bpf_qdisc;
mod decisions;
pub(crate) mod numbers;

pub use bpf_qdisc::generate as bpf_qdisc;

use crate::normal::Policy;
use crate::syntax::print;

/// `oq_NAME`, as kernels take names: 15 characters, letters and digits.
fn short_name(policy: &Policy) -> String {
    let file = policy.name().rsplit('/').next().unwrap_or_default();
    let stem = file.strip_suffix(".oq").unwrap_or(file);
    let letters = stem.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '_' });
    format!("oq_{}", letters.take(12).collect::<String>())
}

/// What stands at the top: whence it is, how it is loaded, the policy.
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
