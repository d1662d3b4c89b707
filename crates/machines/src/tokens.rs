//! A token bucket (RFC 2697 §3, the committed bucket alone): it holds at most its depth, B bytes, and fills at the
//! rate R; what takes L bytes waits for L tokens, or does without.
//!
//! Kept is not the number of tokens but the instant at which the bucket will be full again, as the virtual
//! scheduling form of ITU-T I.371's generic cell rate algorithm does, with what is left of a picosecond: in 10⁻¹² bit,
//! of which R b/s are R per picosecond, everything is a whole number, and nothing is rounded.

use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

/// A bucket, full at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TokenBucket {
    rate: Rate,
    depth: Bytes,
    /// When it is full again but for [`TokenBucket::rest`], if nothing is taken until then.
    full_at: Time,
    /// What is missing then, in 10⁻¹² bit: less than comes in a picosecond.
    rest: u64,
}

/// So many bytes in 10⁻¹² bit.
fn fine(bytes: u64) -> u128 {
    u128::from(bytes) * 8_000_000_000_000
}

impl TokenBucket {
    /// A full bucket of a rate above zero.
    pub(crate) fn new(rate: Rate, depth: Bytes) -> Self {
        debug_assert!(rate > Rate::ZERO, "a bucket that never fills");
        Self { rate, depth, full_at: Time::ZERO, rest: 0 }
    }

    /// What it holds at most.
    pub(crate) fn depth(&self) -> u64 {
        self.depth.get()
    }

    /// Whether there are tokens for so many bytes now; if so, they are taken.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, bytes: u64) -> bool {
        let per_ps = u128::from(self.rate.bps());
        // Full since the last picosecond, whose rest has come, too.
        let rest = if self.full_at < now { 0 } else { self.rest };
        let missing = u128::from(self.full_at.since(now).ps()) * per_ps + u128::from(rest) + fine(bytes);
        let enough = missing <= fine(self.depth.get());
        if enough {
            self.full_at = now.saturating_add(Span::from_ps((missing / per_ps) as u64));
            self.rest = (missing % per_ps) as u64;
        }
        enough
    }

    /// The first instant at which there are tokens for so many bytes, if nothing is taken until then; that at which it
    /// is full for more than it holds.
    pub(crate) fn opens(&self, bytes: u64) -> Time {
        let spare = fine(self.depth.get()).saturating_sub(fine(bytes));
        match spare.checked_sub(u128::from(self.rest)) {
            Some(spare) => {
                let before = u64::try_from(spare / u128::from(self.rate.bps())).unwrap_or(u64::MAX);
                Time::from_ps(self.full_at.ps().saturating_sub(before))
            }
            None => self.full_at.saturating_add(Span::from_ps(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// It opens exactly when there is enough: not a picosecond earlier.
        #[test]
        fn it_opens_when_tokens_can_be_taken_and_not_before(
            bps in 1u64..2_000_000_000_000,
            depth in 100u64..100_000,
            takes in prop::collection::vec((0u64..2_000_000, 1u64..3000), 1..20),
        ) {
            let mut bucket = TokenBucket::new(Rate::from_bps(bps), Bytes::new(depth));
            let mut now = Time::ZERO;
            for (later, bytes) in takes {
                now += Span::from_ps(later);
                let opens = bucket.opens(bytes);
                if bytes <= depth {
                    prop_assert!(bucket.clone().take(opens, bytes));
                    let before = Time::from_ps(opens.ps().saturating_sub(1));
                    prop_assert!(opens == Time::ZERO || !bucket.clone().take(before, bytes));
                }
                let taken = bucket.take(now, bytes);
                prop_assert_eq!(taken, bytes <= depth && opens <= now);
            }
        }
    }

    /// 84 B at 517 879 161 b/s take no whole picoseconds: a million of them take what they take together, as long
    /// as the bucket never overflows.
    #[test]
    fn nothing_is_lost_to_rounding_however_many_take_tokens() {
        let rate = Rate::from_bps(517_879_161);
        let mut bucket = TokenBucket::new(rate, Bytes::new(2 * 84));
        let mut now = Time::ZERO;
        for _ in 0..1_000_000 {
            now = bucket.opens(84);
            assert!(bucket.take(now, 84));
        }
        let exact = (u128::from(999_998u32) * fine(84)).div_ceil(u128::from(rate.bps()));
        assert_eq!(u128::from(now.ps()), exact);
    }
}
