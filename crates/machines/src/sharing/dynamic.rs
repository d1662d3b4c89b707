//! Dynamic thresholds. Choudhury & Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet
//! Switches", IEEE/ACM Trans. Networking 6(2), 1998, §III: T(t) = α · (B − Q(t)).
//!
//! ```text
//! CHOICE Choudhury & Hahne §III: packets there are cells of one size; here a port is below its threshold if it is
//! still at or below it *with* the packet, measured before the packet is in.
//! ```

use super::{Admission, Arriving, Memory, Needs, Overflow, Parameters, Sharing};
use crate::problems::Problems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Dynamic thresholds: a port may hold at most alpha × the free memory (Choudhury & Hahne, IEEE/ACM ToN 1998).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// α: a port's threshold as a multiple of the free memory.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub alpha: f64,
    /// What happens to a packet beyond the threshold.
    pub overflow: Overflow,
}

impl Default for Params {
    /// With one busy port half of the memory is its own, with two a third each.
    fn default() -> Self {
        Self { alpha: 1.0, overflow: Overflow::Drop }
    }
}

impl Parameters for Params {
    type Machine = Self;

    fn needs(&self) -> Needs {
        self.overflow.needs()
    }
    /// The threshold is lowest when all ports are full.
    fn admits_all(&self, total: u64, ports: u64, each: u64) -> bool {
        total.saturating_sub(each.saturating_mul(ports)) as f64 * self.alpha >= each as f64
    }
    fn least(&self, packet: u64, _: u64) -> u64 {
        packet.max((packet as f64 / self.alpha).ceil() as u64)
    }
    /// A port alone that takes its last packet w: q + w = α (B − q). (But for headers of trimmed packets.)
    fn most(&self, total: u64, _: u64, packet: u64) -> u64 {
        let both = total.saturating_add(packet);
        let alone = (both as f64 * self.alpha / (1.0 + self.alpha)).ceil() as u64;
        if self.overflow == Overflow::Trim { total } else { alone.min(total) }
    }
    fn check(&self, problems: &mut Problems) {
        if !self.alpha.is_finite() {
            problems.wrong("alpha", "it is not finite", "write `sharing = \"complete\"`");
        } else if self.alpha <= 0.0 {
            problems.wrong("alpha", format!("{} times what is free is nothing", self.alpha), "above 0");
        }
    }
    fn make(&self) -> Self {
        self.clone()
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        [(0.5, Overflow::Drop), (8.0, Overflow::Trim)]
            .map(|(alpha, overflow)| Self { alpha, overflow })
            .into()
    }
}

impl Params {
    /// T: the most that one port may hold now, bytes.
    #[inline]
    fn threshold(&self, memory: &impl Memory) -> u64 {
        (self.alpha * memory.free() as f64) as u64
    }
}

impl Sharing for Params {
    #[inline]
    fn admit(&mut self, memory: &impl Memory, arriving: &Arriving) -> Admission {
        let wire = u64::from(arriving.wire);
        let fits = wire <= memory.free() && arriving.waiting.saturating_add(wire) <= self.threshold(memory);
        if fits { Admission::Keep } else { self.overflow.of(memory, arriving) }
    }
}
