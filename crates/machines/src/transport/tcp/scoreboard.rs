//! The sender's scoreboard: what was SACKed, what is lost, what is in the pipe. RFC 6675 §§3–5.
//!
//! It exists only while there is something to repair. IsLost is monotone (below a lost byte every un-SACKed byte is
//! lost), so the lost data is described by one boundary and the pipe is a sum over two intervals. For the two moving
//! boundaries the SACKed sum below them is kept ([`Below`]), so that an ACK costs time in proportion to what has
//! changed, not to the number of holes.

use super::prr::Prr;
use super::rack::Rack;
use crate::steps::steps;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Per-flow state of loss repair, in bytes of the flow.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Scoreboard {
    /// SACKed and above the cumulative ACK: disjoint, not touching, ascending.
    ranges: VecDeque<(u64, u64)>,
    /// Their total.
    sacked: u64,
    /// The ranges that the present ACK has SACKed for the first time.
    pub(super) fresh: Vec<(u64, u64)>,
    /// SACKed below HighRxt, and below what is lost, as of the last [`Scoreboard::set_pipe`].
    below_rxt: Below,
    below_lost: Below,
    /// HighRxt: what is below was resent in this episode (or SACKed).
    pub(super) high_rxt: u64,
    /// Un-SACKed bytes below here were declared lost by the timer.
    pub(super) lost_to: u64,
    /// Un-SACKed bytes below here count as lost by IsLost (as of the last refresh).
    pub(super) lost_by_sack: u64,
    /// Bytes in the network: as of the last refresh, plus what was sent since.
    pub(super) pipe: u64,
    /// Without SACK: inflation of the window by duplicate ACKs, bytes (RFC 5681 §3.2, RFC 6582).
    pub(super) inflation: u64,
    /// End of the highest segment that was sent again since the board was made.
    pub(super) resent_to: u64,
    /// RescueRxt was sent in this episode.
    pub(super) rescued: bool,
    /// Proportional rate reduction, during recovery of a sender that uses it.
    pub(super) prr: Option<Prr>,
    /// RACK's state, for senders that find losses by time; their scoreboard exists from the start.
    pub(super) rack: Option<Box<Rack>>,
    /// For PRR: the lost bytes known before the last ACK of the episode.
    pub(super) lost_before: u64,
}

/// A boundary, and the number of SACKed bytes below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Below {
    at: u64,
    sacked: u64,
}

impl Below {
    /// `[from, to)` is SACKed, and was not before.
    #[inline]
    fn insert(&mut self, from: u64, to: u64) {
        self.sacked += to.min(self.at).saturating_sub(from);
    }

    /// `[from, to)` was SACKed, and is below the cumulative ACK now.
    #[inline]
    fn remove(&mut self, from: u64, to: u64) {
        self.sacked -= to.min(self.at).saturating_sub(from);
    }

    /// Moves the boundary and updates the sum.
    fn move_to(&mut self, at: u64, ranges: &VecDeque<(u64, u64)>) -> u64 {
        if at >= self.at {
            self.sacked += sacked_within(ranges, self.at, at);
        } else {
            self.sacked -= sacked_within(ranges, at, self.at);
        }
        self.at = at;
        self.sacked
    }
}

/// SACKed bytes within `[from, to)`.
fn sacked_within(ranges: &VecDeque<(u64, u64)>, from: u64, to: u64) -> u64 {
    if from >= to {
        return 0;
    }
    let first = ranges.partition_point(|r| r.1 <= from);
    let within = ranges.range(first..).take_while(|r| r.0 < to);
    within.inspect(|_| steps(1)).map(|r| r.1.min(to) - r.0.max(from)).sum()
}

impl Scoreboard {
    /// The scoreboard of a new flow that finds losses by time.
    pub(super) fn by_time(mss: u32) -> Self {
        Self { rack: Some(Box::new(Rack::new(mss))), ..Self::default() }
    }

    /// An empty scoreboard of a flow whose first unacknowledged byte is `una`; `out` bytes are outstanding and count as
    /// in flight until more is known.
    pub fn new(una: u64, out: u64) -> Self {
        Self { high_rxt: una, pipe: out, ..Self::default() }
    }

    /// SACKed bytes above the cumulative ACK.
    #[inline]
    pub fn sacked(&self) -> u64 {
        self.sacked
    }

    /// The SACKed ranges, ascending.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        self.ranges.iter().copied()
    }

    /// Marks `[start, end)` as SACKed; how many of these bytes were not so before.
    pub fn insert(&mut self, start: u64, end: u64) -> u64 {
        self.insert_each(start, end, |_, _, _| {})
    }

    /// The same, and the pieces that were not so before are appended to [`Scoreboard::fresh`].
    pub(super) fn insert_fresh(&mut self, start: u64, end: u64) -> u64 {
        self.insert_each(start, end, |fresh, from, to| fresh.push((from, to)))
    }

    fn insert_each(&mut self, start: u64, end: u64, note: impl Fn(&mut Vec<(u64, u64)>, u64, u64)) -> u64 {
        debug_assert!(start < end);
        // Every range that overlaps or touches: [first, last).
        let first = self.ranges.partition_point(|r| r.1 < start);
        // Most blocks of an ACK repeat what earlier ones reported (RFC 2018 §4).
        let (mut last, mut from, mut fresh) = (first, start, 0);
        let mut merged = (start, end);
        while let Some(&(s, e)) = self.ranges.get(last).filter(|r| r.0 <= end) {
            if s <= start && end <= e {
                return 0;
            }
            fresh += self.piece(from, s, &note);
            from = from.max(e);
            merged = (merged.0.min(s), merged.1.max(e));
            last += 1;
            steps(1);
        }
        fresh += self.piece(from, end, &note);
        if first == last {
            steps(first.min(self.ranges.len() - first) / 64); // what has to make room
            self.ranges.insert(first, (start, end));
        } else {
            self.ranges[first] = merged;
            if last > first + 1 {
                steps(first.min(self.ranges.len() - first) / 64);
                self.ranges.drain(first + 1..last);
            }
        }
        self.sacked += fresh;
        fresh
    }

    /// Records `[from, to)` as newly SACKed unless it is empty.
    #[inline]
    fn piece(&mut self, from: u64, to: u64, note: impl Fn(&mut Vec<(u64, u64)>, u64, u64)) -> u64 {
        if from >= to {
            return 0;
        }
        self.below_rxt.insert(from, to);
        self.below_lost.insert(from, to);
        note(&mut self.fresh, from, to);
        to - from
    }

    /// SND.UNA has moved to `una`. Returns how many of the bytes below it had been SACKed.
    pub fn advance(&mut self, una: u64) -> u64 {
        let mut covered = 0;
        while let Some(first) = self.ranges.front_mut().filter(|r| r.0 < una) {
            let (from, to) = (first.0, first.1.min(una));
            covered += to - from;
            self.below_rxt.remove(from, to);
            self.below_lost.remove(from, to);
            first.0 = to;
            if first.0 == first.1 {
                self.ranges.pop_front();
            }
            steps(1);
        }
        self.sacked -= covered;
        self.high_rxt = self.high_rxt.max(una);
        covered
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
        let resent = self.high_rxt.clamp(una, sent_to);
        let lost =
            self.lost_to.max(if self.ranges.is_empty() { 0 } else { self.lost_by_sack }).clamp(una, sent_to);
        let again = resent - una - self.below_rxt.move_to(resent, &self.ranges);
        let above_lost = self.sacked - self.below_lost.move_to(lost, &self.ranges);
        self.pipe = again + (sent_to - lost - above_lost);
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
        self.ranges.back().map_or(0, |r| r.1)
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
