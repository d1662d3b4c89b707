//! The sender's scoreboard: what was SACKed, what is lost, what is in the pipe. RFC 6675 §§3–5.
//!
//! Exists only while there is something to repair. IsLost is monotone (below a lost byte every
//! un-SACKed byte is lost), so "what is lost" is one boundary and the pipe is a sum over two intervals.

use super::prr::Prr;
use super::rack::Rack;
use serde::{Deserialize, Serialize};

/// Per-flow state of loss repair, in bytes of the flow.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Scoreboard {
    /// SACKed and above the cumulative ACK: disjoint, not touching, ascending.
    ranges: Vec<(u64, u64)>,
    /// Their total.
    sacked: u64,
    /// HighRxt: what is below was resent in this episode (or SACKed).
    pub(super) high_rxt: u64,
    /// What is un-SACKed below here was declared lost by the timer.
    pub(super) lost_to: u64,
    /// Un-SACKed below here counts as lost because of what was SACKed above (as of the last refresh).
    pub(super) lost_by_sack: u64,
    /// Bytes in the network as of the last refresh, and what was sent since.
    pub(super) pipe: u64,
    /// Without SACK: how much the window is inflated by duplicate ACKs (RFC 5681 §3.2, RFC 6582).
    pub(super) inflation: u64,
    /// End of the highest segment that was sent again since the board was made.
    pub(super) resent_to: u64,
    /// RescueRxt was sent in this episode.
    pub(super) rescued: bool,
    /// Proportional rate reduction, in an episode of a sender that does it.
    pub(super) prr: Option<Prr>,
    /// When segments left, of a sender that infers losses by time: its scoreboard is there from the start.
    pub(super) rack: Option<Box<Rack>>,
    /// What was known to be lost before the last ACK of such an episode.
    pub(super) lost_before: u64,
}

impl Scoreboard {
    /// That of a flow that starts and infers losses by time.
    pub(super) fn by_time(mss: u32) -> Self {
        Self { rack: Some(Box::new(Rack::new(mss))), ..Self::default() }
    }

    /// An empty scoreboard of a flow whose first unacknowledged byte is `una`.
    pub fn new(una: u64) -> Self {
        Self { high_rxt: una, ..Self::default() }
    }

    /// SACKed bytes above the cumulative ACK.
    #[inline]
    pub fn sacked(&self) -> u64 {
        self.sacked
    }

