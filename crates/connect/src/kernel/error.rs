//! Why the kernel's TCP is not steered, each with the way out.

use crate::Refusal;
use std::io;
use thalweg_machines::Invalid;

/// Why the kernel's TCP is not steered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernel cannot give the controller what it needs.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The controller's parameters are wrong.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// Not allowed.
    #[error("not allowed to load BPF programs: run as root (CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN)")]
    Rights,
    /// Too old, or built without.
    #[error("this kernel is {release}: Linux 6.10 or newer is needed (cong_control with the ACK's flags)")]
    Old {
        /// As uname says.
        release: String,
    },
    /// Built without type information.
    #[error("this kernel has no /sys/kernel/btf/vmlinux: it was built without CONFIG_DEBUG_INFO_BTF")]
    NoTypes,
    /// No group of processes can be made.
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
        /// What was to be done.
        doing: &'static str,
        /// What libbpf says, on one line.
        why: String,
    },
    /// Something else of the system.
    #[error("{what}: {source}")]
    Io {
        /// What was to be done.
        what: &'static str,
        /// What the system says.
        source: io::Error,
    },
}
