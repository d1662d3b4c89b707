//! Complete sharing: whatever fits is admitted.

use super::{Admission, Arriving, Memory, Needs, Overflow, Parameters, Sharing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Complete sharing: a packet is admitted if it fits into the free memory.
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
    fn make(&self) -> Self {
        self.clone()
    }

    #[cfg(test)]
    fn variants() -> Vec<Self> {
        [Overflow::Drop, Overflow::Trim].map(|overflow| Self { overflow }).into()
    }
}

impl Sharing for Params {
    #[inline]
    fn admit(&mut self, memory: &impl Memory, arriving: &Arriving) -> Admission {
        if u64::from(arriving.wire) <= memory.free() {
            Admission::Keep
        } else {
            self.overflow.of(memory, arriving)
        }
    }
}
