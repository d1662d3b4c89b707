//! Reasons why the kernel's TCP cannot run a controller, with hints.

use crate::Refusal;
use std::io;
use thalweg_machines::Invalid;

/// Why the kernel's TCP cannot run a controller.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernel cannot give the controller what it needs.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The controller's parameters are wrong.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The caller has no permission.
    #[error("not allowed to load BPF programs: run as root (CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN)")]
    Rights,
    /// The kernel is too old.
    #[error("this kernel is {release}: Linux 6.10 or newer is needed (cong_control with the ACK's flags)")]
    Old {
        /// As uname says.
        release: String,
    },
    /// Built without type information.
    #[error("this kernel has no /sys/kernel/btf/vmlinux: it was built without CONFIG_DEBUG_INFO_BTF")]
    NoTypes,
    /// A group of processes cannot be made.
    #[error("no cgroup can be made in {place}: {source}; cgroup v2 must be mounted and writable")]
    Group {
        /// Where.
        place: String,
        /// What the system says.
        source: io::Error,
    },
    /// The kernel refuses the datapath.
    #[error("the kernel refuses the datapath ({doing}): {why}")]
    Load {
        /// The failed step.
        doing: &'static str,
        /// What libbpf says, on one line.
        why: String,
    },
    /// Another error of the system.
    #[error("{what}: {source}")]
    Io {
        /// The failed step.
        what: &'static str,
        /// What the system says.
        source: io::Error,
    },
}
