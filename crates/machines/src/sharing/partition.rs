//! Complete partitioning: every port has the same part of the memory, even if others leave theirs free. Irland, "Buffer
//! Management in a Packet Switch", IEEE Trans. Communications 26(3), 1978, compares it with sharing.

use super::{Admission, Arriving, Memory, Needs, Overflow, Parameters, Sharing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Complete partitioning: every port has an equal part of its own (Irland, IEEE Trans. Communications 1978).
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// What happens to a packet for which there is no memory.
    pub overflow: Overflow,
}

impl Parameters for Params {
    type Machine = Self;

    fn needs(&self) -> Needs {
        self.overflow.needs()
    }
    fn least(&self, packet: u64, ports: u64) -> u64 {
        packet.saturating_mul(ports)
    }
    /// (But for headers of trimmed packets.)
    fn most(&self, total: u64, ports: u64, _: u64) -> u64 {
        if self.overflow == Overflow::Trim { total } else { total / ports.max(1) }
    }
    fn make(&self) -> Self {
        self.clone()
    }
}

impl Sharing for Params {
    #[inline]
    fn admit(&mut self, memory: &impl Memory, arriving: &Arriving) -> Admission {
        let part = memory.total() / memory.ports() as u64;
        let fits = arriving.waiting + u64::from(arriving.wire) <= part;
        // (Headers of trimmed packets may have taken some of a neighbour's part.)
        if fits && u64::from(arriving.wire) <= memory.free() {
            Admission::Keep
        } else {
            self.overflow.of(memory, arriving)
        }
    }
}
