//! Packet sequence numbers: 24 bits that wrap, compared as serial numbers (InfiniBand; RFC 1982's arithmetic).

use serde::{Deserialize, Serialize};

/// A packet sequence number modulo 2²⁴. There is no order between two of them, only a signed distance: [`Psn::minus`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Psn(u32);

impl Psn {
    /// Bits of a number.
    pub const BITS: u32 = 24;
    const MASK: u32 = (1 << Self::BITS) - 1;

    /// The low 24 bits of `n`.
    #[inline(always)]
    pub const fn new(n: u32) -> Self {
        Self(n & Self::MASK)
    }
    /// 0 ..= 2²⁴ − 1.
    #[inline(always)]
    pub const fn value(self) -> u32 {
        self.0
    }
    /// `n` packets later.
    #[inline(always)]
    pub const fn plus(self, n: u32) -> Self {
        Self::new(self.0.wrapping_add(n))
    }
    /// By how much this is later than `b`, in [−2²³, 2²³): `sub24`.
    #[inline(always)]
    pub const fn minus(self, b: Self) -> i32 {
        (self.0.wrapping_sub(b.0) << (32 - Self::BITS)) as i32 >> (32 - Self::BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_signed_and_wrap_at_24_bits() {
        let top = Psn::new(0xff_ffff);
        assert_eq!(top.plus(1), Psn::new(0));
        assert_eq!(Psn::new(0).minus(top), 1);
        assert_eq!(top.minus(Psn::new(0)), -1);
        assert_eq!(Psn::new(1 << 23).minus(Psn::new(0)), -(1 << 23));
        assert_eq!(Psn::new((1 << 23) - 1).minus(Psn::new(0)), (1 << 23) - 1);
        assert_eq!(Psn::new(0x0100_0005), Psn::new(5));
        assert_eq!(top.plus(u32::MAX), Psn::new(0xff_fffe));
    }
}
