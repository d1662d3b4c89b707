//! The segments that are out, RFC 8985 §5.2: when each left, and what became of it.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;
use thalweg_units::Time;

/// A segment that is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Segment {
    /// Segment.xmit_ts, and how many had left before.
    pub(super) sent: Time,
    pub(super) order: u64,
    len: u32,
    /// Segment.retransmitted, Segment.lost; acknowledged, selectively or not.
    pub(super) again: bool,
    pub(super) lost: bool,
    pub(super) arrived: bool,
}

/// All from the first that is not acknowledged on; bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Segments {
    mss: u64,
    /// Number of the first segment that is out; all that were sent since, in their order.
    base: u64,
    out: VecDeque<Segment>,
    /// Of those that are neither acknowledged nor lost; of those that are not acknowledged but lost.
    pipe: u64,
    lost: u64,
    /// Ever found lost.
    ever_lost: u64,
    /// How many segments have left.
    left: u64,
}

impl Segments {
    pub(super) fn new(mss: u32) -> Self {
        Self { mss: u64::from(mss), ..Self::default() }
    }

    /// Bytes believed to be in the network.
    pub(in super::super) fn pipe(&self) -> u64 {
        self.pipe
    }
    /// Bytes ever found lost.
    pub(in super::super) fn ever_lost(&self) -> u64 {
        self.ever_lost
    }
    /// Something is lost and not yet sent again.
    pub(in super::super) fn has_lost(&self) -> bool {
        self.lost > 0
    }
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.out.len()
    }

    /// §6.1: one leaves.
    pub(super) fn on_sent(&mut self, now: Time, seq: u64, len: u32) {
        let Some(at) = (seq / self.mss).checked_sub(self.base) else { return };
        let fresh = Segment { sent: now, order: self.left, len, again: false, lost: false, arrived: false };
        self.left += 1;
        match self.out.get_mut(at as usize) {
            Some(known) if !known.arrived => {
                if known.lost {
                    self.lost -= u64::from(known.len);
                    self.pipe += u64::from(known.len);
                }
                *known = Segment { again: true, ..fresh };
            }
            Some(_) => {}
            None => {
                self.out.push_back(fresh);
                self.pipe += u64::from(len);
            }
        }
    }

    /// The numbers of those that are out of the bytes `from..to`.
    pub(super) fn numbers(&self, from: u64, to: u64) -> Range<u64> {
        let end = self.base + self.out.len() as u64;
        (from / self.mss).max(self.base)..to.div_ceil(self.mss).min(end)
    }

    /// Number `number` is acknowledged; `None`: it was before.
    pub(super) fn arrives(&mut self, number: u64) -> Option<Segment> {
        let one = &mut self.out[(number - self.base) as usize];
        if std::mem::replace(&mut one.arrived, true) {
            return None;
        }
        let of = if one.lost { &mut self.lost } else { &mut self.pipe };
        *of -= u64::from(one.len);
        Some(*one)
    }

    /// Those before the first that is not acknowledged are out no more.
    pub(super) fn forget_arrived(&mut self) {
        while self.out.front().is_some_and(|one| one.arrived) {
            self.out.pop_front();
            self.base += 1;
        }
    }

    /// The one at this place is lost.
    pub(super) fn lose(&mut self, at: usize) {
        let one = &mut self.out[at];
        one.lost = true;
        let len = u64::from(one.len);
        (self.pipe, self.lost, self.ever_lost) = (self.pipe - len, self.lost + len, self.ever_lost + len);
    }

    pub(super) fn get(&self, at: usize) -> Segment {
        self.out[at]
    }

    /// The first that is lost: start and length.
    pub(in super::super) fn first_lost(&self) -> Option<(u64, u32)> {
        if self.lost == 0 {
            return None;
        }
        self.out.iter().position(|one| one.lost && !one.arrived).map(|at| self.bytes(at))
    }

    /// The one that was sent last: start and length.
    pub(in super::super) fn last(&self) -> Option<(u64, u32)> {
        self.out.iter().rposition(|one| !one.arrived).map(|at| self.bytes(at))
    }

    fn bytes(&self, at: usize) -> (u64, u32) {
        ((self.base + at as u64) * self.mss, self.out[at].len)
    }
}