    /// The SACKed ranges, ascending.
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// Marks `[start, end)` as SACKed; how many of these bytes were not so before.
    pub fn insert(&mut self, start: u64, end: u64) -> u64 {
        debug_assert!(start < end);
        // Every range that overlaps or touches: [first, last).
        let first = self.ranges.partition_point(|r| r.1 < start);
        // Most blocks of an ACK repeat what earlier ones said (RFC 2018 §4).
        if self.ranges.get(first).is_some_and(|r| r.0 <= start && end <= r.1) {
            return 0;
        }
        let last = first + self.ranges[first..].partition_point(|r| r.0 <= end);
        let held: u64 = self.ranges[first..last].iter().map(|r| r.1 - r.0).sum();
        if first == last {
            self.ranges.insert(first, (start, end));
        } else {
            let merged = (self.ranges[first].0.min(start), self.ranges[last - 1].1.max(end));
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..last);
        }
        let now = self.ranges[first];
        let fresh = now.1 - now.0 - held;
        self.sacked += fresh;
        fresh
    }

    /// The cumulative ACK moved to `una`; how many of the bytes below it had been SACKed.
    pub fn advance(&mut self, una: u64) -> u64 {
        let mut covered = 0;
        let below = self.ranges.partition_point(|r| r.1 <= una);
        covered += self.ranges.drain(..below).map(|r| r.1 - r.0).sum::<u64>();
        if let Some(first) = self.ranges.first_mut().filter(|r| r.0 < una) {
            covered += una - first.0;
            first.0 = una;
        }
        self.sacked -= covered;
        self.high_rxt = self.high_rxt.max(una);
        covered
    }

    /// SACKed bytes within `[from, to)`.
    fn sacked_within(&self, from: u64, to: u64) -> u64 {
        let first = self.ranges.partition_point(|r| r.1 <= from);
        self.ranges[first..].iter().take_while(|r| r.0 < to).map(|r| r.1.min(to) - r.0.max(from)).sum()
    }

    /// Un-SACKed bytes within `[from, to)`.
    fn missing_within(&self, from: u64, to: u64) -> u64 {
        if from >= to { 0 } else { to - from - self.sacked_within(from, to) }
    }

    /// IsLost (§4), as a boundary: un-SACKed bytes below it have `threshold` discontiguous SACKed ranges
    /// above them, or more than (`threshold` − 1) · `mss` SACKed bytes.
    pub fn lost_boundary(&self, threshold: u32, mss: u32) -> u64 {
        let enough = u64::from(threshold.saturating_sub(1)) * u64::from(mss);
        let (mut count, mut bytes) = (0u32, 0);
        for &(start, end) in self.ranges.iter().rev() {
            count += 1;
            bytes += end - start;
            if count >= threshold || bytes > enough {
                return start;
            }
        }
        0
    }

    /// SetPipe (§4): un-SACKed bytes that are not lost, and those resent. `una` .. `sent_to` is outstanding.
    pub fn set_pipe(&mut self, una: u64, sent_to: u64) {
        self.pipe = if self.ranges.is_empty() {
            // The same sums where nothing is SACKed.
            let lost = self.lost_to.clamp(una, sent_to);
            (self.high_rxt.clamp(una, sent_to) - una) + (sent_to - lost)
        } else {
            let lost = self.lost_to.max(self.lost_by_sack).max(una);
            self.missing_within(una, self.high_rxt.min(sent_to)) + self.missing_within(lost, sent_to)
        };
    }

    /// The first un-SACKed segment at or above `from` that begins below `limit`: start and length, at most `mss`.
    pub fn next_hole(&self, from: u64, limit: u64, sent_to: u64, mss: u32) -> Option<(u64, u32)> {
        let at = self.ranges.partition_point(|r| r.1 <= from);
        let (start, end) = match self.ranges.get(at) {
            Some(&(s, e)) if s <= from => (e, self.ranges.get(at + 1).map_or(sent_to, |r| r.0)),
            Some(&(s, _)) => (from, s),
            None => (from, sent_to),
        };
        (start < limit && start < end).then(|| (start, (end - start).min(u64::from(mss)) as u32))
    }

    /// The highest SACKed byte plus one.
    pub fn highest(&self) -> u64 {
        self.ranges.last().map_or(0, |r| r.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn board(ranges: &[(u64, u64)]) -> Scoreboard {
        let mut b = Scoreboard::default();
        ranges.iter().for_each(|&(s, e)| {
            b.insert(s, e);
        });
        b
    }

    #[test]
    fn a_hole_is_lost_once_three_segments_or_three_ranges_are_sacked_above_it() {
        // segments of 100; 0 is missing
        assert_eq!(board(&[(100, 300)]).lost_boundary(3, 100), 0); // two segments: not yet
        assert_eq!(board(&[(100, 400)]).lost_boundary(3, 100), 100);
        assert_eq!(board(&[(100, 150), (200, 250), (300, 350)]).lost_boundary(3, 100), 100);
        // 0 and 300 missing, 400..600 above: only 0 has three above it
        assert_eq!(board(&[(100, 300), (400, 600)]).lost_boundary(3, 100), 100);
    }

    #[test]
    fn the_pipe_counts_what_is_neither_sacked_nor_lost_and_what_was_resent() {
        let mut b = board(&[(100, 300), (400, 700)]); // 0 and 300 missing, 700.. in flight
        b.lost_by_sack = b.lost_boundary(3, 100);
        b.set_pipe(0, 1000);
        assert_eq!((b.lost_by_sack, b.pipe), (400, 300));
        b.high_rxt = 100; // segment 0 was resent
        b.set_pipe(0, 1000);
        assert_eq!(b.pipe, 400);
        assert_eq!(b.next_hole(b.high_rxt, b.lost_by_sack, 1000, 100), Some((300, 100)));
        assert_eq!(b.next_hole(400, b.lost_by_sack, 1000, 100), None);
    }

    proptest! {
        /// Against a bitmap of 64 bytes.
        #[test]
        fn equals_a_bitmap(
            ops in prop::collection::vec((0u64..64, 1u64..12, prop::bool::weighted(0.15)), 1..40),
            rxt in 0u64..64, threshold in 1u32..5, mss in 1u32..8,
        ) {
            let (mut b, mut bits, mut una) = (Scoreboard::default(), [false; 64], 0u64);
            let sent_to = 64;
            for (start, len, advance) in ops {
                if advance {
                    let to = una.max(start);
                    // never stops at a SACKed byte: the receiver would have acknowledged it
                    let to = (to..=64).find(|&i| i == 64 || !bits[i as usize]).unwrap();
                    let had = (una..to).filter(|&i| bits[i as usize]).count() as u64;
                    prop_assert_eq!(b.advance(to), had);
                    una = to;
                } else {
                    let (s, e) = (start.max(una + 1), (start + len).min(64));
                    if s < e {
                        let fresh = (s..e).filter(|&i| !bits[i as usize]).count() as u64;
                        prop_assert_eq!(b.insert(s, e), fresh);
                        (s..e).for_each(|i| bits[i as usize] = true);
                    }
                }
                let sacked = |i: u64| bits[i as usize];
                prop_assert_eq!(b.sacked(), (una..64).filter(|&i| sacked(i)).count() as u64);
                // IsLost by definition
                let lost = |i: u64| {
                    let above: Vec<u64> = (i + 1..64).filter(|&j| sacked(j)).collect();
                    let runs = above.iter().filter(|&&j| !sacked(j - 1)).count() as u32;
                    runs >= threshold || above.len() as u64 > u64::from((threshold - 1) * mss)
                };
                b.lost_by_sack = b.lost_boundary(threshold, mss);
                for i in (una..64).filter(|&i| !sacked(i)) {
                    prop_assert_eq!(i < b.lost_by_sack, lost(i), "byte {} of {:?}", i, b);
                }
                b.high_rxt = rxt.max(una);
                b.set_pipe(una, sent_to);
                let pipe: u64 = (una..64).filter(|&i| !sacked(i))
                    .map(|i| u64::from(!lost(i)) + u64::from(i < b.high_rxt)).sum();
                prop_assert_eq!(b.pipe, pipe);
                for from in una..64 {
                    let naive = (from..64).find(|&i| !sacked(i)).map(|s| {
                        let e = (s..64).find(|&i| sacked(i)).unwrap_or(64);
                        (s, (e - s).min(u64::from(mss)) as u32)
                    });
                    prop_assert_eq!(b.next_hole(from, 64, 64, mss), naive);
                }
            }
        }
    }
}
