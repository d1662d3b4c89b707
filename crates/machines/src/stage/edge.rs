//! Active queue management from the edge. Mittal, Agarwal, Ratnasamy, Shenker, "Universal Packet Scheduling",
//! NSDI 2016, §4: with slack in the header, initial slack − slack is what the packet waited in all queues of its
//! path, so the receiver's side can do what queues do, knowing the whole path.

use super::codel::{Codel, Law};
use serde::{Deserialize, Serialize};
use thalweg_units::{Span, Time};

/// AQM at the receiver's edge, applied to data packets before the transport sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EdgeSpec {
    /// Edge-CoDel, per flow ([`EdgeCodel`]).
    Codel {
        /// Target: acceptable standing queueing delay.
        target: Span,
        /// Interval: how long the delay must stay above the target before the first drop.
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
/// The law is that of 2012 ([`Law::Acm2012`]). It sees each packet once, after all queues: it cannot look at
/// the packet behind, so it drops at most one per arrival, and it cannot see a queue run empty, so a gap
/// between send times has to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeCodel {
    codel: Codel,
    /// last_ts: send time of the packet before.
    last_sent: Time,
    /// The packet before was dropped in the dropping state.
    dropped_before: bool,
}

/// How often a period above the target ended, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refreshes {
    /// A packet below it.
    pub by_delay: u64,
    /// A gap between send times.
    pub by_gap: u64,
    /// Those of them whose packet was below the target as well.
    pub by_gap_at_low_delay: u64,
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
        refreshes: &mut Refreshes,
    ) -> bool {
        let was_above = self.codel.first_above.is_some();
        if sent.since(self.last_sent) >= refresh {
            self.codel.first_above = None;
            refreshes.by_gap += u64::from(was_above);
            refreshes.by_gap_at_low_delay += u64::from(was_above && used < target);
        } else if used < target {
            refreshes.by_delay += u64::from(was_above);
        }
        self.last_sent = sent;
        let may_drop = self.codel.above(now, used < target, interval);
        let drop = if self.codel.dropping { self.in_dropping(now, may_drop, interval) } else { may_drop };
        if drop && !self.codel.dropping {
            self.codel.enter(now, interval, Law::Acm2012);
            self.dropped_before = false;
        }
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
            // What a queue does as it looks at the packet behind the dropped one.
            self.codel.dropped(true, interval, Law::Acm2012);
        }
        self.dropped_before = now >= self.codel.drop_next;
        self.dropped_before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Bytes, Rate};

    const TARGET: Span = Span::from_ms(5);
    const INTERVAL: Span = Span::from_ms(100);
    const REFRESH: Span = Span::from_ms(20);

    /// One flow, and what has been counted of it.
    #[derive(Default)]
    struct Flow(EdgeCodel, Refreshes);

    impl Flow {
        /// Packets every 10 ms in `[from, to)`, sent 50 ms ago, that waited `used` ms: when one is dropped.
        fn dropped(&mut self, from: u64, to: u64, used: u64) -> Vec<u64> {
            let Self(edge, refreshes) = self;
            let mut arrives = |t: &u64| {
                let (now, sent) = (Time::from_ms(*t), Time::from_ms(*t - 50));
                !edge.on_packet((TARGET, INTERVAL, REFRESH), now, sent, Span::from_ms(used), refreshes)
            };
            (from / 10..to / 10).map(|t| t * 10).filter(|t| arrives(t)).collect()
        }
        /// By delay, by gap, by a gap at low delay.
        fn refreshes(&self) -> [u64; 3] {
            [self.1.by_delay, self.1.by_gap, self.1.by_gap_at_low_delay]
        }
    }

    #[test]
    fn it_drops_like_codel_but_one_packet_at_a_time() {
        let mut flow = Flow::default();
        // Above since 60: the first at 160; due at 260, then 330.7, 388.4, 438.4.
        assert_eq!(flow.dropped(60, 450, 10), [160, 260, 340, 390, 440]);
        assert_eq!(flow.0.codel.count, 4, "the count rises with the packet behind a dropped one");
        // Low delay ends it; back above, it takes an interval again, and starts from the rate it had reached.
        assert_eq!(flow.dropped(450, 460, 4), [0; 0]);
        assert_eq!(flow.refreshes(), [1, 0, 0]);
        assert_eq!(flow.dropped(460, 660, 10), [560, 640]); // count 2: due 70.7 ms later
        assert_eq!(flow.refreshes(), [1, 0, 0]);
    }

    #[test]
    fn several_drops_that_are_overdue_come_one_per_packet() {
        let mut flow = Flow::default();
        assert_eq!(flow.dropped(60, 170, 10), [160]);
        let spec = (TARGET, INTERVAL, Span::from_secs(9));
        let Flow(edge, refreshes) = &mut flow;
        let mut at = |ms| edge.on_packet(spec, Time::from_ms(ms), Time::from_ms(ms - 50), TARGET, refreshes);
        // Due at 260, 330.7 and 388.4: at 400, 401, 402; then at 438.4.
        let delivered: Vec<bool> = [400, 401, 402, 403, 438, 439].map(&mut at).into();
        assert_eq!(delivered, [false, false, false, true, true, false]);
    }

    #[test]
    fn a_gap_between_send_times_starts_the_interval_anew_even_in_the_dropping_state() {
        let mut flow = Flow::default();
        assert_eq!(flow.dropped(60, 170, 10), [160]);
        // The next was sent exactly 20 ms later: a threshold's worth.
        assert_eq!(flow.dropped(180, 280, 10), [0; 0]);
        assert_eq!(flow.refreshes(), [0, 1, 0]);
        assert_eq!(flow.dropped(280, 290, 10), [280]);
        // Packets of more than a target of delay, but that have just been: a shorter gap changes nothing.
        assert_eq!(flow.refreshes(), [0, 1, 0]);
        // A gap, and a delay below the target: either would do.
        assert_eq!(flow.dropped(400, 410, 4), [0; 0]);
        assert_eq!(flow.refreshes(), [0, 2, 1]);
    }

    #[test]
    fn edge_ecn_marks_above_the_threshold_only() {
        let threshold = Bytes::new(15 * 1460) / Rate::from_gbps(10);
        assert_eq!(threshold, Span::from_ps(17_520_000));
        assert!(!edge_ecn(threshold, threshold));
        assert!(edge_ecn(threshold, threshold + Span::from_ps(1)));
    }
}
