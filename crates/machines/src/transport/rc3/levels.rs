//! Which level a segment is of.

use super::super::{Borders, Rc3Spec};

impl Rc3Spec {
    /// Level of the `x`-th segment from the tail, the last being the first: the smallest k with x ≤ S·(10^k −
    /// 1)/9 (§2.1.1), or x ≤ S·10^(k−1) (§2.3.1), no more than there are. Integers: x = 40 and x = 440 lie on
    /// borders.
    pub fn level(&self, x: u64) -> u8 {
        let (mut quota, mut border) = (u64::from(self.first), 0u64);
        for level in 1..self.levels {
            border = match self.borders {
                Borders::Quotas => border.saturating_add(quota),
                Borders::Distances => quota,
            };
            if x <= border {
                return level;
            }
            quota = quota.saturating_mul(10);
        }
        self.levels
    }
}
