//! The outstanding segments (RFC 8985 §5.2): when each was sent, and its state.
//!
//! Segments that are neither acknowledged nor lost are linked in the order of their last transmission, as in Linux's
//! `tsorted_sent_queue`; lost ones are sorted by number. So an ACK looks only at segments whose state changes.

use crate::steps::steps;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;
use thalweg_units::Time;

/// An outstanding segment.
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
    /// Its neighbours in the list of segments that are neither acknowledged nor lost: sent before and after it.
    before: u64,
    after: u64,
}

/// No segment.
const NONE: u64 = u64::MAX;

/// All from the first that is not acknowledged on; bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Segments {
    mss: u64,
    /// Number of the first segment that is out; all that were sent since, in their order.
    base: u64,
    out: VecDeque<Segment>,
    /// First and last segment that is neither acknowledged nor lost, by time of transmission.
    first: u64,
    last: u64,
    /// The first of them that did not leave before the newest that [`Segments::last_before`] was called with.
    later: u64,
    /// Numbers of the lost ones, ascending; some may have been sent again or have arrived, but not the first.
    lost_ones: VecDeque<u64>,
    /// Bytes of segments that are neither acknowledged nor lost, and bytes of those that are lost.
    pipe: u64,
    lost: u64,
    /// Ever found lost.
    ever_lost: u64,
    /// How many segments have left.
    left: u64,
}

impl Default for Segments {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Segments {
    pub(super) fn new(mss: u32) -> Self {
        Self {
            mss: u64::from(mss),
            base: 0,
            out: VecDeque::new(),
            first: NONE,
            last: NONE,
            later: NONE,
            lost_ones: VecDeque::new(),
            pipe: 0,
            lost: 0,
            ever_lost: 0,
            left: 0,
        }
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

    /// §6.1: a segment is sent.
    pub(super) fn on_sent(&mut self, now: Time, seq: u64, len: u32) {
        let number = seq / self.mss;
        let Some(at) = number.checked_sub(self.base) else { return };
        let fresh = Segment {
            sent: now,
            order: self.left,
            len,
            again: false,
            lost: false,
            arrived: false,
            before: NONE,
            after: NONE,
        };
        self.left += 1;
        match self.out.get(at as usize).copied() {
            Some(known) if !known.arrived => {
                if known.lost {
                    self.lost -= u64::from(known.len);
                    self.pipe += u64::from(known.len);
                } else {
                    self.unlink(number);
                }
                self.out[at as usize] = Segment { again: true, ..fresh };
                self.link(number);
                self.settle_lost();
            }
            Some(_) => {}
            None => {
                self.out.push_back(fresh);
                self.pipe += u64::from(len);
                self.link(number);
            }
        }
    }

    fn at(&mut self, number: u64) -> &mut Segment {
        &mut self.out[(number - self.base) as usize]
    }

    /// Appends it to the list: it was sent last.
    fn link(&mut self, number: u64) {
        let before = std::mem::replace(&mut self.last, number);
        self.at(number).before = before;
        match before {
            NONE => self.first = number,
            before => self.at(before).after = number,
        }
        if self.later == NONE {
            self.later = number;
        }
    }

    /// Removes it from the list: it is acknowledged or lost.
    fn unlink(&mut self, number: u64) {
        let Segment { before, after, .. } = *self.at(number);
        match before {
            NONE => self.first = after,
            before => self.at(before).after = after,
        }
        match after {
            NONE => self.last = before,
            after => self.at(after).before = before,
        }
        if self.later == number {
            self.later = after;
        }
    }

    /// The lowest of the lost ones is one that is lost.
    fn settle_lost(&mut self) {
        while let Some(&number) = self.lost_ones.front() {
            let known = number.checked_sub(self.base).map(|at| self.out[at as usize]);
            if known.is_some_and(|one| one.lost && !one.arrived) {
                break;
            }
            steps(1);
            self.lost_ones.pop_front();
        }
    }

    /// The segment at the head of the list, sent first, with its index.
    #[inline]
    pub(super) fn earliest(&self) -> Option<(usize, Segment)> {
        let place = (self.first != NONE).then(|| (self.first - self.base) as usize)?;
        steps(1);
        Some((place, self.out[place]))
    }

    /// The one that left last of those that left before number `newest` in that order, which never falls.
    pub(super) fn last_before(&mut self, newest: u64) -> Option<Segment> {
        while self.later != NONE && self.at(self.later).order < newest {
            self.later = self.at(self.later).after;
            steps(1);
        }
        let last = match self.later {
            NONE => self.last,
            later => self.at(later).before,
        };
        (last != NONE).then(|| *self.at(last))
    }

    /// The numbers of those that are out of the bytes `from..to`.
    pub(super) fn numbers(&self, from: u64, to: u64) -> Range<u64> {
        let end = self.base + self.out.len() as u64;
        (from / self.mss).max(self.base)..to.div_ceil(self.mss).min(end)
    }

    /// Segment `number` is acknowledged. Returns `None` if it was before.
    pub(super) fn arrives(&mut self, number: u64) -> Option<Segment> {
        if std::mem::replace(&mut self.at(number).arrived, true) {
            return None;
        }
        let one = *self.at(number);
        if one.lost {
            self.lost -= u64::from(one.len);
            self.settle_lost();
        } else {
            self.pipe -= u64::from(one.len);
            self.unlink(number);
        }
        Some(one)
    }

    /// Removes the acknowledged segments at the start.
    pub(super) fn forget_arrived(&mut self) {
        while self.out.front().is_some_and(|one| one.arrived) {
            self.out.pop_front();
            self.base += 1;
        }
    }

    /// The one at this place is lost.
    pub(super) fn lose(&mut self, at: usize) {
        let number = self.base + at as u64;
        self.unlink(number);
        self.out[at].lost = true;
        let len = u64::from(self.out[at].len);
        let place = self.lost_ones.partition_point(|&other| other < number);
        if self.lost_ones.get(place) != Some(&number) {
            steps(place.min(self.lost_ones.len() - place) / 64);
            self.lost_ones.insert(place, number);
        }
        (self.pipe, self.lost, self.ever_lost) = (self.pipe - len, self.lost + len, self.ever_lost + len);
    }

    pub(super) fn get(&self, at: usize) -> Segment {
        self.out[at]
    }

    /// The first that is lost: start and length.
    pub(in super::super) fn first_lost(&self) -> Option<(u64, u32)> {
        self.lost_ones.front().map(|number| self.bytes((number - self.base) as usize))
    }

    /// The one that was sent last: start and length.
    pub(in super::super) fn last(&self) -> Option<(u64, u32)> {
        self.out.iter().inspect(|_| steps(1)).rposition(|one| !one.arrived).map(|at| self.bytes(at))
    }

    fn bytes(&self, at: usize) -> (u64, u32) {
        ((self.base + at as u64) * self.mss, self.out[at].len)
    }
}
