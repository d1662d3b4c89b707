//! Computations: what keeps a processor of a host busy, and for how long.

use serde::{Deserialize, Serialize};
use thalweg_units::{HostId, Span, Time};

/// A computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkSpec {
    /// Where.
    pub host: HostId,
    /// Which of the host's processors it needs, alone, until it ends: those that are ready first come first. `None`:
    /// none, so that it begins as soon as it is ready, whatever else goes on.
    pub cpu: Option<u32>,
    /// When it is ready; of one that follows others ([`precedence`](super::NetworkSpec::precedence)), the pause after
    /// the last of them.
    pub start: Time,
    /// How long it takes.
    pub lasts: Span,
    /// A run that ends when all measured flows are complete waits for it, too.
    pub measured: bool,
    /// Which traffic section made it.
    pub group: u16,
}
