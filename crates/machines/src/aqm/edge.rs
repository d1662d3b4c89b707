//! Active queue management from the edge. Mittal, Agarwal, Ratnasamy, Shenker, "Universal Packet Scheduling",
//! NSDI 2016, §4: with slack in the header, initial slack − slack is what the packet waited in all queues of its
//! path, so the receiver's side can do what queues do, knowing the whole path.

use super::codel::Codel;
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

/// What the receiver's side does with a data packet before the transport sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EdgeSpec {
    /// Edge-CoDel, per flow ([`EdgeCodel`]).
    Codel {
        /// The queueing delay that may stand.
        target: Span,
        /// How long it must stand before the first drop.
        interval: Span,
        /// A gap between send times that counts as "the flow's queue became empty"; more than `target`.
        refresh: Span,
    },
    /// Edge-ECN: CE if the packet waited longer than this ([`edge_ecn`]).
    Ecn {
        /// K · T: the transmission times of K packets.
        threshold: Span,
    },
}

/// Edge-ECN: is CE to be set on a packet that waited `used` on its path? Strictly more than the threshold.
#[inline]
pub fn edge_ecn(threshold: Span, used: Span) -> bool {
    used > threshold
}

/// Edge-CoDel's state for one flow.
///
/// It sees each packet once, after all queues: it cannot look at the packet behind, so it drops at most one per
/// arrival, and it cannot see a queue run empty, so a gap between send times has to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeCodel {
    codel: Codel,
    /// last_ts: send time of the packet before.
    last_sent: Time,
    /// The packet before was dropped in the dropping state.
    dropped_before: bool,
    /// Times that delay had been above target and a packet below it ended that.
    pub low_delay_refreshes: u32,
    /// Times that delay had been above target and a gap between send times ended that.
    pub gap_refreshes: u32,
    /// Packets dropped.
    pub drops: u32,
}

impl EdgeCodel {
    /// A data packet sent at `sent` (its time stamp) arrives `now`, having waited `used` in queues. True: deliver it.
    ///
    /// `target`, `interval`, `refresh`: see [`EdgeSpec::Codel`].
    pub fn on_packet(
        &mut self,
        (target, interval, refresh): (Span, Span, Span),
        now: Time,
        sent: Time,
        used: Span,
    ) -> bool {
        let was_above = self.codel.first_above.is_some();
        if sent.since(self.last_sent) >= refresh {
            self.codel.first_above = None;
            self.gap_refreshes += u32::from(was_above);
        } else if used < target {
            self.low_delay_refreshes += u32::from(was_above);
        }
        self.last_sent = sent;
        let may_drop = self.codel.above(now, used < target, interval);
        let drop = if self.codel.dropping { self.in_dropping(now, may_drop, interval) } else { may_drop };
        if drop && !self.codel.dropping {
            self.codel.enter(now, interval);
            self.dropped_before = false;
        }
        self.drops += u32::from(drop);
        !drop
    }

    /// Is this packet dropped, seen in the dropping state?
    fn in_dropping(&mut self, now: Time, may_drop: bool, interval: Span) -> bool {
        if !may_drop {
            self.codel.dropping = false;
            self.dropped_before = false;
            return false;
        }
        if self.dropped_before {
            self.codel.advance(interval); // what a queue does as it looks at the packet behind the dropped one
        }
        self.dropped_before = now >= self.codel.drop_next;
        self.dropped_before
    }
}
